use super::*;
use crate::task::Catalogue;

#[test]
fn the_code_of_a_verdict_chooses() {
    let catalogue = Catalogue::parse(include_str!("../task/example.toml"), "v05", "tasks.toml").expect("a catalogue");
    let chosen = |code| {
        let chosen = choose(&catalogue.tasks[0], code);
        (chosen.symptom, chosen.levels.len())
    };
    assert_eq!(chosen(Some("no-excess")), ("no-excess", 3));
    assert_eq!(chosen(Some("E-OOB")), ("", 1));
    assert_eq!(chosen(None), ("", 1));
}

const SOLUTION: &str = "void f()\n{\n    load();\n    // SOLUTION(v05): wait\n    __syncthreads();  // one\n    \
                            // SOLUTION_END\n    // ANCHOR: x\n    use();\n    // ANCHOR_END: x\n    \
                            // SOLUTION(v05): wait again\n    __syncthreads();  // two\n    // SOLUTION_END\n}\n";

#[track_caller]
fn todo(copy: &str) -> Option<String> {
    hunk(SOLUTION, copy).map(|hunk| hunk.todo)
}

#[test]
fn the_region_that_a_copy_lacks_is_shown() {
    assert_eq!(
        hunk(SOLUTION, "void f()\n{\n    load();\n    use();\n}\n"),
        Some(Hunk { todo: "wait".into(), text: "    __syncthreads();  // one\n".into() })
    );
    // An equal line elsewhere does not fill the gap.
    let first = "void f()\n{\n  load();\n  __syncthreads();\n  use();\n}\n";
    assert_eq!(todo(first), Some("wait again".into()));
    let both = "void f()\n{\n  load();\n  __syncthreads();\n  use(); // now\n  __syncthreads();\n}\n";
    assert_eq!(todo(both), None);
}

#[test]
fn without_markers_the_first_missing_lines_are_shown() {
    let solution = "#include \"common.cuh\"\n// what\nvoid f()\n{\n    a();\n\n    b();\n}\n";
    let found = hunk(solution, "#include \"common.cuh\"\nvoid f()\n{\n}\n").expect("a hunk");
    assert_eq!(found.text, "    a();\n\n    b();\n");
    assert_eq!(hunk(solution, solution), None);
    let long: String = (0..40).map(|n| format!("line{n}();\n")).collect();
    assert_eq!(hunk(&long, "").expect("a hunk").text.lines().count(), MAX_LINES);
}
