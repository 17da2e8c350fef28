//! Errors in chapters: the book is not built, and a message names the correction.

use std::collections::BTreeMap;

use crate::books::{RECORD, Small};

/// Returns texts and the problems that a chapter with each of them has.
pub(crate) fn errors(of: &str) -> BTreeMap<String, String> {
    let errors = toml::from_str(include_str!("data/errors.toml"));
    let mut errors: BTreeMap<String, BTreeMap<String, String>> = errors.expect("TOML");
    errors.remove(of).expect("a table of the file")
}

#[test]
fn listings_that_cannot_be_shown() {
    let twice = "// ANCHOR: a\nx\n// ANCHOR_END: a\n// ANCHOR: a\ny\n// ANCHOR_END: a\n";
    for (what, why) in errors("listings") {
        let small = Small::new(&format!("```cpp\n{{{{#include {what}}}}}\n```"))
            .with("book/src/empty.txt", "\n\n")
            .with("book/src/two.cu", twice)
            .with("book/src/fenced.md", "text\n```\ncode\n```\n");
        assert_eq!(small.problems(false), format!("book/src/chapter.md:4: {why}"));
    }
}

#[test]
fn directives_that_cannot_be_filled_in() {
    for (chapter, why) in errors("directives") {
        Small::new(&chapter).refuses(&why);
    }
}

#[test]
fn numbers_that_are_not_on_record() {
    for (number, why) in errors("numbers") {
        Small::new(&format!("At {{{{#n {number}}}}}.")).with("book/data/card.json", RECORD).refuses(&why);
    }
}

#[test]
fn counters_that_cannot_be_read() {
    Small::new("{{#counters v04 1024}}").with("kernels/counters.json", "{\n\"schema\": one").refuses(
        "kernels/counters.json cannot be read: expected value at line 2 column 11; make it again with: cargo xtask profile --table",
    );
}

#[test]
fn a_record_that_is_none() {
    let small = Small::new("At {{#n sgemm_v04_float4 1024 ms}}.").with("book/data/card.json", "{\"runs\": [");
    let problem = small.problems(false);
    assert!(problem.starts_with("book/src/chapter.md:3: book/data/card.json is not JSON: "), "{problem}");
}

#[test]
fn all_problems_are_told_at_once() {
    let small = Small::new("{{#a}}\n\n{{#b}}");
    assert_eq!(small.problems(false).lines().count(), 2);
}

#[test]
fn a_chapter_that_is_not_there() {
    let small = Small::new("text").with("book/src/SUMMARY.md", "[A](chapter.md)\n\n- [B](gone.md)\n");
    let error = format!("{:#}", small.make().expect_err("a chapter is missing"));
    assert!(error.contains("gone.md"), "{error}");
}

#[test]
#[cfg(unix)]
fn a_build_that_fails_leaves_the_last_book_and_links_are_not_followed() {
    let small = Small::new("text");
    let folder = small.make().expect("a book").folder;
    let page = || std::fs::read_to_string(folder.join("chapter.html")).expect("a page");
    let (last, beside) = (page(), folder.parent().expect("a folder"));
    let n_beside = || std::fs::read_dir(beside).expect("a folder").count();
    let n = n_beside();
    small.write("book/src/chapter.md", "# A chapter\n\n{{#a}}\n");
    small.problems(false);
    assert_eq!((page(), n_beside()), (last, n));

    small.write("book/src/chapter.md", "# A chapter\n\nother\n");
    let elsewhere = beside.join("elsewhere");
    std::fs::rename(&folder, &elsewhere).expect("renamed");
    std::os::unix::fs::symlink(&elsewhere, &folder).expect("a link");
    let error = format!("{:#}", small.make().expect_err("a link"));
    assert!(
        error.ends_with(
            ": the book cannot be built there; move it away, then build again: it is a link, which is not followed"
        ),
        "{error}"
    );
    assert!(!page().contains("other"));
}
