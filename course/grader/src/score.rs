//! Points for verdicts and for answers to questions.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tasks::verdict::{CLEAN, ChangedLine, RIGHT, Status, Verdict};
use tasks::{TaskName, part_id};

use crate::rubric::{GradedQuestion, GradedTask, ManualItem};

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

/// Returns the lines of a task. Points for being clean require a right result for half of the shapes, and those for a
/// criterion one for some shape: a kernel that does nothing, or is made for one shape, makes no mistakes.
pub fn of_task(graded: &GradedTask, verdict: &Verdict) -> Vec<Item> {
    let name = &graded.task.name;
    let mut parts = vec![
        (part_id::RIGHT.to_owned(), RIGHT.to_owned(), graded.points_right),
        (part_id::CLEAN.to_owned(), CLEAN.to_owned(), graded.points_clean),
    ];
    for (id, what) in graded.task.criterion_labels() {
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
            let n_asked = if id == part_id::CLEAN { verdict.n_tried.div_ceil(2).max(1) } else { 1 };
            let is_right_for_few = verdict.n_shapes < n_asked;
            let (points, why) = match status {
                Status::Passed if is_right_for_few => {
                    (0.0, Some(format!("the result is right for {} of {} shapes", verdict.n_shapes, verdict.n_tried)))
                }
                Status::Passed => (max, None),
                // With a barrier it would be right.
                _ if id == part_id::RIGHT && !verdict.remedies.is_empty() => {
                    let edits = verdict.remedies.iter().flat_map(|remedy| &remedy.changes).map(edited);
                    let edits = edits.collect::<Vec<_>>().join(", ");
                    (max / 2.0, Some(format!("half of the points: the result is right {edits}")))
                }
                _ => (0.0, why.or_else(|| verdict.why.clone())),
            };
            Item {
                id: format!("{name}.{id}"),
                task: Some(name.clone()),
                what,
                points,
                max,
                status: match (status, is_right_for_few) {
                    (Status::Passed, true) => Status::NotRun,
                    _ => status,
                },
                why,
            }
        })
        .collect()
}

/// Returns a change of a line in words.
fn edited(change: &ChangedLine) -> String {
    match (&change.added, &change.removed) {
        (Some(added), None) => format!("with `{}` after line {}", crate::plain(added.trim()), change.line),
        (Some(added), Some(_)) => format!("with line {} as `{}`", change.line, crate::plain(added.trim())),
        (None, _) => format!("without line {}", change.line),
    }
}

/// Returns the line of a question, from the answers by their ids; `student` is who draws its numbers. It checks the
/// answer itself and trusts no file's claim.
pub fn of_question(graded: &GradedQuestion, answers: &BTreeMap<String, String>, student: &str) -> Item {
    let drawn = graded.drawn.and_then(|number| graded.question.drawn(number, &graded.id, student));
    let question = drawn.as_ref().unwrap_or(&graded.question);
    let right = drawn.as_ref().map(|drawn| format!("; with these numbers it is {}", drawn.answer.text()));
    let (status, why) = match answers.get(&graded.id) {
        None => (Status::NotRun, Some("no answer".to_owned())),
        Some(answer) if question.accepts(answer) => (Status::Passed, None),
        Some(answer) => {
            let why = format!("the answer was: {}{}", crate::plain(answer), right.unwrap_or_default());
            (Status::Failed, Some(why))
        }
    };
    Item {
        id: graded.id.clone(),
        task: None,
        what: question.question.clone(),
        points: if status == Status::Passed { graded.points } else { 0.0 },
        max: graded.points,
        status,
        why,
    }
}

/// Returns the line of what a person gives points for.
pub fn of_person(manual: &ManualItem) -> Item {
    Item {
        id: manual.id.clone(),
        task: None,
        what: manual.what.clone(),
        points: 0.0,
        max: manual.points,
        status: Status::NotRun,
        why: Some("not graded yet".to_owned()),
    }
}

/// Sets the points of an item to those that a person gives.
pub fn give(item: &mut Item, points: f64) {
    item.why = Some(match item.task {
        Some(_) => format!("{} points by hand, {} by the grader", format_points(points), format_points(item.points)),
        None => format!("{} points by hand", format_points(points)),
    });
    item.status = if points < item.max { Status::Failed } else { Status::Passed };
    item.points = points;
}

/// Points with at most two digits: `7.5`.
pub fn format_points(points: f64) -> String {
    catalog::text::number(points, 2)
}
