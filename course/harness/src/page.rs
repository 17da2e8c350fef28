//! The page that `bench` prints for people. Figures come from records and reports; nothing is computed twice.

mod counted;
mod limits;
mod predicted;
mod recorded;
#[cfg(test)]
mod tests;
mod timed;

use std::fmt::Write as _;

use catalog::text::Paint;
use catalog::{Shape, Work};
use records::record::VerifiedRun;
use records::{Measurement, Outcome};

use crate::step_run::{StepRun, source_path};
use crate::{device::counters::Report, kernel::Kernel, measure::machine};

/// One kernel on the page.
pub(crate) struct Entry<'a> {
    pub kernel: &'a Kernel,
    pub work: Work,
    pub measurement: Measurement,
    pub report: Option<Report>,
}

impl Entry<'_> {
    fn passed(&self) -> Option<&VerifiedRun> {
        match &self.measurement.outcome {
            Outcome::Passed(passed) => Some(passed),
            _ => None,
        }
    }
}

/// Returns the head of the page: the step, the device and the date.
pub(crate) fn header(step_run: &StepRun<'_>) -> String {
    let paint = Paint::for_stdout();
    let (step, run) = (step_run.step, &step_run.run);
    let mut out = format!("{}\n{}\n\n", paint.bold(&format!("{} {}", step.id, step.name)), step.idea);
    let mut line = |name: &str, text: String| {
        // Writing to a string does not fail.
        let _ = writeln!(out, "{}  {text}", paint.dim(&format!("{name:6}")));
    };
    line("device", format!("{}, compute capability {}, CUDA {}", run.device, run.capability, run.driver));
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

/// Returns the page of results for a shape.
pub(crate) fn case(shape: Shape, run: &records::Run, entries: &[Entry<'_>]) -> String {
    let paint = Paint::for_stdout();
    let title = match shape.k {
        0 => format!("{} x {} transposed", shape.m, shape.n),
        _ => format!("MxNxK = {}x{}x{}", shape.m, shape.n, shape.k),
    };
    let mut out = format!("\n{}\n", paint.bold(&title));
    out.push_str(&timed::table(shape, run, entries).without_empty_columns().render(paint));
    let duels = timed::duels(entries);
    if !duels.is_empty() {
        let heading =
            "Timed in turn with its competitor: relative speed, with the interval that holds it in 95 of 100 cases";
        let _ = writeln!(out, "{}", paint.bold(heading));
        out.push_str(&duels.render(paint));
    }
    out.push_str(&troubles(entries, paint));
    if run.emulated {
        out.push_str(&counted::tables(shape, entries, paint));
        out.push_str(&predicted::tables(shape, entries, &recorded::load(), paint));
    }
    out
}

/// Returns the end of the page: the times that real GPUs took, and what to do next.
pub(crate) fn footer(step_run: &StepRun<'_>, ran: PassedKernels) -> String {
    let paint = Paint::for_stdout();
    let with_rust = step_run.kernels.iter().any(|kernel| kernel.is_rust);
    let mut out = recorded::tables(step_run.step, with_rust, paint);
    if step_run.run.emulated && step_run.kernels.iter().any(|kernel| kernel.code().is_some()) {
        out.push_str(&paint.dim(&ground(step_run, ran)));
    }
    let id = step_run.step.id;
    if !with_rust && step_run.kernels.iter().any(|kernel| kernel.in_rust().is_some()) {
        let _ = writeln!(out, "{}", paint.dim(&format!("the same in Rust: cargo xtask bench {id} --lang both")));
    }
    let _ = writeln!(out, "{}", paint.dim(&format!("next: cargo xtask check {id}")));
    out
}

/// Numbers of kernels that passed, and of those that passed as machine code too.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PassedKernels {
    kernels: usize,
    as_machine_code: usize,
}

impl PassedKernels {
    pub(crate) fn add(&mut self, entry: &Entry<'_>) {
        let Some(passed) = entry.passed().filter(|_| entry.kernel.code().is_some()) else { return };
        let code = passed.machine_code.as_deref();
        self.kernels += 1;
        self.as_machine_code += usize::from(code.is_some_and(|code| code.counters.is_some()));
    }
}

/// Names the sources of the emulated GPU's figures.
fn ground(step_run: &StepRun<'_>, ran: PassedKernels) -> String {
    let mut missing =
        step_run.kernels.iter().filter(|kernel| kernel.code().is_some() && machine::committed(kernel).is_none());
    match (&step_run.ptx, &step_run.cubins.own, missing.next()) {
        (None, None, Some(kernel)) => {
            let source = kernel.code().and_then(|code| source_path(code.ptx)).unwrap_or("FILE");
            format!(
                "\nThe emulated GPU counted what the PTX says. Exact instructions and a predicted time need machine code:\n  \
                 cargo xtask ptx {source}\n"
            )
        }
        (Some(_), None, _) => "\nThe emulated GPU counted what the PTX says; with --cubin FILE, machine code.\n".into(),
        _ => match (ran.as_machine_code, ran.kernels) {
            (0, _) => "\nThe emulated GPU counted what the PTX says: it does not run this machine code.\n".into(),
            (some, all) if some < all => format!(
                "\nThe emulated GPU ran the machine code for sm_90 of {some} out of {all} kernels and counted its \
                 instructions, of the\nothers those of the PTX; times are a model's.\n"
            ),
            _ => {
                "\nThe emulated GPU ran the machine code for sm_90 and counted its instructions; times are a model's.\n"
                    .into()
            }
        },
    }
}

/// Failures in full, and reasons why something was not run.
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

/// Formats an extent as `12 x 4`; empty without a grid.
fn extent(dims: [u32; 3]) -> String {
    match dims {
        [0, ..] => String::new(),
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("{x} x {y}"),
        [x, y, z] => format!("{x} x {y} x {z}"),
    }
}

/// Formats a number with three or four figures: `0.0123`, `1.234`, `56.7`, `1234`.
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

fn time(ms: f64) -> String {
    match ms {
        ms if ms >= 1000.0 => format!("{} s", figure(ms / 1000.0)),
        ms if ms >= 0.0995 => format!("{} ms", figure(ms)),
        ms => format!("{} us", figure(ms * 1000.0)),
    }
}

fn heading(title: &str, note: &str, paint: Paint) -> String {
    format!("\n{}\n{}\n", paint.bold(title), paint.dim(&format!("  {note}")))
}
