//! The outcome of judging one kernel.

use catalog::Shape;
use serde::{Deserialize, Serialize};

use crate::compile::Refused;
use crate::part_id::{self, WRONG_RESULT};
use crate::task::{Criterion, TaskName, threshold};

/// Outcome for a kernel or for one of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Passed,
    Failed,
    NotRun,
}

impl Status {
    /// Returns the name in words: `passed`, `failed`, `not run`.
    pub fn label(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotRun => "not run",
        }
    }
}

/// Outcome for one kernel. Fields are only ever added; names and meanings stay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Name such as `v05.wide`.
    pub task: TaskName,
    /// `Passed` when all parts passed.
    pub status: Status,
    /// The first failure: `compile`, `no-entry`, a finding's code, `wrong-result`, `timeout`, or a criterion's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The kernel that failed, where it is the FP64 one beside the task's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// `compiles`, `right`, `clean` and the criteria, in this order.
    pub parts: Vec<Part>,
    /// Shapes with a right result and without findings.
    pub n_shapes: usize,
    /// Shapes on which it was run.
    #[serde(default)]
    pub n_tried: usize,
    /// The most informative wrong result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong: Option<WrongOutput>,
    /// Findings of the checks, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<ReportedFinding>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler: Option<Refused>,
    /// Remarks that decide nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Edits of the copy with which the task passes, found by trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<Remedy>,
    /// Output of the kernel, perhaps shortened.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub printed: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// `compiles`, `right`, `clean`, or a criterion's id.
    pub id: String,
    /// Requirement, as a clause.
    pub what: String,
    pub status: Status,
    /// Reason of a failure or of a part that was not run, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The measured value, for a criterion that was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<CriterionValue>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CriterionValue {
    pub measure: String,
    pub words: String,
    /// The value; none where the kernel does nothing that the measure applies to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    pub shape: Shape,
}

