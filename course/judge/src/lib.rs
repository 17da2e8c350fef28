//! Judges one kernel: its results on awkward shapes, all checks, and its counters, which show whether it uses the idea
//! of the task.
//!
//! The kernel runs on the emulated GPU within this process, without the driver: no library is loaded, two judgements
//! share nothing, and the verdict depends on the PTX, the task and the seed alone. The exception is a task whose
//! results count on a real GPU. No other program runs kernels of learners; the command line and the grader start it as
//! a process.
//!
//! - [`host`]: tasks whose idea is on the host.
//! - [`trial`]: inputs of a shape and expected results.
//! - [`emulated_module`]: a module with its launches.
//! - [`shapes`]: the shapes on which a kernel is judged.
//! - [`prefetch`]: overlap of loads with multiply-adds, from the trace of a warp.
//! - [`explain`]: counts per source line of one launch.
//! - [`steps`]: the steps of a block, for the stepper of a page.
//! - [`own_launch`]: a launch of a kernel that no task is about.
//! - `tensor_map`: maps of a trial's matrices, which kernels take as arguments.
//! - `suspects`: lines of a kernel that a wrong result points to.
//! - [`tries`]: a quick look at edited kernels.
//! - `worst`: the access that costs a criterion most.
//! - [`real`]: tasks whose results count on a real GPU.

#![forbid(unsafe_code)]

pub mod emulated_module;
pub mod explain;
pub mod host;
pub mod own_launch;
pub mod prefetch;
#[cfg(not(target_family = "wasm"))]
pub mod real;
pub mod shapes;
pub mod steps;
mod suspects;
mod tensor_map;
#[cfg(test)]
mod tests;
pub mod trial;
pub mod tries;
mod worst;

use catalog::Shape;
use counters::Counters;
use diagnosis::{Clue, Subject};
use diagnostics::{Action, Report};
use reference::inputs::Accumulator;
use simt::{gpu::Value, launch::CheckLevel, report::InstrReport};
use tasks::measure::CountedLaunch;
use tasks::part_id::{self, WRONG_RESULT};
use tasks::task::Criterion;
use tasks::verdict::{
    CLEAN, CriterionValue, Part, RIGHT, Race, RacingAccess, ReportedFinding, Severity, Status, Verdict,
};
use tasks::{Task, compile::Refused};

use emulated_module::{EmulatedModule, LaunchSetup, LoadError};
use prefetch::Prefetch;
use shapes::ShapeSet;
use trial::{Mismatch, Trial, trials};

/// Error for which a kernel is neither judged nor explained. A kernel's own mistakes are parts of a verdict.
pub type JudgeError = Box<dyn std::error::Error + Send + Sync>;

/// A kernel with the task to judge it by.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    pub task: &'a Task,
    pub ptx: &'a str,
    /// The launch, where it does not follow from the task.
    pub setup: Option<LaunchSetup>,
    /// Source texts for messages, by their names in the PTX.
    pub sources: &'a [(String, String)],
    /// Seed of the inputs and of the hidden shapes.
    pub seed: u64,
    /// The shapes on which it is judged.
    pub shapes: ShapeSet,
    /// Threads of this machine; 0 for one per core.
    pub threads: usize,
    /// Thread-instructions after which a launch ends, where its shape allows more.
    pub max_instructions: u64,
}

impl<'a> Request<'a> {
    /// Returns a request for the public shapes and the first seed, on one thread, without a limit of instructions.
    pub fn new(task: &'a Task, ptx: &'a str, sources: &'a [(String, String)]) -> Self {
        let (shapes, max_instructions) = (ShapeSet::Public, u64::MAX);
        Self { task, ptx, setup: None, sources, seed: 1, shapes, threads: 1, max_instructions }
    }
}

/// Maximum number of bytes of a kernel's output that are kept.
const MAX_PRINTED: usize = 4096;

/// Judges a kernel on the shapes of its task.
pub fn judge(request: &Request<'_>) -> Verdict {
    let shapes = shapes::shapes_for(request.task, request.seed, request.shapes);
    judge_on(request, &shapes)
}

