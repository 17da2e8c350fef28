//! `cargo xtask check`: the learner's copies of tasks where they are asked for and there, else every kernel of the
//! steps on awkward shapes, one line each.

use std::path::Path;

use anyhow::{Result, bail, ensure};
use catalog::text::Paint;
use records::record::{Check, Line};
use step_cli::PassedOn;
use tasks::verdict::Status;
use tasks::{Catalogue, Task, TaskName, progress};
use xtask_support::CommandOutcome;
use xtask_support::output::{self, Stop};
use xtask_support::{interrupt, kernels, paths, programs, step_args};

use crate::{commands::learn::judging, learner};

#[derive(clap::Args)]
#[command(
    after_help = "A copy that fails in the same way again is tried with small edits; those that pass are shown.\n\n\
    Examples: cargo xtask check v05\n          cargo xtask check v05.wide\n          \
    cargo xtask check all --emulate"
)]
pub(crate) struct Args {
    /// Tasks and steps: `v05`, `5`, `bank-conflict-free`, `v05.wide`; all steps when left out
    #[arg(value_name = "TASK")]
    steps: Vec<String>,
    /// Check the finished kernels of the steps, even where there is a copy of yours
    #[arg(long)]
    finished: bool,
    #[command(flatten)]
    with: learner::With,
    #[command(flatten)]
    device: PassedOn<step_cli::Device>,
    /// Print one JSON record per line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<CommandOutcome> {
    let (copies, rest) = copies(args)?;
    if copies.is_empty() {
        return finished(args, &rest);
    }
    interrupt::watch();
    let root = learner::root()?;
    let mut verdicts = Vec::new();
    for task in &copies {
        verdicts.push(copy(args, &root, task)?);
    }
    if !rest.is_empty() {
        verdicts.push(finished(args, &rest)?);
    }
    let worst = [CommandOutcome::Failed, CommandOutcome::NotRun];
    let worst = worst.into_iter().find(|verdict| verdicts.contains(verdict));
    Ok(worst.unwrap_or(CommandOutcome::Passed))
}

/// Splits the arguments into tasks with copies, and the others, which must be steps.
fn copies(args: &Args) -> Result<(Vec<Task>, Vec<String>)> {
    let (mut copies, mut rest) = (Vec::new(), Vec::new());
    let are_all = args.steps.iter().all(|asked| asked == "all") && !args.finished;
    if let Some(root) = paths::checkout().filter(|root| are_all && !paths::has_finished_kernels(root)) {
        let all = Catalogue::load_all(&root)?.into_iter().flat_map(|catalogue| catalogue.tasks);
        let copies: Vec<Task> = all.filter(|task| task.copy_path(&root).is_file()).collect();
        ensure!(!copies.is_empty(), "there is no kernel in my/; see what to begin with: {}", paths::command_name());
        return Ok((copies, rest));
    }
    for asked in &args.steps {
        match TaskName::parse(asked).ok() {
            Some(name) if name.id.is_some() && args.finished => {
                bail!(Stop::Usage(format!("--finished is for the kernels of steps, and {name} is a transfer task")));
            }
            // If no task has this name, the error lists the tasks that exist.
            Some(name) if name.id.is_some() => {
                let root = learner::root()?;
                let task = learner::task(&root, asked)?;
                learner::existing_copy(&root, &task)?;
                copies.push(task);
            }
            // A step's own task is a kernel, whatever its catalogue has.
            Some(name) if !args.finished => match paths::checkout() {
                Some(root) if learner::has_copy(&root, &progress::copy_of(&root, &name), &name)? => {
                    copies.push(learner::task(&root, asked)?);
                }
                _ => rest.push(asked.clone()),
            },
            _ => rest.push(asked.clone()),
        }
    }
    Ok((copies, rest))
}

/// Returns a line for each step whose finished kernels are judged because its copy is not there. A learner who has
/// begun would take their verdict for one on the own kernel.
fn not_yours(asked: &[String]) -> String {
    let Some(root) = paths::checkout().filter(|root| learner::has_begun(root)) else { return String::new() };
    let me = paths::command_name();
    if asked.iter().all(|asked| asked == "all") {
        return format!(
            "the finished kernels of all steps; a copy of yours is checked by its name, as in: {me} check v02\n"
        );
    }
    let mut out = String::new();
    for name in asked.iter().filter_map(|asked| TaskName::parse(asked).ok()) {
        if learner::task(&root, &name.to_string()).is_ok() {
            let step = &name.step;
            let copy = paths::from_root(&root, &progress::copy_of(&root, &name));
            out.push_str(&format!(
                "the finished kernels of {step}, because {copy} does not exist; begin it with: {me} start {name}\n"
            ));
        }
    }
    out
}

