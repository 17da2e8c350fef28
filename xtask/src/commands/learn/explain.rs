//! `cargo xtask explain`: what each source line of a kernel did, the learner's beside the finished one.

mod code;
mod page;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use catalog::files::{text_of_source, write_whole};
use catalog::provenance::target_of;
use catalog::text::{Paint, capital, escaped, wrapped};
use catalog::{STEPS, Shape, WrongSize};
use counters::Column;
use tasks::explain::{Explained, Line};
use tasks::{Task, committed};
use tasks::{progress::Progress, task::TaskKind};
use xtask_support::CommandOutcome;
use xtask_support::output::{self, Stop};
use xtask_support::staleness::{self, State};
use xtask_support::{interrupt, paths};

use crate::commands::learn::{judging, judging::Code};
use crate::learner::{self, CompiledCopy};
use crate::machine_code;

#[derive(clap::Args)]
#[command(after_help = "Examples: cargo xtask explain v05\n          cargo xtask explain v05 --by sectors\n          \
    cargo xtask explain v05 --machine\n          cargo xtask explain v05 --html v05.html\n          \
    cargo xtask explain E-RACE")]
pub(crate) struct Args {
    /// Task: `v05` or `v05.wide`; a kernel of v10 to v12, such as `gemm_v12_ring_f32`; or a code of a message: `E-RACE`
    task: String,
    /// Explain the finished kernel alone, even where there is a copy of yours
    #[arg(long)]
    finished: bool,
    /// Quantity that the bars show: instructions, multiply-adds, requests, sectors, shared-requests, wavefronts,
    /// excess, …
    #[arg(long, value_name = "COLUMN", value_parser = column)]
    by: Option<Column>,
    /// Explain the machine code: its instructions, and the predicted time on an H200
    #[arg(long, conflicts_with = "by")]
    machine: bool,
    /// Show all of the machine code, and the time line clock by clock
    #[arg(long, requires = "machine")]
    all: bool,
    /// Size of the problem for the machine code: 512 (M = N = K), 256x512x64 (MxNxK) or, for a transpose, 300x200 (MxN)
    #[arg(long, value_name = "SIZE", requires = "machine", default_value = "512", value_parser = code_size, allow_negative_numbers = true)]
    size: Shape,
    /// Print one JSON record per kernel
    #[arg(long, conflicts_with = "html")]
    json: bool,
    /// Write a self-contained HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Returns a size at which machine code is run instruction by instruction, and its time predicted.
fn code_size(text: &str) -> Result<Shape, String> {
    const MAX_SIZE: usize = 4096;
    let size: Shape = text.parse().map_err(|error: WrongSize| error.to_string())?;
    match [size.m, size.n, size.k].into_iter().find(|side| *side > MAX_SIZE) {
        Some(side) => Err(format!("`{side}` is too large: machine code is explained at sizes up to {MAX_SIZE}")),
        None => Ok(size),
    }
}

/// Returns a column by its name in records, with hyphens or underscores.
fn column(text: &str) -> Result<Column, String> {
    let word = serde_json::Value::String(text.replace('-', "_"));
    serde_json::from_value(word).map_err(|_| {
        let names = Column::ALL.iter().filter(|column| column.adds_up()).map(|column| name(*column));
        format!("the columns are {}", names.collect::<Vec<_>>().join(", "))
    })
}

/// Returns the name of a column on the command line, such as `shared-requests`.
fn name(column: Column) -> String {
    let word = serde_json::to_value(column).unwrap_or_default();
    word.as_str().unwrap_or_default().replace('_', "-")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Learner,
    Finished,
}

impl Origin {
    /// Returns the word for headings and records.
    fn label(self) -> &'static str {
        match self {
            Self::Learner => "yours",
            Self::Finished => "finished",
        }
    }

    /// Returns the words for sentences.
    fn description(self) -> &'static str {
        match self {
            Self::Learner => "your copy",
            Self::Finished => "the finished kernel",
        }
    }
}

struct Subject {
    origin: Origin,
    /// File of the kernel, for messages.
    file: String,
    explained: Explained,
    /// Lines of the files that it was made of, by the names that the PTX has for them.
    sources: BTreeMap<String, Vec<String>>,
    /// Whether lines are shown, and not only sums.
    shows_lines: bool,
}

