//! The learner's progress: `my/progress.toml`, a file that a person can read and correct.
//!
//! Tasks that are gone and fields of later versions are kept unchanged. Several processes may write at once: each
//! reads, changes and replaces the file under the lock of its folder.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use catalog::files::{lock_folder, read_text, write_whole};
use serde::{Deserialize, Serialize};

use crate::verdict::{Status, Verdict};
use crate::{paths::learner_folder, task::TaskName, toml_error::TomlError};

/// Layout of the file; raised when an old reader would misunderstand a new file.
pub const FORMAT: u32 = 1;

/// Longest pause between two commands that counts as work, in seconds.
const MAX_PAUSE_SECONDS: u64 = 20 * 60;

const HEAD: &str = "# Progress through the tasks and questions, written by `cargo xtask`.\n\
                    # You may correct it; what is deleted here is forgotten.\n\n";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// [`FORMAT`], also for a file without the field.
    #[serde(default = "format")]
    pub format: u32,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tasks: BTreeMap<String, TaskProgress>,
    /// Progress by step and id, `v05.b-load-wavefronts`; for a returning question, `v05.b-load-wavefronts@v07`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub questions: BTreeMap<String, QuestionProgress>,
    /// Fields of other versions, kept as they are.
    #[serde(flatten)]
    pub other: toml::Table,
}

fn format() -> u32 {
    FORMAT
}

impl Default for Progress {
    fn default() -> Self {
        Self { format: FORMAT, tasks: BTreeMap::new(), questions: BTreeMap::new(), other: toml::Table::new() }
    }
}

/// Progress of one task. Times are in UTC, as in `2026-11-22T12:00:00Z`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskProgress {
    /// Time at which `start` wrote the starter.
    pub started: Option<String>,
    /// Time of the last command about the task.
    pub last: Option<String>,
    /// Seconds of work: the pauses between commands, long ones left out.
    pub seconds: u64,
    pub checks: u32,
    /// Number of verdicts up to and including the first pass.
    pub checks_to_pass: Option<u32>,
    pub passed: Option<String>,
    pub gave_up: Option<String>,
    /// Hints shown, each level of a symptom counted once.
    pub hints: u32,
    /// Hash of the copy that the last verdict judged.
    pub checked_sha256: Option<String>,
    /// Code of the last verdict, when it failed.
    pub code: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub failures: BTreeMap<String, u32>,
    /// Highest level of hint shown for each symptom; the general hint has the key `general`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub hint_levels: BTreeMap<String, u32>,
    /// Fields of other versions, kept as they are.
    #[serde(flatten)]
    pub other: toml::Table,
}

/// Progress of one question. Times are as in [`TaskProgress`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QuestionProgress {
    pub answer: Option<String>,
    /// Correctness of the last answer; none for a skipped question.
    pub right: Option<bool>,
    pub tries: u32,
    /// Time at which the right answer was shown on request.
    pub shown: Option<String>,
    pub last: Option<String>,
    /// Fields of other versions, kept as they are.
    #[serde(flatten)]
    pub other: toml::Table,
}

#[derive(Debug, thiserror::Error)]
pub enum ProgressError {
    #[error("{path}: {why}")]
    Io { path: String, why: std::io::Error },
    #[error("{path}:{line}: {why}; correct the file, or delete it to start over")]
    Syntax {
        path: String,
        /// Line from 1.
        line: usize,
        why: String,
    },
    #[error("{path} has format {found}, and this version reads up to {FORMAT}: update the checkout")]
    Newer { path: String, found: u32 },
}

pub fn file(root: &Path) -> PathBuf {
    learner_folder(root).join("progress.toml")
}

pub fn copy_of(root: &Path, task: &TaskName) -> PathBuf {
    let [cuda, rust] = ["cu", "rs"].map(|ending| learner_folder(root).join(format!("{task}.{ending}")));
    let changed = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
    if changed(&rust) > changed(&cuda) { rust } else { cuda }
}

impl Progress {
    /// Reads the file of the checkout at `root`. A missing file is empty progress.
    pub fn load(root: &Path) -> Result<Self, ProgressError> {
        let path = file(root);
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        // A pipe would be waited for.
        let read = || {
            if path.metadata()?.is_file() {
                return read_text(&path);
            }
            Err(std::io::Error::new(ErrorKind::InvalidInput, "it is not a file; move it away"))
        };
        match read() {
            Ok(text) => Self::parse(&text, &shown),
            Err(why) if matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(Self::default()),
            Err(why) => Err(ProgressError::Io { path: shown, why }),
        }
    }

