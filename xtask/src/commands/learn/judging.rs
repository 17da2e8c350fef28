//! Compiles a learner's copy, starts `judge` on it, and formats the verdict.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use catalog::{Shape, provenance::target_of, text::Paint};
use tasks::progress::{Progress, TaskProgress};
use tasks::verdict::{Part, Status, Verdict};
use tasks::{Task, edits, explain::Explained, part_id};
use xtask_support::paths;

use crate::commands::learn::home;
use crate::commands::learn::judge_process::{Judge, TIME_LIMIT};
use crate::commands::learn::remedies;
use crate::learner::{self, CompiledCopy, With};

/// Compiles and judges the copy of a task.
pub(crate) fn judge(root: &Path, task: &Task, with: With) -> Result<Verdict> {
    let path = task.copy_path(root);
    let verdict = match &task.host {
        Some(host) => {
            let ptx = host.call.kernel().map(|source| target_of(root, &root.join(source)));
            let answer = path.to_string_lossy();
            Judge::new(root, task, ptx.as_deref(), &[])?.ask(&["--answer", &answer])?
        }
        None => match learner::compile(root, &path, with)? {
            CompiledCopy::Ptx { ptx, sources, notes } => {
                let judge = Judge::new(root, task, Some(&ptx), &sources)?;
                let mut verdict: Option<Verdict> = judge.ask(&[])?;
                if let Some(verdict) = &mut verdict {
                    verdict.notes.splice(0..0, notes);
                    // At first the mistake is the learner's to find.
                    let progress = Progress::load(root).unwrap_or_default().task(&verdict.task);
                    if n_failures(&progress, verdict) > 0 && !task.is_rust {
                        verdict.remedies = remedies::search(&judge, verdict, with)?;
                    }
                    if verdict.status == Status::Failed && verdict.remedies.is_empty() {
                        verdict.notes.extend(left_to_do(root, task));
                    }
                }
                verdict
            }
            CompiledCopy::Refused(refused) => return Ok(Verdict::refused(task.name.clone(), &task.criteria, refused)),
        },
    };
    Ok(verdict.unwrap_or_else(|| {
        let why = format!("it was still running after {} s, and was stopped", TIME_LIMIT.as_secs());
        Verdict::stopped(task.name.clone(), &task.criteria, "timeout", &why)
    }))
}

/// Returns a note for each part of the starter that a TODO asks to change and that the copy left as it was.
fn left_to_do(root: &Path, task: &Task) -> Vec<String> {
    let texts = std::fs::read_to_string(task.copy_path(root)).ok().zip(learner::starter(root, task).ok());
    let left = texts.map(|(copy, starter)| edits::left_to_do(&copy, &starter)).unwrap_or_default();
    let note = |(line, asked)| format!("line {line} is as it was in the starter, where a TODO says: {asked}");
    left.into_iter().map(note).collect()
}

/// Machine code to explain.
pub(crate) struct Code<'a> {
    pub(crate) cubin: &'a Path,
    pub(crate) size: Shape,
}

/// Counts what each line of a kernel did, from its PTX, the sources that it was made of, and its machine code.
pub(crate) fn explain(
    root: &Path, task: &Task, ptx: &Path, sources: &[PathBuf], code: Option<Code<'_>>,
) -> Result<Explained> {
    let mut options = vec!["--explain".to_owned()];
    if let Some(Code { cubin, size }) = code {
        let cubin = cubin.strip_prefix(root).unwrap_or(cubin).to_string_lossy();
        options.extend(["--cubin".to_owned(), cubin.into_owned(), "--size".to_owned(), size.typed()]);
    }
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let explained = Judge::new(root, task, Some(ptx), sources)?.ask(&options)?;
    explained.with_context(|| format!("the kernel was still running after {} s, and was stopped", TIME_LIMIT.as_secs()))
}

/// Records a verdict in the progress file. If it cannot be written, a note is printed, and the command goes on.
pub(crate) fn record(root: &Path, task: &Task, verdict: &Verdict) {
    let hash = learner::hash(root, task);
    learner::note_progress(root, |progress, now| {
        progress.record(verdict, now);
        if verdict.status != Status::NotRun {
            progress.touch(&verdict.task, now).checked_sha256 = hash;
        }
    });
}