impl Subject {
    fn new(root: &Path, origin: Origin, file: &Path, mut explained: Explained) -> Self {
        let own = paths::from_root(root, file);
        // The kernel's own lines first, what belongs to no line last.
        let order = |line: &Line| (line.file.is_empty(), line.file != own, line.file.clone(), line.line);
        explained.lines.sort_by_key(order);
        let mut sources = BTreeMap::new();
        let code = explained.machine.iter().flat_map(|machine| &machine.instructions);
        let files = explained.lines.iter().map(|line| &line.file);
        for file in files.chain(code.map(|instruction| &instruction.file)) {
            if !sources.contains_key(file) {
                let text = text_of_source(&root.join(file));
                sources.insert(file.clone(), text.lines().map(str::to_owned).collect());
            }
        }
        Self { origin, file: own, explained, sources, shows_lines: true }
    }

    fn text(&self, file: &str, line: u32) -> &str {
        let at = (line as usize).wrapping_sub(1);
        self.sources.get(file).and_then(|lines| lines.get(at)).map_or("", String::as_str)
    }

    /// Returns a sentence that begins with the file, which stands out, and the caveat below it.
    fn heading(&self, text: &str, width: usize, paint: Paint) -> String {
        let text = wrapped(text, "", width).replacen(&self.file, &paint.bold(&self.file), 1);
        text + &self.caveat().map_or(String::new(), |caveat| wrapped(&caveat, "", width))
    }

    /// Explains why the counts are not those of a kernel that works.
    fn caveat(&self) -> Option<String> {
        match &self.explained.stopped {
            Some(why) => Some(format!("the launch stopped before its end, so these are counts of a part: {why}")),
            None if !self.explained.right => Some("the result of this launch is wrong".into()),
            None => None,
        }
    }

    fn record(&self, by: Column) -> serde_json::Value {
        let mut value = serde_json::to_value(&self.explained).unwrap_or_default();
        value["whose"] = self.origin.label().into();
        value["source"] = self.file.clone().into();
        value["by"] = name(by).into();
        match (self.shows_lines, value["lines"].as_array_mut()) {
            (true, Some(lines)) => {
                for (line, known) in lines.iter_mut().zip(&self.explained.lines) {
                    line["text"] = self.text(&known.file, known.line).into();
                }
            }
            _ => value["lines"] = serde_json::Value::Null,
        }
        if !self.shows_lines
            && let Some(machine) = value.get_mut("machine")
        {
            for hidden in ["instructions", "timeline"] {
                machine[hidden] = serde_json::Value::Null;
            }
        }
        serde_json::json!({"explain": value})
    }
}

/// Returns what a code of a message means, with an example where the checkout has it.
fn explained_code(root: &Path, code: &str) -> Result<String> {
    let mut sections = include_str!("explain/codes.md").split("\n## ").skip(1);
    let found = sections.find_map(|section| {
        let (head, text) = section.split_once('\n')?;
        head.split_once(' ').filter(|(name, _)| *name == code).map(|(_, example)| (example, text))
    });
    let Some((example, text)) = found else { bail!(Stop::Usage(format!("there is no code {code}"))) };
    let shown = std::fs::read_to_string(root.join(example)).unwrap_or_default();
    let start = shown.find(&format!("error[{code}]")).or_else(|| shown.find(&format!("warning[{code}]")));
    let example = start.and_then(|start| shown[start..].split("\n\n").next());
    let example = example.map_or(String::new(), |example| format!("\nFor example:\n\n{}\n", example.trim_end()));
    Ok(format!("{code}\n\n{}\n{example}", text.trim()))
}

/// Returns the kernel of this name as a task, with its launch in the book; `None` where the catalogue has none.
fn kernel_of_ladder(root: &Path, name: &str) -> Result<Option<Task>> {
    let names = [name.to_owned(), format!("{name}_f32")];
    let Some(name) = names.iter().find(|name| STEPS.iter().any(|step| step.kernel(name).is_some())) else {
        return Ok(None);
    };
    let Some(task) = committed::find(root, name)? else {
        bail!(Stop::Usage(format!(
            "{name} is not among the kernels of v10 to v12 that are explained: book/run.toml lists them"
        )));
    };
    Ok(Some(task))
}

