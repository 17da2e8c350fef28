//! Small edits of a copy that fails: those with which its whole task passes are shown.
//!
//! A fixed number of edits is tried, in a fixed order: what is found depends neither on the machine nor on its load.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::Result;
use catalog::text::Paint;
use catalog::{Shape, parallel};
use tasks::edits::{self, Clues, Tries};
use tasks::verdict::{ChangedLine, Remedy, Status, Verdict};
use tasks::{Task, diff, part_id};
use xtask_support::nvrtc::{DoesNotCompile, Nvrtc};
use xtask_support::output::Stop;
use xtask_support::source::{self, CompileJob};
use xtask_support::{compile_cache::CompileCache, compiler::Compilers, interrupt};

use crate::built_in;
use crate::commands::learn::judge_process::Judge;
use crate::learner::{self, Choice, With};

/// Rounds of edits, the likely ones first. The first round with a remedy is the last one.
const ROUNDS: usize = 3;
/// Edits of a round where a result or an access is wrong. Built for debugging, one takes about 30 ms.
const TRIES: usize = 32;
/// Edits of a round where they are built as they are judged, which takes longer.
const OPTIMISED_TRIES: usize = 10;
/// Edits that are judged as a whole, of all that look right. With the number of edits that are tried, this limits the
/// work.
const MAX_JUDGED: usize = 10;
const MAX_SHOWN: usize = 2;
const MAX_THREADS: usize = 4;

/// Returns edits with which the task passes. There are none for a starter, and where the search fails.
pub(super) fn search(judge: &Judge<'_>, verdict: &Verdict, with: With) -> Result<Vec<Remedy>> {
    let code = verdict.code.as_deref().unwrap_or_default();
    let is_judged = verdict.parts.iter().all(|part| part.id != part_id::COMPILES || part.status == Status::Passed);
    if verdict.status != Status::Failed
        || !is_judged
        || matches!(code, "timeout" | "no-entry")
        || judge.task.gpu_required
    {
        return Ok(Vec::new());
    }
    let double = judge.task.fp64_task().filter(|double| verdict.entry.as_ref() == Some(&double.entry));
    let failed = double.unwrap_or_else(|| judge.task.clone());
    match Search::new(judge, failed, with)
        .and_then(|search| search.map_or(Ok(Vec::new()), |search| search.run(verdict)))
    {
        Err(error) if error.is::<Stop>() => Err(error),
        found => Ok(found.unwrap_or_default()),
    }
}

struct Search<'a> {
    judge: &'a Judge<'a>,
    /// The task, or that of its FP64 kernel where that one fails.
    failed: Task,
    job: CompileJob,
    starter: String,
    /// Where there are none, the built-in compiler is taken.
    compilers: Option<Compilers>,
}

impl<'a> Search<'a> {
    /// Returns `None` where there is nothing to search.
    fn new(judge: &'a Judge<'a>, failed: Task, with: With) -> Result<Option<Self>> {
        let (root, task) = (judge.root, judge.task);
        let (job, starter) = (CompileJob::of_learner(root, &task.copy_path(root))?, learner::starter(root, task)?);
        let choice = with.choice()?;
        if edits::are_same_code(&job.source, &starter) {
            return Ok(None);
        }
        let nvrtc = if choice == Some(Choice::BuiltIn) { None } else { Nvrtc::find().ok() };
        let compilers = nvrtc.map(Compilers::new);
        Ok(Some(Self { judge, failed, job, starter, compilers }))
    }

