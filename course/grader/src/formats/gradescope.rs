//! Gradescope's `results.json`: <https://gradescope-autograders.readthedocs.io/en/latest/specs/#output-format>

use serde_json::{Value, json};
use tasks::verdict::Status;

use crate::grade::{ClassGrades, Student};

pub(crate) fn results(class: &ClassGrades, student: &Student) -> Value {
    let tests: Vec<Value> = student
        .items
        .iter()
        .enumerate()
        .map(|(at, item)| {
            json!({
                "number": (at + 1).to_string(),
                "name": format!("{}: {}", item.id, item.what),
                "score": rounded(item.points),
                "max_score": rounded(item.max),
                "status": if item.status == Status::Passed { "passed" } else { "failed" },
                "output": super::output_of(student, item),
                "output_format": "text",
                "visibility": "visible",
            })
        })
        .collect();
    let mut output: Vec<String> = student.notes.clone();
    if student.is_ungraded() {
        output.push("a part of this submission could not be graded; the instructor will look at it".into());
    }
    json!({
        "score": rounded(student.points),
        "max_score": rounded(class.max),
        "output": output.join("\n"),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
    })
}

/// Rounds to two digits, so that a third of a point does not fill a line.
fn rounded(points: f64) -> f64 {
    (points * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::super::tests::class;
    use super::*;

    #[test]
    fn scores_and_states_are_there() {
        let class = class();
        let bob = results(&class, &class.students[1]);
        assert_eq!(bob["score"], 0.0);
        assert_eq!(bob["tests"][0]["status"], "failed");
        assert_eq!(bob["tests"][0]["max_score"], 4.0);
        assert_eq!(bob["tests"].as_array().map(Vec::len), Some(2));
        assert!(bob["tests"][0]["output"].as_str().is_some_and(|text| text.contains("alert(1)")));
        assert_eq!(results(&class, &class.students[0])["score"], 4.0);
    }
}
