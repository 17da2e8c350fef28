//! Errors in chapters: the book is not built, and a message names the correction.

use crate::books::Small;

/// Asserts that the only problem is on line 3 of the chapter, with this message.
#[track_caller]
fn refused(chapter: &str, why: &str) {
    assert_eq!(Small::new(chapter).problems(false), format!("book/src/chapter.md:3: {why}"));
}

/// Asserts that a listing on line 4, in a fence, has this problem.
#[track_caller]
fn listing_refused(what: &str, why: &str) {
    let chapter = format!("```cpp\n{{{{#include {what}}}}}\n```");
    assert_eq!(Small::new(&chapter).problems(false), format!("book/src/chapter.md:4: {why}"));
}

#[test]
fn a_missing_file() {
    listing_refused("../../kernels/gone.cu:map", "there is no file kernels/gone.cu");
}

#[test]
fn a_missing_anchor() {
    listing_refused(
        "../../kernels/add.cu:gone",
        "kernels/add.cu has no anchor `gone`; it has kernel, map, nothing, open",
    );
}

#[test]
fn an_empty_anchor() {
    listing_refused(
        "../../kernels/add.cu:nothing",
        "the anchor `nothing` of kernels/add.cu is empty; put it around the lines to show",
    );
}

#[test]
fn an_anchor_without_end() {
    listing_refused(
        "../../kernels/add.cu:open",
        "kernels/add.cu never ends the anchor `open`; add a line `// ANCHOR_END: open`",
    );
}

#[test]
fn an_empty_file() {
    let small = Small::new("```text\n{{#include empty.txt}}\n```").with("book/src/empty.txt", "\n\n");
    assert_eq!(small.problems(false), "book/src/chapter.md:4: book/src/empty.txt is empty");
}

#[test]
fn an_anchor_that_is_there_twice() {
    let twice = "// ANCHOR: a\nx\n// ANCHOR_END: a\n// ANCHOR: a\ny\n// ANCHOR_END: a\n";
    let small = Small::new("```cpp\n{{#include two.cu:a}}\n```").with("book/src/two.cu", twice);
    assert_eq!(
        small.problems(false),
        "book/src/chapter.md:4: book/src/two.cu has the anchor `a` twice; rename one of them"
    );
}

#[test]
fn a_listing_by_line_numbers() {
    listing_refused(
        "../../kernels/add.cu:3:5",
        "`../../kernels/add.cu:3:5` counts lines, which move; name an anchor of the file instead",
    );
}

#[test]
fn a_listing_outside_of_a_fence() {
    refused(
        "{{#include ../../kernels/add.cu:map}}",
        "the listing of ../../kernels/add.cu stands outside of a fence; put ```cpp and ``` around it",
    );
}

#[test]
fn a_listing_that_would_end_its_fence() {
    let small = Small::new("```md\n{{#include a.md}}\n```").with("book/src/a.md", "text\n```\ncode\n```\n");
    assert_eq!(
        small.problems(false),
        "book/src/chapter.md:4: a.md has a line that begins with ```; it would end the listing"
    );
}

#[test]
fn an_unknown_directive() {
    refused(
        "{{#inlcude a.md}}",
        "there is no directive `inlcude`; there are include, diff, output, figure, recorded, duels, others, process, ceilings, n, counters, sums, step, steps, task, judged, transfers, mistakes, predict, sheets, answers, lesson, plan",
    );
}

#[test]
fn counters_that_cannot_be_read() {
    let small = Small::new("{{#counters v04 1024}}").with("kernels/counters.json", "{\n\"schema\": one");
    assert_eq!(
        small.problems(false),
        "book/src/chapter.md:3: kernels/counters.json cannot be read: expected value at line 2 column 11; make it again with: cargo xtask profile --table"
    );
}

#[test]
fn a_directive_that_does_not_end() {
    refused("{{#n sgemm 4096", "`{{#` has no `}}` on its line");
}

#[test]
fn a_block_inside_of_a_sentence() {
    refused("See {{#output a}}.", "`{{#output}}` wants a line of its own");
}

