use super::*;
use crate::Catalogue;

#[test]
fn what_other_tasks_ask_for_is_left_out() {
    let name = |text: &str| TaskName::try_from(text.to_owned()).expect("a name");
    let part = |of: &str, lines: &str, instead: &str| {
        let [of, lines, instead] = [of, lines, instead].map(str::to_owned);
        Shown { of, lines, instead }
    };
    let shown = [part("v04", "b;\nc;", "// TODO(v04): b\nx;"), part("v05", "e;", "")];
    let starter = "a;\n    b;\n  c;\n  d;\ne;\n";
    let left = |others: &[&str]| {
        let others: Vec<TaskName> = others.iter().map(|other| name(other)).collect();
        left_out(starter, &shown, &others.iter().collect::<Vec<_>>()).map_err(|part| part.lines.clone())
    };
    assert_eq!(left(&["v03"]).as_deref(), Ok(starter));
    assert_eq!(left(&["v04.deep"]).as_deref(), Ok("a;\n    // TODO(v04): b\n    x;\n  d;\ne;\n"));
    assert_eq!(left(&["v04", "v05"]).as_deref(), Ok("a;\n    // TODO(v04): b\n    x;\n  d;\n"));
    let unknown = [part("v04", "c;\nb;", "")];
    assert_eq!(left_out(starter, &unknown, &[&name("v04")]), Err(&unknown[0]));
}

#[test]
fn answers_are_lines_that_a_starter_lacks_and_others_have() {
    let (finished, own) = ("a(1);\nb(2);  // two\nc(3);\nd(4);\n}\n", "a(1);\n}\n");
    assert_eq!(answers(finished, own, &["b( 2 );\n", "c(3);\nx;\n"]), Some((2, 3)));
    assert_eq!(answers(finished, own, &["// b(2);\na(1);\nc(3);\n}\n"]), None);
    assert_eq!(answers(finished, finished, &[finished]), None);
}

#[test]
fn starters_show_what_their_catalogues_say() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let all = Catalogue::load_all(&root).expect("the catalogues are right").into_iter().flat_map(|all| all.tasks);
    let showing: Vec<_> = all.filter(|task| !task.shows.is_empty()).collect();
    for task in &showing {
        let starter = std::fs::read_to_string(root.join(task.starter_file())).expect("a starter");
        let steps: Vec<TaskName> = task.shows.iter().map(|part| TaskName::rebuild(&part.of)).collect();
        for step in &steps {
            left_out(&starter, &task.shows, &[step]).expect("the lines are there");
        }
        left_out(&starter, &task.shows, &steps.iter().collect::<Vec<_>>()).expect("no part is in another one");
    }
    let names: Vec<String> = showing.iter().map(|task| task.name.to_string()).collect();
    assert_eq!(names, ["v03", "v04", "v05", "v06", "v07"]);
}
