//! Earlier measurements on real GPUs: records in `book/data`, shown beside the counts of the emulated device.

use std::path::{Path, PathBuf};

use catalog::files::files_ending_with;
use catalog::text::{Paint, Table, three_figures};
use catalog::{Family, STEPS, Shape, Step, Work, steps::RUST};
use records::{Outcome, Record};
use records::{Run, record::Measurement};

/// Records of real GPUs, with the names of their files.
pub(crate) fn load() -> Vec<(String, Record)> {
    let paths = folder().and_then(|folder| files_ending_with(&folder, ".json").ok()).unwrap_or_default();
    paths
        .iter()
        // The folder also holds other data: files that are not records are skipped.
        .filter_map(|path| Some((path.file_stem()?.to_string_lossy().into_owned(), Record::load(path).ok()?)))
        .filter(|(_, record)| record.runs.iter().any(|run| !run.emulated))
        .collect()
}

/// Finds `book/data`: of the checkout around the current folder, around the program, or where this was built.
fn folder() -> Option<PathBuf> {
    let here = std::env::current_dir().ok();
    let program = std::env::current_exe().ok();
    let built = Path::new(env!("CARGO_MANIFEST_DIR"));
    let starts = [here.as_deref(), program.as_deref(), Some(built)];
    let all = starts.into_iter().flatten().flat_map(Path::ancestors);
    all.map(|folder| folder.join("book/data")).find(|folder| folder.is_dir())
}

/// Sizes that the tables have columns for.
const SIZES: [usize; 6] = [256, 512, 1024, 2048, 4096, 8192];
/// Size at which kernels are compared with the yardstick.
const COMPARED: usize = 4096;

/// Returns a step's kernels, those of its neighbours, and the yardstick, as they were measured; empty when nothing was.
/// Siblings in Rust are left out, unless they are wanted.
pub(crate) fn tables(step: &Step, with_rust: bool, paint: Paint) -> String {
    let mut out = String::new();
    for (file, mut record) in load() {
        record.measurements.retain(|m| with_rust || !m.kernel.starts_with(RUST));
        // FP64 is left out: the steps are not about it.
        for family in Family::all().into_iter().filter(|family| *family != Family::Doubles) {
            let table = table(&record, step, family);
            if table.is_empty() {
                continue;
            }
            // The last run that measured this step.
            let measured = |run: &&Run| {
                let own = |m: &Measurement| m.run == run.id && m.step == step.id;
                !run.emulated && record.measurements.iter().any(own)
            };
            let Some(run) = record.runs.iter().rev().find(measured) else { continue };
            // The yardstick's row covers all kernels that it was timed beside.
            let days = record.days(measured_of(&record, family));
            let head = format!("Recorded on a real GPU: {}, {days} (book/data/{file}.json)", run.device);
            out.push_str(&format!("\n{}\n", paint.bold(&head)));
            out.push_str(&paint.dim(&format!("  {}, caches warm, median", unit(family))));
            out.push('\n');
            out.push_str(&table.without_empty_columns().render(paint));
        }
    }
    out
}

/// Returns the unit of a table's numbers.
fn unit(family: Family) -> String {
    match family {
        Family::Products { .. } if family == Family::FP32 => "TFLOP/s of products of N x N x N".into(),
        Family::Products { .. } | Family::Doubles => format!("TFLOP/s of products of N x N x N in {family}"),
        Family::Transposes => "GB/s of transposes of N x N".into(),
        Family::Cpu => "GFLOP/s of N x N x N products on its host's CPU".into(),
    }
}

fn measured_of(record: &Record, family: Family) -> impl Iterator<Item = &Measurement> {
    let has = move |m: &&Measurement| {
        let step = catalog::find(&m.step).ok();
        let kernel = step.and_then(|step| step.kernel(&m.kernel));
        kernel.is_some_and(|kernel| kernel.work.family() == family)
    };
    record.measurements.iter().filter(has)
}

fn square(family: Family, size: usize) -> Shape {
    let k = if family == Family::Transposes { 0 } else { size };
    Shape { m: size, n: size, k }
}

