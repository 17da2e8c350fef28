//! `{{#recorded}}`: tables of the recorded numbers of a step.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Context as _, Result, ensure};
use catalog::{CatalogKernel, Family, Shape};
use records::record::VerifiedRun;
use records::{Measurement, Outcome, Record, Run};

use crate::directives::record_lookup::{Records, name_of, value};
use crate::kernel_args::{kernels_and_sizes, parse_shape};
use crate::markdown::Table;
use crate::quote::{Sources, run_source};
use catalog::text::escaped;

impl Records {
    /// Returns a table for each kind of work in a step, one column per device. Words select sizes and kernels.
    pub(crate) fn table(&self, args: &[&str], sources: &mut Sources) -> Result<String> {
        let (step, choice) = args.split_first().context("`{{#recorded}}` takes a step: {{#recorded v05}}")?;
        let step = catalog::find(step)?;
        let (chosen, sizes) = kernels_and_sizes(step, choice)?;
        let mut out = String::new();
        let real = self.real();
        let (main, others) = real.split_first().map_or((None, &[][..]), |(a, b)| (Some(a), b));
        for family in Family::all() {
            let kernels: Vec<_> = chosen.iter().filter(|k| k.work.family() == family).copied().collect();
            if let Some(main) = main {
                out.push_str(&one_table(main, others, family, &kernels, &sizes, sources)?);
            }
        }
        ensure!(
            !out.is_empty(),
            "nothing was recorded for `{{{{#recorded {}}}}}`; measure it with: cargo xtask bench {} --save",
            args.join(" "),
            step.id
        );
        Ok(out)
    }
}

fn title(family: Family) -> String {
    match family {
        Family::Transposes => "Transposes".into(),
        _ => format!("C = A·B in {family}"),
    }
}

/// A column: its title, and the name of the quantity in `{{#n}}`.
type Column = (&'static str, &'static str);

/// Returns the columns beside the time: the rate, and the yardstick.
fn columns(family: Family) -> (Column, Option<Column>) {
    match family {
        Family::Transposes => (("GB/s", "gbs"), Some(("of a copy", "of_copy"))),
        Family::Cpu => (("GFLOP/s", "gflops"), None),
        Family::Products { .. } | Family::Doubles => (("TFLOP/s", "tflops"), Some(("of cuBLAS", "of_cublas"))),
    }
}

/// A shape, a kernel, and its measurement on the book's main device.
type TimedRow<'r> = (Shape, &'r CatalogKernel, Option<&'r Measurement>);

/// Returns a kernel's measurements on real GPUs.
fn measured<'r>(record: &'r Record, kernel: &CatalogKernel) -> Vec<&'r Measurement> {
    let all = record.measurements.iter().filter(|measurement| measurement.kernel == kernel.name);
    all.filter(|measurement| record.run_of(measurement).is_some_and(|run| !run.emulated)).collect()
}

struct Beside<'r> {
    record: &'r Record,
    /// Short name of the GPU, such as `H100`.
    name: String,
}

impl<'r> Beside<'r> {
    fn among(records: &[&'r Record], rows: &[TimedRow<'_>]) -> Vec<Self> {
        let has = |record: &&&Record| {
            let timed = |(shape, kernel, _): &TimedRow<'_>| {
                record.measurement(kernel.name, *shape).is_some_and(|m| matches!(m.outcome, Outcome::Passed(_)))
            };
            rows.iter().any(timed)
        };
        records.iter().filter(has).map(|record| Self { record, name: name_of(record).to_owned() }).collect()
    }

    /// Returns cells of a kernel at a shape, and the sources of their numbers.
    fn cells(&self, shape: Shape, kernel: &CatalogKernel, quantities: &[&str]) -> (Vec<String>, Option<String>) {
        let found = self.record.measurement(kernel.name, shape).and_then(|m| match &m.outcome {
            Outcome::Passed(passed) => Some((self.record.run_of(m)?, passed)),
            _ => None,
        });
        let filled = |what| found.as_ref().map(|(run, passed)| cell(kernel, shape, run, passed, what));
        let cells = quantities.iter().map(|what| filled(what).unwrap_or_else(|| "–".into()));
        (cells.collect(), found.map(|(run, _)| run_source(run, kernel.work)))
    }
}

