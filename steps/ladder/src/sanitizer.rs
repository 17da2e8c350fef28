//! What NVIDIA's compute-sanitizer said of the steps, one file per machine: `book/data/h200-sanitizer.json`.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::record::{self, RecordError, Run};

/// Layout of the file.
pub const SCHEMA: u32 = 1;

/// Its tools, in the order in which they run.
pub const TOOLS: [&str; 4] = ["memcheck", "racecheck", "initcheck", "synccheck"];

/// What one session with compute-sanitizer found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of the format: [`SCHEMA`].
    pub schema: u32,
    /// The first process that was looked at.
    pub run: Run,
    /// Name and version of the sanitizer, such as `Compute Sanitizer 2025.3.1.0`.
    pub sanitizer: String,
    /// Version of the driver: `580.159.04`.
    pub driver_version: String,
    /// The verdicts, ordered by step and tool.
    pub verdicts: Vec<Verdict>,
}

/// What one tool said of `check` of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The step, such as `v05`.
    pub step: String,
    /// The tool that checked: one of [`TOOLS`].
    pub tool: String,
    /// Kernels that ran, each on all its shapes, with right answers.
    pub kernels: Vec<String>,
    /// Shapes, over all kernels.
    pub n_shapes: usize,
    /// Errors, or for races, hazards that are errors.
    pub n_errors: u64,
    /// Hazards that are warnings.
    pub n_warnings: u64,
}

impl Verdict {
    /// Whether the tool found nothing.
    pub fn is_clean(&self) -> bool {
        (self.n_errors, self.n_warnings) == (0, 0)
    }
}

impl Record {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or is something else.
    pub fn load(path: &Path) -> Result<Self, RecordError> {
        record::load_json(path, SCHEMA, |found: &Self| found.schema)
    }

    /// Writes the file whole or not at all.
    ///
    /// # Errors
    /// When that is not possible; the old file is as it was.
    pub fn save(&self, path: &Path) -> Result<(), RecordError> {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let text = format!(
            "{{\n\"schema\": {},\n\"run\":\n{},\n\"sanitizer\": {},\n\"driver_version\": {},\n\"verdicts\": [\n{}\n]\n}}\n",
            self.schema,
            record::json_lines(std::slice::from_ref(&self.run)),
            quoted(&self.sanitizer),
            quoted(&self.driver_version),
            record::json_lines(&self.verdicts)
        );
        record::save_text(path, &text)
    }
}
