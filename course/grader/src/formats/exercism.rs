//! Exercism's `results.json`, version 3: <https://exercism.org/docs/building/tooling/test-runners/interface>

use serde_json::{Value, json};
use tasks::{part_id, verdict::Status};

use crate::grade::Student;

pub(crate) fn results(student: &Student) -> Value {
    let is_compiled = |verdict: &tasks::Verdict| {
        !verdict.parts.iter().any(|part| part.id == part_id::COMPILES && part.status == Status::Failed)
    };
    // The status `error` means that no test could run.
    let broken = student.verdicts.iter().find(|verdict| !is_compiled(verdict));
    if let Some(verdict) = broken.filter(|_| student.verdicts.len() == 1) {
        return json!({"version": 3, "status": "error", "message": super::feedback(verdict), "tests": []});
    }
    let tests: Vec<Value> = student
        .items
        .iter()
        .map(|item| {
            let mut test = json!({
                "name": format!("{}: {}", item.id, item.what),
                "test_code": item.what,
                "status": if item.status == Status::Passed { "pass" } else { "fail" },
            });
            if item.status != Status::Passed {
                test["message"] = super::output_of(student, item).into();
            }
            test
        })
        .collect();
    let all = student.items.iter().all(|item| item.status == Status::Passed);
    json!({"version": 3, "status": if all { "pass" } else { "fail" }, "message": null, "tests": tests})
}

#[cfg(test)]
mod tests {
    use super::super::tests::class;
    use super::*;

    #[test]
    fn a_test_has_a_state_and_a_message() {
        let class = class();
        assert_eq!(results(&class.students[0])["status"], "pass");
        let bob = results(&class.students[1]);
        assert_eq!((&bob["version"], &bob["status"]), (&json!(3), &json!("fail")));
        assert_eq!(bob["tests"][1]["message"], "not yet");
    }
}
