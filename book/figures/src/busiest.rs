//! What binds by our model, beside the busiest unit by Nsight Compute on a real GPU; and what warps wait for.

use anyhow::Context as _;
use ladder::busiest::{Launch, Record};
use ladder::machine_code::{BINDS, level, unit};
use timing::accuracy::{Needs, profiled};

use crate::machine;
use crate::sass::table;

fn record() -> anyhow::Result<Record> {
    let path = machine::root().join("book/data/h200-busiest.json");
    Record::load(&path).with_context(|| path.display().to_string())
}

/// What the model gives for a launch.
fn needs(launch: &Launch) -> anyhow::Result<&'static Needs> {
    let shape = [launch.shape.m, launch.shape.n, launch.shape.k].map(|size| size as u32);
    let mut all = profiled().iter();
    all.find(|needs| needs.kernel == launch.kernel && needs.shape == shape)
        .with_context(|| {
            format!(
                "{} at {} is not in data/profiled.tsv",
                launch.kernel, launch.shape
            )
        })
}

/// The units that bind by the model: none where all rest most of the time.
fn ours(needs: &Needs) -> Vec<&str> {
    let most = needs.bounds.first().map_or(0.0, |(_, us)| *us);
    if most < BINDS * needs.predicted_us {
        return Vec::new();
    }
    let longest = level(&needs.bounds, |(_, us)| *us);
    longest.iter().map(|(unit, _)| unit.as_str()).collect()
}

/// A verdict in words.
fn words(units: &[&str]) -> String {
    match units {
        [] => "waits".into(),
        units => units.join(", then "),
    }
}

/// A row for each kernel: our verdict, Nsight's, and how busy each unit was.
///
/// # Errors
/// When the files do not fit together.
pub fn busiest() -> anyhow::Result<String> {
    const SHOWN: [(&str, &str); 5] = [
        ("issue", unit::ISSUE),
        ("FMA", unit::FP32),
        ("shared+L1", unit::SHARED_AND_L1),
        ("L2", unit::L2),
        ("memory", unit::DRAM),
    ];
    let mut titles = vec!["kernel", "size", "binds, by the model", "by Nsight"];
    titles.extend(SHOWN.map(|(title, _)| title));
    let mut rows = Vec::new();
    for launch in &record()?.launches {
        let mut row = vec![
            launch.kernel.clone(),
            launch.shape.short(),
            words(&ours(needs(launch)?)),
            launch.binds().unwrap_or("waits").to_owned(),
        ];
        row.extend(SHOWN.map(|(_, unit)| launch.busy(unit).map_or(String::new(), |n| format!("{n:.0}"))));
        rows.push(row);
    }
    Ok(table(&titles, &rows))
}

/// The reasons of stalls by Nsight's names, and what the table calls them.
const REASONS: [(&str, &str); 9] = [
    ("long_scoreboard", "global"),
    ("short_scoreboard", "shared"),
    ("lg_throttle", "queue: L1"),
    ("mio_throttle", "queue: shared"),
    ("barrier", "barrier"),
    ("wait", "fixed"),
    ("dispatch_stall", "dispatch"),
    ("not_selected", "not selected"),
    ("selected", "issues"),
];

/// A row for each product: where its warps were, in percent of their time.
///
/// # Errors
/// When there is no record.
pub fn stalls() -> anyhow::Result<String> {
    let mut titles = vec!["kernel"];
    titles.extend(REASONS.map(|(_, title)| title));
    titles.push("dispatch, per instruction");
    let mut rows = Vec::new();
    for launch in record()?.launches.iter().filter(|launch| launch.shape.k > 0) {
        let stalls = launch.stalls();
        let part = |name: &str| {
            stalls
                .iter()
                .find(|(stall, _)| *stall == name)
                .map_or(0.0, |(_, part)| *part)
        };
        let mut row = vec![launch.kernel.clone()];
        row.extend(REASONS.map(|(name, _)| format!("{:.0}", 100.0 * part(name))));
        let dispatch = launch
            .metrics
            .get("smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio");
        row.push(dispatch.map_or(String::new(), |n| format!("{n:.2}")));
        rows.push(row);
    }
    Ok(table(&titles, &rows))
}

#[cfg(test)]
mod tests {
    use ladder::busiest::EXCEPTIONS;

    use super::*;

    #[test]
    fn our_verdicts_are_those_of_nsight_compute() -> anyhow::Result<()> {
        for launch in &record()?.launches {
            let ours = ours(needs(launch)?);
            let exception = EXCEPTIONS
                .iter()
                .find(|e| e.kernels.contains(&launch.kernel.as_str()));
            assert_eq!(
                launch.agrees(&ours),
                exception.is_none(),
                "{} at {}: {}, by Nsight {:?}; {exception:?}",
                launch.kernel,
                launch.shape,
                words(&ours),
                launch.busiest(),
            );
        }
        Ok(())
    }

    #[test]
    fn the_code_that_was_profiled_is_the_committed_one() -> anyhow::Result<()> {
        for launch in &record()?.launches {
            let code = std::fs::read(machine::root().join(&launch.cubin))?;
            let now = ladder::provenance::sha256(&code);
            assert_eq!(now, launch.cubin_sha256, "{}: profile it again", launch.cubin);
        }
        Ok(())
    }
}
