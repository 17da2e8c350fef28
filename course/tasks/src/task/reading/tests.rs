use super::*;

const GOOD: &str = include_str!("../example.toml");

#[test]
fn a_catalogue_is_read_whole() {
    let catalogue = Catalogue::parse(GOOD, "v05", "tasks.toml").expect("a catalogue");
    let names: Vec<String> = catalogue.tasks.iter().map(|task| task.name.to_string()).collect();
    assert_eq!(names, ["v05", "v05.launch", "v05.wide"]);
    assert_eq!(catalogue.tasks[0].solution, Path::new("kernels/v05_x.cu"));
    assert_eq!(catalogue.tasks[2].solution, Path::new("steps/v05/tasks/wide.cu"));
    assert_eq!(catalogue.tasks[0].title, "32 banks, and no two lanes in one");
    let limits = [(0.5, 0.25), (1.0, 1.0)].map(|(most, least)| crate::task::threshold(Some(most), Some(least)));
    assert_eq!(limits, ["from 0.25 to 0.5", "exactly 1"]);
    let [number, choice] = catalogue.questions.as_slice() else {
        panic!("two questions");
    };
    assert!(number.accepts(" 32 ") && !number.accepts("31") && !number.accepts("many"));
    assert!(["A.", "a)", "(a)", " 1. "].iter().all(|given| choice.accepts(given)) && !choice.accepts("()"));
    assert!(choice.accepts("Those of one bank") && choice.accepts("a") && choice.accepts("1") && !choice.accepts("b"));
}

/// Returns the message after one change of the good catalogue.
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
        ("minutes = 45", "minuets = 45", "tasks.toml:8: unknown field `minuets`"),
        ("shared_excess_per_fma", "excess", "tasks.toml:12: unknown variant `excess`"),
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
        ("answer = \"Those", "answer = \"These", "tasks.toml: why banks: answer: not exactly one of the choices"),
        ("id = \"banks\"", "id = \"lanes\"", "tasks.toml: why lanes: a second one is called `lanes`"),
        ("again = \"v07\"", "again = \"v70\"", "tasks.toml: why banks: again: there is no step `v70`"),
        ("id = \"wide\"", "id = \"../x\"", "tasks.toml: transfer ../x: `../x` is not an id"),
        ("shared_excess_per_fma", "load_ahead", "needs the depth of a step of the k loop"),
    ];
    for (from, to, expected) in cases {
        let message = error(from, to);
        assert!(message.contains(expected), "{message}, not {expected}");
    }
}
