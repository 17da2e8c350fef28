//! Tables that compare the timing model with Nsight Compute: binding units, stalls, use of tensor cores.

#[cfg(test)]
mod tests;

use anyhow::{Context as _, ensure};
use catalog::Shape;
use records::busiest::{BusiestRecord, Launch, UNMODELLED};
use records::machine_code::{BINDS, level, unit};
use timing::accuracy::{Needs, profiled};

use crate::machine;
use crate::table::{Table, render_table};

fn record() -> anyhow::Result<BusiestRecord> {
    load("book/data/h200-busiest.json")
}

/// Loads the records of tensor core kernels, which the timing model does not cover, for each GPU.
fn tensor_records() -> anyhow::Result<[BusiestRecord; 2]> {
    Ok([load("book/data/h200-tensor-busiest.json")?, load("book/data/h100-80gb-hbm3-tensor-busiest.json")?])
}

fn load(path: &str) -> anyhow::Result<BusiestRecord> {
    let path = machine::root().join(path);
    BusiestRecord::load(&path).with_context(|| path.display().to_string())
}

fn needs(launch: &Launch) -> anyhow::Result<&'static Needs> {
    let shape = [launch.shape.m, launch.shape.n, launch.shape.k].map(|size| size as u32);
    let mut all = profiled().iter();
    all.find(|needs| needs.kernel == launch.kernel && needs.shape == shape)
        .with_context(|| format!("{} at {} is not in data/profiled.tsv", launch.kernel, launch.shape))
}

/// Returns the model's time for a launch in microseconds, and the profiled launch.
pub(crate) fn predicted_launch(kernel: &str, shape: Shape) -> anyhow::Result<(f64, Launch)> {
    let launches = record()?.launches.into_iter();
    let mut launches = launches.filter(|launch| launch.kernel == kernel && launch.shape == shape);
    let launch = launches.next().with_context(|| format!("{kernel} at {shape} was not profiled"))?;
    Ok((needs(&launch)?.predicted_us, launch))
}

/// Warps that an instruction could not be dispatched for, per issued instruction.
pub(crate) const DISPATCH: &str = "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio";

/// Returns the units that limit the kernel according to the model; empty if all are idle most of the time.
fn binding_units(needs: &Needs) -> Vec<&str> {
    let most = needs.bounds.first().map_or(0.0, |(_, us)| *us);
    if most < BINDS * needs.predicted_us {
        return Vec::new();
    }
    let longest = level(&needs.bounds, |(_, us)| *us);
    longest.iter().map(|(unit, _)| unit.as_str()).collect()
}

fn unit_list(units: &[&str]) -> String {
    match units {
        [] => "waits".into(),
        units => units.join(", then "),
    }
}

/// Returns a row for each kernel: the model's verdict, Nsight's, and the utilisation of each unit.
pub fn units_table() -> anyhow::Result<String> {
    const SHOWN: [(&str, &str); 5] = [
        ("issue", unit::ISSUE),
        ("FMA", unit::FP32),
        ("shared+L1", unit::SHARED_AND_L1),
        ("L2", unit::L2),
        ("memory", unit::DRAM),
    ];
    let titles = ["kernel", "size", "binds, by the model", "by Nsight"];
    let mut table = Table::new(titles.into_iter().chain(SHOWN.map(|(title, _)| title)));
    for launch in &record()?.launches {
        let verdict = if UNMODELLED.contains(&launch.kernel.as_str()) {
            "no verdict".into()
        } else {
            unit_list(&binding_units(needs(launch)?))
        };
        let mut row =
            vec![launch.kernel.clone(), launch.shape.short(), verdict, launch.binds().unwrap_or("waits").to_owned()];
        row.extend(SHOWN.map(|(_, unit)| number(launch.busy(unit), 0)));
        table.row(row);
    }
    Ok(render_table(&table))
}

/// Formats a number; empty if it was not measured.
pub(crate) fn number(measured: Option<f64>, digits: usize) -> String {
    measured.map_or(String::new(), |n| format!("{n:.digits$}"))
}

fn metric(launch: &Launch, name: &str) -> anyhow::Result<f64> {
    let found = launch.metrics.get(name).copied();
    found.with_context(|| format!("{}: {name} is missing", launch.kernel))
}

/// Stall reasons by Nsight's names, with the titles of the table.
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

fn percent(stalls: &[(&str, f64)], name: &str) -> String {
    let part = stalls.iter().find(|(stall, _)| *stall == name).map_or(0.0, |(_, part)| *part);
    format!("{:.0}", 100.0 * part)
}

