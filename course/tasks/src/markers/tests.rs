use std::collections::BTreeMap;

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
    let mistakes: BTreeMap<String, String> = toml::from_str(include_str!("mistakes.toml")).expect("TOML");
    for (text, told) in mistakes {
        assert_eq!(first_complaint(&text), told, "{text}");
    }
    assert_eq!(complaints("", "v05"), [(1, "no ANCHOR is called `kernel`".into())]);
}
