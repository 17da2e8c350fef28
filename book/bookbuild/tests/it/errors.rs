//! Errors in chapters: the book is not built, and a message names the correction.

use crate::books::{RECORD, Small};

#[test]
fn listings_that_cannot_be_shown() {
    let twice = "// ANCHOR: a\nx\n// ANCHOR_END: a\n// ANCHOR: a\ny\n// ANCHOR_END: a\n";
    for (what, why) in [
        ("../../kernels/gone.cu:map", "there is no file kernels/gone.cu"),
        ("../../kernels/add.cu:gone", "kernels/add.cu has no anchor `gone`; it has kernel, map, nothing, open"),
        (
            "../../kernels/add.cu:nothing",
            "the anchor `nothing` of kernels/add.cu is empty; put it around the lines to show",
        ),
        ("../../kernels/add.cu:open", "kernels/add.cu never ends the anchor `open`; add a line `// ANCHOR_END: open`"),
        ("empty.txt", "book/src/empty.txt is empty"),
        ("two.cu:a", "book/src/two.cu has the anchor `a` twice; rename one of them"),
        (
            "../../kernels/add.cu:3:5",
            "`../../kernels/add.cu:3:5` selects lines by number, which change; name an anchor of the file instead",
        ),
        ("fenced.md", "fenced.md has a line that begins with ```; it would end the listing"),
    ] {
        let small = Small::new(&format!("```cpp\n{{{{#include {what}}}}}\n```"))
            .with("book/src/empty.txt", "\n\n")
            .with("book/src/two.cu", twice)
            .with("book/src/fenced.md", "text\n```\ncode\n```\n");
        assert_eq!(small.problems(false), format!("book/src/chapter.md:4: {why}"));
    }
}

#[test]
fn directives_that_cannot_be_filled_in() {
    for (chapter, why) in [
        (
            "{{#include ../../kernels/add.cu:map}}",
            "the listing of ../../kernels/add.cu stands outside of a fence; put ```cpp and ``` around it",
        ),
        (
            "{{#inlcude a.md}}",
            "there is no directive `inlcude`; there are include, diff, output, figure, recorded, duels, others, process, ceilings, n, counters, sums, step, steps, task, judged, finished, transfers, mistakes, predict, sheets, answers, lesson, plan",
        ),
        ("{{#n sgemm 4096", "`{{#` has no `}}` on its line"),
        ("See {{#output a}}.", "`{{#output}}` must stand on a line of its own"),
        (
            "{{#figure ladder \"The ladder.\"}}",
            "there is no file book/src/generated/ladder.svg; pictures are drawn by: cargo xtask book --refresh",
        ),
        ("{{#figure ladder \"\"}}", "`{{#figure}}` wants a name and a text alternative in quotes"),
        (
            "{{#output v05-bench}}",
            "there is no file book/src/generated/v05-bench.txt; list its command in book/outputs.toml, then: cargo xtask book --refresh v05-bench",
        ),
        ("{{#diff v04 v99}}", "there is no step `v99`; the steps are v00 … v12 (see: cargo xtask list)"),
        (
            "{{#diff kernels/add.cu kernels/add.cu map}}",
            "`map` is the same in kernels/add.cu and kernels/add.cu: there is nothing to show",
        ),
        (
            "It runs at {{#n sgemm_v04_float4 1024 tflops}}.",
            "no record of a GPU is in book/data; make one with: cargo xtask bench all --save",
        ),
        (
            "{{#recorded v04}}",
            "nothing was recorded for `{{#recorded v04}}`; measure it with: cargo xtask bench v04 --save",
        ),
        ("{{#duels v05}}", "no duel of v05 is on record; measure it with: cargo xtask bench v05 --duel --save"),
        ("{{#sums v04}}", "no checksums of v04 are on record; on a GPU, `cargo xtask sums v04 --save` computes them"),
        (
            "{{#ceilings fma}}",
            "no ceilings of card are on record; `cargo run --release -p v12 --example ceilings` measures them",
        ),
        ("{{#step}}", "`{{#step}}` wants a comment `<!-- step: v05 minutes=50 after=v04 gpu=no -->` in its chapter"),
        ("<!-- step: v05 after=v04 gpu=no -->", "minutes=N is missing"),
        ("<!-- step: v05 minutes=50 gpu=maybe -->", "`gpu=maybe` is none of minutes=N, after=vNN, gpu=no|yes|helps"),
    ] {
        Small::new(chapter).refuses(why);
    }
}

#[test]
fn numbers_that_are_not_on_record() {
    for (number, why) in [
        ("sgemm_v04 1024 tflops", "there is no kernel `sgemm_v04`; v04 has sgemm_v04_float4"),
        // The first problem of a line is reported.
        (
            "sgemm_v04_float4 8192 tflops}} and {{#n sgemm_v04_float4 2048 tflops",
            "sgemm_v04_float4 at 8192x8192x8192 was not run (a launch takes longer than 5 s): it has no speed",
        ),
        (
            "sgemm_v04_float4 2048 tflops",
            "sgemm_v04_float4 at 2048x2048x2048 was not recorded on A; measure it with: cargo xtask bench v04 --save",
        ),
        ("on H9 sgemm_v04_float4 1024 ms", "no record is of a GPU named H9, but of A"),
        ("on H9 ceiling mma.sync bf16 burst", "no record is of a GPU named H9, but of A"),
    ] {
        Small::new(&format!("At {{{{#n {number}}}}}.")).with("book/data/card.json", RECORD).refuses(why);
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
