//! The rubric: tasks and questions with their points, and the seed of the hidden tests.
//!
//! ```toml
//! format = 1
//! title = "Tiles in shared memory"
//! seed = 20261122          # of hidden shapes and inputs: keep it to yourself
//!
//! [[task]]
//! name = "v02"
//! right = 4                # every element of the result is right
//! clean = 2                # no check finds a mistake
//! does = 4                 # shared by the task's criteria; or { barriers = 3, traffic = 1 }
//!
//! [[task]]
//! name = "v03.variant"
//! drawn = { work = "sgemm", BK = 8, BM = 128, BN = 64, TM = 8, TN = 4 }   # as `assign` wrote it
//! right = 10
//!
//! [[question]]
//! id = "v02.sectors"
//! points = 1
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use catalog::provenance::target_of;
use serde::{Deserialize, Serialize};
use tasks::task::Question;
use tasks::variant::{self, Point};
use tasks::{Catalogue, Task, TaskName};

pub const FORMAT: u32 = 1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: u32,
    #[serde(default)]
    title: String,
    seed: u64,
    #[serde(default)]
    task: Vec<TaskTable>,
    #[serde(default)]
    question: Vec<QuestionTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskTable {
    name: String,
    drawn: Option<Point>,
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
    /// Tasks in the order of the file.
    pub tasks: Vec<GradedTask>,
    /// Questions in the order of the file.
    pub questions: Vec<GradedQuestion>,
}

#[derive(Debug, Clone, Serialize)]
pub struct GradedTask {
    pub task: Task,
    /// Points for a right result.
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
}

impl GradedTask {
    pub fn max(&self) -> f64 {
        self.points_right + self.points_clean + self.points_by_criterion.values().sum::<f64>()
    }
}

impl Rubric {
    /// Reads a rubric; `root` is the checkout with the tasks, `name` the path in errors. The error is one sentence with
    /// file and place.
    pub fn parse(text: &str, name: &str, root: &Path) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| {
            let (line, why) = tasks::toml_error(text, &error);
            format!("{name}:{line}: {why}")
        })?;
        if file.format != FORMAT {
            return Err(format!("{name}: format: {}, and this version reads {FORMAT}", file.format));
        }
        let mut rubric =
            Self { title: file.title, seed: file.seed, tasks: Vec::new(), questions: Vec::new() };
        for table in file.task {
            let place = format!("{name}: task {}", table.name);
            let graded = graded_task(&table, root).map_err(|why| format!("{place}: {why}"))?;
            if rubric.tasks.iter().any(|known| known.task.name == graded.task.name) {
                return Err(format!("{place}: it is listed twice"));
            }
            rubric.tasks.push(graded);
        }
        for table in file.question {
            let place = format!("{name}: question {}", table.id);
            let graded = graded_question(&table, root).map_err(|why| format!("{place}: {why}"))?;
            if rubric.questions.iter().any(|known| known.id == graded.id) {
                return Err(format!("{place}: it is listed twice"));
            }
            rubric.questions.push(graded);
        }
        match rubric.max() > 0.0 {
            true => Ok(rubric),
            false => Err(format!("{name}: nothing in it gives a point")),
        }
    }

    /// Points that can be reached in all.
    pub fn max(&self) -> f64 {
        let tasks: f64 = self.tasks.iter().map(GradedTask::max).sum();
        tasks + self.questions.iter().map(|question| question.points).sum::<f64>()
    }
}

fn points(what: &str, points: f64) -> Result<f64, String> {
    match points.is_finite() && points >= 0.0 {
        true => Ok(points),
        false => Err(format!("{what}: {points} is not a number of points")),
    }
}

