//! The gallery of mistakes: each broken kernel is told as what it is, and runs clean once repaired.
//!
//! `tests/data/gallery/README.md` says how the head of a `.cu` describes its launch. The whole message of each
//! broken kernel is a snapshot beside this file.

use std::path::{Path, PathBuf};

use tests::specimen;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/gallery")
}

fn run(name: &str, threads: usize) -> specimen::Ran {
    specimen::run(&folder(), name, threads, true)
}

fn names(ending: &str) -> Vec<String> {
    specimen::names(&folder(), ending)
}

#[test]
fn every_broken_kernel_is_told_as_what_it_is() {
    let names = names("_broken");
    assert!(names.len() >= 14);
    let mut wrong = Vec::new();
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.set_snapshot_path("snapshots/gallery");
    settings.set_prepend_module_to_snapshot(false);
    for name in names {
        let specimen::Ran {
            head, codes, text, ..
        } = run(&name, 1);
        if !head.expect.iter().all(|code| codes.contains(code)) {
            wrong.push(format!(
                "{name}: expected {:?}, found {codes:?}\n{text}",
                head.expect
            ));
        }
        let short = name.trim_end_matches("_broken").to_owned();
        settings.bind(|| insta::assert_snapshot!(short, text));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
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
        all.push(specimen::run(&folder(), name, 1, false).text);
    }
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!("gallery_without_source", all.join("\n"));
    });
}

#[test]
fn every_repaired_kernel_runs_clean() {
    let mut wrong = Vec::new();
    for name in names("_fixed").into_iter().chain(names("_clean")) {
        let ran = run(&name, 0);
        if !ran.codes.is_empty() {
            wrong.push(format!("{name}:\n{}", ran.text));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn messages_do_not_depend_on_the_number_of_threads() {
    for name in names("_broken") {
        assert_eq!(run(&name, 1).text, run(&name, 4).text, "{name}");
    }
}

/// Unusual ways to synchronise that are right: nothing may be said of them.
#[test]
fn every_right_kernel_runs_clean() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/right");
    let names = specimen::names(&folder, "");
    assert!(names.len() >= 20);
    for name in names {
        for threads in [1, 4] {
            let specimen::Ran { text, wrong, .. } = specimen::run(&folder, &name, threads, true);
            let wrong = wrong.join("\n");
            assert!(text.is_empty() && wrong.is_empty(), "{name}:\n{text}{wrong}");
        }
    }
}