pub fn judge_on(request: &Request<'_>, shapes: &[Shape]) -> Verdict {
    let task = request.task;
    let module = match EmulatedModule::new(request) {
        Ok(module) => module,
        Err(LoadError::NotLoaded(why)) => {
            return Verdict::refused(task.name.clone(), &task.criteria, Refused::from_log(&why));
        }
        Err(LoadError::NoEntry(why)) => return Verdict::stopped(task.name.clone(), &task.criteria, "no-entry", &why),
    };
    if task.work.is_double() {
        return Judgement::<f64>::new(request, &module).run(shapes);
    }
    let verdict = Judgement::<f32>::new(request, &module).run(shapes);
    match verdict.status {
        Status::Passed => wrong_double(request, shapes, &verdict).unwrap_or(verdict),
        _ => verdict,
    }
}

/// Judges the kernel that a template makes for FP64, where the file has it: its verdict if its results are wrong.
fn wrong_double(request: &Request<'_>, shapes: &[Shape], passed: &Verdict) -> Option<Verdict> {
    const SHAPES: usize = 2;
    let task = request.task.fp64_task().filter(|task| request.ptx.contains(&task.entry))?;
    let request = Request { task: &task, ..request.clone() };
    let module = EmulatedModule::new(&request).ok()?;
    let mut verdict = Judgement::<f64>::new(&request, &module).run(&shapes[..shapes.len().min(SHAPES)]);
    for part in verdict.parts.iter_mut().filter(|part| part.status == Status::Failed) {
        part.why = part.why.take().map(|why| format!("of double, {}: {why}", task.entry));
        verdict.why.clone_from(&part.why);
    }
    verdict.parts.extend(passed.parts.iter().skip(verdict.parts.len()).cloned());
    // The FP32 kernel passed, so the verdict keeps its number of shapes.
    (verdict.n_shapes, verdict.n_tried) = (passed.n_shapes, passed.n_tried);
    verdict.entry = Some(task.entry.clone());
    (verdict.status != Status::Passed).then_some(verdict)
}

struct Judgement<'a, T: Accumulator> {
    request: &'a Request<'a>,
    task: &'a Task,
    module: &'a EmulatedModule<'a>,
    n_shapes: usize,
    n_tried: usize,
    findings: Vec<ReportedFinding>,
    mismatch: Option<Mismatch>,
    notes: Vec<String>,
    printed: String,
    element: std::marker::PhantomData<T>,
}

enum TrialOutcome {
    Right(Box<Report>),
    Wrong(Box<Report>),
    Broken,
}

impl<'a, T: Accumulator + Value> Judgement<'a, T> {
    fn new(request: &'a Request<'a>, module: &'a EmulatedModule<'a>) -> Self {
        Self {
            request,
            task: request.task,
            module,
            n_shapes: 0,
            n_tried: 0,
            findings: Vec::new(),
            mismatch: None,
            notes: Vec::new(),
            printed: String::new(),
            element: std::marker::PhantomData,
        }
    }

    /// Runs all shapes with all checks, up to the first finding: later ones repeat the mistake or follow from it. A
    /// wrong result does not end the run, because another shape may be more informative.
    fn run(mut self, shapes: &[Shape]) -> Verdict {
        for &shape in shapes {
            if !self.run_shape(shape, &self.module.launch_setup(shape)) {
                break;
            }
        }
        let is_right = self.mismatch.is_none() && !self.is_broken();
        let ends = self.findings.iter().all(|found| found.code != "E-LOOP");
        let is_measured = is_right || self.request.shapes == ShapeSet::WithHidden && ends;
        let criteria = if is_measured { self.measure_criteria() } else { Vec::new() };
        self.verdict(criteria)
    }

    fn is_broken(&self) -> bool {
        self.findings.iter().any(|found| found.severity == Severity::Error)
    }

