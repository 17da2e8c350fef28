use super::*;
use crate::score::Item;
use crate::similar::{SameKernel, SimilarPair};
use tasks::TaskName;

/// Returns a class of two, with names and texts that try to escape their format.
pub(crate) fn class() -> ClassGrades {
    let item = |id: &str, points: f64, status: Status, why: Option<&str>| Item {
        id: id.into(),
        task: Some(TaskName::rebuild("v02")),
        what: "every <element> is right".into(),
        points,
        max: 4.0,
        status,
        why: why.map(str::to_owned),
    };
    let mut verdict = Verdict::stopped(TaskName::rebuild("v02"), &[], "wrong-result", "<script>alert(1)</script>");
    verdict.parts.clear();
    let student = |name: &str, items: Vec<Item>, verdict: &Verdict| Student {
        person: None,
        name: name.into(),
        points: items.iter().map(|item| item.points).sum(),
        items,
        verdicts: vec![verdict.clone()],
        notes: vec!["a note & more".into()],
        warnings: vec![],
    };
    let mut passed = verdict.clone();
    passed.status = Status::Passed;
    (passed.code, passed.why) = (None, None);
    ClassGrades {
        format: 1,
        title: "Tiles & more".into(),
        max: 8.0,
        students: vec![
            student("=cmd()|\"ada\"", vec![item("v02.right", 4.0, Status::Passed, None)], &passed),
            student(
                "<b>bob</b>",
                vec![
                    item("v02.right", 0.0, Status::Failed, Some("]]><x>\u{1}")),
                    item("v02.clean", 0.0, Status::NotRun, Some("not yet")),
                ],
                &verdict,
            ),
        ],
        same: vec![SameKernel {
            task: "v02".into(),
            students: vec!["<b>bob</b>".into(), "the book".into()],
            renamed: true,
        }],
        similar: vec![SimilarPair {
            task: "v02".into(),
            students: ["<b>bob</b>".into(), "=cmd()|\"ada\"".into()],
            share: 0.9,
            passages: 12,
        }],
        codes: vec![],
    }
}

#[test]
fn nothing_of_a_stranger_is_markup() {
    let class = class();
    for text in [html::report(&class), junit::report(&class)] {
        for wrong in ["<script>alert", "<b>bob", "]]><x>", "\u{1}"] {
            assert!(!text.contains(wrong), "{wrong}");
        }
    }
}

#[test]
fn half_of_the_points_are_called_so() {
    let mut class = class();
    class.students[1].items[0].points = 2.0;
    let page = html::page(&class, &class.students[1]);
    assert!(page.contains("<td class=\"\">in part</td><td class=\"n\">2 of 4</td>"), "{page}");
    assert!(page.contains("not run</td><td class=\"n\">0 of 4</td>"), "{page}");
}

#[test]
fn an_item_has_the_report_of_its_own_task() {
    let name = |text: &str| TaskName::parse(text).expect("a name");
    let verdict = |task: &str| {
        let why = format!("the report of {task}");
        Verdict::stopped(name(task), &[], "wrong-result", &why)
    };
    let item = |task: &str| Item {
        id: format!("{task}.right"),
        task: Some(name(task)),
        what: "every element is right".into(),
        points: 0.0,
        max: 4.0,
        status: Status::Failed,
        why: None,
    };
    let mut student = class().students.remove(0);
    let tasks = ["v05", "v05.wide", "v05.wid"];
    student.verdicts = tasks.map(verdict).into();
    student.items = tasks.map(item).into();
    let question = Item { id: "v05.sectors".into(), task: None, why: Some("no answer".into()), ..item("v05") };
    assert_eq!(output_of(&student, &question), "no answer");
    for (task, item) in tasks.iter().zip(&student.items) {
        assert_eq!(output_of(&student, item), format!("the report of {task}"));
    }
}

#[test]
fn what_does_not_compile_is_told_once_with_its_lines_and_is_not_green() {
    let mut class = class();
    let log = "my/v02.cu(9): error: expected a \";\"\nmy/v02.cu(12): error: identifier \"kk\" is undefined\n";
    let refused = tasks::compile::Refused::from_log(log);
    let student = &mut class.students[1];
    student.verdicts = vec![Verdict::refused(TaskName::rebuild("v02"), &[], refused)];
    for item in &mut student.items {
        (item.status, item.why) = (Status::NotRun, Some("it does not compile".into()));
    }
    let results = gradescope::results(&class, &class.students[1]);
    let [first, second] = [0, 1].map(|at| results["tests"][at]["output"].as_str().expect("a text").to_owned());
    assert!(first.contains("my/v02.cu:9") && first.contains("my/v02.cu:12"), "{first}");
    assert_eq!(second, "it does not compile");
    let suite = junit::report(&class);
    assert!(suite.contains("tests=\"3\" failures=\"2\"") && suite.matches("<failure").count() == 2, "{suite}");
}
