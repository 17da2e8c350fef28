//! The outcome of judging one kernel.

use catalog::Shape;
use serde::{Deserialize, Serialize};

use crate::compile::Refused;
use crate::task::{TaskName, threshold};

/// Of a kernel, or of one of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It is as it should be.
    Passed,
    /// It is not as it should be.
    Failed,
    /// It was not run, so nothing is known.
    NotRun,
}

impl Status {
    /// `passed`, `failed`, `not run`
    pub fn words(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotRun => "not run",
        }
    }
}

/// Everything about one kernel. Fields are only ever added; names and meanings stay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Name of the task, such as `v05.wide`.
    pub task: TaskName,
    /// Whether all parts passed.
    pub status: Status,
    /// What failed first: `compile`, `no-entry`, a finding's code, `wrong-result`, `timeout`, or a criterion's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// One sentence on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// `compiles`, `right`, `clean` and the criteria, in this order.
    pub parts: Vec<Part>,
    /// Shapes on which the result was right and no check found anything.
    pub n_shapes: usize,
    /// The wrong result that says most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong: Option<Wrong>,
    /// What the checks found, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Found>,
    /// Errors of the compiler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler: Option<Refused>,
    /// What the kernel printed, perhaps shortened.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub printed: String,
}

/// One part of a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// `compiles`, `right`, `clean`, or a criterion's id.
    pub id: String,
    /// What is required, as a clause.
    pub what: String,
    /// Whether it passed.
    pub status: Status,
    /// One sentence: why it failed, or why it was not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The measured value, for a criterion that was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
}

/// A value and its threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Name of the measure.
    pub measure: String,
    /// The measure in words.
    pub words: String,
    /// What was measured; none where the kernel does nothing that it could be taken of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Largest value that passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Smallest value that passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// Sizes of the counted launch.
    pub shape: Shape,
}

impl Measured {
    /// `0.75, and should be at most 0.5: wavefronts per request, on 256x256x64`
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
        format!(
            "{value}, and should be {threshold}: {}, on {}",
            self.words, self.shape
        )
    }
}

/// A result with wrong elements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Wrong {
    /// Sizes of the launch.
    pub shape: Shape,
    /// `small integers` or `reals`, and which of a batch.
    pub on: String,
    /// Number of wrong elements.
    pub n_wrong: usize,
    /// Number of all elements.
    pub n: usize,
    /// The first wrong element: where, what it is, what it should be, whose it is.
    pub first: String,
    /// What the wrong elements look like, in one sentence, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<String>,
    /// Which tiles are wrong, drawn; empty where there is one only.
    pub map: String,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The word `error` or `warning`.
    pub severity: String,
    /// Code of the finding, such as `E-RACE`.
    pub code: String,
    /// The finding in one line.
    pub title: String,
    /// Path of the file where it happened; empty when unknown.
    pub file: String,
    /// Line of the file, from 1; 0 when unknown.
    pub line: u32,
    /// On which shape it was found.
    pub shape: Shape,
    /// The whole message, as the check reports it.
    pub text: String,
}

impl Verdict {
    /// Of a kernel that does not compile.
    pub fn refused(task: TaskName, criteria: &[crate::task::Criterion], refused: Refused) -> Self {
        let mut parts = vec![Part {
            id: "compiles".into(),
            what: "the source compiles".into(),
            status: Status::Failed,
            why: Some(refused.first()),
            measured: None,
        }];
        parts.extend(Part::not_run(criteria, "it does not compile"));
        Self {
            task,
            status: Status::Failed,
            code: Some("compile".into()),
            why: Some(refused.first()),
            parts,
            n_shapes: 0,
            wrong: None,
            findings: Vec::new(),
            compiler: Some(refused),
            printed: String::new(),
        }
    }

    /// Of a kernel that was stopped, or whose judging ended without an answer.
    pub fn stopped(task: TaskName, criteria: &[crate::task::Criterion], code: &str, why: &str) -> Self {
        let mut parts = vec![Part::passed("compiles", "the source compiles")];
        parts.extend(Part::not_run(criteria, why));
        Self {
            task,
            status: Status::Failed,
            code: Some(code.into()),
            why: Some(why.into()),
            parts,
            n_shapes: 0,
            wrong: None,
            findings: Vec::new(),
            compiler: None,
            printed: String::new(),
        }
    }

    /// Codes of everything that failed, each once: of findings their own, of parts what stands for them.
    pub fn codes(&self) -> Vec<String> {
        let mut codes: Vec<String> = self.code.iter().cloned().collect();
        let errors = self.findings.iter().filter(|found| found.severity == "error");
        let mut add = |code: &str| {
            if !codes.iter().any(|known| known == code) {
                codes.push(code.to_owned());
            }
        };
        errors.for_each(|found| add(&found.code));
        for part in self.parts.iter().filter(|part| part.status == Status::Failed) {
            match part.id.as_str() {
                "compiles" | "clean" => {}
                "right" => add("wrong-result"),
                id => add(id),
            }
        }
        codes
    }
}

impl Wrong {
    /// `on 129x127x7: 128 of 16383 elements are wrong: …`
    pub fn in_a_sentence(&self) -> String {
        let Self {
            shape, n_wrong, n, ..
        } = self;
        let amount = match n_wrong == n {
            true => format!("on {shape}: all {n} elements are wrong"),
            false => format!("on {shape}: {n_wrong} of {n} elements are wrong"),
        };
        match &self.diagnosis {
            Some(diagnosis) => format!("{amount}: {diagnosis}"),
            None => amount,
        }
    }
}

impl Part {
    /// A part that passed.
    pub fn passed(id: &str, what: &str) -> Self {
        Self {
            id: id.into(),
            what: what.into(),
            status: Status::Passed,
            why: None,
            measured: None,
        }
    }

    /// `right`, `clean` and the criteria of something that could not be run, for one reason.
    pub fn not_run(criteria: &[crate::task::Criterion], why: &str) -> Vec<Self> {
        let part = |id: &str, what: &str| Self {
            status: Status::NotRun,
            why: Some(why.into()),
            ..Self::passed(id, what)
        };
        let mut parts = vec![part("right", RIGHT), part("clean", CLEAN)];
        parts.extend(criteria.iter().map(|c| part(&c.id, &c.what)));
        parts
    }
}

/// What the part `right` requires.
pub const RIGHT: &str = "every element of the result is right";
/// What the part `clean` requires.
pub const CLEAN: &str = "no check finds a mistake";