fn one_table(
    record: &Record, others: &[&Record], family: Family, kernels: &[&CatalogKernel], sizes: &[&str],
    sources: &mut Sources,
) -> Result<String> {
    let mut rows: Vec<TimedRow<'_>> = Vec::new();
    for kernel in kernels {
        let wanted: Vec<Shape> = sizes.iter().map(|size| parse_shape(kernel.name, size)).collect::<Result<_, _>>()?;
        let is_wanted = |shape: &Shape| wanted.is_empty() || wanted.contains(shape);
        let here = measured(record, kernel);
        if here.is_empty() {
            // Includes kernels that only other devices have run.
            let elsewhere = others.iter().map(|other| measured(other, kernel));
            let shapes = elsewhere.flatten().map(|measurement| measurement.shape).filter(is_wanted);
            let shapes: BTreeSet<Shape> = shapes.collect();
            rows.extend(shapes.into_iter().map(|shape| (shape, *kernel, None)));
        }
        let here = here.into_iter().filter(|measurement| is_wanted(&measurement.shape));
        rows.extend(here.map(|measurement| (measurement.shape, *kernel, Some(measurement))));
    }
    if rows.is_empty() {
        return Ok(String::new());
    }
    // Sorted by volume, so that a tall shape does not come after all square ones; then in the order of the step.
    rows.sort_by_key(|(shape, kernel, _)| {
        let place = kernels.iter().position(|k| k.name == kernel.name);
        (shape.m * shape.n * shape.k.max(1), *shape, place)
    });
    let ((rate, rate_key), yardstick) = columns(family);
    // The yardstick has no column beside itself.
    let has_yardstick = |(.., measurement): &TimedRow<'_>| match measurement.map(|measurement| &measurement.outcome) {
        Some(Outcome::Passed(passed)) => passed.yardstick.is_some(),
        _ => false,
    };
    let (of, of_key) = yardstick.filter(|_| rows.iter().any(has_yardstick)).unzip();
    let with_kernel = kernels.len() > 1;
    let mut head = vec!["size".to_owned()];
    head.extend(with_kernel.then(|| "kernel".to_owned()));
    head.extend([">time, ms".to_owned(), format!(">{rate}")]);
    head.extend(of.map(|of| format!(">{of}")));
    head.push(">spread".to_owned());
    let beside = Beside::among(others, &rows);
    let beside_keys: Vec<&str> = std::iter::once(rate_key).chain(of_key).collect();
    let n_own = head.len();
    for other in &beside {
        head.push(format!(">{}: {rate}", other.name));
        head.extend(of.map(|of| format!(">{}: {of}", other.name)));
    }
    let mut out = Table::new(head.join(" | ")).to_string();
    let mut runs = BTreeSet::new();
    // Pairs of a reason and a kernel.
    let mut without_times: Vec<(String, String)> = Vec::new();
    for (shape, kernel, measurement) in rows {
        let mut cells = vec![shape.short()];
        cells.extend(with_kernel.then(|| format!("`{}`", kernel.name)));
        let about = format!("`{}` at {}", kernel.name, shape.short());
        let run = measurement.map(|measurement| {
            let run = record.run_of(measurement);
            run.with_context(|| format!("a measurement of {} names no run", kernel.name))
        });
        let run = run.transpose()?;
        runs.extend(run.map(|run| run_source(run, kernel.work)));
        match run.zip(measurement).map(|(run, measurement)| (run, &measurement.outcome)) {
            None => {}
            Some((run, Outcome::Passed(passed))) => {
                let numbers = ["ms", rate_key].into_iter().chain(of_key).chain(["spread"]);
                cells.extend(numbers.map(|what| cell(kernel, shape, run, passed, what)));
            }
            Some((_, Outcome::Failed { why, .. })) => {
                cells.push("wrong".into());
                without_times.push((format!("wrong: {}", escaped(why)), about));
            }
            Some((_, Outcome::NotRun { why })) => {
                cells.push("–".into());
                without_times.push((format!("not run, {}", escaped(why)), about));
            }
        }
        cells.resize(n_own, "–".into());
        for other in &beside {
            let (numbers, from) = other.cells(shape, kernel, &beside_keys);
            cells.extend(numbers);
            runs.extend(from);
        }
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    let runs: Vec<String> = runs.into_iter().collect();
    sources.extend(runs.iter().cloned());
    for note in notes(without_times) {
        let _ = write!(out, "\n{note}");
    }
    let about_duels = if out.contains(DUEL_MARK) {
        " \\* [In turns, after pauses](v12-measured.md#with-and-without-pauses), as the times; other percentages are of \
         samples that alternate."
    } else {
        ""
    };
    Ok(format!(
        "{}, {}. Kernel time with warm caches: the median; the spread is that of the middle half.{about_duels}\n\n{out}\n",
        title(family),
        runs.join("; ")
    ))
}

/// Formats a number without its unit, and marks what comes from a duel.
fn cell(kernel: &CatalogKernel, shape: Shape, run: &Run, passed: &VerifiedRun, what: &str) -> String {
    let Ok(text) = value(kernel, shape, run, passed, what) else { return "–".into() };
    let is_duel = what == "of_cublas" && passed.duel().is_some();
    format!("{}{}", bare(&text), if is_duel { DUEL_MARK } else { "" })
}

/// Follows a part of cuBLAS's speed that a duel gave.
const DUEL_MARK: &str = "\\*";

/// Formats one sentence for each reason.
fn notes(mut all: Vec<(String, String)>) -> Vec<String> {
    all.sort();
    let mut notes: Vec<(String, Vec<String>)> = Vec::new();
    for (why, what) in all {
        match notes.last_mut() {
            Some((last, quantities)) if *last == why => quantities.push(what),
            _ => notes.push((why, vec![what])),
        }
    }
    let note = |(why, quantities): &(String, Vec<String>)| format!("{}: {why}.\n", quantities.join(", "));
    notes.iter().map(note).collect()
}

/// Removes the unit, which is in the column's title; percentages keep it.
fn bare(text: &str) -> String {
    match text.split_once(' ') {
        Some((number, "%")) => format!("{number} %"),
        Some((number, _)) => number.to_owned(),
        None => text.to_owned(),
    }
}