/// Judges one copy, prints the verdict, and records it.
fn copy(args: &Args, root: &Path, task: &Task) -> Result<CommandOutcome> {
    let verdict = judging::judge(root, task, args.with)?;
    judging::record(root, task, &verdict);
    if args.json {
        output::print(&format!("{}\n", serde_json::json!({"verdict": verdict})))?;
    } else {
        let text = judging::text(root, task, &verdict, Paint::for_stdout());
        output::print(&format!("{text}\n{}\n", judging::next(root, task, &verdict)))?;
    }
    Ok(match verdict.status {
        Status::Passed => CommandOutcome::Passed,
        Status::Failed => CommandOutcome::Failed,
        Status::NotRun => CommandOutcome::NotRun,
    })
}

/// Returns the kernels of steps, as they are under `kernels`; of all steps when none is named.
fn finished(args: &Args, asked: &[String]) -> Result<CommandOutcome> {
    let steps = step_args::steps_or_all("check", asked)?;
    let not_yours = if args.finished { String::new() } else { not_yours(asked) };
    match not_yours.trim_end() {
        "" => {}
        lines if args.json => output::note(lines),
        lines => output::print(&format!("{lines}\n"))?,
    }
    let programs = kernels::programs(&steps)?;
    let mut words = vec!["check".to_owned(), "--json".to_owned()];
    words.extend(args.device.words.iter().cloned());
    let status = output::Status::on_stderr();
    let paint = Paint::for_stdout();
    let mut failures = Vec::new();
    let mut checks: Vec<Check> = Vec::new();
    for step in &steps {
        status.set(&format!("{}  {}", step.id, step.name));
        let first = checks.len();
        let ended = programs.stream_records(&[], step, &words, &status, |text, line| {
            if args.json {
                output::print(&format!("{text}\n"))?;
            }
            if let Line::Check(check) = line {
                if !args.json {
                    output::print(&row(&check, paint))?;
                }
                checks.push(*check);
            }
            Ok(())
        });
        interrupt::check(format!("{} was not finished", step.id))?;
        let (ended, own) = (ended?, &checks[first..]);
        let explained = match ended.code {
            Some(0) => true,
            Some(1) => own.iter().any(|check| check.failed.is_some()),
            Some(3) => own.iter().any(|check| check.not_run.is_some()),
            _ => false,
        };
        if !explained {
            failures.push(ended.could_not_run(step));
        }
    }
    let first_failure = checks.iter().find_map(|check| Some((check, check.failed.as_ref()?)));
    if let Some((check, failed)) = first_failure
        && !args.json
    {
        let (kernel, shape) = (&check.kernel, failed.shape);
        let details =
            if failed.details.is_empty() { String::new() } else { format!("{}\n", failed.details.trim_end()) };
        output::print(&format!("\n{kernel} on {shape}: {}\n{details}", failed.why))?;
    }
    if !args.json {
        let [passed, failed, not_run] = [Status::Passed, Status::Failed, Status::NotRun]
            .map(|wanted| checks.iter().filter(|check| status_of(check) == wanted).count());
        output::note(&format!("{passed} passed, {failed} failed, {not_run} not run"));
    }
    if first_failure.is_some() {
        failures.iter().for_each(|failure| output::error(failure));
        return Ok(CommandOutcome::Failed);
    }
    programs::passed_unless(&failures, steps.len())
}

fn status_of(check: &Check) -> Status {
    match check {
        Check { failed: Some(_), .. } => Status::Failed,
        Check { n_passed: 0, .. } => Status::NotRun,
        _ => Status::Passed,
    }
}

fn row(check: &Check, paint: Paint) -> String {
    let not_run = check.not_run.as_deref().unwrap_or_default();
    let shapes = match check.n_passed {
        1 => "1 shape".to_owned(),
        n => format!("{n} shapes"),
    };
    let (verdict, why) = match (status_of(check), &check.failed) {
        (Status::Failed, Some(failed)) => (paint.bad("failed "), format!("on {}: {}", failed.shape, failed.why)),
        (Status::NotRun, _) => (paint.dim("not run"), not_run.to_owned()),
        _ if not_run.is_empty() => (paint.good("passed "), shapes),
        _ => (paint.good("passed "), format!("{shapes}; not run elsewhere: {not_run}")),
    };
    format!("{}  {verdict}  {:<30}  {why}\n", check.step, check.kernel)
}