impl CriterionValue {
    /// Describes the value in a sentence: `0.75, and should be at most 0.5: wavefronts per request, on 256x256x64`.
    pub fn in_a_sentence(&self) -> String {
        let value = match self.value {
            None => "none".into(),
            Some(value) => {
                let digits = match value.abs() {
                    v if v >= 100.0 => 0,
                    v if v >= 1.0 => 2,
                    _ => 4,
                };
                catalog::text::number(value, digits)
            }
        };
        let threshold = threshold(self.at_most, self.at_least);
        format!("{value}, and should be {threshold}: {}, on {}", self.words, self.shape)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WrongOutput {
    pub shape: Shape,
    /// `small integers` or `reals`, and the number within a batch.
    pub on: String,
    pub n_wrong: usize,
    pub n: usize,
    /// The first wrong element: position, value, expected value, owner.
    pub first: String,
    /// Pattern of the wrong elements in one sentence, where one was recognised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<String>,
    /// Map of the wrong tiles; empty for a single tile.
    pub map: String,
}

/// An edit of a copy with which the task passes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remedy {
    pub changes: Vec<ChangedLine>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedLine {
    /// Line of the copy, from 1; of a line that is added, the one that it follows.
    pub line: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Error,
    Warning,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedFinding {
    pub severity: Severity,
    /// Code such as `E-RACE`.
    pub code: String,
    pub title: String,
    /// Path of the file; empty when unknown.
    pub file: String,
    /// Line from 1; 0 when unknown.
    pub line: u32,
    /// File and line of the other accesses of a race, or of the other threads at a barrier.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<(String, u32)>,
    /// The accesses of a race.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race: Option<Race>,
    pub shape: Shape,
    /// The whole message of the check.
    pub text: String,
}

/// The memory that two threads race for, and their accesses: that which came first on the emulated GPU is the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Race {
    /// The element as C writes it, or the address.
    pub element: String,
    /// Address in global memory, or offset in the block's shared memory.
    pub address: u64,
    pub accesses: [RacingAccess; 2],
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RacingAccess {
    /// `read`, `write` or `atomic`.
    pub does: String,
    /// Path of the file; empty when unknown.
    pub file: String,
    /// Line from 1; 0 when unknown.
    pub line: u32,
    /// Position of the block in the grid: x, y and z.
    pub block: [u32; 3],
    /// Number of the thread in its block.
    pub thread: u32,
}

impl Verdict {
    /// Returns the verdict on a kernel that does not compile.
    pub fn refused(task: TaskName, criteria: &[Criterion], refused: Refused) -> Self {
        let why = Some(refused.first());
        let compiles = Part { status: Status::Failed, why: why.clone(), ..Part::compiles() };
        let parts = [vec![compiles], Part::not_run(criteria, "it does not compile")].concat();
        let stopped = Self::stopped(task, &[], "compile", "");
        Self { why, parts, compiler: Some(refused), ..stopped }
    }

    /// Returns the verdict on a kernel that was stopped, or whose judging ended without an answer.
    pub fn stopped(task: TaskName, criteria: &[Criterion], code: &str, why: &str) -> Self {
        Self {
            task,
            status: Status::Failed,
            code: Some(code.into()),
            why: Some(why.into()),
            entry: None,
            parts: [vec![Part::compiles()], Part::not_run(criteria, why)].concat(),
            n_shapes: 0,
            n_tried: 0,
            wrong: None,
            findings: Vec::new(),
            compiler: None,
            notes: Vec::new(),
            remedies: Vec::new(),
            printed: String::new(),
        }
    }

    /// Codes of all failures, each once: the codes of findings, and those that stand for failed parts.
    pub fn codes(&self) -> Vec<String> {
        let mut codes: Vec<String> = self.code.iter().cloned().collect();
        let errors = self.findings.iter().filter(|found| found.severity == Severity::Error);
        let mut add = |code: &str| {
            if !codes.iter().any(|known| known == code) {
                codes.push(code.to_owned());
            }
        };
        errors.for_each(|found| add(&found.code));
        for part in self.parts.iter().filter(|part| part.status == Status::Failed) {
            match part.id.as_str() {
                part_id::COMPILES | part_id::CLEAN => {}
                part_id::RIGHT => add(WRONG_RESULT),
                id => add(id),
            }
        }
        codes
    }
}

impl WrongOutput {
    /// Describes the mismatch: `on 129x127x7: 128 of 16383 elements are wrong: …`.
    pub fn in_a_sentence(&self) -> String {
        let Self { shape, n_wrong, n, .. } = self;
        let amount = if n_wrong == n {
            format!("on {shape}: all {n} elements are wrong")
        } else {
            format!("on {shape}: {n_wrong} of {n} elements are wrong")
        };
        match &self.diagnosis {
            Some(diagnosis) => format!("{amount}: {diagnosis}"),
            None => amount,
        }
    }
}

impl Part {
    pub fn passed(id: &str, what: &str) -> Self {
        Self { id: id.into(), what: what.into(), status: Status::Passed, why: None, measured: None }
    }

    pub fn compiles() -> Self {
        Self::passed(part_id::COMPILES, "the source compiles")
    }

    /// Returns `right`, `clean` and the criteria of a kernel that could not be run, for one reason.
    pub fn not_run(criteria: &[Criterion], why: &str) -> Vec<Self> {
        let part =
            |id: &str, what: &str| Self { status: Status::NotRun, why: Some(why.into()), ..Self::passed(id, what) };
        let mut parts = vec![part(part_id::RIGHT, RIGHT), part(part_id::CLEAN, CLEAN)];
        parts.extend(criteria.iter().map(|c| part(&c.id, &c.what)));
        parts
    }
}

/// Requirement of the part `right`.
pub const RIGHT: &str = "every element of the result is right";
/// Requirement of the part `clean`.
pub const CLEAN: &str = "no check finds an error";
