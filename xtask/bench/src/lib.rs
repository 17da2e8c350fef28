//! `cargo xtask bench`: a step's own page, or one table over several steps; and the records of both.
//!
//! It is a crate with a program of its own, because it is the first command that a reader runs: neither the tasks nor
//! the other commands are built for it. `xtask` has it too, for its help and for folders of copied programs.

#![forbid(unsafe_code)]
#![warn(clippy::print_stderr)]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use catalog::{Step, text::Paint};
use records::Run;
use records::record::{Line, Measurement, Outcome, Record};
use step_cli::PassedOn;
use xtask_support::CommandOutcome;
use xtask_support::output::{self, Status, Stop};
use xtask_support::programs::{CommandOutput, Programs};
use xtask_support::{interrupt, kernels, paths, programs, step_args, table};

/// Command line of `bench`.
#[derive(clap::Args)]
#[command(after_help = "Examples: cargo xtask bench v05\n          \
    cargo xtask bench v04 v05 --size 1024,1025x1023x1021\n          \
    cargo xtask bench v08 --size 30000x333\n          cargo xtask bench all --save")]
pub struct Args {
    /// Steps: `v05`, `5`, `bank-conflict-free`, or `all`
    #[arg(value_name = "STEP")]
    steps: Vec<String>,
    #[command(flatten)]
    bench: PassedOn<step_cli::BenchOptions>,
    #[command(flatten)]
    kernels: PassedOn<step_cli::Kernels>,
    #[command(flatten)]
    device: PassedOn<step_cli::Device>,
    /// Save the results in book/data; without sizes, run at all recorded sizes
    #[arg(long)]
    save: bool,
    /// With --save: leave out what the record has of the same code since DAY, such as 2026-11-29
    #[arg(long, value_name = "DAY", requires = "save")]
    since: Option<String>,
    /// Print one JSON record per line
    #[arg(long)]
    json: bool,
}

/// Runs the steps, and saves their measurements where that is asked for.
pub fn run(args: &Args) -> Result<CommandOutcome> {
    let steps = step_args::steps("bench", &args.steps)?;
    let shapes = step_args::shapes(&args.bench.options.sizes, &steps)?;
    let records = args.save.then(Records::open).transpose()?;
    let programs = kernels::programs(&steps)?;
    let answers = Answers(std::env::temp_dir().join(format!("tile-answers.{}", std::process::id())));
    let shared = (steps.len() > 1).then(|| answers.0.clone());
    let programs = programs.sharing(shared);

    let mut words = vec!["bench".to_owned()];
    let passed = [&args.bench.words, &args.kernels.words, &args.device.words];
    words.extend(passed.into_iter().flatten().cloned());
    if args.save && shapes.is_empty() {
        words.push("--recorded-shapes".into());
    }
    if let Some((records, day)) = records.as_ref().zip(args.since.as_ref()) {
        let folder = records.folder.display().to_string();
        words.extend(["--unless-in".to_owned(), folder, "--since".to_owned(), day.clone()]);
    }
    for path in kernels::before(&steps) {
        words.extend(["--before".to_owned(), path.display().to_string()]);
    }
    match (steps.as_slice(), args.json, &records) {
        ([step], false, None) => page(&programs, step, &words),
        _ => {
            words.push("--json".into());
            run_several(args, &programs, &steps, &words, records)
        }
    }
}

/// A folder where the steps keep reference answers for each other, made by the first that keeps one, gone at the end.
struct Answers(PathBuf);

