//! The first table: how a kernel was launched, whether it is right, and on a real GPU, what it took.

use catalog::text::Table;
use catalog::{Shape, Work};
use records::{Outcome, Run, Samples};
use records::{duel::Speed, record::VerifiedRun};

use super::{Entry, extent, figure, time};

fn hot_median(passed: &VerifiedRun) -> Option<f64> {
    passed.hot.as_ref().map(Samples::median)
}

/// Returns a table of kernels that were timed alternately with their yardstick, and their relative speed.
pub(super) fn duels(entries: &[Entry<'_>]) -> Table {
    let mut table = Table::new(["kernel", "without pauses", "after pauses"]);
    for entry in entries {
        if let Some(duel) = entry.measurement.duel() {
            let cell = |rounds| Speed::from_rounds(rounds).map(|speed| speed.percent()).unwrap_or_default();
            table.row([entry.measurement.kernel.clone(), cell(&duel.sustained), cell(&duel.burst)]);
        }
    }
    table
}

pub(super) fn table(shape: Shape, run: &Run, entries: &[Entry<'_>]) -> Table {
    let any = |has: fn(&VerifiedRun) -> bool| entries.iter().filter_map(Entry::passed).any(has);
    let is_timed = any(|p| p.hot.is_some());
    let has_whole = any(|p| p.whole.is_some());
    let has_cold = any(|p| p.cold.is_some());
    let has_grid = any(|p| p.grid[0] > 0);
    let has_shared = any(|p| p.dynamic_shared > 0);
    let yardstick = entries.iter().filter_map(|entry| Some(entry.passed()?.yardstick.as_ref()?.name.clone())).next();

    let mut columns: Vec<(String, Column<'_>)> =
        vec![("kernel".into(), Box::new(|e| e.measurement.kernel.clone())), ("answer".into(), Box::new(answer))];
    let passed = |show: fn(&VerifiedRun) -> String| -> Column<'_> {
        Box::new(move |e: &Entry<'_>| e.passed().map(show).unwrap_or_default())
    };
    if has_grid {
        columns.push(("grid".into(), passed(|p| extent(p.grid))));
        columns.push(("block".into(), passed(|p| extent(p.block))));
    }
    if has_shared {
        columns.push((
            "dynamic shared".into(),
            passed(|p| match p.dynamic_shared {
                0 => String::new(),
                bytes => format!("{bytes} B"),
            }),
        ));
    }
    if is_timed {
        columns.push((
            if has_grid { "kernel time" } else { "time" }.into(),
            passed(|p| hot_median(p).map(time).unwrap_or_default()),
        ));
        columns.push((
            "spread".into(),
            passed(|p| p.hot.as_ref().map(|s| format!("{:.1}%", 100.0 * s.spread())).unwrap_or_default()),
        ));
    }
    if has_cold {
        columns.push(("cold".into(), passed(|p| p.cold.as_ref().map(|s| time(s.median())).unwrap_or_default())));
    }
    if has_whole {
        columns.push(("whole GPU".into(), passed(|p| p.whole.as_ref().map(|s| time(s.median())).unwrap_or_default())));
    }
    columns.push(("CPU FP64".into(), passed(|p| p.cpu_ms.map(time).unwrap_or_default())));
    columns.push((
        "error".into(),
        passed(|p| match p.accuracy.max_abs_error {
            0.0 => "0".into(),
            error => format!("{error:.1e}"),
        }),
    ));
    columns.push((
        "of bound".into(),
        passed(|p| match p.accuracy.max_of_bound {
            0.0 => String::new(),
            part => format!("{}%", figure(100.0 * part)),
        }),
    ));
    if is_timed {
        let work = entries.first().map_or(Work::Sgemm, |entry| entry.work);
        let unit = if work == Work::Transpose { "GB/s" } else { "GFLOP/s" };
        columns.push((
            unit.into(),
            Box::new(move |e| {
                e.passed().and_then(hot_median).map(|ms| figure(rate(e.work, shape, ms))).unwrap_or_default()
            }),
        ));
        if let Some(name) = yardstick {
            columns.push((
                format!("of {name}"),
                passed(|p| p.of_yardstick().map(|part| format!("{:.1}%", 100.0 * part)).unwrap_or_default()),
            ));
        }
        if let Some(roofline) = run.roofline {
            columns.push((
                "of roofline".into(),
                Box::new(move |e| {
                    let most = match e.work {
                        Work::Transpose => roofline.copy_gbs,
                        // The roofline is that of FP32.
                        Work::Dgemm | Work::Cpu | Work::Tensor { .. } => return String::new(),
                        work => {
                            let intensity = work.flops(shape) / work.bytes(shape);
                            (roofline.fp32_tflops * 1e3).min(intensity * roofline.copy_gbs)
                        }
                    };
                    let ms = e.passed().and_then(hot_median);
                    ms.map(|ms| format!("{:.1}%", 100.0 * rate(e.work, shape, ms) / most)).unwrap_or_default()
                }),
            ));
        }
    }
    let mut out = Table::new(columns.iter().map(|(name, _)| name.clone())).left(2);
    for entry in entries {
        out.row(columns.iter().map(|(_, show)| show(entry)));
    }
    out
}

type Column<'c> = Box<dyn Fn(&Entry<'_>) -> String + 'c>;

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