    /// Reads the text of a file; `name` is its path in errors.
    pub fn parse(text: &str, name: &str) -> Result<Self, ProgressError> {
        let syntax = |TomlError { line, why }| ProgressError::Syntax { path: name.to_owned(), line, why };
        // The format is checked first: a later one may have other types in its fields.
        let table: toml::Table = TomlError::read(text).map_err(syntax)?;
        let found = table.get("format").and_then(toml::Value::as_integer).unwrap_or(1);
        let found = u32::try_from(found).unwrap_or(u32::MAX);
        if found > FORMAT {
            let path = name.to_owned();
            return Err(ProgressError::Newer { path, found });
        }
        TomlError::read(text).map_err(syntax)
    }

    /// Changes the file of the checkout at `root`, and creates its folder if necessary. After an error the file is
    /// unchanged.
    pub fn update<T>(root: &Path, change: impl FnOnce(&mut Self) -> T) -> Result<T, ProgressError> {
        let (folder, path) = (learner_folder(root), file(root));
        let io = |why| ProgressError::Io { path: path.strip_prefix(root).unwrap_or(&path).display().to_string(), why };
        std::fs::create_dir_all(&folder).map_err(|error| {
            io(match folder.symlink_metadata() {
                Ok(_) => {
                    let shown = folder.file_name().unwrap_or_default().display();
                    std::io::Error::new(error.kind(), format!("{shown} is not a folder; move it away"))
                }
                Err(_) => error,
            })
        })?;
        let _lock = lock_folder(&folder).map_err(io)?;
        let mut progress = Self::load(root)?;
        let result = change(&mut progress);
        let text = toml::to_string(&progress)
            .map_err(|error| io(std::io::Error::new(ErrorKind::InvalidData, error.to_string())))?;
        write_whole(&path, &format!("{HEAD}{text}")).map_err(io)?;
        Ok(result)
    }

    /// Progress of a task; the default for a task that was never begun.
    pub fn task(&self, name: &TaskName) -> TaskProgress {
        self.tasks.get(&name.to_string()).cloned().unwrap_or_default()
    }

    /// Progress of a task for a change at the time `now`, in seconds since 1970.
    pub fn touch(&mut self, name: &TaskName, now: u64) -> &mut TaskProgress {
        let task = self.tasks.entry(name.to_string()).or_default();
        if let Some(last) = task.last.as_deref().and_then(catalog::time::seconds) {
            let pause = now.saturating_sub(last);
            task.seconds += if pause <= MAX_PAUSE_SECONDS { pause } else { 0 };
        }
        task.last = Some(catalog::time::utc(now));
        task
    }

    /// Records that a hint was shown, up to a level from 1 on.
    pub fn hinted(&mut self, name: &TaskName, symptom: &str, level: u32, now: u64) {
        let task = self.touch(name, now);
        let known = task.hint_levels.entry(symptom_key(symptom).to_owned()).or_default();
        task.hints += level.saturating_sub(*known);
        *known = level.max(*known);
    }

    /// Records an answer to a question. A skipped question (`None`) keeps its earlier answer.
    pub fn answered(&mut self, key: &str, given: Option<(&str, bool)>, now: u64) {
        let question = self.questions.entry(key.to_owned()).or_default();
        question.last = Some(catalog::time::utc(now));
        if let Some((answer, right)) = given {
            question.answer = Some(answer.to_owned());
            question.right = Some(right);
            question.tries += 1;
        }
    }

    pub fn showed(&mut self, key: &str, now: u64) {
        let question = self.questions.entry(key.to_owned()).or_default();
        question.shown.get_or_insert(catalog::time::utc(now));
    }

    /// Records the outcome of a verdict, unless the kernel was not run.
    pub fn record(&mut self, verdict: &Verdict, now: u64) {
        if verdict.status == Status::NotRun {
            return;
        }
        let task = self.touch(&verdict.task, now);
        task.checks += 1;
        task.code.clone_from(&verdict.code);
        match (verdict.status, &verdict.code) {
            (Status::Passed, _) if task.passed.is_none() => {
                task.passed = Some(catalog::time::utc(now));
                task.checks_to_pass = Some(task.checks);
            }
            (Status::Failed, Some(code)) => *task.failures.entry(code.clone()).or_default() += 1,
            _ => {}
        }
    }
}

/// Returns the key of a symptom in [`TaskProgress::hint_levels`].
fn symptom_key(symptom: &str) -> &str {
    match symptom {
        "" => "general",
        symptom => symptom,
    }
}

impl TaskProgress {
    /// Returns the highest level of hint shown for a symptom.
    pub fn hint_level(&self, symptom: &str) -> u32 {
        self.hint_levels.get(symptom_key(symptom)).copied().unwrap_or(0)
    }

    /// Returns whether the solution may be shown: the task passed, or the learner gave up.
    pub fn is_over(&self) -> bool {
        self.passed.is_some() || self.gave_up.is_some()
    }
}
