//! Tasks and questions of the steps as plain data, and what is derived from them: starters, measures, verdicts, progress.
//!
//! The command line, the program that judges a kernel, the book and the tests read the same files through this crate:
//!
//! - [`task`]: `steps/vNN/tasks.toml`, the catalogue of a step's tasks and questions.
//! - [`work`]: what a task computes: the parameters of its kernel, the grid.
//! - [`host`]: tasks whose idea is on the host.
//! - [`markers`], [`starter`]: what a learner begins with, generated from a finished kernel.
//! - [`solutions`]: what learners might hand in, wrong and right, for the tests.
//! - [`variant`]: tasks whose numbers are drawn for a class.
//! - [`expression`]: numbers that follow from other numbers.
//! - [`measure`]: named measures over the counters of the emulated GPU, which thresholds refer to.
//! - [`verdict`]: the outcome of judging one kernel.
//! - [`compile`]: errors of a CUDA compiler as records, each with at most one hint.
//! - [`diff`]: the difference of two texts.
//! - [`progress`]: the learner's progress file.
//! - [`hints`]: which hint fits a verdict.
//! - [`quiz`]: the questions of a step, and those that come back.
//! - [`explain`]: what each source line of a kernel did.
//!
//! Nothing here compiles or runs a kernel: `judge` does, and `xtask` starts it.

#![forbid(unsafe_code)]

pub mod compile;
pub mod diff;
pub mod explain;
pub mod expression;
pub mod fixtures;
pub mod hints;
pub mod host;
pub mod markers;
pub mod measure;
pub mod progress;
pub mod quiz;
pub mod solutions;
pub mod starter;
pub mod task;
pub mod variant;
pub mod verdict;
pub mod work;

pub use task::{Catalogue, CatalogueError, Task, TaskName};
pub use verdict::Verdict;
pub use work::Work;

/// The line of an error in a TOML file, from 1, and what is wrong, as one sentence with the name of the field.
pub fn toml_error(text: &str, error: &toml::de::Error) -> (usize, String) {
    let start = error.span().map_or(0, |span| span.start.min(text.len()));
    let line = text.as_bytes()[..start]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
        + 1;
    (line, error.message().trim().replace('\n', ", "))
}
