//! `cargo xtask list`: the steps, what they run, and the best that was measured of them.

use std::path::Path;

use anyhow::{Result, bail};
use catalog::{CatalogKernel, PROGRAMS, Standalone, Step, Work};
use catalog::{files::files_ending_with, text::Paint};
use records::record::{Measurement, Outcome, Record};
use serde_json::json;
use tasks::{Catalogue, Task};
use xtask_support::CommandOutcome;
use xtask_support::staleness::{self, State};
use xtask_support::{output, paths, step_args, table};

#[derive(clap::Args)]
#[command(after_help = "Examples: cargo xtask list\n          cargo xtask list v01\n          cargo xtask list --json")]
pub(crate) struct Args {
    /// Steps, by number or name, which are listed with their tasks; all, without tasks, when none is named
    #[arg(value_name = "STEP")]
    steps: Vec<String>,
    /// Print one JSON record per step
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<CommandOutcome> {
    let root = paths::checkout();
    let records = root.as_deref().map(records).unwrap_or_default();
    let paint = Paint::for_stdout();
    let mut out = String::new();
    // A class's repository has tasks of some steps, and no kernels.
    let has_kernels = root.as_deref().is_none_or(paths::has_finished_kernels);
    let has_tasks =
        |root: &Path, step: &Step| Catalogue::load(root, step.id).is_ok_and(|found| !found.tasks.is_empty());
    let is_here = |step: &&Step| has_kernels || root.as_deref().is_some_and(|root| has_tasks(root, step));
    for step in step_args::steps_or_all("list", &args.steps)?.into_iter().filter(is_here) {
        if args.json {
            out.push_str(&format!("{}\n", as_json(step, root.as_deref(), &records)))
        } else {
            out.push_str(&page(step, root.as_deref(), &records, paint, has_kernels))
        }
        if let (Some(root), false, false) = (&root, args.json, has_kernels && args.steps.is_empty()) {
            out.push_str(&task_lines(root, step)?);
        }
    }
    let programs = if has_kernels && args.steps.is_empty() { &PROGRAMS[..] } else { &[] };
    for Standalone { id, name, idea, command } in programs {
        if args.json {
            let record = json!({"id": id, "name": name, "idea": idea, "kernels": [], "command": command});
            out.push_str(&format!("{record}\n"));
        } else {
            let title = paint.bold(&format!("{id} {name}"));
            out.push_str(&format!("{title}: {idea}\n    a program of its own: {command}\n"));
        }
    }
    if out.is_empty() {
        bail!(
            "this repository has no tasks of {}; those that it has: {} list",
            args.steps.join(", "),
            paths::command_name()
        );
    }
    output::print(&out)?;
    Ok(CommandOutcome::Passed)
}

/// Returns all records of measurements in `book/data`, which also holds other files.
pub(crate) fn records(root: &Path) -> Vec<Record> {
    let paths = files_ending_with(&root.join("book/data"), ".json").unwrap_or_default();
    paths.iter().filter_map(|path| Record::load(path).ok()).collect()
}

/// The fastest measurement of a kernel on a real device.
struct Best<'a> {
    value: f64,
    unit: &'static str,
    one: &'a Measurement,
    device: &'a str,
}

impl Best<'_> {
    fn text(&self) -> String {
        let value = table::rate(self.value);
        format!("{value} {} at {} on {}", self.unit, self.one.shape, self.device)
    }
}

fn best<'a>(kernel: &CatalogKernel, records: &'a [Record]) -> Option<Best<'a>> {
    let mut best: Option<Best> = None;
    for record in records {
        for one in record.measurements.iter().filter(|one| one.kernel == kernel.name) {
            let (Outcome::Passed(passed), Some(run)) = (&one.outcome, record.run_of(one)) else { continue };
            if run.emulated && kernel.work != Work::Cpu {
                continue;
            }
            let (value, unit, device) = match kernel.work {
                Work::Transpose => (table::gbs(one, passed), "GB/s", &run.device),
                Work::Cpu => (table::gflops(one, passed), "GFLOP/s", &run.host),
                _ => (table::gflops(one, passed), "GFLOP/s", &run.device),
            };
            let Some(value) = value else { continue };
            if best.as_ref().is_none_or(|best| value > best.value) {
                best = Some(Best { value, unit, one, device });
            }
        }
    }
    best
}

/// Returns a remark on a kernel's PTX: `None` when it is up to date.
fn remark(kernel: &CatalogKernel, root: Option<&Path>) -> Option<String> {
    let (root, source) = (root?, kernel.source?);
    let path = staleness::source_of(root, source);
    if !path.is_file() {
        return Some("not written yet".into());
    }
    match staleness::state(root, &path) {
        State::Fresh => None,
        State::Edited(file) => Some(format!("{file} changed since it was compiled")),
        State::Missing => Some("not compiled yet".into()),
        State::Damaged(why) => Some(format!("its PTX is damaged: {why}")),
    }
}

fn page(step: &Step, root: Option<&Path>, records: &[Record], paint: Paint, has_kernels: bool) -> String {
    let title = paint.bold(&format!("{} {}", step.id, step.name));
    let mut out = format!("{title}: {}\n", step.idea);
    for kernel in step.kernels.iter().filter(|_| has_kernels) {
        let best = best(kernel, records).map(|best| best.text());
        let remark = remark(kernel, root).map(|text| paint.bad(&text));
        let rest: Vec<String> = best.into_iter().chain(remark).collect();
        let line = format!("    {:<30}  {}", kernel.name, rest.join("; "));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Returns a line for each task of a step: the words that begin it, its title and its minutes.
fn task_lines(root: &Path, step: &Step) -> Result<String> {
    let me = paths::command_name();
    let tasks = Catalogue::load(root, step.id)?.tasks;
    let line = |task: &Task| format!("    {me} start {}: {}, {} minutes\n", task.name, task.title, task.minutes);
    Ok(tasks.iter().map(line).collect())
}

fn as_json(step: &Step, root: Option<&Path>, records: &[Record]) -> serde_json::Value {
    let kernel = |kernel: &CatalogKernel| {
        let state = kernel.source.and_then(|source| {
            let path = staleness::source_of(root?, source);
            Some(match staleness::state(root?, &path) {
                _ if !path.is_file() => "no source",
                State::Fresh => "fresh",
                State::Edited(_) => "edited",
                State::Missing => "missing",
                State::Damaged(_) => "damaged",
            })
        });
        json!({
            "name": kernel.name,
            "source": kernel.source.map(|name| format!("kernels/{name}.cu")),
            "ptx": state,
            "best": best(kernel, records).map(|best| json!({
                "value": best.value,
                "unit": best.unit,
                "shape": best.one.shape,
                "device": best.device,
            })),
        })
    };
    json!({
        "id": step.id,
        "name": step.name,
        "idea": step.idea,
        "kernels": step.kernels.iter().map(kernel).collect::<Vec<_>>(),
    })
}
