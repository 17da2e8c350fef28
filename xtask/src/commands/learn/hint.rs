//! `cargo xtask hint`: a nudge that fits the last check, and more of it on request.

use std::path::Path;

use anyhow::Result;
use catalog::text::wrapped;
use tasks::hints::{self, Hunk};
use tasks::progress::{Progress, TaskProgress};
use tasks::{Task, TaskName};
use xtask_support::{CommandOutcome, output, paths};

use crate::learner;

#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask hint v05 --more")]
pub(crate) struct Args {
    /// Task: `v05` or `v05.wide`
    task: String,
    /// Go on to the next level; given twice, two levels further
    #[arg(long, action = clap::ArgAction::Count)]
    more: u8,
    /// Print one JSON record
    #[arg(long)]
    json: bool,
}

const WIDTH: usize = 100;
const NAMES: [&str; 3] = ["a nudge", "the concept", "pseudo-code"];

pub(crate) fn run(args: &Args) -> Result<CommandOutcome> {
    let root = learner::root()?;
    let task = learner::task(&root, &args.task)?;
    let progress = Progress::load(&root)?.task(&task.name);
    let (me, name) = (paths::command_name(), &task.name);
    let passed_last = progress.checks > 0 && progress.code.is_none();
    if passed_last && args.more == 0 {
        let text = format!("{name} passed its last check\nnext: {me} diff {name}\n");
        return answer(args, &text, &record(name, None, 0, 0, "passed", ""));
    }
    let code = progress.code.as_deref();
    let chosen = hints::choose(&task, code);
    // After the levels comes a part of the solution, where that is here: what was handed out for a course has none.
    let has_solution = root.join(&task.solution).is_file();
    let last = chosen.levels.len() as u32 + u32::from(has_solution);
    if last == 0 {
        let text = format!("{name} has no hints\nnext: {me} check {name}\n");
        return answer(args, &text, &record(name, None, 0, 0, "none", ""));
    }
    let seen = progress.hint_level(chosen.symptom);
    let level = match args.more {
        0 => seen.max(1),
        more => seen.saturating_add(u32::from(more)),
    }
    .min(last);
    let (title, text) = match chosen.levels.get(level as usize - 1) {
        Some(text) => (NAMES.get(level as usize - 1).copied().unwrap_or("more"), text.trim().to_owned()),
        None => ("a part of the finished kernel", part(&root, &task)?),
    };
    let because = chosen_by(&root, &task, &progress, chosen.symptom);
    let mut out = wrapped(&because, "", WIDTH);
    // The code of a part of the solution follows, unwrapped.
    let (prose, code) = if has_solution && level == last {
        text.split_once("\n\n").unwrap_or((&text, ""))
    } else {
        (text.as_str(), "")
    };
    out.push_str(&format!("\n{}", lines(&format!("{title} ({level} of {last}): {prose}"))));
    if !code.is_empty() {
        out.push_str(&format!("\n{code}\n"));
    }
    out.push_str(&if level < last {
        format!("\nmore: {me} hint {name} --more\n")
    } else if has_solution {
        format!("\nthat is all; the whole kernel: {me} solution {name} --give-up\n")
    } else {
        "\nthat is all\n".into()
    });
    learner::note_progress(&root, |progress, now| progress.hinted(name, chosen.symptom, level, now));
    answer(args, &out, &record(name, Some(chosen.symptom), level, last, &because, &text))
}

/// Breaks prose into lines that are not too long; indented text is code, and stays as it is.
fn lines(text: &str) -> String {
    let line = |line: &str| {
        if line.starts_with(' ') || line.is_empty() { format!("{line}\n") } else { wrapped(line, "", WIDTH) }
    };
    text.lines().map(line).collect()
}

fn answer(args: &Args, text: &str, record: &serde_json::Value) -> Result<CommandOutcome> {
    if args.json {
        output::print(&format!("{record}\n"))?
    } else {
        output::print(text)?
    }
    Ok(CommandOutcome::Passed)
}

/// Returns the JSON record. `symptom` is empty for the general hint, and null without a hint.
fn record(
    task: &TaskName, symptom: Option<&str>, level: u32, of: u32, chosen_by: &str, text: &str,
) -> serde_json::Value {
    serde_json::json!({"hint": {
        "task": task, "symptom": symptom, "level": level, "of": of, "chosen_by": chosen_by, "text": text,
    }})
}

/// Returns a sentence on what selected the hint.
fn chosen_by(root: &Path, task: &Task, progress: &TaskProgress, symptom: &str) -> String {
    let (me, name) = (paths::command_name(), &task.name);
    let copy = paths::from_root(root, &task.copy_path(root));
    let Some(code) = progress.code.as_deref() else {
        return match progress.checks {
            0 => format!(
                "there is no check of {copy} yet, so this is the general hint; for one that fits: {me} check {name}"
            ),
            _ => format!("{name} passed its last check; this is the general hint"),
        };
    };
    let fit = match symptom {
        "" if code == "compile" => {
            format!("it does not compile, and {me} check {name} says why; this is the general hint")
        }
        "" => format!("the last check ended with {code}, which has no hint of its own; this is the general one"),
        _ => format!("chosen by the last check, which ended with {code}"),
    };
    match learner::hash(root, task) {
        Some(hash) if progress.checked_sha256.as_deref().is_some_and(|known| known != hash) => {
            format!("{fit} ({copy} has changed since: {me} check {name})")
        }
        _ => fit,
    }
}

/// Returns the part of the finished kernel that the copy lacks; without a copy, the first one.
fn part(root: &Path, task: &Task) -> Result<String> {
    let copy = std::fs::read(task.copy_path(root)).unwrap_or_default();
    let solution = learner::solution(root, task)?;
    Ok(match hints::hunk(&solution, &String::from_utf8_lossy(&copy)) {
        None => "your copy has every line of it; what fails lies in what was added".into(),
        Some(Hunk { todo, text }) => {
            let todo = if todo.is_empty() { "the first lines that your copy lacks".into() } else { todo };
            format!("{todo}\n\n{}", text.trim_end())
        }
    })
}
