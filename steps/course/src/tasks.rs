//! `steps/vNN/tasks.toml`: the catalogue of a step's tasks and questions.
//!
//! A file that makes no sense is an error that names the file and the field; nothing is skipped silently.

use std::fmt;
use std::path::{Path, PathBuf};

use ladder::Shape;
use serde::{Deserialize, Serialize};

use crate::host::HostCall;
use crate::measure::Measure;
use crate::work::Work;

/// `v05`, the rebuild task of a step, or `v05.wide`, a transfer task.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskName {
    /// `v05`
    pub step: String,
    /// `wide`; none for the rebuild task.
    pub id: Option<String>,
}

impl TaskName {
    /// The rebuild task of a step.
    pub fn rebuild(step: &str) -> Self {
        Self {
            step: step.to_owned(),
            id: None,
        }
    }

    /// A transfer task of a step.
    pub fn transfer(step: &str, id: &str) -> Self {
        Self {
            step: step.to_owned(),
            id: Some(id.to_owned()),
        }
    }

    /// What a person calls it: the step by its number, id or name, then a dot and the task's id.
    ///
    /// # Errors
    /// When no step is called that.
    pub fn parse(asked: &str) -> Result<Self, ladder::UnknownStep> {
        let (step, id) = match asked.split_once('.') {
            Some((step, id)) => (step, Some(id.to_owned())),
            None => (asked, None),
        };
        let step = ladder::find(step)?.id.to_owned();
        Ok(Self { step, id })
    }
}

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.id {
            Some(id) => write!(f, "{}.{id}", self.step),
            None => f.write_str(&self.step),
        }
    }
}

impl TryFrom<String> for TaskName {
    type Error = ladder::UnknownStep;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<TaskName> for String {
    fn from(name: TaskName) -> Self {
        name.to_string()
    }
}

/// The tasks and questions of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalogue {
    /// `v05`
    pub step: String,
    /// Rebuild task first, then the transfer tasks in the order of the file.
    pub tasks: Vec<Task>,
    /// Questions in the order of the file.
    pub questions: Vec<Question>,
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
    /// `v05.wide`
    pub name: TaskName,
    /// Rebuild or transfer.
    pub kind: Kind,
    /// One line.
    pub title: String,
    /// What to write and what is judged.
    pub text: String,
    /// The finished kernel, from the root of the checkout.
    pub solution: PathBuf,
    /// Entry point.
    pub entry: String,
    /// What it computes.
    pub work: Work,
    /// Rows and columns of C (of a transpose: of the input) that belong to a block.
    pub tile: [u32; 2],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    #[serde(default)]
    pub dynamic_shared: u32,
    /// How long it takes, honestly.
    pub minutes: u32,
    /// Whether a starter is generated from the solution; otherwise it is a skeleton with nothing but the signature.
    pub has_starter: bool,
    /// The thing that it must do.
    pub does: Vec<Criterion>,
    /// What to say to somebody who is stuck.
    #[serde(default)]
    pub hints: Vec<Hint>,
    /// Of a task whose idea is on the host: what is written is an answer file, and no kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
}

/// The host's part of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// What the host does.
    pub call: HostCall,
    /// What the learner's file begins with.
    pub starter: String,
}

/// A threshold of a measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// Stable name.
    pub id: String,
    /// What is required, as a clause.
    pub what: String,
    /// What is measured.
    pub measure: Measure,
    /// Largest value that passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Smallest value that passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// `[m, n, k]` of the launch that is counted; of a transpose `[rows, cols]`, or with a third number that is 0.
    pub shape: Vec<usize>,
    /// Depth of a step of the k loop, for measures per tile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bk: Option<usize>,
    /// What it means when it fails, as one sentence.
    pub misses: String,
}

impl Criterion {
    /// Sizes of the launch that is counted.
    pub fn shape(&self) -> Shape {
        let size = |at: usize| self.shape.get(at).copied().unwrap_or(0);
        Shape {
            m: size(0),
            n: size(1),
            k: size(2),
        }
    }

