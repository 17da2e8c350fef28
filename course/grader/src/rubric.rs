//! The rubric: tasks and questions with their points, and the seed of the hidden tests.
//!
//! ```toml
//! format = 1
//! title = "Tiles in shared memory"
//! seed = 20261122          # of hidden shapes and inputs: keep it to yourself
//! due = 2026-12-01T18:00:00+01:00
//! late = { per_day = 0.1, days = 3 }     # a tenth less for each day begun, and nothing after three
//!
//! [[task]]
//! name = "v02"
//! right = 4                # every element of the result is right
//! clean = 2                # no check finds an error
//! does = 4                 # shared by the task's criteria; or { barriers = 3, traffic = 1 }
//!
//! [[task]]
//! name = "v03.variant"
//! drawn = { work = "sgemm", BK = 8, BM = 128, BN = 64, TM = 8, TN = 4 }   # as `assign` wrote it
//! right = 10
//!
//! [[task]]
//! name = "v05"
//! rust = true              # the kernel is v05.rs
//! right = 10
//!
//! [[question]]
//! id = "v02.sectors-with-tiles"
//! points = 1
//! drawn = 417              # number of the assignment, where each student has other numbers
//!
//! [[manual]]               # that a person gives, in the file of `grade --points`
//! id = "report"
//! what = "explains the difference between prediction and count"
//! points = 4
//! ```

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Error, Result, anyhow, bail, ensure};
use catalog::{files::FileError, provenance::target_of};
use serde::{Deserialize, Serialize};
use tasks::task::Question;
use tasks::variant::{self, Point};
use tasks::{Catalogue, Task, TaskName, TomlError};
use toml::value::{Datetime, Offset, Time};

pub const FORMAT: u32 = 1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: u32,
    #[serde(default)]
    title: String,
    seed: u64,
    due: Option<Datetime>,
    #[serde(default)]
    late: LatePolicy,
    #[serde(default)]
    task: Vec<TaskTable>,
    #[serde(default)]
    question: Vec<QuestionTable>,
    #[serde(default)]
    manual: Vec<ManualItem>,
}

/// Points that late days cost.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatePolicy {
    /// Share of the points that each day begun takes.
    #[serde(default)]
    pub per_day: f64,
    /// Days after which there are no points.
    pub days: Option<u32>,
}

