//! The page that `bench` prints for people. Figures come from records and reports; nothing is computed twice.

mod counted;
mod timed;

use std::fmt::Write as _;

use ladder::record::Passed;
use ladder::text::{Paint, Table};
use ladder::{Measurement, Outcome, Shape, Work};
use serde_json::Value;

use crate::kernel::Kernel;
use crate::{Lab, recorded};

/// One kernel on the page.
pub struct Entry<'a> {
    /// As the step declares it.
    pub kernel: &'a Kernel,
    /// What it computes.
    pub work: Work,
    /// What came out.
    pub measurement: Measurement,
    /// The emulated device's report.
    pub report: Option<Value>,
}

impl Entry<'_> {
    fn passed(&self) -> Option<&Passed> {
        match &self.measurement.outcome {
            Outcome::Passed(passed) => Some(passed),
            _ => None,
        }
    }
}

/// Which step, on what, when.
pub fn header(lab: &Lab<'_>) -> String {
    let paint = Paint::for_stdout();
    let (step, run) = (lab.step, &lab.run);
    let mut out = format!(
        "{}\n{}\n\n",
        paint.bold(&format!("{} {}", step.id, step.name)),
        step.idea
    );
    let mut line = |name: &str, text: String| {
        // Writing to a string does not fail.
        let _ = writeln!(out, "{}  {text}", paint.dim(&format!("{name:6}")));
    };
    line(
        "device",
        format!(
            "{}, compute capability {}, CUDA {}",
            run.device, run.capability, run.driver
        ),
    );
    if let Some(roofline) = run.roofline {
        line(
            "limits",
            format!(
                "{:.1} TFLOP/s of multiply-adds, {:.0} GB/s of copying, measured just now",
                roofline.fp32_tflops, roofline.copy_gbs
            ),
        );
    }
    if let Some(cublas) = &run.cublas {
        line("beside", format!("cuBLAS {cublas}"));
    }
    line("host", run.host.clone());
    line("date", format!("{}, revision {}", run.date, run.revision));
    out
}

/// What came out for a shape.
pub fn case(shape: Shape, run: &ladder::Run, entries: &[Entry<'_>]) -> String {
    let paint = Paint::for_stdout();
    let title = match shape.k {
        0 => format!("{} x {} transposed", shape.m, shape.n),
        _ => format!("M-K-N = {}-{}-{}", shape.m, shape.k, shape.n),
    };
    let mut out = format!("\n{}\n", paint.bold(&title));
    out.push_str(
        &timed::table(shape, run, entries)
            .without_empty_columns()
            .render(paint),
    );
    out.push_str(&troubles(entries, paint));
    if run.emulated {
        out.push_str(&counted::tables(shape, entries, paint));
    }
    out
}

/// After everything: what real GPUs took, and what to do next.
pub fn footer(lab: &Lab<'_>) -> String {
    let paint = Paint::for_stdout();
    let mut out = recorded::tables(lab.step, paint);
    if lab.run.emulated && lab.kernels.iter().any(|kernel| kernel.code().is_some()) {
        out.push_str(&paint.dim(
            "\nThe emulated GPU runs and counts what the compiler's PTX says; it has no caches and no speed.\n",
        ));
    }
    let _ = writeln!(
        out,
        "{}",
        paint.dim(&format!("next: cargo xtask check {}", lab.step.id))
    );
    out
}

/// What went wrong, in full, and why something was not run.
fn troubles(entries: &[Entry<'_>], paint: Paint) -> String {
    let mut out = String::new();
    for entry in entries {
        let name = &entry.measurement.kernel;
        match &entry.measurement.outcome {
            Outcome::Passed(_) => {}
            Outcome::NotRun { why } => {
                let _ = writeln!(out, "  {name}: not run: {why}");
            }
            Outcome::Failed { why, details } => {
                let _ = writeln!(out, "\n{}: {why}", paint.bad(name));
                for line in details.lines() {
                    let _ = writeln!(out, "  {line}");
                }
            }
        }
    }
    out
}

/// `12 x 4`, or nothing for what has no grid.
fn extent(dims: [u32; 3]) -> String {
    match dims {
        [0, ..] => String::new(),
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("{x} x {y}"),
        [x, y, z] => format!("{x} x {y} x {z}"),
    }
}

/// Three figures, or four: `0.0123`, `1.234`, `56.7`, `1234`.
fn figure(value: f64) -> String {
    match value.abs() {
        v if !v.is_finite() => String::new(),
        0.0 => "0".into(),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        v if v >= 0.0995 => format!("{value:.3}"),
        v if v >= 0.000_995 => format!("{value:.4}"),
        _ => format!("{value:.1e}"),
    }
}

/// A time with its unit.
fn time(ms: f64) -> String {
    match ms {
        ms if ms >= 1000.0 => format!("{} s", figure(ms / 1000.0)),
        ms if ms >= 0.0995 => format!("{} ms", figure(ms)),
        ms => format!("{} us", figure(ms * 1000.0)),
    }
}

fn table<const N: usize>(headings: [&str; N]) -> Table {
    Table::new(headings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_three() {
        let shown = [0.0, 0.01234, 0.5, 1.234, 56.78, 1234.5, 3.2e-5].map(figure);
        assert_eq!(shown, ["0", "0.0123", "0.500", "1.23", "56.8", "1234", "3.2e-5"]);
    }

    #[test]
    fn times_have_the_unit_that_fits() {
        assert_eq!([0.0062, 2.7, 5600.0].map(time), ["6.20 us", "2.70 ms", "5.60 s"]);
    }

    #[test]
    fn extents_leave_out_what_is_one() {
        assert_eq!(
            [[4, 4, 1], [256, 1, 1], [0, 0, 0]].map(extent),
            ["4 x 4", "256", ""]
        );
    }
}
