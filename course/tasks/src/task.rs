//! `steps/vNN/tasks.toml`: the catalogue of a step's tasks and questions.
//!
//! An invalid file is an error that names the file and the field; nothing is skipped silently.

mod complaint;
mod criterion;
mod name;
mod question;
mod reading;

use std::path::{Path, PathBuf};

use catalog::Shape;
use serde::{Deserialize, Serialize};

pub use criterion::Criterion;
pub(crate) use criterion::threshold;
pub use name::TaskName;
pub use question::{Answer, Derived, Question};
pub use reading::{CatalogueError, file_of};

use crate::host::{self, HostCall};
use crate::launch::OwnLaunch;
use crate::{paths, shown::Shown, variant::Variant, work::TaskWork};

#[derive(Debug, Clone, PartialEq)]
pub struct Catalogue {
    /// The step's id, such as `v05`.
    pub step: String,
    /// Rebuild task first, then the tasks on the host, then the transfer tasks in the order of the file.
    pub tasks: Vec<Task>,
    pub questions: Vec<Question>,
    /// The task whose numbers are drawn, where the step has one.
    pub variant: Option<Variant>,
}

impl Catalogue {
    pub fn task(&self, name: &TaskName) -> Option<&Task> {
        self.tasks.iter().find(|task| task.name == *name)
    }

    /// Finds a task as [`Self::task`] does; the error names the existing tasks.
    pub fn find(&self, name: &TaskName) -> Result<&Task, String> {
        self.task(name).ok_or_else(|| {
            let step = &self.step;
            let known: Vec<String> = self.tasks.iter().map(|task| task.name.to_string()).collect();
            let known = if known.is_empty() { "no tasks".into() } else { known.join(", ") };
            format!("there is no task `{name}`; {step} has {known} (see: cargo xtask list {step})")
        })
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    /// The finished kernel of the step without its idea.
    #[default]
    Rebuild,
    /// The idea of the step in a setting that the finished kernel does not fit.
    Transfer,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Name such as `v05.wide`.
    pub name: TaskName,
    pub kind: TaskKind,
    pub title: String,
    /// Description of the kernel to write and of the criteria.
    pub text: String,
    /// Path of the finished kernel, from the root of the checkout.
    pub solution: PathBuf,
    /// Whether the learner writes the kernel in Rust.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_rust: bool,
    pub entry: String,
    pub work: TaskWork,
    /// Rows and columns of C (of a transpose: of the input) per block.
    pub tile: [u32; 2],
    pub block: [u32; 3],
    /// Consecutive blocks have tiles below each other: `blockIdx.x` is the row of tiles.
    #[serde(default)]
    pub down: bool,
    /// The launch, where it does not follow from `work`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch: Option<OwnLaunch>,
    /// Dynamic shared memory per block, in bytes.
    #[serde(default)]
    pub dynamic_shared: u32,
    /// Usual time for a learner.
    pub minutes: u32,
    /// Whether the starter is generated from the solution; otherwise it is a skeleton with the bare signature.
    pub has_starter: bool,
    /// Lines of the starter that answer other tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shows: Vec<Shown>,
    /// Criteria besides correctness.
    pub criteria: Vec<Criterion>,
    #[serde(default)]
    pub hints: Vec<Hint>,
    /// Whether results count only on a real GPU.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gpu_required: bool,
    /// Present for a task whose idea is on the host: the learner writes an answer file, not a kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
}

impl Task {
    /// Returns the grid of a launch.
    pub fn grid(&self, shape: Shape) -> [u32; 3] {
        let [x, y, z] = self.work.grid(self.tile, shape);
        let tiles = if self.down { [y, x, z] } else { [x, y, z] };
        self.launch.as_ref().map_or(tiles, |launch| launch.blocks.grid(tiles))
    }

    /// Returns the path of the learner's file in the checkout at `root`.
    pub fn copy_path(&self, root: &Path) -> PathBuf {
        paths::learner_folder(root).join(self.copy_file_name())
    }

    /// Returns the name of the learner's file under `my/`: `v05.wide.cu`, or `v01.launch.toml` for a task on the host.
    pub fn copy_file_name(&self) -> String {
        match self.host {
            Some(_) => format!("{}.toml", self.name),
            None if self.is_rust => format!("{}.rs", self.name),
            None => format!("{}.cu", self.name),
        }
    }

    /// The tasks that [`Self::in_rust`] gives.
    pub const IN_RUST: &str = "the tasks of v01 to v07 alone have a kernel in Rust";

    /// Returns the same task for a kernel in Rust; `None` for a task whose finished kernel has no sibling.
    pub fn in_rust(&self) -> Option<Self> {
        if self.is_rust {
            return Some(self.clone());
        }
        if self.name.id.is_some() || !("v01"..="v07").contains(&&*self.name.step) {
            return None;
        }
        let file = Path::new("kernels/rust").join(self.solution.file_name()?);
        let (solution, text) = (file.with_extension("rs"), self.text.replace("common.cuh", "prelude.rs"));
        Some(Self { text, solution, is_rust: true, shows: Vec::new(), ..self.clone() })
    }

    /// Returns the task of the FP64 kernel that a template makes beside the one of this task, where the file has it: a
    /// right result.
    pub fn fp64_task(&self) -> Option<Self> {
        let entry = self.entry.replacen("sgemm", "dgemm", 1);
        let is_named = self.work == TaskWork::Sgemm && entry != self.entry;
        is_named.then(|| Self { entry, work: TaskWork::Dgemm, criteria: Vec::new(), ..self.clone() })
    }

    /// Returns the id and requirement of each criterion besides `right` and `clean`.
    pub fn criterion_labels(&self) -> Vec<(&str, &str)> {
        let criteria = self.criteria.iter();
        let mut found: Vec<(&str, &str)> =
            criteria.map(|criterion| (criterion.id.as_str(), criterion.what.as_str())).collect();
        if let Some(Host { call: HostCall::Launch { .. }, .. }) = &self.host {
            found.push(host::NO_IDLE_BLOCKS);
        }
        found
    }

    /// Returns the path of the committed starter, from the root of the checkout.
    pub fn starter_file(&self) -> PathBuf {
        let step = &self.name.step;
        match &self.name.id {
            Some(id) if self.host.is_some() => in_tasks(step, &format!("{id}.starter.toml")),
            Some(id) => in_tasks(step, &format!("{id}.starter.cu")),
            None => Path::new("steps").join(step).join(if self.is_rust { "exercise.rs" } else { "exercise.cu" }),
        }
    }
}

/// Returns the path of a file of a step's tasks, from the root of the checkout.
fn in_tasks(step: &str, name: &str) -> PathBuf {
    Path::new("steps").join(step).join("tasks").join(name)
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    pub call: HostCall,
    /// Initial text of the learner's file.
    pub starter: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hint {
    /// Code of the verdict that it helps with; empty for any.
    pub symptom: String,
    /// Text of each level: a nudge, the concept, pseudo-code.
    pub levels: Vec<String>,
}
