//! Bare `cargo xtask`: where one is, and what to do next.

mod progress_table;

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use catalog::text::Paint;
use catalog::{PROGRAMS, STEPS, Step};
use xtask_support::CommandOutcome;
use xtask_support::staleness::{self, State};
use xtask_support::{kernels, output, paths};

pub(crate) fn run() -> Result<CommandOutcome> {
    let paint = Paint::for_stdout();
    let me = paths::command_name();
    let mut out =
        format!("{}: CUDA matrix multiplication from Rust, one optimisation at a time\n\n", paint.bold("Tile by Tile"));
    let root = paths::checkout();
    let place = match (&root, paths::program_folder()) {
        (Some(root), _) => format!("checkout {}", root.display()),
        (None, Some(folder)) => format!("programs in {}, no checkout around", folder.display()),
        (None, None) => "no checkout".into(),
    };
    let device = if paths::has_gpu() {
        "an NVIDIA GPU (--emulate for the emulated one)"
    } else {
        "no NVIDIA GPU here, so the emulated one"
    };
    let has_steps = root.as_deref().is_none_or(paths::has_finished_kernels);
    out.push_str(&format!("  where   {place}\n  device  {device}\n"));
    if has_steps {
        let others = PROGRAMS.map(|program| program.id).join(", ");
        out.push_str(&format!("  steps   {} with kernels, {others} without\n", catalog::range()));
    }

    let mut next = Vec::new();
    let edited = root.as_deref().map(edited).unwrap_or_default();
    for step in STEPS {
        let mut own = kernels::sources(&[step]);
        own.retain(|name| edited.contains(name));
        out.extend(own.iter().map(|name| format!("  edited  kernels/{name}.cu\n")));
        if !own.is_empty() {
            // Without the option, a copy of the learner's would be checked.
            let name = tasks::TaskName::rebuild(step.id);
            let has_copy = root.as_deref().is_some_and(|root| tasks::progress::copy_of(root, &name).is_file());
            let option = if has_copy { " --finished" } else { "" };
            next.push((format!("{me} check {}{option}", step.id), "is your kernel right?"));
        }
    }
    if let Some(state) = root.as_deref().and_then(progress_table::load) {
        out.push_str(&state.table(paint));
        next.extend(state.next(me));
    }
    if next.is_empty() {
        next.push((format!("{me} bench v05"), "run one step, and see what it does"));
    }
    if has_steps {
        next.push((format!("{me} list"), "what the steps are"));
        next.push((format!("{me} check all"), "are all kernels right?"));
    } else {
        next.push((format!("{me} check"), "are all your kernels right?"));
    }
    next.push((format!("{me} doctor"), "what this machine has, and lacks"));
    next.push((format!("{me} --help"), "everything else"));

    out.push_str(&format!("\n{}\n", paint.bold("Next")));
    let width = next.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    out.extend(next.into_iter().map(|(command, what)| format!("  {command:<width$}  {what}\n")));
    output::print(&out)?;
    Ok(CommandOutcome::Passed)
}

/// Returns the command that the learner of a checkout goes on with, and why.
pub(crate) fn next(root: &Path) -> Option<(String, &'static str)> {
    progress_table::load(root)?.next(paths::command_name()).into_iter().next()
}

/// Returns the kernels that are not as committed, or not as compiled.
fn edited(root: &Path) -> Vec<&'static str> {
    let git = Command::new("git").args(["diff", "--name-only", "HEAD", "--", "kernels"]).current_dir(root).output();
    let changed = git.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).into_owned());
    let steps: Vec<&Step> = STEPS.iter().collect();
    kernels::sources(&steps)
        .into_iter()
        .filter(|name| {
            let path = staleness::source_of(root, name);
            let committed = format!("kernels/{name}.cu");
            changed.lines().any(|line| line == committed)
                || (path.is_file() && matches!(staleness::state(root, &path), State::Edited(_)))
        })
        .collect()
}
