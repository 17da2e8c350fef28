//! Arguments of directives that name a step, a kernel of the ladder, or a size.

use anyhow::{Context as _, Result};
use catalog::{CatalogKernel, STEPS, Shape, Step};

pub(crate) fn find_kernel(kernel: &str) -> Result<(&'static Step, &'static CatalogKernel)> {
    STEPS.iter().find_map(|step| Some((step, step.kernel(kernel)?))).with_context(|| {
        let step = STEPS.iter().find(|step| kernel.contains(step.id));
        let names: Vec<&str> = step.map_or(Vec::new(), |s| s.kernels.iter().map(|k| k.name).collect());
        if names.is_empty() {
            format!("there is no kernel `{kernel}` (see: cargo xtask list)")
        } else {
            format!("there is no kernel `{kernel}`; {} has {}", step.map_or("it", |step| step.id), names.join(", "))
        }
    })
}

/// Splits words into kernels of a step, all without one, and sizes.
pub(crate) fn kernels_and_sizes<'w>(
    step: &'static Step, words: &[&'w str],
) -> Result<(Vec<&'static CatalogKernel>, Vec<&'w str>)> {
    let (sizes, names): (Vec<&str>, Vec<&str>) =
        words.iter().partition(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let kernel = |name| step.kernel(name).with_context(|| format!("{} has no kernel `{name}`", step.id));
    let chosen: Vec<_> = names.into_iter().map(kernel).collect::<Result<_>>()?;
    Ok((if chosen.is_empty() { step.kernels.iter().collect() } else { chosen }, sizes))
}

/// Parses the size of a kernel: `4096`, `1025x1023x1021`, or for transposes `1000x3000`.
pub(crate) fn parse_shape(kernel: &str, size: &str) -> Result<Shape> {
    let (_, kernel) = find_kernel(kernel)?;
    let size: Shape = size.parse()?;
    size.check_suits(kernel.name, [kernel.work])?;
    Ok(kernel.work.shape(size).unwrap_or(size))
}
