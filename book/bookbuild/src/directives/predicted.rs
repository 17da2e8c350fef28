//! `{{#n predicted KERNEL SIZE WHAT}}`: prediction of the timing model for a measured launch, from its table.

use anyhow::{Result, anyhow, bail};
use catalog::Shape;

use crate::RepoPaths;
use crate::quote::{Sources, ms, quoted};

/// Launches with their measured and predicted times, and each one's largest lower bound. The first line has names.
const FILE: &str = "emulator/timing/data/predictions.tsv";

/// Returns `ms` or `bound_ms` of a kernel at a size, or `binds`: the hardware unit that the bound belongs to.
pub(crate) fn number(repo: &RepoPaths, [kernel, size, what]: [&str; 3], sources: &mut Sources) -> Result<String> {
    let text = repo.read(&repo.root().join(FILE))?;
    let wanted: Shape = size.parse()?;
    // K is 0 in launches of transposes and other kernels with a single matrix.
    let is_it = |cells: &[&str]| match cells {
        [_, name, m, n, k, ..] if *name == kernel => {
            let is = |cell: &str, side: usize| cell.parse() == Ok(side);
            is(m, wanted.m) && is(n, wanted.n) && (is(k, wanted.k) || is(k, 0))
        }
        _ => false,
    };
    let launch = text.lines().map(|line| line.split('\t').collect::<Vec<_>>()).find(|cells| is_it(cells));
    let Some([.., measured, predicted, bound, binds]) = launch.as_deref() else {
        bail!("{FILE} has no launch of {kernel} at {size}");
    };
    let us_as_ms = |us: &str| match us.parse::<f64>() {
        Ok(us) => Ok(ms(us / 1000.0)),
        Err(_) => Err(anyhow!("{FILE}: `{us}` is not a time")),
    };
    let shown = match what {
        "ms" => us_as_ms(predicted)?,
        "bound_ms" => us_as_ms(bound)?,
        "binds" => (*binds).to_owned(),
        _ => return Err(anyhow!("a prediction has ms, bound_ms and binds, not `{what}`")),
    };
    sources.insert(format!("<code>{FILE}</code>"));
    Ok(quoted(
        &shown,
        &format!("{kernel} at {size}: measured {measured} us, predicted {predicted} us, at least {bound} us ({binds})"),
    ))
}