    /// Runs one shape with all checks; false when a check found a mistake.
    fn run_shape(&mut self, shape: Shape, setup: &LaunchSetup) -> bool {
        let mut right = true;
        self.n_tried += 1;
        for mut trial in trials::<T>(self.task.work, shape, self.request.seed, self.request.threads) {
            // One element may be right by chance.
            trial.right_on_integers &= self.mismatch.is_none();
            match self.launch(&trial, CheckLevel::CheckedWithGlobalRaces, setup) {
                TrialOutcome::Right(_) => {}
                TrialOutcome::Wrong(_) => {
                    right = false;
                    break;
                }
                TrialOutcome::Broken => return false,
            }
        }
        self.n_shapes += usize::from(right);
        true
    }

    /// Launches once and compares the result.
    fn launch(&mut self, trial: &Trial<T>, check_level: CheckLevel, setup: &LaunchSetup) -> TrialOutcome {
        let n_known = self.findings.len();
        let (report, got) = match self.module.launch(trial, check_level, setup) {
            Ok(ran) => ran,
            Err(refusal) => {
                self.findings.push(found(&refusal, trial.shape, None));
                return TrialOutcome::Broken;
            }
        };
        if self.printed.len() < MAX_PRINTED {
            let room = MAX_PRINTED - self.printed.len();
            self.printed.extend(report.printed.chars().take(room));
        }
        for finding in &report.findings {
            self.add(found(finding, trial.shape, None));
        }
        // An undefined value in the result is a mistake even where it happens to be the right one.
        for output in &report.undefined_outputs {
            self.add(found(&output.finding, trial.shape, Some(Severity::Error)));
        }
        if self.findings[n_known..].iter().any(|found| found.severity == Severity::Error) {
            return TrialOutcome::Broken;
        }
        // What is known may tell more than any result on this shape could.
        let known = self.mismatch.as_ref().map(|known| information(known.wrong.shape, Some(known)));
        if known >= Some(information(trial.shape, None)) && !trial.is_right(&got) {
            return TrialOutcome::Wrong(Box::new(report));
        }
        match trial.mismatch(self.task, &got) {
            None => TrialOutcome::Right(Box::new(report)),
            Some(mut mismatch) => {
                let is_double = self.task.work.is_double();
                let lines = self.module.source();
                let lines = lines.and_then(|source| suspects::suspects(&source, mismatch.subject, is_double));
                let diagnosis = &mut mismatch.wrong.diagnosis;
                *diagnosis = match (diagnosis.take(), lines) {
                    (Some(diagnosis), Some(lines)) => Some(format!("{diagnosis} ({lines})")),
                    (diagnosis, lines) => diagnosis.or(lines),
                };
                if let (Subject::NotNumbers, Some(line)) = (mismatch.subject, self.module.undefined_line()) {
                    mismatch.wrong.diagnosis = Some(format!(
                        "they are NaN: {line} uses an element past the end of an array in registers, or a variable that \
                         nothing has set, and the compiler put NaN in its place"
                    ));
                }
                keep_more_informative(&mut self.mismatch, mismatch);
                TrialOutcome::Wrong(Box::new(report))
            }
        }
    }

    fn add(&mut self, found: ReportedFinding) {
        let same =
            |known: &ReportedFinding| (&known.code, known.line, &known.file) == (&found.code, found.line, &found.file);
        if !self.findings.iter().any(same) {
            self.findings.push(found);
        }
    }

    /// Measures the criteria; those with equal shapes share a launch. In a grading they are those of a wrong kernel,
    /// too, if it is right for some shape: after a finding, for the shape of the criterion.
    fn measure_criteria(&mut self) -> Vec<Part> {
        let mut launched: Vec<(Trial<T>, Box<Report>)> = Vec::new();
        let mut parts = Vec::new();
        for criterion in &self.task.criteria {
            let shape = criterion.shape();
            if !launched.iter().any(|(trial, _)| trial.shape == shape) {
                let mut trials = trials::<T>(self.task.work, shape, self.request.seed, self.request.threads);
                let Some(mut trial) = trials.next_back() else { continue };
                trial.right_on_integers &= self.mismatch.is_none();
                let was_broken = self.is_broken();
                match self.launch(&trial, CheckLevel::Count, &self.module.launch_setup(shape)) {
                    TrialOutcome::Right(report) => {
                        self.note_doubles(shape, &report);
                        self.n_shapes += usize::from(was_broken);
                        launched.push((trial, report));
                    }
                    TrialOutcome::Wrong(report)
                        if self.request.shapes == ShapeSet::WithHidden && !was_broken && self.n_shapes > 0 =>
                    {
                        launched.push((trial, report));
                    }
                    TrialOutcome::Wrong(_) | TrialOutcome::Broken => return Vec::new(),
                }
            }
            let known = launched.iter().find(|(trial, _)| trial.shape == shape);
            if let Some((trial, report)) = known {
                parts.push(self.criterion(criterion, trial, report));
            }
        }
        parts
    }