/// Returns the rate of a launch that takes `ms` milliseconds, in the table's unit.
fn rate_of(family: Family, shape: Shape, ms: f64) -> f64 {
    match family {
        Family::Products { .. } | Family::Doubles => Work::Sgemm.flops(shape) / ms * 1e-9,
        Family::Transposes => Work::Transpose.bytes(shape) / ms * 1e-6,
        Family::Cpu => Work::Cpu.flops(shape) / ms * 1e-6,
    }
}

/// Formats a percentage with as many digits as the book's chapters have.
fn percent(part: f64) -> String {
    let decimals = match part {
        ..1.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    format!("{part:.decimals$}%")
}

fn table(record: &Record, step: &Step, family: Family) -> Table {
    let sizes: Vec<usize> =
        SIZES.into_iter().filter(|size| record.measurements.iter().any(|m| m.shape == square(family, *size))).collect();
    let mut headings = vec!["".to_owned(), "kernel".to_owned()];
    headings.extend(sizes.iter().map(usize::to_string));
    headings.push(format!("of yardstick at {COMPARED}"));
    let mut table = Table::new(headings).left(2);
    let number = step.number();
    let own = |s: &&Step| s.kernels.iter().any(|kernel| kernel.work.family() == family);
    if !own(&step) {
        return Table::default();
    }
    // A page about the yardstick shows the kernels beside it.
    let holds_the_yardstick = step.kernels.iter().any(|kernel| kernel.work == Work::Cublas);
    let near = STEPS.iter().filter(|s| holds_the_yardstick || s.number().abs_diff(number) <= 1).filter(own);
    for neighbour in near {
        let own = neighbour.kernels.iter().filter(|kernel| kernel.work.family() == family);
        let own = own.filter(|kernel| kernel.work != Work::Cublas);
        for name in own.flat_map(|kernel| [kernel.name.to_owned(), format!("{RUST}{}", kernel.name)]) {
            let of = |size: usize| record.measurement(&name, square(family, size)).map(|m| &m.outcome);
            if !sizes.iter().any(|size| of(*size).is_some()) {
                continue;
            }
            let mut row = vec![neighbour.id.to_owned(), name.clone()];
            row.extend(sizes.iter().map(|size| match of(*size) {
                Some(Outcome::Passed(passed)) => {
                    let ms = passed.hot.as_ref().map(records::Samples::median);
                    ms.map_or(String::new(), |ms| three_figures(rate_of(family, square(family, *size), ms)))
                }
                Some(Outcome::NotRun { .. }) => "not run".into(),
                Some(Outcome::Failed { .. }) => "wrong".into(),
                None => String::new(),
            }));
            row.push(match of(COMPARED) {
                Some(Outcome::Passed(passed)) => match (&passed.hot, &passed.yardstick) {
                    (Some(hot), Some(other)) => percent(100.0 * other.hot.median() / hot.median()),
                    _ => String::new(),
                },
                _ => String::new(),
            });
            if neighbour.id == step.id {
                row[1] = format!("{} <", row[1]);
            }
            table.row(row);
        }
    }
    if table.is_empty() {
        return table;
    }
    yardstick(record, family, &sizes, &mut table);
    table
}

/// Adds the yardstick's own row: the median over the kernels that it was measured with.
fn yardstick(record: &Record, family: Family, sizes: &[usize], table: &mut Table) {
    let mut name = None;
    let cells: Vec<String> = sizes
        .iter()
        .map(|size| {
            let shape = square(family, *size);
            let medians: Vec<f64> = measured_of(record, family)
                .filter(|m| m.shape == shape)
                .filter_map(|m| match &m.outcome {
                    Outcome::Passed(passed) => passed.yardstick.as_ref(),
                    _ => None,
                })
                .map(|other| {
                    name = Some(other.name.clone());
                    other.hot.median()
                })
                .collect();
            catalog::statistics::median(medians).map_or(String::new(), |ms| three_figures(rate_of(family, shape, ms)))
        })
        .collect();
    if let Some(name) = name {
        let mut row = vec!["".to_owned(), name];
        row.extend(cells);
        table.row(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_kinds_are_passed_over() {
        // The folder is there in every checkout, with data of the emulator's speed.
        assert!(folder().is_some());
        assert!(load().iter().all(|(_, record)| record.runs.iter().any(|run| !run.emulated)));
    }
}
