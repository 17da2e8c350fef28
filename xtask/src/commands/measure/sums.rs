//! `cargo xtask sums`: checksums of C of all kernels on small shapes, beside those of the device on record.
//!
//! Copied to a folder, `xtask` and the steps do it without Rust; what they print with `--json` there becomes a record
//! with `--from` in a checkout.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use catalog::STEPS;
use catalog::text::{Paint, Table};
use records::sums::{Sum, SumComparison, SumsRecord, short};
use records::{Run, record::Line};
use step_cli::PassedOn;
use xtask_support::CommandOutcome;
use xtask_support::output::{self, Status, Stop};
use xtask_support::{interrupt, kernels, paths, programs, step_args};

#[derive(clap::Args)]
#[command(after_help = "Examples: cargo xtask sums v12 --emulate\n          cargo xtask sums --save\n          \
    cargo xtask sums --from sums.jsonl --save")]
pub(crate) struct Args {
    /// Steps: `v05`, `5` or `bank-conflict-free`; all steps when left out
    #[arg(value_name = "STEP")]
    steps: Vec<String>,
    #[command(flatten)]
    device: PassedOn<step_cli::Device>,
    /// Save the sums in book/data
    #[arg(long)]
    save: bool,
    /// Print one JSON record per line
    #[arg(long)]
    json: bool,
    /// Read the output of `sums --json` on another machine; run nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["steps", "emulate"])]
    from: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<CommandOutcome> {
    let instead = || format!("try: {} sums --json > sums.jsonl", paths::command_name());
    let folder = args.save.then(|| paths::record_folder(&instead())).transpose()?;
    let mut session = Session {
        reference: reference()?,
        found: SumsRecord::default(),
        skipped: Vec::new(),
        failed: Vec::new(),
        folder,
    };
    let failures = match &args.from {
        Some(path) => session.read(path).map(|()| Vec::new())?,
        None => session.start(args)?,
    };
    if !args.json {
        output::print(&session.table(Paint::for_stdout()))?;
    }
    if let Some(saved) = session.saved() {
        output::note(&saved);
    }
    let differences = session.differences();
    for told in differences.iter().chain(&session.failed) {
        output::note(told);
    }
    let differs = session.is_expected_to_agree() && !differences.is_empty();
    if differs || !session.failed.is_empty() {
        failures.iter().for_each(|failure| output::error(failure));
        Ok(CommandOutcome::Failed)
    } else {
        programs::passed_unless(&failures, STEPS.len())
    }
}

/// Returns the record to compare with; empty outside of a checkout.
fn reference() -> Result<SumsRecord> {
    let Some(root) = paths::checkout() else { return Ok(SumsRecord::default()) };
    Ok(SumsRecord::references(&root.join("book/data"))?)
}

struct Session {
    /// As it was before anything ran.
    reference: SumsRecord,
    found: SumsRecord,
    /// Records of kernels that did not run.
    skipped: Vec<Sum>,
    /// Failures of kernels, step by step.
    failed: Vec<String>,
    folder: Option<PathBuf>,
}

impl Session {
    /// Runs the steps. Returns why some of them could not.
    fn start(&mut self, args: &Args) -> Result<Vec<String>> {
        let steps = step_args::steps_or_all("sums", &args.steps)?;
        let steps = step_args::with_kernels(&steps)?;
        let programs = kernels::programs(&steps)?;
        let mut words = ["sums", "--json"].map(String::from).to_vec();
        words.extend(args.device.words.iter().cloned());
        let (status, mut failures) = (Status::on_stderr(), Vec::new());
        for step in steps {
            status.set(&format!("{}  {}", step.id, step.name));
            let ended = programs.stream_records(&[], step, &words, &status, |text, line| {
                if args.json {
                    output::print(&format!("{text}\n"))?;
                }
                self.take(line);
                Ok(())
            });
            // Includes the sums that a step printed before it was stopped.
            self.save()?;
            if interrupt::happened() {
                let what = self.saved();
                let what = what.unwrap_or_else(|| format!("{} was not finished", step.id));
                return Err(Stop::Interrupted(what).into());
            }
            let ended = ended?;
            match ended.code {
                Some(0) => {}
                // A kernel went wrong; the step has gone on with the others.
                Some(1) => self.failed.push(ended.message(step)),
                _ => failures.push(ended.could_not_run(step)),
            }
        }
        status.clear();
        Ok(failures)
    }

