//! Faults that the browser finds in a page. Without Chromium, the test reports that it did not run.

#![expect(clippy::print_stderr, reason = "a test that is not run says so")]

use bookbuild::browser::{Browsed, browse};

use crate::books::Small;

#[test]
fn a_browser_finds_what_is_wrong_with_a_page() {
    const PAGE: &str = include_str!("data/faults.html");
    let small = Small::new(PAGE).with("book/src/SUMMARY.md", "[A chapter](chapter.md)\n\n[The next one](next.md)\n");
    let small = small.with("book/src/next.md", "# The next one\n\nA text.\n");
    let made = small.make().expect("a book");
    let (browsed, problems) = browse(&made.folder, None).expect("a browser that does what it is told");
    let axe = match browsed {
        Browsed::NotRun => return eprintln!("not run: no chromium"),
        Browsed::Pages(_, None) => true,
        Browsed::Pages(_, Some(why)) => {
            eprintln!("axe-core: not run: {why}");
            false
        }
    };
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let of_page: Vec<&str> = problems.iter().filter_map(|p| p.strip_prefix("chapter.html: ")).collect();
    let found = |what: &str| of_page.iter().any(|problem| problem.contains(what));
    for what in [
        "is wider than 390 pixels: p#wide `A wide one`",
        "a request fails: net::ERR_FILE_NOT_FOUND",
        "says on the console: something is wrong",
        "asks for https://example.invalid/a.png, which is not in the book",
        "throws: Error: too late",
        "the explorer dead has nothing to change",
        "the explorer's control deaf: knob changes nothing",
        "1 boxes scroll, and the keyboard does not reach them: div `A box`",
        "an arrow key in summary turns the page",
        "1 measured numbers keep their source from keyboard and finger",
        "1 parts that can be folded are not printed: div `It is 42.`",
        "controls are printed: input#knob",
        "the first stop of the tab key does not skip to the text",
        "the keyboard does not reach the table of contents",
        "more than twenty lines of output begin on the first screen: pre `1",
        "in the theme rust the colours c2 and bad2 look alike with deuteranopia",
        "a line of text has ",
    ] {
        assert!(found(what), "`{what}` is not among:\n{}", problems.join("\n"));
    }
    if axe {
        for what in ["axe-core: color-contrast", "axe-core: image-alt"] {
            assert!(found(what), "`{what}` is not among:\n{}", problems.join("\n"));
        }
    }
    assert!(!found("good: slider") && !found("1280 pixels"), "{}", problems.join("\n"));
}
