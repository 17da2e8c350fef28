//! Results of NVIDIA's compute-sanitizer for the steps, one file per machine: `book/data/h200-sanitizer.json`.

#[cfg(test)]
mod tests;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::record_file::{RecordError, record_file};
use crate::run::Run;

pub const SCHEMA: u32 = 2;

/// Tools of the sanitizer, in the order in which they run.
pub const TOOLS: [&str; 4] = ["memcheck", "racecheck", "initcheck", "synccheck"];

/// Results of compute-sanitizer, session after session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SanitizerRecord {
    pub schema: u32,
    pub runs: Vec<Session>,
    /// The verdicts, ordered by step and tool.
    pub verdicts: Vec<Verdict>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// The first checked process.
    #[serde(flatten)]
    pub run: Run,
    /// Name and version of the sanitizer, such as `Compute Sanitizer 2025.3.1.0`.
    pub sanitizer: String,
    pub driver_version: String,
}

/// Result of one tool for `check` of a step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// [`Run::id`] of the [`Session`].
    pub run: String,
    pub step: String,
    /// One of [`TOOLS`].
    pub tool: String,
    /// Kernels that ran on all their shapes with right results.
    pub kernels: Vec<String>,
    /// Number of shapes over all kernels.
    pub n_shapes: usize,
    /// Errors; for races, hazards that are errors.
    pub n_errors: u64,
    /// Hazards that are warnings.
    pub n_warnings: u64,
}

impl Verdict {
    pub fn is_clean(&self) -> bool {
        (self.n_errors, self.n_warnings) == (0, 0)
    }
}

record_file!(SanitizerRecord, verdicts);

impl SanitizerRecord {
    /// Adds the verdicts of one session to a file, in place of older ones of the same steps and tools.
    pub fn merge_into(path: &Path, by: &Session, verdicts: &[Verdict]) -> Result<(), RecordError> {
        Self::change(&Self::default(), path, |record| record.add(by, verdicts))
    }

    /// Adds verdicts in memory, and removes unreferenced sessions.
    pub fn add(&mut self, by: &Session, verdicts: &[Verdict]) {
        self.runs.push(by.clone());
        let again = |old: &Verdict| verdicts.iter().any(|new| (&new.step, &new.tool) == (&old.step, &old.tool));
        self.verdicts.retain(|old| !again(old));
        self.verdicts.extend_from_slice(verdicts);
        let tool = |verdict: &Verdict| TOOLS.iter().position(|tool| *tool == verdict.tool);
        self.verdicts.sort_by(|a, b| (&a.step, tool(a)).cmp(&(&b.step, tool(b))));
        self.runs.retain(|run| self.verdicts.iter().any(|verdict| verdict.run == run.run.id));
    }
}