    /// Whether a value passes. Counts are exact; the quotients of two of them are off by less than this.
    pub fn accepts(&self, value: f64) -> bool {
        const ROUNDING: f64 = 1e-9;
        self.at_most.is_none_or(|most| value <= most + ROUNDING)
            && self.at_least.is_none_or(|least| value >= least - ROUNDING)
    }

    /// `at most 0.5`
    pub fn threshold(&self) -> String {
        match (self.at_most, self.at_least) {
            (Some(most), Some(least)) => format!("from {least} to {most}"),
            (Some(most), None) => format!("at most {most}"),
            (None, Some(least)) => format!("at least {least}"),
            (None, None) => "any".into(),
        }
    }
}

/// What to say to somebody who is stuck, in levels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hint {
    /// A verdict's code that it belongs to; empty for any.
    pub symptom: String,
    /// Nudge, concept, pseudo-code.
    pub levels: Vec<String>,
}

/// A "why" question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Stable name.
    pub id: String,
    /// The question.
    pub question: String,
    /// The right answer.
    pub answer: Answer,
    /// Texts to choose from; none for a number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// How far from the number an answer may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// Shown afterwards.
    pub because: String,
    /// Where the number can be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derive: Option<Derived>,
    /// Step in which it comes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
}

/// An answer: a number, or the text of one of the choices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Answer {
    /// Of a numeric question.
    Number(f64),
    /// Of a multiple-choice question.
    Choice(String),
}

impl Question {
    /// Whether an answer is right, given as a number, as the text of a choice, or as its letter or number.
    pub fn accepts(&self, given: &str) -> bool {
        let given = given.trim();
        match &self.answer {
            Answer::Number(right) => {
                number(given).is_some_and(|given| (given - right).abs() <= self.within.unwrap_or(0.0) + 1e-9)
            }
            Answer::Choice(right) => self.chosen(given).is_some_and(|choice| choice == right),
        }
    }

    /// Whether it is an answer at all: a number, or one of the choices.
    pub fn understands(&self, given: &str) -> bool {
        match self.answer {
            Answer::Number(_) => number(given).is_some(),
            Answer::Choice(_) => self.chosen(given.trim()).is_some(),
        }
    }

    /// The choice that somebody names by its text, its letter (`a`) or its number (`1`).
    pub fn chosen(&self, given: &str) -> Option<&String> {
        let by_text = self
            .choices
            .iter()
            .find(|choice| choice.eq_ignore_ascii_case(given));
        by_text.or_else(|| {
            let mut letters = given.chars();
            let index = match (letters.next()?, letters.next()) {
                (letter @ 'a'..='z', None) => letter as usize - 'a' as usize,
                (letter @ 'A'..='Z', None) => letter as usize - 'A' as usize,
                _ => given.parse::<usize>().ok()?.checked_sub(1)?,
            };
            self.choices.get(index)
        })
    }
}

/// A number, `0.125`, `0,125`, or a quotient of two, `1/8`.
fn number(text: &str) -> Option<f64> {
    let one = |text: &str| text.trim().replace(',', ".").parse::<f64>().ok();
    let value = match text.split_once('/') {
        Some((a, b)) => one(a)? / one(b)?,
        None => one(text)?,
    };
    value.is_finite().then_some(value)
}

/// How the emulated GPU counts the answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Derived {
    /// Entry point of a kernel of the ladder.
    pub kernel: String,
    /// What is measured.
    pub measure: Measure,
    /// As in [`Criterion::shape`].
    pub shape: Vec<usize>,
    /// As in [`Criterion::bk`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bk: Option<usize>,
}

/// Why a catalogue cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// The file is not there, or not readable.
    #[error("{file}: {why}")]
    Unreadable {
        /// `steps/v05/tasks.toml`
        file: String,
        /// As the system says it.
        why: std::io::Error,
    },
    /// It is no TOML, or has a field that does not belong there.
    #[error("{file}:{line}: {why}")]
    Syntax {
        /// `steps/v05/tasks.toml`
        file: String,
        /// From 1; 0 when unknown.
        line: usize,
        /// With the name of the field.
        why: String,
    },
    /// What it says cannot be.
    #[error("{file}: {place}: {why}")]
    Content {
        /// `steps/v05/tasks.toml`
        file: String,
        /// `transfer wide, does no-excess`
        place: String,
        /// One sentence.
        why: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rebuild: Option<RebuildTable>,
    #[serde(default)]
    transfer: Vec<TransferTable>,
    #[serde(default)]
    host: Vec<HostTable>,
    #[serde(default)]
    why: Vec<Question>,
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
    work: Work,
    #[serde(default = "one")]
    tile: [u32; 2],
    #[serde(default = "alone")]
    block: [u32; 3],
    minutes: u32,
    starter: String,
    #[serde(default)]
    hints: Vec<Hint>,
}