/// Formats a verdict for people.
pub(crate) fn text(root: &Path, task: &Task, verdict: &Verdict, paint: Paint) -> String {
    let copy = paths::from_root(root, &task.copy_path(root));
    // A repository of `assign` has no solutions.
    let finished = if task.name.id.is_none() && root.join(&task.solution).is_file() {
        "; the finished kernel is checked with --finished"
    } else {
        ""
    };
    let other = task.copy_path(root).with_extension(if task.is_rust { "cu" } else { "rs" });
    let other = Some(other).filter(|path| path.is_file()).map(|path| paths::from_root(root, &path));
    let other = other.map_or(String::new(), |path| format!("; {path} is older, and is not checked"));
    let mut out = format!("{copy}: your copy{finished}{other}\n\n");
    let width = verdict.parts.iter().map(|part| part.id.len()).max().unwrap_or(0);
    out.extend(verdict.parts.iter().map(|part| line(part, verdict, width, paint)));
    if let Some(refused) = &verdict.compiler {
        out.extend(refused.errors.iter().skip(1).map(|error| format!("{}{error}\n", " ".repeat(width + 13))));
        if let Some(excerpt) = excerpt(&refused.log) {
            out.push_str(&format!("\n{excerpt}"));
        }
        if let Some(hint) = &refused.hint {
            out.push_str(&format!("\nhint: {hint}\n"));
        }
    }
    if let Some(wrong) = &verdict.wrong {
        out.push_str(&format!("\non {}, {}:\n{}\n{}", wrong.shape, wrong.on, wrong.first, wrong.map));
    }
    let findings = verdict.findings.iter();
    out.extend(findings.map(|found| format!("\non {}:\n{}\n", found.shape, found.text.trim_end())));
    // Whoever wants to find it first stops reading here.
    out.push_str(&remedies::text(&copy, &verdict.remedies, paint));
    verdict.notes.iter().for_each(|note| out.push_str(&format!("\nnote: {note}\n")));
    if !verdict.printed.is_empty() {
        out.push_str(&format!("\nthe kernel printed:\n{}\n", verdict.printed.trim_end()));
    }
    out
}

/// Returns the first error with its line, as the compiler shows it.
fn excerpt(log: &str) -> Option<String> {
    const MAX_LINES: usize = 16;
    let lines: Vec<&str> = log.lines().collect();
    let at = lines.iter().position(|line| line.contains("error: ") || line.starts_with("error["))?;
    let shown: Vec<&str> = lines[at + 1..]
        .iter()
        .take_while(|line| !line.trim().is_empty() && !line.contains("error: "))
        .take(MAX_LINES)
        .copied()
        .collect();
    (!shown.is_empty()).then(|| shown.iter().map(|line| format!("{line}\n")).collect())
}

/// Formats a part on one line, and its details below.
fn line(part: &Part, verdict: &Verdict, width: usize, paint: Paint) -> String {
    let word = match part.status {
        Status::Passed => paint.good("passed "),
        Status::Failed => paint.bad("failed "),
        Status::NotRun => paint.dim("not run"),
    };
    let indent = " ".repeat(width + 13);
    let text = match (part.status, &part.why) {
        (Status::Passed, _) if part.id == part_id::RIGHT => {
            format!("{} on {} shapes", part.what, verdict.n_shapes)
        }
        (Status::Passed, _) => part.what.clone(),
        // Its requirement would read as if it were met.
        (Status::NotRun, Some(why)) => why.clone(),
        (_, Some(why)) if matches!(part.id.as_str(), part_id::COMPILES | part_id::RIGHT | part_id::CLEAN) => {
            why.clone()
        }
        _ => part.what.clone(),
    };
    let mut out = format!("  {word}  {:<width$}  {text}\n", part.id);
    if let Some(measured) = &part.measured {
        out.push_str(&format!("{indent}{}\n", measured.in_a_sentence()));
        if let (Status::Failed, Some(why)) = (part.status, &part.why) {
            out.push_str(&format!("{indent}{why}\n"));
        }
    }
    out
}

/// Returns the one command to go on with.
pub(crate) fn next(root: &Path, task: &Task, verdict: &Verdict) -> String {
    let (me, name) = (paths::command_name(), &task.name);
    match verdict.status {
        Status::Passed => match home::next(root) {
            Some((next, _)) => format!("next: {next}"),
            None => format!("next: {me} diff {name}"),
        },
        Status::NotRun => format!("next: the same on a machine with an NVIDIA GPU: {me} check {name}"),
        _ if is_stuck(root, verdict) => format!("next: {me} hint {name}"),
        _ => {
            let copy = paths::from_root(root, &task.copy_path(root));
            format!("next: change {copy}, then: {me} check {name}")
        }
    }
}

/// Returns whether one check has failed several times, and no hint for it was seen.
fn is_stuck(root: &Path, verdict: &Verdict) -> bool {
    const MIN_FAILURES: u32 = 3;
    let code = verdict.code.as_deref().unwrap_or_default();
    let progress = Progress::load(root).unwrap_or_default().task(&verdict.task);
    n_failures(&progress, verdict) >= MIN_FAILURES && progress.hint_level(code).max(progress.hint_level("")) == 0
}

/// Returns how many recorded verdicts on the task failed with the code of this one.
fn n_failures(progress: &TaskProgress, verdict: &Verdict) -> u32 {
    progress.failures.get(verdict.code.as_deref().unwrap_or_default()).copied().unwrap_or_default()
}