impl LatePolicy {
    /// Returns the share of the points that is left after some days.
    pub fn share(&self, days: u32) -> f64 {
        let is_over = self.days.is_some_and(|most| days > most);
        if is_over { 0.0 } else { (1.0 - self.per_day * f64::from(days)).clamp(0.0, 1.0) }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskTable {
    name: String,
    drawn: Option<Point>,
    #[serde(default)]
    rust: bool,
    #[serde(default)]
    right: f64,
    #[serde(default)]
    clean: f64,
    #[serde(default)]
    does: CriterionPoints,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionTable {
    id: String,
    points: f64,
    drawn: Option<u32>,
}

/// Points that a person gives.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManualItem {
    pub id: String,
    pub what: String,
    pub points: f64,
}

/// Points for criteria: one number for all of them together, or one for each by its id.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum CriterionPoints {
    Shared(f64),
    Each(BTreeMap<String, f64>),
}

impl Default for CriterionPoints {
    fn default() -> Self {
        Self::Shared(0.0)
    }
}

/// A rubric with its tasks and questions resolved.
#[derive(Debug, Clone, Serialize)]
pub struct Rubric {
    pub title: String,
    /// Seed of inputs and hidden shapes.
    pub seed: u64,
    /// When it has to be handed in, in seconds since 1970.
    pub due: Option<u64>,
    pub late: LatePolicy,
    /// Tasks in the order of the file.
    pub tasks: Vec<GradedTask>,
    /// Questions in the order of the file.
    pub questions: Vec<GradedQuestion>,
    pub manual: Vec<ManualItem>,
}

#[derive(Debug, Clone, Serialize)]
pub struct GradedTask {
    pub task: Task,
    #[serde(rename = "right")]
    pub points_right: f64,
    /// Points for a kernel without findings.
    #[serde(rename = "clean")]
    pub points_clean: f64,
    /// Points by criterion id, for all criteria of the task.
    #[serde(rename = "does")]
    pub points_by_criterion: BTreeMap<String, f64>,
    /// PTX of the finished kernel that a task for the host launches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct GradedQuestion {
    /// Step and id, such as `v02.sectors`.
    pub id: String,
    pub points: f64,
    pub question: Question,
    /// Number of the assignment, where the question's numbers are drawn for each student.
    pub drawn: Option<u32>,
}

impl GradedTask {
    pub fn max(&self) -> f64 {
        self.points_right + self.points_clean + self.points_by_criterion.values().sum::<f64>()
    }
}

impl Rubric {
    /// Reads a rubric; `root` is the checkout with the tasks, `name` the path in errors.
    pub fn parse(text: &str, name: &str, root: &Path) -> Result<Self> {
        let entry_error = |kind: &str, id: &str, why: anyhow::Error| anyhow!("{name}: {kind} {id}: {why}");
        let listed_twice = || anyhow!("it is listed twice");
        let file: File = TomlError::read(text).map_err(|TomlError { line, why }| anyhow!("{name}:{line}: {why}"))?;
        ensure!(file.format == FORMAT, "{name}: format: {}, and this version reads {FORMAT}", file.format);
        let form = "has no time with an offset from UTC: write it as 2026-12-01T18:00:00+01:00";
        let in_seconds = |due: Datetime| seconds(&due).with_context(|| format!("{name}: due: {due} {form}"));
        let (due, late) = (file.due.map(in_seconds).transpose()?, file.late);
        if due.is_none() && late.per_day > 0.0 {
            bail!("{name}: late: nothing is late without `due`");
        }
        let rate = late.per_day;
        if !(0.0..=1.0).contains(&rate) {
            bail!("{name}: late: per_day: {rate} is not from 0 to 1; 0.1 takes a tenth for each day");
        }
        let mut rubric = Self {
            title: file.title,
            seed: file.seed,
            due,
            late,
            tasks: Vec::new(),
            questions: Vec::new(),
            manual: file.manual,
        };
        for table in file.task {
            let wrong = |why| entry_error("task", &table.name, why);
            let graded = graded_task(&table, root).map_err(wrong)?;
            if rubric.tasks.iter().any(|known| known.task.name == graded.task.name) {
                return Err(wrong(listed_twice()));
            }
            rubric.tasks.push(graded);
        }
        for table in file.question {
            let wrong = |why| entry_error("question", &table.id, why);
            let graded = graded_question(&table, root).map_err(wrong)?;
            if rubric.questions.iter().any(|known| known.id == graded.id) {
                return Err(wrong(listed_twice()));
            }
            rubric.questions.push(graded);
        }
        for (at, manual) in rubric.manual.iter().enumerate() {
            let wrong = |why| entry_error("manual", &manual.id, why);
            points("points", manual.points).map_err(wrong)?;
            if manual.id.contains('.') || rubric.manual[..at].iter().any(|known| known.id == manual.id) {
                return Err(wrong(listed_twice()));
            }
        }
        ensure!(rubric.max() > 0.0, "{name}: no task or question in it gives points");
        Ok(rubric)
    }

    /// Returns the names of the files that are handed in for the tasks.
    pub fn files(&self) -> Vec<String> {
        self.tasks.iter().map(|graded| graded.task.copy_file_name()).collect()
    }