/// Of a call that has no tiles of ours.
fn one() -> [u32; 2] {
    [1; 2]
}

fn alone() -> [u32; 3] {
    [1; 3]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RebuildTable {
    source: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    text: String,
    entry: String,
    work: Work,
    tile: [u32; 2],
    block: [u32; 3],
    #[serde(default)]
    dynamic_shared: u32,
    minutes: u32,
    #[serde(default)]
    does: Vec<Criterion>,
    #[serde(default)]
    hints: Vec<Hint>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TransferTable {
    id: String,
    title: String,
    text: String,
    entry: String,
    work: Work,
    tile: [u32; 2],
    block: [u32; 3],
    #[serde(default)]
    dynamic_shared: u32,
    minutes: u32,
    #[serde(default)]
    starter: bool,
    #[serde(default)]
    does: Vec<Criterion>,
    #[serde(default)]
    hints: Vec<Hint>,
}

/// The file of a step's catalogue, from the root of the checkout.
pub fn file_of(step: &str) -> PathBuf {
    Path::new("steps").join(step).join("tasks.toml")
}

impl Catalogue {
    /// Reads the catalogue of a step of the checkout at `root`. A step without a file has no tasks.
    ///
    /// # Errors
    /// When there is a file that cannot be used.
    pub fn load(root: &Path, step: &str) -> Result<Self, CatalogueError> {
        let file = file_of(step);
        let shown = file.display().to_string();
        match std::fs::read_to_string(root.join(&file)) {
            Ok(text) => Self::parse(&text, step, &shown),
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(Self {
                step: step.to_owned(),
                tasks: Vec::new(),
                questions: Vec::new(),
            }),
            Err(why) => Err(CatalogueError::Unreadable { file: shown, why }),
        }
    }

    /// Reads those of all steps, in their order.
    ///
    /// # Errors
    /// With the first file that cannot be used.
    pub fn load_all(root: &Path) -> Result<Vec<Self>, CatalogueError> {
        ladder::STEPS
            .iter()
            .map(|step| Self::load(root, step.id))
            .collect()
    }

    /// Reads the text of a catalogue; `file` is its name in errors.
    ///
    /// # Errors
    /// When it makes no sense.
    pub fn parse(text: &str, step: &str, file: &str) -> Result<Self, CatalogueError> {
        let parsed: File = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = match error.span() {
                Some(_) => text[..start.min(text.len())].matches('\n').count() + 1,
                None => 0,
            };
            CatalogueError::Syntax {
                file: file.to_owned(),
                line,
                why: error.message().trim().replace('\n', ", "),
            }
        })?;
        let rebuild = parsed.rebuild.map(|table| Task {
            name: TaskName::rebuild(step),
            kind: Kind::Rebuild,
            title: table.title.unwrap_or_else(|| {
                ladder::find(step).map_or_else(|_| step.to_owned(), |step| step.idea.to_owned())
            }),
            text: table.text,
            solution: Path::new("kernels").join(table.source).with_extension("cu"),
            entry: table.entry,
            work: table.work,
            tile: table.tile,
            block: table.block,
            dynamic_shared: table.dynamic_shared,
            minutes: table.minutes,
            has_starter: true,
            does: table.does,
            hints: table.hints,
            host: None,
        });
        let transfers = parsed.transfer.into_iter().map(|table| Task {
            name: TaskName::transfer(step, &table.id),
            kind: Kind::Transfer,
            title: table.title,
            text: table.text,
            solution: Path::new("steps")
                .join(step)
                .join("tasks")
                .join(&table.id)
                .with_extension("cu"),
            entry: table.entry,
            work: table.work,
            tile: table.tile,
            block: table.block,
            dynamic_shared: table.dynamic_shared,
            minutes: table.minutes,
            has_starter: table.starter,
            does: table.does,
            hints: table.hints,
            host: None,
        });
        let hosts = parsed.host.into_iter().map(|table| Task {
            name: TaskName::transfer(step, &table.id),
            kind: Kind::Transfer,
            title: table.title,
            text: table.text,
            solution: Path::new("steps")
                .join(step)
                .join("tasks")
                .join(&table.id)
                .with_extension("toml"),
            entry: table.entry,
            work: table.work,
            tile: table.tile,
            block: table.block,
            dynamic_shared: 0,
            minutes: table.minutes,
            has_starter: true,
            does: Vec::new(),
            hints: table.hints,
            host: Some(Host {
                call: table.call,
                starter: table.starter,
            }),
        });
        let catalogue = Self {
            step: step.to_owned(),
            tasks: rebuild.into_iter().chain(transfers).chain(hosts).collect(),
            questions: parsed.why,
        };
        match catalogue.complaint() {
            None => Ok(catalogue),
            Some((place, why)) => Err(CatalogueError::Content {
                file: file.to_owned(),
                place,
                why,
            }),
        }
    }

    /// The task of that name.
    pub fn task(&self, name: &TaskName) -> Option<&Task> {
        self.tasks.iter().find(|task| task.name == *name)
    }

    /// The first thing that cannot be: where, and why.
    fn complaint(&self) -> Option<(String, String)> {
        let mut ids: Vec<&str> = Vec::new();
        for task in &self.tasks {
            let place = match &task.name.id {
                Some(id) => format!("transfer {id}"),
                None => "rebuild".to_owned(),
            };
            if let Some(id) = &task.name.id {
                if let Some(why) = id_complaint(id, &ids) {
                    return Some((place, why));
                }
                ids.push(id);
            }
            if let Some((inner, why)) = task.complaint() {
                let place = match inner.is_empty() {
                    true => place,
                    false => format!("{place}, {inner}"),
                };
                return Some((place, why));
            }
        }
        let mut ids: Vec<&str> = Vec::new();
        for question in &self.questions {
            let why = id_complaint(&question.id, &ids).or_else(|| question.complaint());
            if let Some(why) = why {
                return Some((format!("why {}", question.id), why));
            }
            ids.push(&question.id);
        }
        None
    }
}