pub(crate) fn run(args: &Args) -> Result<CommandOutcome> {
    let root = learner::root()?;
    let code = args.task.to_ascii_uppercase();
    if code.starts_with("E-") || code.starts_with("W-") {
        output::print(&explained_code(&root, &code)?)?;
        return Ok(CommandOutcome::Passed);
    }
    let of_ladder = kernel_of_ladder(&root, &args.task)?;
    let is_task = of_ladder.is_none();
    let task = of_ladder.map_or_else(|| learner::task(&root, &args.task), Ok)?;
    let copy = task.copy_path(&root);
    let (me, name) = (paths::command_name(), &task.name);
    if task.host.is_some() {
        bail!(Stop::Usage(format!(
            "{name} is about the host and has no kernel to explain; its answer is checked with: {me} check {name}"
        )));
    }
    let has_copy = is_task && !args.finished && learner::has_copy(&root, &copy, name)?;
    let progress = Progress::load(&root)?.task(name);
    let is_over = progress.is_over();
    let is_secret = task.kind == TaskKind::Transfer && !is_over;
    if !has_copy && is_secret {
        bail!(if args.finished {
            anyhow!("the kernel of {name} is shown once yours has passed, or after: {me} solution {name} --give-up")
        } else {
            learner::no_copy(&root, &copy, name)
        });
    }
    if args.machine && args.size.k == 0 && !task.work.is_transpose() {
        return Err(Stop::Usage(WrongSize::no_depth(args.size, &name.to_string()).to_string()).into());
    }
    interrupt::watch();
    let mut subjects = Vec::new();
    if has_copy {
        match learner::compile(&root, &copy, learner::With::default())? {
            CompiledCopy::Ptx { ptx, sources, .. } => {
                let code = args.machine.then(|| machine_code::up_to_date(&root, &copy)).transpose()?;
                let code = code.as_deref().map(|cubin| Code { cubin, size: args.size });
                let explained = judging::explain(&root, &task, &ptx, &sources, code)?;
                if let (true, Some(why)) = (explained.lines.is_empty(), &explained.stopped) {
                    output::error(&format!(
                        "the launch stopped, so nothing was counted: {why}; for more: {me} check {name}"
                    ));
                    return Ok(CommandOutcome::Failed);
                }
                subjects.push(Subject::new(&root, Origin::Learner, &copy, explained));
            }
            CompiledCopy::Refused(refused) => {
                output::error(&format!("it does not compile: {}; for more: {me} check {name}", refused.first()));
                return Ok(CommandOutcome::Failed);
            }
        }
    }
    // A repository made by `assign` has no solutions.
    let has_solution = root.join(&task.solution).is_file();
    if has_solution || !has_copy {
        match finished(&root, &task, args) {
            Ok(mut subject) => {
                // The lines stay hidden until the learner has passed.
                subject.shows_lines = !has_copy || is_over;
                subjects.push(subject);
            }
            Err(error) if has_copy && error.downcast_ref::<Stop>().is_none() => {
                output::note(&format!("without the finished kernel beside it: {error:#}"));
            }
            Err(error) => return Err(error),
        }
    }
    let by = args.by.unwrap_or_else(|| default_column(&task, &subjects, progress.code.as_deref()));
    if let Some(file) = &args.html {
        write_whole(file, &page::page(&task, &subjects, by)).with_context(|| format!("writing {}", file.display()))?;
        output::print(&format!("wrote {}\n", file.display()))?;
    } else if args.json {
        for subject in &subjects {
            output::print(&format!("{}\n", subject.record(by)))?;
        }
    } else if args.machine {
        output::print(&code::text(&subjects, args.all, Paint::for_stdout()))?;
    } else {
        output::print(&table::text(&subjects, by, Paint::for_stdout()))?;
    }
    if subjects.iter().any(|subject| !subject.shows_lines) {
        output::note(&format!("the lines of the finished kernel are shown once yours has passed: {me} check {name}"));
    }
    Ok(CommandOutcome::Passed)
}