    fn read(&mut self, path: &Path) -> Result<()> {
        let text = catalog::files::read_text(path).with_context(|| format!("reading {}", paths::display_path(path)))?;
        for (number, line) in (1..).zip(text.lines()) {
            let line = serde_json::from_str(line)
                .with_context(|| format!("{}:{number} is not a record of a step", paths::display_path(path)))?;
            self.take(line);
        }
        self.save()
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::Run(run) => {
                self.found.runs.retain(|known| known.id != run.id);
                self.found.runs.push(*run);
            }
            Line::Sum(sum) if sum.not_run.is_some() => self.skipped.push(*sum),
            Line::Sum(sum) => self.found.add(*sum),
            Line::Measurement(_) | Line::Check(_) | Line::Launched(_) => {}
        }
    }

    /// Adds what there is to the files of the machines that computed it.
    fn save(&self) -> Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        for run in &self.found.runs {
            let sums = self.found.sums.iter().filter(|sum| sum.run == run.id);
            let new = SumsRecord { runs: vec![run.clone()], sums: sums.cloned().collect(), ..SumsRecord::default() };
            if !new.sums.is_empty() {
                SumsRecord::merge_into(&folder.join(file(run)), &new)?;
            }
        }
        Ok(())
    }

    /// Describes what was saved and where; `None` without `--save`.
    fn saved(&self) -> Option<String> {
        let folder = self.folder.as_ref()?;
        let runs = self.found.runs.iter().filter(|run| self.found.sums.iter().any(|sum| sum.run == run.id));
        let files = catalog::distinct(runs.map(|run| paths::display_path(&folder.join(file(run)))));
        Some(match (self.found.sums.len(), files.as_slice()) {
            (0, _) => "nothing ran, and no record was changed".into(),
            (1, files) => format!("1 sum is saved in {}", files.join(" and ")),
            (n, files) => format!("{n} sums are saved in {}", files.join(" and ")),
        })
    }

    fn differences(&self) -> Vec<String> {
        let sums = self.found.sums.iter();
        sums.filter_map(|sum| self.reference.difference(sum)).collect()
    }

    /// Returns whether the devices are of the kind on record. Tensor cores of other kinds may add in other ways.
    fn is_expected_to_agree(&self) -> bool {
        let mut kinds = self.reference.runs.iter().map(|run| &run.capability);
        kinds.any(|kind| self.found.runs.iter().any(|run| run.capability == *kind))
    }

    /// Returns a line per kernel and shape, with the columns that something is known for.
    fn table(&self, paint: Paint) -> String {
        let sums = &self.found.sums;
        let device = self.reference.runs.first().map(|run| run.device.as_str());
        let has_cublas = sums.iter().any(|sum| sum.cublas_sha256.is_some());
        let mut heading = vec!["step", "kernel", "shape", "C"];
        heading.extend(has_cublas.then_some("cuBLAS"));
        heading.extend(device);
        let mut table = Table::new(heading).left(6);
        for sum in sums {
            let mut row = [&sum.step, &sum.kernel, &sum.shape.to_string()].map(String::clone).to_vec();
            row.push(short(&sum.c_sha256).to_owned());
            if has_cublas {
                row.push(match sum.is_cublas() {
                    Some(true) => "same bits".into(),
                    Some(false) => "other bits".into(),
                    None => String::new(),
                });
            }
            if device.is_some() {
                row.push(match self.reference.compare(sum) {
                    SumComparison::Same => "same bits".into(),
                    SumComparison::Other(_) => paint.bad("other bits"),
                    SumComparison::Missing => paint.dim("not on record"),
                });
            }
            table.row(row);
        }
        let mut text = if table.is_empty() { String::new() } else { table.render(paint) };
        text.push_str(&self.not_run(paint));
        text
    }

    fn not_run(&self, paint: Paint) -> String {
        let mut groups: Vec<(&Sum, Vec<&str>, Vec<String>)> = Vec::new();
        for sum in &self.skipped {
            let (kernel, shape) = (sum.kernel.as_str(), sum.shape.to_string());
            let known =
                groups.iter_mut().find(|(first, ..)| (&first.step, &first.not_run) == (&sum.step, &sum.not_run));
            match known {
                Some((_, kernels, shapes)) => {
                    if !kernels.contains(&kernel) {
                        kernels.push(kernel);
                    }
                    if !shapes.contains(&shape) {
                        shapes.push(shape);
                    }
                }
                None => groups.push((sum, vec![kernel], vec![shape])),
            }
        }
        let line = |(first, kernels, shapes): &(&Sum, Vec<&str>, Vec<String>)| {
            let which = match kernels.as_slice() {
                [only] => (*only).to_owned(),
                several => format!("{} kernels", several.len()),
            };
            let why = first.not_run.as_deref().unwrap_or_default();
            let why = format!("not run on {}: {why}", shapes.join(", "));
            format!("  {}  {which}  {}\n", first.step, paint.dim(&why))
        };
        groups.iter().map(line).collect()
    }
}

fn file(run: &Run) -> String {
    format!("{}-sums.json", run.slug())
}