/// Ids are parts of file names and of command lines.
fn id_complaint(id: &str, earlier: &[&str]) -> Option<String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if id.is_empty() || !id.chars().all(plain) || id.starts_with('-') {
        return Some(format!(
            "`{id}` is no id; ids consist of lower-case letters, digits and hyphens"
        ));
    }
    earlier
        .contains(&id)
        .then(|| format!("a second one is called `{id}`"))
}

/// Codes of a verdict that do not come from a criterion.
fn is_code(text: &str) -> bool {
    ["", "compile", "no-entry", "wrong-result", "timeout"].contains(&text)
        || text.starts_with("E-")
        || text.starts_with("W-")
}

impl Task {
    /// Where its starter is committed, from the root of the checkout.
    pub fn starter_file(&self) -> PathBuf {
        let step = Path::new("steps").join(&self.name.step);
        match &self.name.id {
            Some(id) if self.host.is_some() => step.join("tasks").join(format!("{id}.starter.toml")),
            Some(id) => step.join("tasks").join(format!("{id}.starter.cu")),
            None => step.join("exercise.cu"),
        }
    }

    /// Where in the table, and why.
    fn complaint(&self) -> Option<(String, String)> {
        let here = |why: &str| Some((String::new(), why.to_owned()));
        if self.tile.contains(&0) {
            return here("tile: rows and columns of a tile start at 1");
        }
        let threads = self.block.iter().map(|n| u64::from(*n)).product::<u64>();
        if threads == 0 || threads > 1024 {
            return here("block: a block has 1 to 1024 threads");
        }
        if self.minutes == 0 {
            return here("minutes: nothing takes no time");
        }
        let mut ids: Vec<&str> = Vec::new();
        for criterion in &self.does {
            let why = id_complaint(&criterion.id, &ids).or_else(|| self.criterion_complaint(criterion));
            if let Some(why) = why {
                return Some((format!("does {}", criterion.id), why));
            }
            ids.push(&criterion.id);
        }
        if self.host.is_some() {
            ids.push("no-idle-blocks");
        }
        for hint in &self.hints {
            if !is_code(&hint.symptom) && !ids.contains(&hint.symptom.as_str()) {
                return Some((
                    "hints".into(),
                    format!(
                        "symptom `{}` is neither a code nor the id of a criterion",
                        hint.symptom
                    ),
                ));
            }
            if hint.levels.is_empty() {
                return Some((
                    "hints".into(),
                    format!("symptom `{}` has no levels", hint.symptom),
                ));
            }
        }
        None
    }

