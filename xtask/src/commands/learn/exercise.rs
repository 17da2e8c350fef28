//! `start`, `reset`, `diff` and `solution`: the learner's copies of tasks, under `my/`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use catalog::files::{MAX_TEXT_BYTES, read_limited, write_whole, write_whole_bytes};
use tasks::progress::Progress;
use tasks::{Task, markers, starter};
use xtask_support::{CommandOutcome, output, paths};

use crate::learner;

#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask start v05")]
pub(crate) struct StartArgs {
    /// Task: a step, `v05`, or one of its transfer tasks, `v05.wide`
    task: String,
    /// Write the kernel in Rust: my/v05.rs in place of my/v05.cu
    #[arg(long)]
    rust: bool,
}

#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask reset v05")]
pub(crate) struct ResetArgs {
    /// Task: `v05` or `v05.wide`
    task: String,
}

#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask diff v05")]
pub(crate) struct DiffArgs {
    /// Task: `v05` or `v05.wide`
    task: String,
    /// Print one JSON record
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask solution v05 --give-up")]
pub(crate) struct SolutionArgs {
    /// Task: `v05` or `v05.wide`
    task: String,
    /// Show it even if your copy has not passed; this is recorded
    #[arg(long)]
    give_up: bool,
}

/// Writes the starter to `my/`, and never over anything.
pub(crate) fn start(args: &StartArgs) -> Result<CommandOutcome> {
    let root = learner::root()?;
    let task = learner::listed(&root, &args.task)?;
    let task = if args.rust { learner::in_rust(&task)? } else { task };
    let path = task.copy_path(&root);
    let (shown, me, name) = (paths::from_root(&root, &path), paths::command_name(), &task.name);
    let text = learner::starter(&root, &task)?;
    ensure!(!learner::has_copy(&root, &path, name)?, "{shown} already exists; to start over: {me} reset {name}");
    write_new(&path, &text).with_context(|| unwritten(&shown))?;
    learner::note_progress(&root, |progress, now| {
        let task = progress.touch(name, now);
        task.started.get_or_insert(catalog::time::utc(now));
    });
    output::print(&format!(
        "{shown}: {}\n\nabout {} minutes\nnext: fill in what is marked TODO, then: {me} check {name}\n",
        task.title, task.minutes
    ))?;
    Ok(CommandOutcome::Passed)
}

/// Writes the starter again; what was there is kept beside it.
pub(crate) fn reset(args: &ResetArgs) -> Result<CommandOutcome> {
    let root = learner::root()?;
    let task = learner::task(&root, &args.task)?;
    let text = learner::starter(&root, &task)?;
    let path = learner::existing_copy(&root, &task)?;
    let (shown, me, name) = (paths::from_root(&root, &path), paths::command_name(), &task.name);
    let kept = replace(&path, &text).with_context(|| unwritten(&shown))?;
    learner::note_progress(&root, |progress, now| {
        progress.touch(name, now);
    });
    output::print(&format!(
        "{shown} is the starter again; your text is in {}\nnext: {me} check {name}\n",
        paths::from_root(&root, &kept)
    ))?;
    Ok(CommandOutcome::Passed)
}

/// Sets the learner's copy beside the finished kernel, or before it has passed, beside the starter.
pub(crate) fn diff(args: &DiffArgs) -> Result<CommandOutcome> {
    let root = learner::root()?;
    let task = learner::task(&root, &args.task)?;
    let path = learner::existing_copy(&root, &task)?;
    let (shown, me, name) = (paths::from_root(&root, &path), paths::command_name(), &task.name);
    let mine =
        String::from_utf8_lossy(&read_limited(&path, MAX_TEXT_BYTES).with_context(|| shown.clone())?).into_owned();
    // A repository of `assign` has no solutions.
    let has_solution = root.join(&task.solution).is_file();
    let is_over = has_solution && Progress::load(&root)?.task(name).is_over();
    let (title, other) = if is_over {
        ("the finished kernel", solution_of(&root, &task)?)
    } else {
        ("the starter", learner::starter(&root, &task)?)
    };
    // The header of a copy describes its task, that of a solution the solution: they would differ in each line.
    let other = starter::split_header(&mine).0.to_owned() + starter::split_header(&other).1;
    let text = tasks::diff::unified(&other, &mine, title, &shown);
    if args.json {
        let against = if is_over { "solution" } else { "starter" };
        let record = serde_json::json!({"diff": {"task": name, "against": against, "text": text}});
        output::print(&format!("{record}\n"))?;
        return Ok(CommandOutcome::Passed);
    }
    if text.is_empty() {
        output::print(&format!("{shown} is the same as {title}\n"))?
    } else {
        output::print(&text)?
    }
    if !is_over && has_solution {
        output::note(&format!(
            "against the starter; once your copy has passed, this shows the finished kernel: {me} check {name}"
        ));
    }
    Ok(CommandOutcome::Passed)
}

/// Shows the finished kernel.
pub(crate) fn solution(args: &SolutionArgs) -> Result<CommandOutcome> {
    let root = learner::root()?;
    let task = learner::task(&root, &args.task)?;
    let (me, name) = (paths::command_name(), &task.name);
    let text = solution_of(&root, &task)?;
    if !Progress::load(&root)?.task(name).is_over() {
        if !args.give_up {
            output::error(&format!(
                "{name} has not passed yet: check your copy with `{me} check {name}`, or see the solution with: \
                 {me} solution {name} --give-up"
            ));
            return Ok(CommandOutcome::Failed);
        }
        learner::note_progress(&root, |progress, now| {
            let task = progress.touch(name, now);
            task.gave_up.get_or_insert(catalog::time::utc(now));
        });
    }
    output::print(&text)?;
    output::note(&format!("from {}; beside your copy: {me} diff {name}", task.solution.display()));
    Ok(CommandOutcome::Passed)
}

fn solution_of(root: &Path, task: &Task) -> Result<String> {
    Ok(markers::finished(&learner::solution(root, task)?))
}

/// Explains why there is no copy; the error of the operating system follows.
fn unwritten(shown: &str) -> String {
    format!("{shown} cannot be written; work in a checkout that is yours")
}

/// Writes a file that is not there: whole, and not over one that somebody else has just made.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let beside = path.with_extension(format!("cu.{}.tmp", std::process::id()));
    let made = write_whole(&beside, text).and_then(|()| match std::fs::hard_link(&beside, path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(error),
        // Not every file system has links.
        Err(_) => write_whole(path, text),
        Ok(()) => Ok(()),
    });
    let _ = std::fs::remove_file(&beside);
    made
}

/// Replaces a copy; its text is kept at the first free of `v05.cu.1`, `v05.cu.2`, … At every moment there is a copy.
fn replace(path: &Path, text: &str) -> std::io::Result<PathBuf> {
    let _lock = catalog::files::lock_folder(catalog::files::folder_of(path))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut number = 1;
    let kept = loop {
        let kept = path.with_file_name(format!("{name}.{number}"));
        if kept.symlink_metadata().is_err() {
            break kept;
        }
        number += 1;
    };
    let keep = || {
        // Not every file system has links.
        std::fs::hard_link(path, &kept).or_else(|_| write_whole_bytes(&kept, &std::fs::read(path)?))?;
        write_whole(path, text)
    };
    keep().inspect_err(|_| drop(std::fs::remove_file(&kept)))?;
    Ok(kept)
}