    fn run(&self, verdict: &Verdict) -> Result<Vec<Remedy>> {
        let (copy, code) = (&self.job.source, verdict.code.clone().unwrap_or_default());
        let is_criterion = self.judge.task.criteria.iter().any(|criterion| criterion.id == code);
        // Built for debugging, a wide access may be made of narrow ones.
        let is_optimised = is_criterion || code == "E-ALIGN";
        let (rounds, most) = match code.as_str() {
            "E-LOOP" => (1, TRIES),
            "E-ALIGN" => (2, OPTIMISED_TRIES),
            _ if is_optimised => (ROUNDS, OPTIMISED_TRIES),
            _ => (ROUNDS, TRIES),
        };
        let clues = Clues::new(verdict, &self.job.name, &self.judge.task.copy_file_name());
        let edits = edits::edits(copy, &self.starter, &self.failed, &clues, rounds * most);
        let texts: Vec<String> = edits.iter().map(|changes| edits::apply(copy, changes)).collect();
        let job = |text: &String| {
            let job = self.job.with_text(edits::with_one_kernel(text, &self.failed.entry));
            if is_optimised { job } else { job.debug() }
        };
        let shape = verdict.findings.first().map(|found| found.shape);
        let shape = shape.or(verdict.wrong.as_ref().map(|wrong| wrong.shape)).unwrap_or(Shape { m: 1, n: 1, k: 1 });
        let Some(original) = self.compile(&[job(copy)])?.pop().flatten() else { return Ok(Vec::new()) };
        // Built alike, two are the same.
        let mut seen = HashSet::from([original.clone()]);
        let original = self.put("tries.ptx", &original)?;
        let judge = self.judge.of(&self.failed);
        let mut n_judged = 0;
        let quick = |text: &String| self.job.with_text(edits::with_one_kernel(text, &self.failed.entry)).debug();
        // Where a build for debugging compiles, the edited kernels that give wrong results are built in no other way.
        let is_screened = is_optimised && self.compile(&[quick(copy)])?.pop().flatten().is_some();
        for texts in texts.chunks(most) {
            let right: Vec<String> = if is_screened {
                let built = self.compile(&texts.iter().map(quick).collect::<Vec<_>>())?;
                let (texts, kernels): (Vec<&String>, Vec<String>) =
                    texts.iter().zip(built).filter_map(|(text, ptx)| Some((text, ptx?))).unzip();
                let right =
                    self.promising(&judge, &original, &Tries { code: code.clone(), shape, only_right: true, kernels })?;
                right.into_iter().filter_map(|at| texts.get(at).copied().cloned()).collect()
            } else {
                texts.to_vec()
            };
            let texts = &right;
            let built = self.compile(&texts.iter().map(job).collect::<Vec<_>>())?;
            let new = texts.iter().zip(built).filter_map(|(text, ptx)| Some((text, ptx?)));
            let (texts, kernels): (Vec<&String>, Vec<String>) = new.filter(|(_, ptx)| seen.insert(ptx.clone())).unzip();
            let tries = Tries { code: code.clone(), shape, only_right: false, kernels };
            let promising = self.promising(&judge, &original, &tries)?;
            let promising = promising.into_iter().filter_map(|at| texts.get(at).copied());
            let promising: Vec<&String> = promising.take(MAX_JUDGED - n_judged).collect();
            n_judged += promising.len();
            let remedies = self.remedies(&promising)?;
            if !remedies.is_empty() || n_judged == MAX_JUDGED {
                return Ok(remedies);
            }
        }
        Ok(Vec::new())
    }

    /// Returns the edited kernels that look right beside the original, by their indices.
    fn promising(&self, judge: &Judge<'_>, original: &Path, tries: &Tries) -> Result<Vec<usize>> {
        let tries = self.put("tries.json", &serde_json::to_string(tries)?)?;
        let promising: Option<Vec<usize>> = judge.ask_about(original, &["--tries", &tries.to_string_lossy()])?;
        Ok(promising.unwrap_or_default())
    }