    fn criterion_complaint(&self, criterion: &Criterion) -> Option<String> {
        let Criterion {
            at_most,
            at_least,
            bk,
            ..
        } = criterion;
        if is_code(&criterion.id) || ["right", "clean", "compiles"].contains(&criterion.id.as_str()) {
            return Some(format!("`{}` has a meaning of its own", criterion.id));
        }
        if at_most.is_none() && at_least.is_none() {
            return Some("neither at_most nor at_least: nothing could fail it".into());
        }
        if at_most.zip(*at_least).is_some_and(|(most, least)| most < least) {
            return Some("at_most is less than at_least: nothing could pass it".into());
        }
        if criterion.measure.needs_depth() && bk.is_none_or(|depth| depth == 0) {
            return Some("bk: this measure needs the depth of a step of the k loop".into());
        }
        if !criterion.measure.fits(self.work) {
            return Some("measure: it is of products, and this is a transpose".into());
        }
        shape_complaint(&criterion.shape, self.work.is_transpose())
    }
}

/// Shapes are small: each is run on the emulated GPU while somebody waits.
fn shape_complaint(shape: &[usize], is_transpose: bool) -> Option<String> {
    const LARGEST: usize = 1 << 28;
    let sizes = match (is_transpose, shape) {
        (true, [m, n] | [m, n, 0]) => [*m, *n, 1],
        (true, _) => return Some("shape: a transpose has rows and columns".into()),
        (false, [m, n, k]) => [*m, *n, *k],
        (false, _) => return Some("shape: a product has m, n and k".into()),
    };
    let volume = sizes.iter().try_fold(1usize, |all, n| all.checked_mul(*n));
    match volume {
        Some(0) => Some("shape: sizes start at 1".into()),
        Some(n) if n <= LARGEST => None,
        _ => Some("shape: too large to be counted in a moment".into()),
    }
}