    /// Notes what FP64 costs where sums of FP32 are asked for.
    fn note_doubles(&mut self, shape: Shape, report: &Report) {
        let doubles: Vec<_> = report.instructions.iter().filter(|found| found.text.contains(".f64")).collect();
        let count = |found: &InstrReport| found.counters.warp_instructions;
        let n: u64 = doubles.iter().map(|found| count(found)).sum();
        let converted: u64 =
            { doubles.iter() }.filter(|found| found.text.contains("cvt")).map(|found| count(found)).sum();
        let most = doubles.into_iter().max_by_key(|found| count(found));
        if let Some((_, line)) = most.and_then(|found| found.source.as_ref())
            && n > 0
            && !self.task.work.is_double()
            && self.notes.is_empty()
        {
            let all = report.total.warp_instructions;
            self.notes.push(format!(
                "`double` in a kernel of float (line {line}): on {shape}, {n} of {all} instructions of warps are FP64, and \
                 {converted} of these only convert between float and double"
            ));
        }
    }

    fn criterion(&self, criterion: &Criterion, trial: &Trial<T>, report: &Report) -> Part {
        let shape = trial.shape;
        let ahead =
            criterion.measure.needs_trace().then(|| prefetch::detect(self.module, trial, criterion.bk.unwrap_or(1)));
        let ahead = match ahead {
            Some(Prefetch::Share(share)) => Some(share),
            Some(Prefetch::Nothing) | None => None,
            Some(Prefetch::Unseen(why)) => {
                return Part {
                    status: Status::NotRun,
                    why: Some(format!("not judged: {why}")),
                    ..Part::passed(&criterion.id, &criterion.what)
                };
            }
        };
        let instructions: Vec<(&str, &Counters)> =
            report.instructions.iter().map(|instruction| (instruction.text.as_str(), &instruction.counters)).collect();
        let launch = CountedLaunch {
            total: &report.total,
            instructions: &instructions,
            grid: report.grid,
            block: report.block,
            work: self.task.work,
            shape,
            bk: criterion.bk,
            ahead,
        };
        let value = criterion.measure.value(&launch);
        let reason = criterion.measure.not_applicable(&launch);
        // Without a value, a lower limit fails and an upper limit passes.
        let passes = reason.is_none() && value.map_or(criterion.at_least.is_none(), |value| criterion.accepts(value));
        let why = || match reason {
            Some(reason) => format!("the kernel has {reason}, so the limit says nothing about it"),
            None => match worst::access(self.module, trial, criterion.measure) {
                Some(access) => format!("{}: {access}", criterion.misses),
                None => criterion.misses.clone(),
            },
        };
        let measure = serde_json::to_value(criterion.measure).unwrap_or_default();
        Part {
            status: if passes { Status::Passed } else { Status::Failed },
            why: (!passes).then(why),
            measured: Some(CriterionValue {
                measure: measure.as_str().unwrap_or_default().to_owned(),
                words: criterion.measure.description(criterion.bk),
                value,
                at_most: criterion.at_most,
                at_least: criterion.at_least,
                shape,
            }),
            ..Part::passed(&criterion.id, &criterion.what)
        }
    }

