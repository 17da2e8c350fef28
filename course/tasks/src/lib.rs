//! Tasks and questions of the steps as plain data, and the starters, measures, verdicts and progress derived from them.
//!
//! The command line, the program that judges a kernel, the book and the tests read the same files through this crate:
//!
//! - [`task`]: `steps/vNN/tasks.toml`, the catalogue of a step's tasks and questions.
//! - [`work`]: the computation of a task: parameters of its kernel, the grid.
//! - [`host`]: tasks whose idea is on the host.
//! - [`markers`], [`starter`]: the learner's starting point, generated from a finished kernel.
//! - [`shown`]: lines of one starter that answer another task.
//! - [`committed`]: kernels of the ladder that no task is about, with their launches.
//! - [`launch`]: launches that do not follow from the computation of a kernel.
//! - [`fixtures`]: kernels whose header states how they are launched, for the tests.
//! - [`solutions`]: possible submissions, wrong and right, for the tests.
//! - [`variant`]: tasks whose numbers are drawn for a class.
//! - [`drawn`]: questions whose numbers are drawn for each student.
//! - [`expression`]: numbers computed from other numbers.
//! - [`measure`]: named measures over the counters of the emulated GPU, compared with thresholds.
//! - [`verdict`]: the outcome of judging one kernel.
//! - [`compile`]: errors of a CUDA compiler as records, each with at most one hint.
//! - [`edits`]: small edits of a kernel that might be what it lacks.
//! - [`diff`]: the difference of two texts.
//! - [`progress`]: the learner's progress file.
//! - [`hints`]: the hint for a verdict.
//! - [`quiz`]: the questions of a step, including those that return from earlier steps.
//! - [`explain`]: counts per source line of a kernel.
//! - [`paths`]: folders of the checkout.
//!
//! Nothing here compiles or runs a kernel: `judge` does, and `xtask` starts it.

#![forbid(unsafe_code)]

pub mod committed;
pub mod compile;
pub mod diff;
pub mod drawn;
pub mod edits;
pub mod explain;
pub mod expression;
pub mod fixtures;
pub mod hints;
pub mod host;
pub mod launch;
pub mod markers;
pub mod measure;
pub mod part_id;
pub mod paths;
pub mod progress;
pub mod quiz;
pub mod shown;
pub mod solutions;
pub mod starter;
pub mod task;
mod toml_error;
pub mod variant;
pub mod verdict;
pub mod work;

pub use task::{Catalogue, CatalogueError, Task, TaskName};
pub use toml_error::TomlError;
pub use verdict::Verdict;
pub use work::TaskWork;