#[test]
fn a_missing_picture() {
    refused(
        "{{#figure ladder \"The ladder.\"}}",
        "there is no file book/src/generated/ladder.svg; pictures are drawn by: cargo xtask book --refresh",
    );
}

#[test]
fn a_picture_without_words() {
    refused("{{#figure ladder \"\"}}", "`{{#figure}}` wants a name and a text alternative in quotes");
}

#[test]
fn a_missing_output() {
    refused(
        "{{#output v05-bench}}",
        "there is no file book/src/generated/v05-bench.txt; list its command in book/outputs.toml, then: cargo xtask book --refresh v05-bench",
    );
}

#[test]
fn a_difference_of_a_step_that_is_none() {
    refused("{{#diff v04 v99}}", "there is no step `v99`; the steps are v00 … v12 (see: cargo xtask list)");
}

#[test]
fn a_difference_that_is_none() {
    refused(
        "{{#diff kernels/add.cu kernels/add.cu map}}",
        "`map` is the same in kernels/add.cu and kernels/add.cu: there is nothing to show",
    );
}

#[test]
fn numbers_without_a_record() {
    refused(
        "It runs at {{#n sgemm_v04_float4 1024 tflops}}.",
        "no record of a GPU is in book/data; make one with: cargo xtask bench all --save",
    );
    refused(
        "{{#recorded v04}}",
        "nothing was recorded for `{{#recorded v04}}`; measure it with: cargo xtask bench v04 --save",
    );
}

#[test]
fn numbers_of_a_kernel_that_is_none() {
    let record = include_str!("data/record.json");
    let small = Small::new("At {{#n sgemm_v04 1024 tflops}}.").with("book/data/card.json", record);
    assert_eq!(
        small.problems(false),
        "book/src/chapter.md:3: there is no kernel `sgemm_v04`; v04 has sgemm_v04_float4"
    );
}

#[test]
fn numbers_of_what_was_not_run() {
    let record = include_str!("data/record.json");
    let chapter = "At {{#n sgemm_v04_float4 8192 tflops}} and {{#n sgemm_v04_float4 2048 tflops}}.";
    let small = Small::new(chapter).with("book/data/card.json", record);
    assert_eq!(
        small.problems(false),
        "book/src/chapter.md:3: sgemm_v04_float4 at 8192x8192x8192 was not run (a launch takes longer than 5 s): it has no speed"
    );
    let small = Small::new("At {{#n sgemm_v04_float4 2048 tflops}}.").with("book/data/card.json", record);
    assert_eq!(
        small.problems(false),
        "book/src/chapter.md:3: sgemm_v04_float4 at 2048x2048x2048 was not recorded on A; measure it with: cargo xtask bench v04 --save"
    );
}

#[test]
fn numbers_of_a_gpu_without_a_record() {
    for number in ["sgemm_v04_float4 1024 ms", "ceiling mma.sync bf16 burst"] {
        let small = Small::new(&format!("At {{{{#n on H9 {number}}}}}."));
        let small = small.with("book/data/card.json", include_str!("data/record.json"));
        assert_eq!(small.problems(false), "book/src/chapter.md:3: no record is of a GPU named H9, but of A");
    }
}

#[test]
fn a_record_that_is_none() {
    let small = Small::new("At {{#n sgemm_v04_float4 1024 ms}}.").with("book/data/card.json", "{\"runs\": [");
    let problem = small.problems(false);
    assert!(problem.starts_with("book/src/chapter.md:3: book/data/card.json is not JSON: "), "{problem}");
}

#[test]
fn the_strip_of_a_chapter_that_is_no_step() {
    refused(
        "{{#step}}",
        "`{{#step}}` wants a comment `<!-- step: v05 minutes=50 after=v04 gpu=no -->` in its chapter",
    );
    refused("<!-- step: v05 after=v04 gpu=no -->", "minutes=N is missing");
    refused(
        "<!-- step: v05 minutes=50 gpu=maybe -->",
        "`gpu=maybe` is none of minutes=N, after=vNN, gpu=no|yes|helps",
    );
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