impl Drop for Answers {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs one step, which prints its own page.
fn page(programs: &Programs, step: &Step, words: &[String]) -> Result<CommandOutcome> {
    let status = programs.run_on_terminal(step, words)?;
    if interrupt::happened() {
        return Err(Stop::Interrupted(format!("{} was not finished", step.id)).into());
    }
    match status.code() {
        Some(0) => Ok(CommandOutcome::Passed),
        Some(1) => Ok(CommandOutcome::Failed),
        // The step has printed the reason.
        Some(2) => Err(Stop::Usage(format!("{} did not run; see its output above", step.id)).into()),
        Some(_) => {
            Err(anyhow!("{} could not run; see what is missing here: {} doctor", step.id, paths::command_name()))
        }
        None => Err(anyhow!("{} was killed by the system ({status})", step.id)),
    }
}

/// Runs several steps, or keeps records: their lines are gathered, and shown as one table.
fn run_several(
    args: &Args, programs: &Programs, steps: &[&'static Step], words: &[String], mut records: Option<Records>,
) -> Result<CommandOutcome> {
    let status = Status::on_stderr();
    let mut all = Record::default();
    let mut failures = Vec::new();
    for step in steps {
        status.set(&format!("{}  {}", step.id, step.name));
        let mut current: Option<Run> = None;
        let ended = programs.stream_records(&[], step, words, &status, |text, line| {
            if args.json {
                print(&format!("{text}\n"), args.save)?;
            }
            match &line {
                Line::Run(run) => current = Some(run.as_ref().clone()),
                Line::Measurement(one) => progress(&status, one, current.as_ref()),
                Line::Check(_) | Line::Launched(_) | Line::Sum(_) => {}
            }
            if let Some(records) = &mut records {
                records.add(line.clone());
                records.save_now_and_then()?;
            }
            all.add(line);
            Ok(())
        });
        // Includes the lines that a step printed before it was stopped.
        if let Some(records) = &mut records {
            records.save()?;
        }
        if interrupt::happened() {
            let what = match &records {
                Some(records) => records.summary(),
                None => format!("{} was not finished", step.id),
            };
            return Err(Stop::Interrupted(what).into());
        }
        failures.extend(failure(step, &ended?, &all));
    }
    if !args.json {
        print(&table::measurements(&all, Paint::for_stdout()), args.save)?;
    }
    match &records {
        Some(records) if records.elsewhere => failures.push(format!(
            "{} would not take them: {}",
            paths::display_path(&records.folder),
            records.summary()
        )),
        Some(records) => output::note(&records.summary()),
        None => {}
    }
    let failed = |one: &&Measurement| matches!(one.outcome, Outcome::Failed { .. });
    match all.measurements.iter().find(failed) {
        Some(Measurement { kernel, shape, outcome: Outcome::Failed { why, details }, .. }) => {
            output::note(&format!("\n{kernel} {shape} failed: {why}\n{details}"));
            failures.iter().for_each(|failure| output::error(failure));
            Ok(CommandOutcome::Failed)
        }
        _ => programs::passed_unless(&failures, steps.len()),
    }
}

/// Prints what was measured. With `--save`, a closed pipe does not stop the measuring.
fn print(text: &str, save: bool) -> Result<()> {
    match output::print(text) {
        Err(error) if !save => Err(error),
        _ => Ok(()),
    }
}

/// Returns why a step neither passed nor failed, unless its lines contain the reason.
fn failure(step: &Step, ended: &CommandOutput, all: &Record) -> Option<String> {
    let mut own = all.measurements.iter().filter(|one| one.step == step.id);
    match ended.code {
        Some(0) => None,
        Some(1) if own.any(|one| matches!(one.outcome, Outcome::Failed { .. })) => None,
        Some(3) if own.any(|one| matches!(one.outcome, Outcome::NotRun { .. })) => None,
        _ => Some(ended.could_not_run(step)),
    }
}

/// Prints a line per measurement while it goes on; on a terminal the last one, elsewhere all of them.
fn progress(status: &Status, one: &Measurement, run: Option<&Run>) {
    let result = match &one.outcome {
        Outcome::Passed(passed) => match (&passed.hot, run.is_some_and(|run| run.emulated)) {
            (Some(hot), false) => format!("{} ms", table::milliseconds(hot.median())),
            _ => "verified".into(),
        },
        Outcome::Failed { why, .. } => format!("failed: {why}"),
        Outcome::NotRun { why } => format!("not run: {why}"),
    };
    let text = format!("{}  {}  {}  {result}", one.step, one.kernel, one.shape);
    if status.is_on() { status.set(&text) } else { output::note(&text) }
}

/// A file of `book/data` that this run adds to.
struct Open {
    path: PathBuf,
    /// Content when it was opened.
    base: Record,
    /// Lines that it does not hold yet, and the run that they belong to.
    unsaved: Vec<Line>,
}

impl Open {
    /// Merges the new lines into the file as it is now: another `bench --save` may have added to it.
    fn save(&mut self) -> Result<(), records::RecordError> {
        Record::merge_into(&self.path, &self.base, &self.unsaved)?;
        self.unsaved.retain(|line| matches!(line, Line::Run(_)));
        Ok(())
    }
}

/// A step measures for minutes, and may be killed.
const BETWEEN_SAVES: Duration = Duration::from_secs(20);

/// The files of `book/data` that this run adds to.
#[derive(Default)]
struct Records {
    saved: Option<Instant>,
    folder: PathBuf,
    /// The open records, one per machine.
    open: Vec<Open>,
    n_new: usize,
    /// Where the next measurements belong.
    machine: Option<usize>,
    /// Whether `folder` could not be written, and a folder for temporary files was used.
    elsewhere: bool,
}

impl Records {
    fn open() -> Result<Self> {
        let instead = format!("try: {} bench all --json > records.jsonl", paths::command_name());
        Ok(Self { folder: paths::record_folder(&instead)?, ..Self::default() })
    }

    fn add(&mut self, line: Line) {
        if let Line::Run(run) = &line {
            self.machine = Some(self.file_of(run));
        } else {
            self.n_new += 1;
        }
        if let Some(at) = self.machine {
            self.open[at].unsaved.push(line);
        }
    }

    fn file_of(&mut self, run: &Run) -> usize {
        let path = self.folder.join(run.slug()).with_extension("json");
        if let Some(at) = self.open.iter().position(|open| open.path == path) {
            return at;
        }
        // A file that cannot be understood is not overwritten.
        let (path, base) = match Record::load(&path) {
            Ok(record) => (path, record),
            Err(error) if error.is_missing() => (path, Record::default()),
            Err(error) => {
                let other = path.with_extension("new.json");
                output::note(&format!("{error}; keeping it, and saving in {}", paths::display_path(&other)));
                (other, Record::default())
            }
        };
        self.open.push(Open { path, base, unsaved: Vec::new() });
        self.open.len() - 1
    }

    fn save_now_and_then(&mut self) -> Result<()> {
        if self.saved.get_or_insert_with(Instant::now).elapsed() < BETWEEN_SAVES {
            return Ok(());
        }
        self.saved = Some(Instant::now());
        self.save()
    }

    /// Writes all files whole; where that fails, into the folder for temporary files, so that nothing is lost.
    fn save(&mut self) -> Result<()> {
        for open in &mut self.open {
            let Err(error) = open.save() else { continue };
            let name = open.path.file_name().unwrap_or_default();
            open.path = std::env::temp_dir().join(name);
            open.save().with_context(|| format!("{error}, and it could not be saved elsewhere either"))?;
            if !self.elsewhere {
                output::error(&format!("{error}; measurements go to {}", open.path.display()));
            }
            self.elsewhere = true;
        }
        Ok(())
    }

    /// Describes what was saved and where.
    fn summary(&self) -> String {
        let files: Vec<String> = self.open.iter().map(|open| paths::display_path(&open.path)).collect();
        match (self.n_new, files.as_slice()) {
            (0, _) => "nothing was measured, and no record was changed".into(),
            (1, files) => format!("1 measurement is saved in {}", files.join(" and ")),
            (n, files) => format!("{n} measurements are saved in {}", files.join(" and ")),
        }
    }
}
