use super::*;

#[test]
fn regions_are_what_a_starter_lacks() {
    let text = "a\n  // SOLUTION(v05): do it\n  // ANCHOR: x\n  b\n  // ANCHOR_END: x\n  // STARTER| c\n  // SOLUTION_END\nd\n";
    let region = Region { todo: "do it".into(), lines: 1..2 };
    assert_eq!(regions(text), [region]);
    assert_eq!(starter(text), "a\n  // TODO(v05): do it\n  c\nd\n");
    assert_eq!(finished(text), "a\n  b\nd\n");
}

#[track_caller]
fn first_complaint(text: &str) -> String {
    let text = format!("// ANCHOR: kernel\n// ANCHOR_END: kernel\n{text}");
    let lines = complaints(&text, "v05");
    let lines: Vec<String> = lines.iter().map(|(at, what)| format!("{at}: {what}")).collect();
    lines.join("\n")
}

#[test]
fn nested_markers_are_fine() {
    let text = "// ANCHOR: map\n    // SOLUTION(v05): do it\n    x\n    // STARTER| y\n    // SOLUTION_END\n// ANCHOR_END: map\n";
    assert_eq!(first_complaint(text), "");
}

#[test]
fn every_mistake_is_told_with_its_line() {
    assert_eq!(first_complaint("// ANCHOR: a\n"), "3: ANCHOR `a` is never closed");
    assert_eq!(first_complaint("// ANCHOR_END: a\n"), "3: ANCHOR_END of `a`, which is not open");
    assert_eq!(
        first_complaint("// ANCHOR: a\n// ANCHOR: b\n// ANCHOR_END: a\n// ANCHOR_END: b\n"),
        "5: ANCHOR_END of `a`, but `b` of line 4 is still open\n\
             6: ANCHOR_END of `b`, but `a` of line 3 is still open"
    );
    assert_eq!(
        first_complaint("// ANCHOR: a\n// ANCHOR_END: a\n// ANCHOR: a\n// ANCHOR_END: a\n"),
        "5: a second ANCHOR is called `a`"
    );
    assert_eq!(first_complaint("// SOLUTION(v05): do it\n"), "3: SOLUTION is never closed");
    assert_eq!(first_complaint("// SOLUTION(v04): do it\n// SOLUTION_END\n"), "3: SOLUTION of `v04` in a file of v05");
    assert_eq!(first_complaint("// SOLUTION(v05):\n// SOLUTION_END\n"), "3: SOLUTION does not say what is to be done");
    assert_eq!(first_complaint("// SOLUTION_END\n"), "3: SOLUTION_END without a SOLUTION");
    assert_eq!(first_complaint("// STARTER| x\n"), "3: STARTER outside of a SOLUTION");
    assert_eq!(first_complaint("// ANCHOR load\n"), "3: `ANCHOR load` is not a marker, but looks like one");
    assert_eq!(complaints("", "v05"), [(1, "no ANCHOR is called `kernel`".into())]);
}
