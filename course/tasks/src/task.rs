//! `steps/vNN/tasks.toml`: the catalogue of a step's tasks and questions.
//!
//! A file that makes no sense is an error that names the file and the field; nothing is skipped silently.

mod complaint;
mod criterion;
mod name;
mod question;
mod reading;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use criterion::Criterion;
pub(crate) use criterion::threshold;
pub use name::TaskName;
pub use question::{Answer, Derived, Question};
pub use reading::{CatalogueError, file_of};

use crate::host::{self, HostCall};
use crate::progress;
use crate::variant::Variant;
use crate::work::Work;

/// The tasks and questions of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalogue {
    /// The step that it belongs to, such as `v05`.
    pub step: String,
    /// Rebuild task first, then the transfer tasks in the order of the file.
    pub tasks: Vec<Task>,
    /// Questions in the order of the file.
    pub questions: Vec<Question>,
    /// The task whose numbers are drawn, where the step has one.
    pub variant: Option<Variant>,
}

impl Catalogue {
    /// The task of that name.
    pub fn task(&self, name: &TaskName) -> Option<&Task> {
        self.tasks.iter().find(|task| task.name == *name)
    }

    /// The task of that name.
    ///
    /// # Errors
    /// With the names that there are, as one sentence.
    pub fn find(&self, name: &TaskName) -> Result<&Task, String> {
        self.task(name).ok_or_else(|| {
            let there: Vec<String> = self.tasks.iter().map(|task| task.name.to_string()).collect();
            let there = match there.is_empty() {
                true => "no tasks".to_owned(),
                false => there.join(", "),
            };
            format!("there is no task `{name}`; {} has {there}", self.step)
        })
    }
}

/// Which kind of task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The finished kernel of the step with its idea taken out.
    Rebuild,
    /// The same idea where the finished kernel does not fit.
    Transfer,
}

/// A kernel to write.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Name of the task, such as `v05.wide`.
    pub name: TaskName,
    /// Whether it rebuilds the kernel of the step or transfers its idea.
    pub kind: Kind,
    /// Title of the task, in one line.
    pub title: String,
    /// What to write and what is judged.
    pub text: String,
    /// The finished kernel, from the root of the checkout.
    pub solution: PathBuf,
    /// Name of the kernel's entry point.
    pub entry: String,
    /// What the kernel computes.
    pub work: Work,
    /// Rows and columns of C (of a transpose: of the input) that belong to a block.
    pub tile: [u32; 2],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    #[serde(default)]
    pub dynamic_shared: u32,
    /// Minutes that a learner usually needs.
    pub minutes: u32,
    /// Whether a starter is generated from the solution; otherwise it is a skeleton with nothing but the signature.
    pub has_starter: bool,
    /// The thing that it must do.
    pub does: Vec<Criterion>,
    /// What to say to somebody who is stuck.
    #[serde(default)]
    pub hints: Vec<Hint>,
    /// Whether its results count only from a real GPU.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gpu_required: bool,
    /// Of a task whose idea is on the host: what is written is an answer file, and no kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
}

impl Task {
    /// The learner's copy in the checkout at `root`, or the answer to a task whose idea is on the host.
    pub fn copy(&self, root: &Path) -> PathBuf {
        match self.host.is_some() {
            true => progress::answer_of(root, &self.name),
            false => progress::copy_of(root, &self.name),
        }
    }

    /// The learner's file, under `my/`: `v05.wide.cu`, or `v01.launch.toml` of a task whose idea is on the host.
    pub fn file(&self) -> String {
        match self.host {
            Some(_) => format!("{}.toml", self.name),
            None => format!("{}.cu", self.name),
        }
    }

    /// What is judged beside being right and clean: id, and what is required.
    pub fn criteria(&self) -> Vec<(&str, &str)> {
        let does = self.does.iter();
        let mut found: Vec<(&str, &str)> = does
            .map(|criterion| (criterion.id.as_str(), criterion.what.as_str()))
            .collect();
        if let Some(Host {
            call: HostCall::Launch { .. },
            ..
        }) = &self.host
        {
            found.push(host::NO_IDLE_BLOCKS);
        }
        found
    }

    /// Where its starter is committed, from the root of the checkout.
    pub fn starter_file(&self) -> PathBuf {
        let step = &self.name.step;
        match &self.name.id {
            Some(id) if self.host.is_some() => in_tasks(step, &format!("{id}.starter.toml")),
            Some(id) => in_tasks(step, &format!("{id}.starter.cu")),
            None => Path::new("steps").join(step).join("exercise.cu"),
        }
    }
}

/// A file that belongs to a step's tasks, from the root of the checkout.
fn in_tasks(step: &str, name: &str) -> PathBuf {
    Path::new("steps").join(step).join("tasks").join(name)
}

/// The host's part of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// What the host does.
    pub call: HostCall,
    /// What the learner's file begins with.
    pub starter: String,
}

/// What to say to somebody who is stuck, in levels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hint {
    /// A verdict's code that it belongs to; empty for any.
    pub symptom: String,
    /// The hint at each level: a nudge, the concept, pseudo-code.
    pub levels: Vec<String>,
}