/// Returns the finished kernel, by its committed PTX.
fn finished(root: &Path, task: &Task, args: &Args) -> Result<Subject> {
    let source = root.join(&task.solution);
    let ptx = target_of(root, &source);
    let shown = task.solution.display();
    match staleness::state(root, &source) {
        State::Fresh => {}
        State::Edited(file) => output::note(&format!(
            "{file} changed since {shown} was compiled, and lines may be off; compile it with: {} ptx {shown}",
            paths::command_name()
        )),
        State::Missing => {
            bail!("there is no PTX of {shown}; make it with: {} ptx {shown}", paths::command_name())
        }
        State::Damaged(why) => bail!("the PTX of {shown} is damaged: {why}"),
    }
    let code = args.machine.then(|| machine_code::up_to_date(root, &source)).transpose()?;
    let code = code.as_deref().map(|cubin| Code { cubin, size: args.size });
    let explained = judging::explain(root, task, &ptx, std::slice::from_ref(&source), code)?;
    Ok(Subject::new(root, Origin::Finished, &source, explained))
}

/// Returns the column that the bars show without `--by`: that of the criterion that the last check failed, or else of
/// the first criterion of the task that is not 0 in the first kernel.
fn default_column(task: &Task, subjects: &[Subject], code: Option<&str>) -> Column {
    let has = |column: &Column| {
        let first = subjects.first();
        first.is_some_and(|subject| column.of(&subject.explained.total).is_some_and(|n| n > 0.0))
    };
    let missed = task.criteria.iter().filter(|criterion| Some(criterion.id.as_str()) == code);
    let about = missed.chain(&task.criteria).map(|criterion| criterion.measure.column());
    about.chain([Column::Wavefronts, Column::Sectors]).find(has).unwrap_or(Column::Instructions)
}

/// Returns the columns that are not empty in one of the kernels. The column of lanes is shown if some were idle.
fn columns(subjects: &[Subject]) -> Vec<Column> {
    const ALL_LANES: f64 = 32.0;
    let tells = |column: &Column| {
        subjects.iter().any(|subject| match column {
            Column::Lanes => {
                let mut lanes = subject.explained.lines.iter().filter_map(|line| column.of(&line.counts));
                lanes.any(|lanes| lanes < ALL_LANES)
            }
            _ => column.of(&subject.explained.total).is_some_and(|n| n > 0.0),
        })
    };
    Column::ALL.iter().copied().filter(tells).collect()
}

/// Returns the note on how lines of several files are counted. Not every compiler notes where a function was inlined.
fn rule(subjects: &[Subject]) -> &'static str {
    let is_other = |subject: &&Subject| {
        let mut lines = subject.explained.lines.iter();
        subject.shows_lines && lines.any(|line| !line.file.is_empty() && line.file != subject.file)
    };
    rule_of(subjects.iter().any(|subject| is_other(&subject)))
}

fn rule_of(has_others: bool) -> &'static str {
    if has_others {
        "Lines of other files stand by themselves where the compiler did not note which line calls them."
    } else {
        "What a line calls in another file is counted as its own."
    }
}

/// Returns the number of a line; `none` for what belongs to no line.
fn line_number(line: u32, none: &str) -> String {
    match line {
        0 => none.to_owned(),
        line => line.to_string(),
    }
}

fn file_heading(file: &str) -> &str {
    if file.is_empty() { "of no line" } else { file }
}

/// Formats as [`short`] does; nothing for 0, so that the rest is visible.
fn count(n: u64) -> String {
    match n {
        0 => String::new(),
        n => short(n as f64),
    }
}

/// Returns the largest value of a column among the lines.
fn largest(subject: &Subject, column: Column) -> f64 {
    let values = subject.explained.lines.iter().filter_map(|line| column.of(&line.counts));
    values.fold(0.0, f64::max)
}

/// Formats a number with at most five characters.
fn short(value: f64) -> String {
    let scaled = |value: f64, unit: char| match value {
        v if v >= 99.95 => format!("{v:.0}{unit}"),
        v if v >= 9.995 => format!("{v:.1}{unit}"),
        v => format!("{v:.2}{unit}"),
    };
    match value {
        v if v >= 999.5e6 => scaled(v / 1e9, 'G'),
        v if v >= 999.5e3 => scaled(v / 1e6, 'M'),
        v if v >= 99_999.5 => scaled(v / 1e3, 'k'),
        v if v >= 100.0 || v.fract() == 0.0 => format!("{v:.0}"),
        v => format!("{v:.1}"),
    }
}

fn heading(subject: &Subject) -> String {
    format!("{}: {}", capital(subject.origin.description()), escaped(&subject.file))
}
