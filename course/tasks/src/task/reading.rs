//! Parser of `tasks.toml`.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Catalogue, Criterion, Hint, Host, Question, Task, TaskKind, TaskName};
use crate::toml_error::{TomlError, one_line};
use crate::variant::{self, Point, Variant};
use crate::work::TaskWork;
use crate::{host::HostCall, shown::Shown};

#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    #[error("{file}: {why}")]
    Unreadable { file: String, why: std::io::Error },
    #[error("{file}:{line}: {why}")]
    Syntax {
        file: String,
        /// Line from 1.
        line: usize,
        /// Message of the TOML parser, with the name of the field.
        why: String,
    },
    #[error("{file}: {place}: {why}")]
    Content {
        file: String,
        /// Place in the file, such as `transfer wide, does no-excess`.
        place: String,
        why: String,
    },
}

/// Returns the path of a step's catalogue, from the root of the checkout.
pub fn file_of(step: &str) -> PathBuf {
    Path::new("steps").join(step).join("tasks.toml")
}

impl Catalogue {
    /// Reads the catalogue of a step of the checkout at `root`. A step without a file has no tasks.
    pub fn load(root: &Path, step: &str) -> Result<Self, CatalogueError> {
        let file = file_of(step);
        let shown = file.display().to_string();
        match std::fs::read_to_string(root.join(&file)) {
            Ok(text) => Self::parse(&text, step, &shown),
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => {
                Ok(Self { step: step.to_owned(), tasks: Vec::new(), questions: Vec::new(), variant: None })
            }
            Err(why) => Err(CatalogueError::Unreadable { file: shown, why }),
        }
    }

    /// Reads the catalogues of all steps, in their order.
    pub fn load_all(root: &Path) -> Result<Vec<Self>, CatalogueError> {
        catalog::STEPS.iter().map(|step| Self::load(root, step.id)).collect()
    }

    /// Reads the text of a catalogue; `file` is its name in errors.
    pub fn parse(text: &str, step: &str, file: &str) -> Result<Self, CatalogueError> {
        let parsed: File = TomlError::read(text).map_err(|TomlError { line, why }| CatalogueError::Syntax {
            file: file.to_owned(),
            line,
            why,
        })?;
        let rebuild = parsed.rebuild.map(|table| table.task(step, TaskKind::Rebuild));
        let transfers = parsed.transfer.into_iter().map(|table| table.task(step, TaskKind::Transfer));
        let hosts = parsed.host.into_iter().map(|table| Task {
            name: TaskName::transfer(step, &table.id),
            kind: TaskKind::Transfer,
            title: table.title,
            text: table.text,
            solution: super::in_tasks(step, &format!("{}.toml", table.id)),
            entry: table.entry,
            work: table.work,
            tile: table.tile,
            block: table.block,
            minutes: table.minutes,
            has_starter: true,
            hints: table.hints,
            host: Some(Host { call: table.call, starter: table.starter }),
            ..Task::default()
        });
        let tasks = rebuild.into_iter().chain(hosts).chain(transfers);
        let gpu_required = parsed.gpu_required;
        let catalogue = Self {
            step: step.to_owned(),
            tasks: tasks.map(|task| Task { gpu_required, ..task }).collect(),
            questions: parsed.why,
            variant: parsed.variant,
        };
        let complaint = catalogue.complaint().or_else(|| {
            // All points are checked, so that any drawn one is valid.
            let variant = catalogue.variant.as_ref()?;
            let mut made = variant.points.iter().map(|point| (point, variant.task(step, point)));
            made.find_map(|(point, task)| Some((format!("variant {point}"), task.err()?)))
        });
        match complaint {
            None => Ok(catalogue),
            Some((place, why)) => Err(CatalogueError::Content { file: file.to_owned(), place, why }),
        }
    }
}

impl Variant {
    pub fn task(&self, step: &str, point: &Point) -> Result<Task, String> {
        let table = toml::Value::Table(self.table(point)?);
        let table: KernelTable = table.try_into().map_err(|error| one_line(&error))?;
        let task = Task { solution: variant::reference_of(step), ..table.task(step, TaskKind::Transfer) };
        match task.complaint() {
            None => Ok(task),
            Some((place, why)) if place.is_empty() => Err(why),
            Some((place, why)) => Err(format!("{place}: {why}")),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Set in repositories made by `assign`: results count only from a real GPU.
    #[serde(default)]
    gpu_required: bool,
    rebuild: Option<KernelTable>,
    #[serde(default)]
    transfer: Vec<KernelTable>,
    #[serde(default)]
    host: Vec<HostTable>,
    #[serde(default)]
    why: Vec<Question>,
    variant: Option<Variant>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HostTable {
    id: String,
    title: String,
    text: String,
    call: HostCall,
    #[serde(default)]
    entry: String,
    work: TaskWork,
    #[serde(default = "ones")]
    tile: [u32; 2],
    #[serde(default = "ones")]
    block: [u32; 3],
    minutes: u32,
    starter: String,
    #[serde(default)]
    hints: Vec<Hint>,
}

/// Returns the default tile or block of a call without tiles.
fn ones<const N: usize>() -> [u32; N] {
    [1; N]
}

/// A task with a kernel to write. The rebuild task has a source among the finished kernels, and no id.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KernelTable {
    #[serde(default)]
    id: String,
    #[serde(default)]
    source: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    text: String,
    entry: String,
    work: TaskWork,
    tile: [u32; 2],
    block: [u32; 3],
    #[serde(default)]
    dynamic_shared: u32,
    minutes: u32,
    #[serde(default)]
    starter: bool,
    /// Set in repositories made by `assign`: the kernel is written in Rust.
    #[serde(default)]
    rust: bool,
    #[serde(default)]
    shows: Vec<Shown>,
    #[serde(default, rename = "does")]
    criteria: Vec<Criterion>,
    #[serde(default)]
    hints: Vec<Hint>,
}

impl KernelTable {
    fn task(self, step: &str, kind: TaskKind) -> Task {
        let (name, solution) = match kind {
            TaskKind::Rebuild => (TaskName::rebuild(step), Path::new("kernels").join(self.source).with_extension("cu")),
            TaskKind::Transfer => {
                (TaskName::transfer(step, &self.id), super::in_tasks(step, &format!("{}.cu", self.id)))
            }
        };
        let idea = || catalog::find(step).map_or(step, |step| step.idea).to_owned();
        let title = if self.title.is_empty() && kind == TaskKind::Rebuild { idea() } else { self.title };
        let task = Task {
            name,
            kind,
            title,
            text: self.text,
            solution,
            entry: self.entry,
            work: self.work,
            tile: self.tile,
            block: self.block,
            dynamic_shared: self.dynamic_shared,
            minutes: self.minutes,
            has_starter: self.starter || kind == TaskKind::Rebuild,
            shows: self.shows,
            criteria: self.criteria,
            hints: self.hints,
            ..Task::default()
        };
        if self.rust { task.in_rust().unwrap_or(task) } else { task }
    }
}
