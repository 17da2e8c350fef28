use super::*;
use crate::Catalogue;

#[test]
fn what_other_tasks_ask_for_is_left_out() {
    let name = |text: &str| TaskName::try_from(text.to_owned()).expect("a name");
    let part = |of: &[&str], lines: &str, instead: &str| Shown {
        of: of.iter().map(|of| name(of)).collect(),
        lines: lines.to_owned(),
        instead: instead.to_owned(),
    };
    let shown = [part(&["v04", "v04.deep"], "b;\nc;", "// TODO(v04): b\nx;"), part(&["v05"], "e;", "")];
    let starter = "a;\n    b;\n  c;\n  d;\ne;\n";
    let left = |others: &[&str]| {
        let others: Vec<TaskName> = others.iter().map(|other| name(other)).collect();
        left_out(starter, &shown, &others.iter().collect::<Vec<_>>()).map_err(|part| part.lines.clone())
    };
    assert_eq!(left(&["v03"]).as_deref(), Ok(starter));
    assert_eq!(left(&["v04.deep"]).as_deref(), Ok("a;\n    // TODO(v04): b\n    x;\n  d;\ne;\n"));
    assert_eq!(left(&["v04", "v05"]).as_deref(), Ok("a;\n    // TODO(v04): b\n    x;\n  d;\n"));
    let unknown = [part(&["v04"], "c;\nb;", "")];
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
    let mut n = 0;
    for task in Catalogue::load_all(&root).expect("the catalogues are right").into_iter().flat_map(|all| all.tasks) {
        let Some(first) = task.shows.first() else { continue };
        let starter = std::fs::read_to_string(root.join(task.starter_file())).expect("a starter");
        let asked: Vec<&TaskName> = task.shows.iter().flat_map(|part| &part.of).collect();
        for other in &asked {
            left_out(&starter, &task.shows, &[other]).expect("the lines are there");
        }
        left_out(&starter, &task.shows, &asked).expect("no part is in another one");
        n += usize::from(first.lines.contains(';'));
    }
    assert_eq!(n, 5);
}
