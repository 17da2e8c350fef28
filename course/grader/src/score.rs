//! Points for verdicts and for answers to questions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tasks::TaskName;
use tasks::part_id;
use tasks::verdict::{CLEAN, RIGHT, Status, Verdict};

use crate::rubric::{GradedQuestion, GradedTask};

/// One line of a student's grade.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Name such as `v02.right` or `v02.barriers`.
    pub id: String,
    /// Task of the item; none for a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskName>,
    /// The requirement as a clause, or the question.
    pub what: String,
    pub points: f64,
    /// Points that can be reached.
    pub max: f64,
    pub status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Returns the lines of a task. Points for the absence of a mistake (`clean`, a threshold) require a right result for
/// at least one shape: a kernel that does nothing makes no mistakes.
pub fn of_task(graded: &GradedTask, verdict: &Verdict) -> Vec<Item> {
    let name = &graded.task.name;
    let mut parts = vec![
        (part_id::RIGHT.to_owned(), RIGHT.to_owned(), graded.points_right),
        (part_id::CLEAN.to_owned(), CLEAN.to_owned(), graded.points_clean),
    ];
    for (id, what) in graded.task.criteria() {
        let max = graded.points_by_criterion.get(id).copied().unwrap_or(0.0);
        parts.push((id.to_owned(), what.to_owned(), max));
    }
    parts.retain(|(_, _, max)| *max > 0.0);
    parts
        .into_iter()
        .map(|(id, what, max)| {
            let part = verdict.parts.iter().find(|part| part.id == id);
            let status = part.map_or(Status::NotRun, |part| part.status);
            let why = part.and_then(|part| part.why.clone());
            let does_nothing = verdict.n_shapes == 0;
            let (points, why) = match status {
                Status::Passed if does_nothing => (0.0, Some("the result is wrong for every shape".to_owned())),
                Status::Passed => (max, None),
                _ => (0.0, why.or_else(|| verdict.why.clone())),
            };
            Item {
                id: format!("{name}.{id}"),
                task: Some(name.clone()),
                what,
                points,
                max,
                status: match (status, does_nothing) {
                    (Status::Passed, true) => Status::NotRun,
                    _ => status,
                },
                why,
            }
        })
        .collect()
}

/// Returns the line of a question, from the answers by their ids. It checks the answer itself and trusts no file's
/// claim.
pub fn of_question(graded: &GradedQuestion, answers: &BTreeMap<String, String>) -> Item {
    let (status, why) = match answers.get(&graded.id) {
        None => (Status::NotRun, Some("no answer".to_owned())),
        Some(answer) if graded.question.accepts(answer) => (Status::Passed, None),
        Some(answer) => (Status::Failed, Some(format!("the answer was: {}", crate::plain(answer)))),
    };
    Item {
        id: graded.id.clone(),
        task: None,
        what: graded.question.question.clone(),
        points: if status == Status::Passed { graded.points } else { 0.0 },
        max: graded.points,
        status,
        why,
    }
}

/// Points with at most two digits: `7.5`.
pub fn format_points(points: f64) -> String {
    catalog::text::number(points, 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rubric::Rubric;
    use std::path::Path;
    use tasks::verdict::Part;

    fn rubric() -> Rubric {
        let text = "format = 1\nseed = 3\n[[task]]\nname = \"v02\"\nright = 4\nclean = 2\ndoes = 4\n";
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        Rubric::parse(text, "rubric.toml", &root).expect("a rubric")
    }

    /// Points of a verdict with these parts failed; `does` stands for all criteria.
    fn points(failed: &[&str], n_shapes: usize) -> String {
        let graded = &rubric().tasks[0];
        let mut verdict = Verdict::stopped(TaskName::rebuild("v02"), &graded.task.does, "x", "x");
        verdict.n_shapes = n_shapes;
        for part in &mut verdict.parts {
            *part = Part {
                status: if failed.contains(&part.id.as_str())
                    || failed.contains(&"does") && graded.points_by_criterion.contains_key(&part.id)
                {
                    Status::Failed
                } else {
                    Status::Passed
                },
                ..Part::passed(&part.id, &part.what)
            };
        }
        format_points(of_task(graded, &verdict).iter().map(|item| item.points).sum())
    }

    #[test]
    fn each_part_has_its_own_points() {
        assert_eq!(points(&[], 9), "10");
        assert_eq!(points(&["clean"], 9), "8");
        assert_eq!(points(&["does"], 9), "6");
        assert_eq!(points(&["right"], 3), "6");
    }

    #[test]
    fn a_kernel_that_does_nothing_has_no_points_for_being_clean() {
        assert_eq!(points(&["right"], 0), "0");
    }
}
