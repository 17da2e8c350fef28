//! Diagnosed mistakes: each broken kernel is reported as what it is, and runs clean once repaired.
//!
//! `tests/fixtures/diagnosed/README.md` says how the head of a kernel describes its launch. The whole message of each
//! broken kernel is a snapshot beside this file.

use std::sync::LazyLock;

use tasks::fixtures::Fixture;
use tests::fixture;

static DIAGNOSED: LazyLock<Vec<(Fixture, String)>> = LazyLock::new(|| fixture::folder("tests/fixtures/diagnosed"));

fn ends_with(ending: &str) -> impl Iterator<Item = &'static (Fixture, String)> {
    DIAGNOSED.iter().filter(move |(one, _)| one.name.ends_with(ending))
}

#[test]
fn every_broken_kernel_is_told_as_what_it_is() {
    assert!(ends_with("_broken").count() >= 70);
    let mut wrong = Vec::new();
    let settings = crate::snapshots_in("snapshots/diagnosed");
    for kernel in ends_with("_broken") {
        let name = &kernel.0.name;
        let fixture::Ran { head, codes, text, .. } = fixture::run(kernel, 1, true);
        if !head.expect.iter().all(|code| codes.contains(code)) {
            wrong.push(format!("{name}: expected {:?}, found {codes:?}\n{text}", head.expect));
        }
        let short = name.trim_end_matches("_broken").to_owned();
        settings.bind(|| insta::assert_snapshot!(short, text));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// `explain CODE` has a text for each code, and its example is a message with that code.
#[test]
fn every_code_is_explained_by_an_example() {
    let read = |file: &str| std::fs::read_to_string(tests::root().join(file)).unwrap_or_default();
    let texts = read("xtask/src/commands/learn/explain/codes.md");
    let files =
        ["emulator/simt/src/check/code.rs", "emulator/driver/src/unwritten.rs", "emulator/driver/src/staging.rs"];
    let codes = files.map(read).concat();
    let names = codes.split('"').filter(|word| word.starts_with("E-") || word.starts_with("W-"));
    let lacking: Vec<_> = names
        .filter(|name| {
            let head = texts.split(&format!("\n## {name} ")).nth(1).and_then(|rest| rest.lines().next());
            !head.is_some_and(|example| read(example).contains(&format!("[{name}]")))
        })
        .collect();
    assert!(codes.len() > 1000 && lacking.is_empty(), "no text or no example: {lacking:?}");
}

#[test]
fn messages_are_useful_without_the_source() {
    let mut all = Vec::new();
    for name in [
        "misaligned_broken",
        "out_of_bounds_broken",
        "race_before_reading_broken",
        "race_write_write_broken",
        "uninitialised_shared_broken",
    ] {
        let kernel = DIAGNOSED.iter().find(|(one, _)| one.name == name);
        all.push(fixture::run(kernel.expect("it is there"), 1, false).text);
    }
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!("diagnosed_without_source", all.join("\n"));
    });
}

#[test]
fn every_repaired_kernel_runs_clean() {
    let mut wrong = Vec::new();
    for kernel in ends_with("_fixed").chain(ends_with("_clean")) {
        let ran = fixture::run(kernel, 0, true);
        if !ran.codes.is_empty() {
            wrong.push(format!("{}:\n{}", kernel.0.name, ran.text));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn messages_do_not_depend_on_the_number_of_threads() {
    for kernel in ends_with("_broken") {
        let text = |threads| fixture::run(kernel, threads, true).text;
        assert_eq!(text(1), text(4), "{}", kernel.0.name);
    }
}

/// Unusual ways to synchronise that are right: nothing may be said of them.
#[test]
fn every_right_kernel_runs_clean() {
    let right = fixture::folder("tests/fixtures/clean");
    assert!(right.len() >= 20);
    for kernel in &right {
        let name = &kernel.0.name;
        for threads in [1, 4] {
            let fixture::Ran { text, wrong, .. } = fixture::run(kernel, threads, true);
            let wrong = wrong.join("\n");
            assert!(text.is_empty() && wrong.is_empty(), "{name}:\n{text}{wrong}");
        }
    }
}