impl Question {
    fn complaint(&self) -> Option<String> {
        if let Some(step) = &self.again
            && ladder::STEPS.iter().all(|known| known.id != step)
        {
            return Some(format!("again: there is no step `{step}`"));
        }
        match (&self.answer, self.choices.as_slice()) {
            (Answer::Number(_), []) => {}
            (Answer::Number(_), _) => return Some("answer: a number, though there are choices".into()),
            (Answer::Choice(_), []) => return Some("answer: a text, and no choices".into()),
            (Answer::Choice(answer), choices) => {
                if choices.iter().filter(|choice| *choice == answer).count() != 1 {
                    return Some("answer: not exactly one of the choices".into());
                }
            }
        }
        let derive = self.derive.as_ref()?;
        let kernel = ladder::STEPS
            .iter()
            .flat_map(|step| step.kernels)
            .find(|kernel| kernel.name == derive.kernel);
        let Some(kernel) = kernel else {
            return Some(format!("derive: there is no kernel `{}`", derive.kernel));
        };
        if derive.measure.needs_depth() && derive.bk.is_none() {
            return Some("derive: this measure needs bk".into());
        }
        shape_complaint(&derive.shape, kernel.work == ladder::Work::Transpose)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
[rebuild]
source = "v05_bank_conflict_free"
entry = "sgemm_v05_bank_conflict_free"
work = "sgemm"
tile = [128, 128]
block = [256, 1, 1]
minutes = 45
[[rebuild.does]]
id = "no-excess"
what = "no access takes longer than it must"
measure = "shared_excess_per_fma"
at_most = 0.0
shape = [256, 256, 64]
misses = "lanes met in a bank"
[[rebuild.hints]]
symptom = "no-excess"
levels = ["look at the banks"]
[[transfer]]
id = "wide"
title = "A 64 x 128 tile"
text = "Write it."
entry = "sgemm_wide"
work = "sgemm"
tile = [64, 128]
block = [256, 1, 1]
minutes = 30
[[why]]
id = "wavefronts"
question = "How many?"
answer = 8
because = "so"
[[why]]
id = "which"
question = "Which?"
choices = ["one", "two"]
answer = "two"
because = "so"
again = "v07"
"#;

    #[test]
    fn a_catalogue_is_read_whole() {
        let catalogue = Catalogue::parse(GOOD, "v05", "tasks.toml").expect("a catalogue");
        let names: Vec<String> = catalogue.tasks.iter().map(|task| task.name.to_string()).collect();
        assert_eq!(names, ["v05", "v05.wide"]);
        assert_eq!(
            catalogue.tasks[0].solution,
            Path::new("kernels/v05_bank_conflict_free.cu")
        );
        assert_eq!(catalogue.tasks[1].solution, Path::new("steps/v05/tasks/wide.cu"));
        assert_eq!(catalogue.tasks[0].title, "32 banks, and no two lanes in one");
        let [number, choice] = catalogue.questions.as_slice() else {
            panic!("two questions");
        };
        assert!(number.accepts(" 8 ") && !number.accepts("7") && !number.accepts("eight"));
        assert!(choice.accepts("two") && choice.accepts("b") && choice.accepts("2") && !choice.accepts("a"));
    }

    /// The error after one change of the good catalogue.
    #[track_caller]
    fn error(from: &str, to: &str) -> String {
        assert!(GOOD.contains(from), "`{from}` is not there");
        let text = GOOD.replacen(from, to, 1);
        match Catalogue::parse(&text, "v05", "tasks.toml") {
            Ok(_) => "none".into(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn errors_name_the_file_and_the_field() {
        let cases = [
            (
                "minutes = 45",
                "minuets = 45",
                "tasks.toml:8: unknown field `minuets`",
            ),
            (
                "shared_excess_per_fma",
                "excess",
                "tasks.toml:12: unknown variant `excess`",
            ),
            (
                "at_most = 0.0",
                "",
                "tasks.toml: rebuild, does no-excess: neither at_most nor at_least: nothing could fail it",
            ),
            (
                "shape = [256, 256, 64]",
                "shape = [256, 256]",
                "tasks.toml: rebuild, does no-excess: shape: a product has m, n and k",
            ),
            (
                "symptom = \"no-excess\"",
                "symptom = \"excess\"",
                "tasks.toml: rebuild, hints: symptom `excess` is neither a code nor the id of a criterion",
            ),
            (
                "answer = \"two\"",
                "answer = \"three\"",
                "tasks.toml: why which: answer: not exactly one of the choices",
            ),
            (
                "id = \"which\"",
                "id = \"wavefronts\"",
                "tasks.toml: why wavefronts: a second one is called `wavefronts`",
            ),
            (
                "again = \"v07\"",
                "again = \"v70\"",
                "tasks.toml: why which: again: there is no step `v70`",
            ),
            (
                "id = \"wide\"",
                "id = \"../x\"",
                "tasks.toml: transfer ../x: `../x` is no id",
            ),
            (
                "shared_excess_per_fma",
                "load_ahead",
                "needs the depth of a step of the k loop",
            ),
        ];
        for (from, to, expected) in cases {
            let told = error(from, to);
            assert!(told.contains(expected), "{told}, not {expected}");
        }
    }

    #[test]
    fn tasks_are_called_as_their_steps() {
        let name = |asked| TaskName::parse(asked).map(|name| name.to_string());
        assert_eq!(name("5.wide"), Ok("v05.wide".into()));
        assert_eq!(name("bank-conflict-free"), Ok("v05".into()));
        assert!(name("v77").is_err());
    }
}