fn graded_task(table: &TaskTable, root: &Path) -> Result<GradedTask, String> {
    let name = TaskName::parse(&table.name).map_err(|error| error.to_string())?;
    let catalogue = Catalogue::load(root, &name.step).map_err(|error| error.to_string())?;
    let task = match (&table.drawn, &catalogue.variant) {
        (None, _) => catalogue.find(&name)?.clone(),
        (Some(point), Some(variant)) if name.id.as_deref() == Some(variant::ID) => {
            variant.task(&name.step, point).map_err(|why| format!("drawn: {why}"))?
        }
        (Some(_), _) => {
            return Err(format!("drawn: only vNN.{} has numbers that are drawn", variant::ID));
        }
    };
    let kernel = task.host.as_ref().and_then(|host| host.call.kernel());
    let finished = kernel.map(|kernel| {
        let path = target_of(root, &root.join(kernel));
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    });
    let criteria = task.criteria();
    let ids = || criteria.iter().map(|(id, _)| (*id).to_owned());
    let points_by_criterion = match &table.does {
        CriterionPoints::Shared(all) => {
            let all = points("does", *all)?;
            if all > 0.0 && criteria.is_empty() {
                return Err("does: the task has no criteria".into());
            }
            ids().map(|id| (id, all / criteria.len() as f64)).collect()
        }
        CriterionPoints::Each(each) => {
            let mut by_criterion: BTreeMap<String, f64> = ids().map(|id| (id, 0.0)).collect();
            for (id, value) in each {
                let Some(entry) = by_criterion.get_mut(id) else {
                    let known_ids: Vec<String> = ids().collect();
                    return Err(format!(
                        "does: no criterion is called `{id}`; there are {}",
                        known_ids.join(", ")
                    ));
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

fn graded_question(table: &QuestionTable, root: &Path) -> Result<GradedQuestion, String> {
    let Some((step, id)) = table.id.split_once('.') else {
        return Err("an id is a step and the question's own id, as in v02.sectors".into());
    };
    let step = catalog::find(step).map_err(|error| error.to_string())?.id;
    let catalogue = Catalogue::load(root, step).map_err(|error| error.to_string())?;
    let Some(question) = catalogue.questions.iter().find(|question| question.id == id) else {
        let known_ids: Vec<&str> = catalogue.questions.iter().map(|q| q.id.as_str()).collect();
        return Err(match known_ids.is_empty() {
            true => format!("{step} has no questions"),
            false => format!("{step} has no such question; it has {}", known_ids.join(", ")),
        });
    };
    Ok(GradedQuestion {
        id: format!("{step}.{id}"),
        points: points("points", table.points)?,
        question: question.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "format = 1\nseed = 3\n[[task]]\nname = \"v02\"\nright = 4\nclean = 2\ndoes = 4\n";

    fn read(text: &str) -> Result<Rubric, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        Rubric::parse(text, "rubric.toml", &root)
    }

    #[test]
    fn points_add_up() {
        let rubric = read(GOOD).expect("a rubric");
        assert!((rubric.max() - 10.0).abs() < 1e-9);
        let shares = rubric.tasks[0].points_by_criterion.len() as f64;
        assert!(rubric.tasks[0].points_by_criterion.values().all(|points| *points == 4.0 / shares));
    }

    #[track_caller]
    fn error(from: &str, to: &str) -> String {
        assert!(GOOD.contains(from));
        match read(&GOOD.replacen(from, to, 1)) {
            Ok(_) => "none".into(),
            Err(error) => error,
        }
    }

    #[test]
    fn errors_name_the_file_and_the_place() {
        assert!(error("right", "write").starts_with("rubric.toml:5: unknown field `write`"));
        assert!(error("v02", "v77").starts_with("rubric.toml: task v77: "));
        assert!(error("does = 4", "does = { speed = 1 }").contains("no criterion is called `speed`"));
        assert!(error("clean = 2", "clean = -2").contains("clean: -2 is not a number of points"));
        assert!(
            error("right = 4", "drawn = { work = \"sgemm\", BM = 8 }").contains("drawn: only vNN.variant")
        );
        let drawn =
            |point: &str| error("name = \"v02\"", &format!("name = \"v02.variant\"\ndrawn = {{ {point} }}"));
        assert_eq!(drawn("work = \"sgemm\", BM = 8, BN = 8, BK = 8"), "none");
        assert!(drawn("work = \"sgemm\", BM = 8, BN = 8").contains("`BK` is not known"));
        assert!(drawn("work = \"transpose\", BM = 8, BN = 8, BK = 8").contains("it is of products"));
        assert!(error("format = 1", "format = 2").contains("format: 2"));
        assert!(error("right = 4\nclean = 2\ndoes = 4\n", "").contains("nothing in it gives a point"));
    }
}