    /// Points that can be reached in all.
    pub fn max(&self) -> f64 {
        let tasks: f64 = self.tasks.iter().map(GradedTask::max).sum();
        let manual: f64 = self.manual.iter().map(|manual| manual.points).sum();
        tasks + manual + self.questions.iter().map(|question| question.points).sum::<f64>()
    }
}

/// Returns a time with its offset in seconds since 1970.
fn seconds(time: &Datetime) -> Option<u64> {
    let here =
        Datetime { offset: Some(Offset::Z), time: time.time.map(|time| Time { nanosecond: None, ..time }), ..*time };
    let east = match time.offset? {
        Offset::Z => 0,
        Offset::Custom { minutes } => i64::from(minutes) * 60,
    };
    catalog::time::seconds(&here.to_string())?.checked_add_signed(-east)
}

fn points(what: &str, points: f64) -> Result<f64> {
    ensure!(points.is_finite() && points >= 0.0, "{what}: {points} is not a number of points");
    Ok(points)
}

fn graded_task(table: &TaskTable, root: &Path) -> Result<GradedTask> {
    let name = TaskName::parse(&table.name)?;
    let catalogue = Catalogue::load(root, &name.step)?;
    let task = match (&table.drawn, &catalogue.variant) {
        (None, _) => catalogue.find(&name).map_err(Error::msg)?.clone(),
        (Some(point), Some(variant)) if name.id.as_deref() == Some(variant::ID) => {
            variant.task(&name.step, point).map_err(|why| anyhow!("drawn: {why}"))?
        }
        (Some(_), _) => bail!("drawn: only vNN.{} has numbers that are drawn", variant::ID),
    };
    let task = if table.rust { task.in_rust().with_context(|| format!("rust: {}", Task::IN_RUST))? } else { task };
    let kernel = task.host.as_ref().and_then(|host| host.call.kernel());
    let finished = kernel.map(|kernel| {
        let path = target_of(root, &root.join(kernel));
        std::fs::read_to_string(&path).map_err(FileError::at(&path))
    });
    let criteria = task.criterion_labels();
    let ids = || criteria.iter().map(|(id, _)| (*id).to_owned());
    let points_by_criterion = match &table.does {
        CriterionPoints::Shared(all) => {
            let all = points("does", *all)?;
            ensure!(all == 0.0 || !criteria.is_empty(), "does: the task has no criteria");
            ids().map(|id| (id, all / criteria.len() as f64)).collect()
        }
        CriterionPoints::Each(each) => {
            let mut by_criterion: BTreeMap<String, f64> = ids().map(|id| (id, 0.0)).collect();
            for (id, value) in each {
                let Some(entry) = by_criterion.get_mut(id) else {
                    let known: Vec<String> = ids().collect();
                    bail!("does: no criterion is called `{id}`; there are {}", known.join(", "));
                };
                *entry = points(id, *value)?;
            }
            by_criterion
        }
    };
    Ok(GradedTask {
        points_right: points("right", table.right)?,
        points_clean: points("clean", table.clean)?,
        points_by_criterion,
        finished: finished.transpose()?,
        task,
    })
}

fn graded_question(table: &QuestionTable, root: &Path) -> Result<GradedQuestion> {
    let form = "an id is a step and the question's own id, as in v02.sectors";
    let (step, id) = table.id.split_once('.').context(form)?;
    let step = catalog::find(step)?.id;
    let catalogue = Catalogue::load(root, step)?;
    let Some(question) = catalogue.questions.iter().find(|question| question.id == id) else {
        let known: Vec<&str> = catalogue.questions.iter().map(|question| question.id.as_str()).collect();
        ensure!(!known.is_empty(), "{step} has no questions");
        bail!("{step} has no such question; it has {}", known.join(", "));
    };
    if table.drawn.is_some() && question.variant.is_none() {
        let drawn = catalogue.questions.iter().filter(|question| question.variant.is_some());
        let drawn: Vec<String> = drawn.map(|one| format!("{step}.{}", one.id)).collect();
        bail!("drawn: the numbers of this question are not drawn; those of {} are", drawn.join(", "));
    }
    Ok(GradedQuestion {
        drawn: table.drawn,
        id: format!("{step}.{id}"),
        points: points("points", table.points)?,
        question: question.clone(),
    })
}