    /// Judges edited copies, and returns the first that pass.
    fn remedies(&self, texts: &[&String]) -> Result<Vec<Remedy>> {
        let (mut remedies, mut seen) = (Vec::new(), HashSet::new());
        // Most often the first ones pass.
        for texts in texts.chunks(MAX_SHOWN) {
            if remedies.len() == MAX_SHOWN {
                break;
            }
            let jobs: Vec<CompileJob> = texts.iter().map(|text| self.job.with_text((*text).clone())).collect();
            for (text, ptx) in texts.iter().zip(self.compile(&jobs)?) {
                let new = |ptx: &String| remedies.len() < MAX_SHOWN && seen.insert(ptx.clone());
                let Some(ptx) = ptx.filter(new) else { continue };
                let file = self.put("edited.ptx", &ptx)?;
                let judged: Option<Verdict> = self.judge.ask_about(&file, &[])?;
                if judged.is_some_and(|verdict| verdict.status == Status::Passed) {
                    remedies.push(Remedy { changes: diff::changed_lines(&self.job.source, text) });
                }
            }
        }
        Ok(remedies)
    }

    fn put(&self, ending: &str, text: &str) -> Result<PathBuf> {
        CompileCache::in_checkout(self.judge.root).put(&format!("{}.{ending}", self.judge.task.name), text)
    }

    /// Compiles all, on several compilers: `None` for what does not compile.
    fn compile(&self, jobs: &[CompileJob]) -> Result<Vec<Option<String>>> {
        let built = parallel::run(jobs, MAX_THREADS, |job| self.compile_one(job), Result::is_ok);
        built.into_iter().collect()
    }

    fn compile_one(&self, job: &CompileJob) -> Result<Option<String>> {
        let root = self.judge.root;
        let Some(compilers) = &self.compilers else {
            let path = self.judge.task.copy_path(root);
            let includes = source::local_includes(root, &path, &job.source)?;
            return Ok(built_in::compile(root, job, &includes)?.ptx.ok());
        };
        let compiled = match compilers.lend(|compiler| job.compile(compiler, root)) {
            Err(error) if error.is::<DoesNotCompile>() => None,
            compiled => Some(compiled?),
        };
        interrupt::check("nothing was recorded")?;
        // What follows is for debuggers.
        Ok(compiled.map(|compiled| {
            let end = compiled.ptx.find("\t.section\t.debug_").unwrap_or(compiled.ptx.len());
            compiled.ptx[..end].to_owned()
        }))
    }
}

/// Formats remedies for people.
pub(super) fn text(copy: &str, remedies: &[Remedy], paint: Paint) -> String {
    let mut out = String::new();
    for (at, remedy) in remedies.iter().enumerate() {
        let head = if at == 0 { "small edits were tried: the task passes with this one" } else { "or with this one" };
        let line = remedy.changes.first().map_or(0, |change| change.line);
        let width = remedy.changes.iter().map(|change| change.line.to_string().len()).max().unwrap_or(0).max(5);
        out.push_str(&format!("\n{}\n  --> {copy}:{line}\n", paint.bold(head)));
        let mut after = None;
        for ChangedLine { line, removed, added } in &remedy.changes {
            let is_new = removed.is_none();
            if is_new && after.replace(line) != Some(line) {
                out.push_str(&format!("  after line {line}:\n"));
            }
            let number = if is_new { String::new() } else { line.to_string() };
            let mut add = |sign: char, text: &str| out.push_str(&format!("  {number:>width$} {sign} {text}\n"));
            removed.iter().for_each(|text| add('-', text));
            added.iter().for_each(|text| add('+', text));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_are_shown_as_lines_that_change() {
        let (copy, one, two) = ("a\nb\n    c\n", "a\nB\n    c\n", "a\nb\nx\n");
        let remedies = [one, two, "a\nnew\nb\n    c\n"].map(|text| Remedy { changes: diff::changed_lines(copy, text) });
        assert_eq!(
            text("my/v02.cu", &remedies, Paint::plain()),
            "\nsmall edits were tried: the task passes with this one\n  --> my/v02.cu:2\n      2 - b\n      2 + B\n\n\
             or with this one\n  --> my/v02.cu:3\n      3 -     c\n      3 + x\n\n\
             or with this one\n  --> my/v02.cu:1\n  after line 1:\n        + new\n"
        );
        assert_eq!(text("my/v02.cu", &[], Paint::plain()), "");
    }
}