    fn verdict(self, criteria: Vec<Part>) -> Verdict {
        let error = self.findings.iter().find(|found| found.severity == Severity::Error);
        let (mut right, mut clean) = (Part::passed(part_id::RIGHT, RIGHT), Part::passed(part_id::CLEAN, CLEAN));
        if let Some(found) = error {
            clean.status = Status::Failed;
            clean.why = Some(found.title.clone());
            right.status = Status::NotRun;
            right.why = Some(match self.task.host {
                None => "the result of a kernel with such a mistake says nothing".into(),
                Some(_) => host::NOT_RIGHT.into(),
            });
        } else if let Some(Mismatch { wrong, .. }) = &self.mismatch {
            right.status = Status::Failed;
            right.why = Some(wrong.in_a_sentence());
        }
        let mut parts = vec![Part::compiles(), right, clean];
        if criteria.len() == self.task.criteria.len() {
            parts.extend(criteria)
        } else {
            let not_run = Part::not_run(&self.task.criteria, "the kernel is not right yet");
            parts.extend(not_run.into_iter().skip(2));
        }
        let failed = parts.iter().find(|part| part.status == Status::Failed);
        let code = failed.map(|part| match (part.id.as_str(), error) {
            (part_id::CLEAN, Some(found)) => found.code.clone(),
            (part_id::RIGHT, _) => WRONG_RESULT.to_owned(),
            (id, _) => id.to_owned(),
        });
        Verdict {
            task: self.task.name.clone(),
            status: if failed.is_some() { Status::Failed } else { Status::Passed },
            code,
            why: failed.and_then(|part| part.why.clone()),
            n_shapes: self.n_shapes,
            n_tried: self.n_tried,
            wrong: self.mismatch.filter(|_| error.is_none()).map(|mismatch| mismatch.wrong),
            findings: self.findings,
            compiler: None,
            notes: self.notes,
            printed: self.printed,
            remedies: Vec::new(),
            entry: None,
            parts,
        }
    }
}

/// Keeps the more informative of two wrong results.
fn keep_more_informative(kept: &mut Option<Mismatch>, mismatch: Mismatch) {
    let of = |mismatch: &Mismatch| information(mismatch.wrong.shape, Some(mismatch));
    if kept.as_ref().is_none_or(|known| of(&mismatch) > of(known)) {
        *kept = Some(mismatch);
    }
}

/// Ranks a wrong result on a shape, or the best that there could be: first those with a pattern, then those of more
/// than one row and column, then with a map, then of several rounds over k.
fn information(shape: Shape, mismatch: Option<&Mismatch>) -> (Clue, bool, bool, bool) {
    const FEW_TERMS: usize = 16;
    let few_terms = shape.k <= FEW_TERMS;
    let clue = mismatch.map_or(Clue::Specific, |Mismatch { clue, subject, .. }| {
        // Few terms give a sum in many ways, and small matrices have few places.
        let is_of_rounds = matches!(subject, Subject::Rounds | Subject::Reads(_));
        let is_weak = few_terms && (*clue < Clue::Specific || is_of_rounds);
        if is_weak { Clue::Nothing } else { *clue }
    });
    let has_map = mismatch.is_none_or(|mismatch| !mismatch.wrong.map.is_empty());
    (clue, shape.m > 1 && shape.n > 1, has_map, !few_terms)
}

/// Converts a finding to a record; `severity` overrides its own.
fn found(finding: &diagnostics::Finding, shape: Shape, severity: Option<Severity>) -> ReportedFinding {
    ReportedFinding {
        severity: severity.unwrap_or(match finding.severity {
            simt::check::Severity::Error => Severity::Error,
            simt::check::Severity::Warning => Severity::Warning,
        }),
        code: finding.code.as_str().to_owned(),
        title: finding.title.clone(),
        file: finding.place.as_ref().map_or(String::new(), |place| place.file.clone()),
        line: finding.place.as_ref().map_or(0, |place| place.line),
        others: finding.others.iter().map(|party| (party.place.file.clone(), party.place.line)).collect(),
        race: finding.race.as_ref().map(|race| Race {
            element: race.element.clone(),
            address: race.address,
            accesses: race.accesses.each_ref().map(|access| RacingAccess {
                does: match access.does {
                    Action::Read => "read",
                    Action::Write => "write",
                    Action::Atomic | Action::Wait | Action::Run => "atomic",
                }
                .to_owned(),
                file: access.place.file.clone(),
                line: access.place.line,
                block: access.block,
                thread: access.thread,
            }),
        }),
        shape,
        text: finding.text.clone(),
    }
}
