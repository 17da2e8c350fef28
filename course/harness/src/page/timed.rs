//! The first table: how a kernel was launched, whether it is right, and on a real GPU, what it took.

use catalog::text::Table;
use catalog::{Shape, Work};
use records::{Outcome, Run, Samples};

use super::{Entry, extent, figure, time};

/// Returns a table of kernels that were timed alternately with their yardstick, and their relative speed.
pub(super) fn duels(entries: &[Entry<'_>]) -> Table {
    let mut table = Table::new(["kernel", "without pauses", "after pauses"]);
    for entry in entries {
        if let Some(duel) = entry.measurement.duel() {
            let sustained = duel.sustained.map(|speed| speed.percent()).unwrap_or_default();
            table.row([entry.measurement.kernel.clone(), sustained, duel.burst.percent()]);
        }
    }
    table
}

/// Returns a row of all that is known of each kernel. Columns may be empty.
pub(super) fn table(shape: Shape, run: &Run, entries: &[Entry<'_>]) -> Table {
    let passed = || entries.iter().filter_map(Entry::passed);
    let is_launched = passed().any(|p| p.grid[0] > 0);
    let yardstick = passed().find_map(|p| Some(format!("of {}", p.yardstick.as_ref()?.name))).unwrap_or_default();
    let is_transpose = entries.first().is_some_and(|entry| entry.work == Work::Transpose);
    let mut table = Table::new([
        "kernel",
        "answer",
        "grid",
        "block",
        "dynamic shared",
        if is_launched { "kernel time" } else { "time" },
        "spread",
        "cold",
        "whole GPU",
        "CPU FP64",
        "error",
        "of bound",
        if is_transpose { "GB/s" } else { "GFLOP/s" },
        &yardstick,
        "of roofline",
    ])
    .left(2);
    let median = |samples: &Option<Samples>| samples.as_ref().map(|s| time(s.median())).unwrap_or_default();
    let percent = |part: f64| format!("{:.1}%", 100.0 * part);
    for entry in entries {
        let mut row = vec![entry.measurement.kernel.clone(), answer(entry)];
        if let Some(p) = entry.passed() {
            let rate = p.hot.as_ref().map(|hot| rate(entry.work, shape, hot.median()));
            let of_roofline = || Some(percent(rate? / roofline(run, entry.work, shape)?));
            row.extend([
                extent(p.grid),
                extent(p.block),
                if p.dynamic_shared > 0 { format!("{} B", p.dynamic_shared) } else { String::new() },
                median(&p.hot),
                p.hot.as_ref().map(|hot| percent(hot.spread())).unwrap_or_default(),
                median(&p.cold),
                median(&p.whole),
                p.cpu_ms.map(time).unwrap_or_default(),
                match p.accuracy.max_abs_error {
                    0.0 => "0".into(),
                    error => format!("{error:.1e}"),
                },
                match p.accuracy.max_of_bound {
                    0.0 => String::new(),
                    part => format!("{}%", figure(100.0 * part)),
                },
                rate.map(figure).unwrap_or_default(),
                p.of_yardstick().map(percent).unwrap_or_default(),
                of_roofline().unwrap_or_default(),
            ]);
        }
        table.row(row);
    }
    table
}

/// Returns the most that the device allows, in the unit of [`rate`].
fn roofline(run: &Run, work: Work, shape: Shape) -> Option<f64> {
    let roofline = run.roofline?;
    match work {
        Work::Transpose => Some(roofline.copy_gbs),
        // The roofline is that of FP32.
        Work::Dgemm | Work::Cpu | Work::Tensor { .. } => None,
        work => {
            let intensity = work.flops(shape) / work.bytes(shape);
            Some((roofline.fp32_tflops * 1e3).min(intensity * roofline.copy_gbs))
        }
    }
}

fn answer(entry: &Entry<'_>) -> String {
    match &entry.measurement.outcome {
        Outcome::Passed(_) => "right",
        Outcome::Failed { .. } => "WRONG",
        Outcome::NotRun { .. } => "not run",
    }
    .into()
}

/// Returns GFLOP/s, or GB/s for a transpose.
fn rate(work: Work, shape: Shape, ms: f64) -> f64 {
    match work {
        Work::Transpose => work.bytes(shape) / ms * 1e-6,
        _ => work.flops(shape) / ms * 1e-6,
    }
}