/// Returns a row for each GEMM: the stalls of its warps, in percent of their time.
pub fn stalls_table() -> anyhow::Result<String> {
    let reasons = REASONS.map(|(_, title)| title);
    let mut table = Table::new([&["kernel"], &reasons[..], &["dispatch, per instruction"]].concat());
    for launch in record()?.launches.iter().filter(|launch| launch.shape.k > 0) {
        let stalls = launch.stalls();
        let mut row = vec![launch.kernel.clone()];
        row.extend(REASONS.map(|(name, _)| percent(&stalls, name)));
        row.push(number(launch.metrics.get(DISPATCH).copied(), 2));
        table.row(row);
    }
    Ok(render_table(&table))
}

/// Returns a row for each profiled tensor core kernel: launch duration, clock, and units and stalls in percent.
pub fn tensor_table(step: &str) -> anyhow::Result<String> {
    let step = catalog::find(step)?;
    const SHOWN: [(&str, &str); 5] = [
        ("tensor", unit::TENSOR),
        ("shared+L1", unit::SHARED_AND_L1),
        ("issue", unit::ISSUE),
        ("L2", unit::L2),
        ("memory", unit::DRAM),
    ];
    const WAITS: [(&str, &str); 4] = [
        ("short_scoreboard", "shared"),
        ("long_scoreboard", "global"),
        ("barrier", "barrier"),
        ("math_pipe_throttle", "unit"),
    ];
    let titles = SHOWN.iter().map(|(title, _)| *title).chain(WAITS.iter().map(|(_, title)| *title));
    let mut table = Table::new(["kernel", "GPU", "us", "GHz"].into_iter().chain(titles));
    let records = tensor_records()?;
    let all = records.iter().flat_map(|record| record.launches.iter().map(move |launch| (record, launch)));
    for (record, launch) in all.filter(|(_, one)| step.kernel(&one.kernel).is_some()) {
        let ns = metric(launch, "gpu__time_duration.sum")?;
        let mut row = vec![
            launch.kernel.clone(),
            catalog::text::short_device(&record.run.device).to_owned(),
            format!("{:.0}", ns / 1e3),
            format!("{:.2}", metric(launch, "sm__cycles_elapsed.max")? / ns),
        ];
        row.extend(SHOWN.map(|(_, unit)| number(launch.busy(unit), 0)));
        let stalls = launch.stalls();
        row.extend(WAITS.map(|(name, _)| percent(&stalls, name)));
        table.row(row);
    }
    ensure!(!table.is_empty(), "no kernel of {} was profiled", step.id);
    Ok(render_table(&table))
}

/// Large kernels from v07 on, each with its successor.
const CLIMB: &str = "sgemm_v07_double_buffer sgemm_v11_large_tile sgemm_v11_free_banks sgemm_v11_async_copy \
    sgemm_v11_producer sgemm_v11_stream_k";

/// Returns a row for each of the large kernels from v07 on: Nsight's counts, and stalls per issued instruction.
pub fn climb_table() -> anyhow::Result<String> {
    const SIZE: usize = 4096;
    const WAITS: [(&str, &str); 5] = [
        ("dispatch_stall", "dispatch"),
        ("short_scoreboard", "shared"),
        ("long_scoreboard", "global"),
        ("barrier", "barrier"),
        ("not_selected", "not selected"),
    ];
    let titles = ["kernel", "instructions", "issue", "FMA"];
    let mut table = Table::new(titles.into_iter().chain(WAITS.map(|(_, title)| title)));
    let record = record()?;
    for name in CLIMB.split(' ') {
        let mut launches = record.launches.iter();
        let launch = launches
            .find(|launch| launch.kernel == name && launch.shape == Shape::square(SIZE))
            .with_context(|| format!("{name} at {SIZE} was not profiled"))?;
        let multiply_adds = (SIZE * SIZE * SIZE) as f64 / 32.0;
        let mut row = vec![
            name.to_owned(),
            format!("{:.3}", metric(launch, "smsp__inst_executed.sum")? / multiply_adds),
            number(launch.busy(unit::ISSUE), 1),
            number(launch.busy(unit::FP32), 1),
        ];
        for (wait, _) in WAITS {
            let name = format!("smsp__average_warps_issue_stalled_{wait}_per_issue_active.ratio");
            row.push(format!("{:.2}", metric(launch, &name)?));
        }
        table.row(row);
    }
    Ok(render_table(&table))
}
