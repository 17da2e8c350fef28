//! Results of the directives.

use counters::Summary;
use serde_json::json;

use crate::books::{RECORD, Small, text_of};

const COUNTERS: &str = include_str!("data/counters.json");

/// Returns the page of a chapter, in a repository with a record and counters.
fn page(chapter: &str) -> String {
    let small = Small::new(chapter);
    let small = small.with("book/data/card.json", RECORD);
    small.with("kernels/counters.json", COUNTERS).page()
}

fn words(chapter: &str) -> String {
    text_of(&page(chapter))
}

#[test]
fn a_listing_has_no_marks_and_stands_to_the_left() {
    insta::assert_snapshot!(page("```cpp\n{{#include ../../kernels/add.cu:map}}\n```"), @r#"
    <figure class="listing numbered"><figcaption>kernels/add.cu</figcaption>
    <pre><code class="nohighlight cpp"><span class="l" data-n="7"><span class="k">const</span> <span class="t">int</span> i = <span class="b">blockIdx</span>.x * <span class="b">blockDim</span>.x + <span class="b">threadIdx</span>.x;</span></code></pre>
    </figure>
    "#);
}

#[test]
fn an_answer_that_is_a_number_is_no_list() {
    let page = page("<details><summary>Answer</summary>\n\n32.\n\n</details>\n\n1. One.\n2. Two.");
    insta::assert_snapshot!(page);
}

#[test]
fn the_first_use_of_a_term_links_to_the_glossary() {
    let small = Small::new("## Warps\n\nA warp has lanes, and `warp` is code. Two warps.")
        .with("book/src/SUMMARY.md", "[A chapter](chapter.md)\n\n[Glossary](glossary.md)\n")
        .with("book/src/glossary.md", "# Glossary\n\n## W\n\n### Warp\n\n32 threads. A warp is no link here.\n");
    insta::assert_snapshot!(small.page(), @r##"
    <h2 id="warps"><a class="header" href="#warps">Warps</a></h2>
    <p>A <a href="glossary.html#warp" title="32 threads. A warp is no link here.">warp</a> has lanes, and <code>warp</code> is code. Two warps.</p>
    "##);
}

#[test]
fn code_has_colours_and_loses_nothing() {
    let check = |language: &str, code: &str, coloured: &[toml::Value]| {
        let page = page(&format!("```{language}\n{code}\n```"));
        for wanted in coloured.iter().filter_map(toml::Value::as_str) {
            assert!(page.contains(wanted), "`{wanted}` is not in:\n{page}");
        }
        let shown =
            text_of(&page).replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
        assert_eq!(shown, code, "{language}");
    };
    let codes: toml::Table = include_str!("data/colours.toml").parse().expect("TOML");
    for code in codes["code"].as_array().expect("a list") {
        let [language, text] = ["language", "text"].map(|key| code[key].as_str().expect("a text"));
        check(language, text, code["coloured"].as_array().expect("a list"));
    }
}

#[test]
fn a_line_of_a_listing_has_its_counts() {
    let counts =
        Summary { instructions: 1200, lane_instructions: 38400, requests: 2, sectors: 8, ..Summary::default() };
    let lines = json!([{"line": 7, "counts": counts}]);
    let counts = json!([{"file": "kernels/add.cu", "kernel": "add", "shape": "8x8", "lines": lines}]);
    let small = Small::new("```cpp\n{{#include ../../kernels/add.cu:map}}\n```")
        .with("book/src/generated/line-counts.json", &counts.to_string());
    let changed = page("{{#diff kernels/other.cu kernels/add.cu map}}");
    let wanted = "<span class=\"l add\" data-n=\"7\">+";
    assert!(changed.contains(wanted), "`{wanted}` is not in:\n{changed}");
    let made = small.make().expect("a book");
    let page = std::fs::read_to_string(made.folder.join("chapter.html")).expect("a page");
    for wanted in [
        "data-launch=\"add on 8x8\"",
        "data-n=\"7\" data-counts=\"2 requests to global memory, 8 sectors; 1\u{a0}200 PTX instructions of warps\"",
    ] {
        assert!(page.contains(wanted), "`{wanted}` is not in:\n{page}");
    }
}

#[test]
fn a_listing_in_a_list_stands_as_far_in_as_its_directive() {
    insta::assert_snapshot!(page("- one:\n\n  ```cpp\n  {{#include ../../kernels/add.cu:kernel}}\n  ```\n- two"));
}

#[test]
fn a_difference_of_files_or_of_a_part_names_the_lines_of_both() {
    insta::assert_snapshot!(words("{{#diff kernels/add.cu kernels/other.cu}}"));
    insta::assert_snapshot!(words("{{#diff kernels/add.cu kernels/other.cu map}}"), @r"
    @@ add.cu line 7 -&gt; other.cu line 5 @@
    -const int i = blockIdx.x * blockDim.x + threadIdx.x;
    +const int i = threadIdx.x * gridDim.x + blockIdx.x;
    ");
}

#[test]
fn an_output_is_shown_as_it_was_printed() {
    let text = "# Made by `cargo xtask book --refresh`.\n$ echo hello\nhello <world>\n";
    let small = Small::new("{{#output hello}}").with("book/src/generated/hello.txt", text);
    insta::assert_snapshot!(small.page(), @r#"
    <pre><code class="language-text">$ echo hello
    hello &lt;world&gt;
    </code></pre>
    "#);
}

#[test]
fn a_picture_stands_in_the_page() {
    let svg = "<?xml version=\"1.0\"?>\n<!-- made by a program -->\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 2 1\">\n\n<linearGradient id=\"a\"/><path d=\"M0 0h1\" stroke=\"currentColor\"/>\n</svg>\n";
    let small = Small::new("{{#figure ladder \"Each step & its rate.\"}}").with("book/src/generated/ladder.svg", svg);
    insta::assert_snapshot!(small.page());
}

#[test]
fn recorded_numbers_of_one_kernel_at_all_sizes_or_a_chosen_one() {
    insta::assert_snapshot!(words("{{#recorded v04}}"));
    insta::assert_snapshot!(words("{{#recorded v04 1023x1025x1021}}"), @r"
    C = A·B in FP32, A Card, 2026-11-20. Kernel time with warm caches: the median; the spread is that of the middle half.
    size |time, ms |TFLOP/s |of cuBLAS |spread |
    1023×1025×1021 |0.250 |8.56 |60.0 % |0.0 % |
    Where the recorded numbers on this page come from: A Card, 2026-11-20.
    ");
}

#[test]
fn recorded_numbers_of_several_kernels_have_a_table_for_each_kind_of_work() {
    insta::assert_snapshot!(words("{{#recorded v01}}"));
}

#[test]
fn numbers_in_a_sentence() {
    let chapter: Vec<String> =
        include_str!("data/numbers.txt").lines().map(|what| format!("- {what}: {{{{#n {what}}}}}")).collect();
    insta::assert_snapshot!(words(&chapter.join("\n")));
}

/// An output with two tables, with empty cells and words.
const OUTPUT: &str = include_str!("data/output.txt");

#[test]
fn paragraphs_of_an_output() {
    let shows =
        |titles: &str| Small::new(&format!("{{{{#output b {titles}}}}}")).with("book/src/generated/b.txt", OUTPUT);
    insta::assert_snapshot!(shows("\"What binds\"").page());
    shows("Counted \"What is\"").refuses("the output b has no paragraph that begins with `What is`");
}

#[test]
fn numbers_of_an_output_in_a_sentence() {
    let all = [
        "output b from_shared instructions",
        "output b from_global \"sectors: loads\"",
        "output b from_shared wavefronts",
        "output b from_global issue",
        "output b from_shared \"so at most\"",
    ];
    let chapter: Vec<String> = all.iter().map(|what| format!("- {{{{#n {what}}}}}")).collect();
    let small = Small::new(&chapter.join("\n")).with("book/src/generated/b.txt", OUTPUT);
    insta::assert_snapshot!(small.page());
    for gone in ["from_global wavefronts", "from_all issue", "from_global speed"] {
        let small = Small::new(&format!("{{{{#n output b {gone}}}}}")).with("book/src/generated/b.txt", OUTPUT);
        let (row, column) = gone.split_once(' ').expect("two words");
        small.refuses(&format!("the output b has no table with a row `{row}` and a column `{column}`"));
    }
}

#[test]
fn predictions_in_a_sentence() {
    let table = "# set\tkernel\tM\tN\tK\tmeasured\tpredicted\tbound\tbinds\n\
                 ladder\ttranspose_tile\t8192\t8192\t0\t525.808\t528.929\t281.843\tL2\n\
                 ladder\tsgemm\t1023\t1025\t1021\t9752.1\t9700.0\t150000.0\tL1\n";
    let chapter = "{{#n predicted transpose_tile 8192 ms}}, {{#n predicted sgemm 1023x1025x1021 bound_ms}} and \
                   {{#n predicted sgemm 1023x1025x1021 ms}} by {{#n predicted sgemm 1023x1025x1021 binds}}.";
    let small = Small::new(chapter).with("emulator/timing/data/predictions.tsv", table);
    insta::assert_snapshot!(text_of(&small.page()), @r"
    0.529 ms, 150 ms and 9.70 ms by L1.
    Where the recorded numbers on this page come from: emulator/timing/data/predictions.tsv.
    ");
}

#[test]
fn numbers_of_ptxas_in_a_sentence() {
    let ptx = "// compiler: NVRTC 12.4\n// sm_90: sgemm_v04_float4: 127 registers, 8192 bytes smem, 0 bytes spilled\n";
    let chapter = "- {{#n ptxas sgemm_v04_float4 sm_90 registers}}\n- {{#n ptxas sgemm_v04_float4 sm_90 shared}}\n\
                   - {{#n ptxas sgemm_v04_float4 sm_90 spilled}}";
    let small = Small::new(chapter).with("kernels/ptx/v04_float4.ptx", ptx);
    insta::assert_snapshot!(small.page());
    Small::new("{{#n ptxas sgemm_v04_float4 sm_75 registers}}")
        .with("kernels/ptx/v04_float4.ptx", ptx)
        .refuses("the header of kernels/ptx/v04_float4.ptx has no registers of sgemm_v04_float4 on sm_75");
}

#[test]
fn measured_costs_in_a_sentence() {
    let costs = r#"{ "name": "A Card", "constants": [
        { "constant": "barrier", "value": 12, "unit": "clocks", "how": "a loop", "measured": "2026" },
        { "constant": "width", "value": [4, 6], "unit": "clocks", "how": "another", "measured": "2025" }
    ] }"#;
    let with = |chapter: &str| Small::new(chapter).with("emulator/timing/data/h200.json", costs);
    insta::assert_snapshot!(with("{{#n chip barrier}} and {{#n chip width 1}}").page(), @r#"
    <p><span class="measured" title="barrier in emulator/timing/data/h200.json: a loop; 2026">12</span> and <span class="measured" title="width in emulator/timing/data/h200.json: another; 2025">6</span></p>
    <p class="provenance">Where the recorded numbers on this page come from: <code>emulator/timing/data/h200.json</code>.</p>
    "#);
    for (words, what) in [
        ("name", "has no constant `name`; it has barrier, width"),
        ("width", "has width as a list; name the place in it"),
        ("width 2", "has 2 values for width"),
        ("barrier 0", "has a single value for barrier"),
    ] {
        with(&format!("{{{{#n chip {words}}}}}")).refuses(&format!("emulator/timing/data/h200.json {what}"));
    }
}

#[test]
fn a_number_says_where_it_comes_from() {
    insta::assert_snapshot!(page("At {{#n sgemm_v04_float4 1024 tflops}}."), @r#"
    <p>At <span class="measured" title="sgemm_v04_float4 at 1024x1024x1024, A Card, 2026-11-20">17.2 TFLOP/s</span>.</p>
    <p class="provenance">Where the recorded numbers on this page come from: A Card, 2026-11-20.</p>
    "#);
}

#[test]
fn sums_beside_those_of_cublas() {
    let step = "{{#sums v04}}";
    let sum = |size: usize, theirs: &str| {
        format!(
            r#"{{"run": "one", "step": "v04", "kernel": "sgemm_v04_float4", "shape": {{"m": {size}, "n": 64, "k": 64}}, "seed": 1,
            "multiprocessors": 4, "ptx_sha256": "", "c_sha256": "aa", "cublas_sha256": "{theirs}"}}"#
        )
    };
    #[track_caller]
    fn check(step: &str, sums: &[String], wanted: &str) {
        let run = r#"{"id": "one", "date": "2026-11-20T00:00:00Z", "device": "A Card", "emulated": false,
            "capability": "9.0", "driver": "13.0", "host": "", "revision": ""}"#;
        let record = format!(r#"{{"schema": 1, "runs": [{run}], "sums": [{}]}}"#, sums.join(", "));
        let page = Small::new(step).with("book/data/h200-sums.json", &record).page();
        let text = text_of(&page);
        assert!(text.contains(wanted), "{text}");
        assert!(text.contains("A Card, 2026-11-20"), "{text}");
    }
    check(step, &[sum(64, "aa"), sum(65, "aa")], "yes");
    check(step, &[sum(64, "bb")], "no");
    check(step, &[sum(64, "bb"), sum(65, "aa")], "yes, but not on 64x64x64");
    check(step, &[sum(64, "bb"), sum(65, "aa"), sum(66, "bb")], "only on 65x64x64");
}

#[test]
fn counters_emulated_and_measured_have_reasons_where_they_differ() {
    insta::assert_snapshot!(words("{{#counters v04 1024}}"));
    insta::assert_snapshot!(words("{{#counters v04 500x516x508}}"), @r"
    sgemm_v04_float4 at 500x516x508:
    counter |emulated |Nsight Compute | |
    fmas |131 064 000 |131 064 001 |no reason known |
    Where the recorded numbers on this page come from: A Card (driver for CUDA 13.0) with Nsight Compute 2025, 2026-11-20.
    ");
}

#[test]
fn counters_of_two_kernels_beside_each_other() {
    let both = "sgemm_v04_float4 sgemm_v05_bank_conflict_free";
    insta::assert_snapshot!(words(&format!("{{{{#counters beside 1024 {both}}}}}")), @r"
    at 1024 |v05 / v04 |v04, emulated |v04, Nsight |v05, emulated |v05, Nsight |
    fmas |1.00 |1 073 741 824 |1 073 741 824 |1 073 741 824 |1 073 741 824 |
    global_load_sectors |0.50 |8 388 608 |8 388 608 |4 194 304 |4 194 304 |
    Where the recorded numbers on this page come from: A Card (driver for CUDA 13.0) with Nsight Compute 2025, 2026-11-20.
    ");
}

#[test]
fn the_table_of_steps() {
    let small = Small::new("{{#steps}}");
    let small = small.with("book/src/v05-a.md", "# Five\n\n<!-- step: v05 minutes=50 after=v04 gpu=helps -->\n");
    let small = small.with("book/src/v04-b.md", "# Four\n\n<!-- step: v04 minutes=40 gpu=no -->\n");
    let small = small.with("book/src/SUMMARY.md", "[A](chapter.md)\n\n- [Five](v05-a.md)\n- [Four](v04-b.md)\n");
    let page = small.page();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("<tr><td>")).collect();
    insta::assert_snapshot!(rows.join("\n"), @r#"
    <tr><td><a href="v04-b.html">v04 float4</a></td><td style="text-align: right">40</td><td>–</td><td>not needed</td></tr>
    <tr><td><a href="v05-a.html">v05 bank-conflict-free</a></td><td style="text-align: right">50</td><td>v04</td><td>helps</td></tr>
    <tr><td>together</td><td style="text-align: right">90</td><td></td><td></td></tr>
    "#);
}

#[test]
fn the_strip_of_a_step() {
    let chapter = "<!-- step: v05 minutes=50 after=v04 gpu=no -->\n{{#step}}";
    let small = Small::new("text").with("book/src/v05-a.md", &format!("# Five\n\n{chapter}\n"));
    let small = small.with("book/src/v04-b.md", "# Four\n");
    let small = small.with("book/src/SUMMARY.md", "[A](chapter.md)\n\n- [Four](v04-b.md)\n- [Five](v05-a.md)\n");
    let made = small.make().expect("a book");
    let html = std::fs::read_to_string(made.folder.join("v05-a.html")).expect("a page");
    let strip = html.split("<nav class=\"strip\"").nth(1).and_then(|rest| rest.split("</nav>").next());
    insta::assert_snapshot!(strip.unwrap_or_default());
}

#[test]
fn what_stands_behind_a_backslash_is_text() {
    insta::assert_snapshot!(page("Write \\{{#n KERNEL SIZE WHAT}}, or `\\{{#step}}`."), @"<p>Write {{#n KERNEL SIZE WHAT}}, or <code>{{#step}}</code>.</p>");
}

#[test]
fn a_draft_shows_what_is_missing() {
    let small = Small::new("At {{#n sgemm_v04_float4 2048 tflops}}.").with("book/data/card.json", RECORD);
    let options = bookbuild::make::Options { draft: true, ..bookbuild::make::Options::default() };
    let made = bookbuild::make(&small.repo(), &options).expect("a draft");
    assert_eq!(made.findings.problems.len(), 1);
    let html = std::fs::read_to_string(made.folder.join("chapter.html")).expect("a page");
    assert!(html.contains("class=\"missing\""), "{html}");
}

#[test]
fn the_main_kernel_of_a_step_is_the_one_that_the_next_builds_on() {
    let all: Vec<String> = catalog::STEPS
        .iter()
        .map(|step| format!("{} {}", step.id, bookbuild::main_kernel(step).unwrap_or("-")))
        .collect();
    insta::assert_snapshot!(all.join("\n"));
}

/// Returns the table of v04's duel; `earlier` names another run than that of the yardstick's times.
fn duels_of_v04(earlier: &str) -> String {
    // The yardstick of v04 at 1023 x 1025 x 1021.
    const YARDSTICK: &str = r#""yardstick": {"name": "cuBLAS", "hot": [0.15]"#;
    let speed = |times: f64, low: f64, high: f64| {
        format!(r#"{{"rounds": 3, "kernel_ms": 1, "yardstick_ms": 1, "times": {times}, "low": {low}, "high": {high}}}"#)
    };
    let duel = format!(
        r#"{YARDSTICK}, "algorithm": 2, "duel":{{"sustained":{}, "burst":{}, "piece_and_pause":[50,60]{earlier}}}"#,
        speed(1.05, 1.025, 1.075),
        speed(0.995, 0.933, 1.061)
    );
    let with = RECORD.replacen(YARDSTICK, &duel, 1);
    assert!(with != RECORD);
    const RUN: &str = r#"{"id": "one", "date": "2026-11-20T12:00:00Z""#;
    let day_before = RUN.replace("one", "zero").replace("-20T", "-19T");
    let run = RECORD.lines().find(|line| line.starts_with(RUN)).expect("a run");
    let with = with.replacen(run, &format!("{},\n{run}", run.replace(RUN, &day_before)), 1);
    let small = Small::new("{{#duels v04}}").with("book/data/card.json", &with);
    text_of(&small.page())
}

#[test]
fn duels_have_intervals() {
    insta::assert_snapshot!(duels_of_v04(""), @r"
    A Card, 2026-11-20.
    size |kernel |GPU |without pauses, of cuBLAS |after pauses, of cuBLAS |cuBLAS is |
    1023×1025×1021 |sgemm_v04_float4 |A |105.0 % (102.5 to 107.5 %) |99.5 % (93.3 to 106.1 %) |cublasLt’s algorithm 3 |
    Where the recorded numbers on this page come from: A Card, 2026-11-20.
    ");
}

#[test]
fn a_duel_of_an_earlier_run_says_whose_it_is() {
    let page = duels_of_v04(r#", "earlier": {"run": "zero", "algorithm": 4}"#);
    assert!(page.starts_with("A Card, 2026-11-19.\n"), "{page}");
    assert!(page.contains("cublasLt’s algorithm 5"), "{page}");
}
