//! `--check`: faults of a book that builds.

use catalog::provenance::sha256;

use crate::books::{KERNEL, Small};

/// Asserts that `--check` finds exactly this problem.
#[track_caller]
fn finds(small: &Small, what: &str) {
    assert_eq!(small.problems(true), what);
}

#[track_caller]
fn finds_nothing(small: &Small) {
    if let Err(error) = bookbuild::check(&small.repo(), |_| ()) {
        panic!("{error:#}");
    }
}

#[track_caller]
fn bare(sentence: &str, number: &str) {
    finds(
        &Small::new(sentence),
        &format!(
            "book/src/chapter.md:3: `{number}` does not come from a record; write {{{{#n KERNEL SIZE WHAT}}}}, or list it with a reason in book/allow-numbers.toml"
        ),
    );
}

#[test]
fn a_number_that_was_typed() {
    bare("It runs at 31.2 TFLOP/s.", "31.2 TFLOP/s");
    bare("| 4096 | 3.2 ms |", "3.2 ms");
    bare("## In 20 µs", "20 µs");
    bare("**86 %** of cuBLAS", "86 %");
    bare("That is 40% less.", "40%");
    bare("It takes 1,234.5 GB/s of the 4.8e3.", "1,234.5 GB/s");
    bare("The clock is at 1980&nbsp;MHz.", "1980 MHz");
    bare("After 3 seconds", "3 seconds");
    bare("> [!NOTE] 2 ms", "2 ms");
}

#[test]
fn a_count_that_was_typed() {
    bare("The kernel takes 168 registers.", "168 registers");
    bare("An SM has 65 536 registers.", "65 536 registers");
    bare("It issues 1.45 instructions for each.", "1.45 instructions");
    bare("- 0.328 wavefronts", "0.328 wavefronts");
    bare("that is 0.0625&nbsp;sectors", "0.0625 sectors");
}

#[test]
fn counts_that_a_reader_can_do() {
    finds_nothing(&Small::new(
        "8 / 32 = 0.25 sectors, 33 sectors, 128 · 128 · 8 · 2 operations, a version 1.2 loader, 0.5 words, v03 registers.",
    ));
}

#[test]
fn a_message_that_was_typed() {
    let typed = |chapter: &str, line: u32| {
        finds(
            &Small::new(chapter),
            &format!(
                "book/src/chapter.md:{line}: a message of the emulated GPU is typed; show what a program prints, {{{{#output NAME}}}}, or say it in words"
            ),
        );
    };
    typed("It says ``error[E-RACE]: `tile[0]` is written``.", 3);
    typed("```text\nwarning[W-EXITED]: 32 threads\n```", 4);
    let said = "error[E-OOB]: read\n";
    let made = format!("# Made by `cargo xtask book --refresh`.\n$ cat said.txt\n{said}");
    let list = "[[output]]\nname = \"hello\"\ncommand = \"cat said.txt\"\n";
    finds_nothing(
        &Small::new("`E-OOB` is a code.\n\n{{#output hello}}")
            .with("book/outputs.toml", list)
            .with("said.txt", said)
            .with("book/src/generated/hello.txt", &made),
    );
}

#[test]
fn numbers_that_say_nothing_of_speed() {
    finds_nothing(&Small::new(
        "A 128 × 128 tile of 4096 elements, 48 KiB, 32 banks, `5 ms` in code, 3 steps, v05 s, sm_90.\n\n\
         ```text\n12.5 TFLOP/s\n```\n\n<!-- 5 ms -->\n\n<a title=\"5 ms\">words</a>",
    ));
}

#[test]
fn a_typed_number_with_a_reason() {
    let small = Small::new("The manual says 4.8 TB/s.");
    let list = "[[allow]]\nnumber = \"4.8 TB/s\"\nchapter = \"chapter.md\"\nreason = \"data sheet of the H200\"\n";
    finds_nothing(&small.with("book/allow-numbers.toml", list));
    let small = Small::new("The manual says 4.8 TB/s.");
    finds(
        &small.with("book/allow-numbers.toml", &list.replace("data sheet of the H200", " ")),
        "book/allow-numbers.toml: `4.8 TB/s` has no reason; say where it comes from",
    );
    let small = Small::new("The manual says nothing.");
    finds(
        &small.with("book/allow-numbers.toml", list),
        "book/allow-numbers.toml: `4.8 TB/s` stands in no chapter; remove it",
    );
}

#[test]
fn a_link_that_leads_nowhere() {
    finds(
        &Small::new("[there](gone.md)"),
        "chapter.html: has a broken link `gone.html`: there is no such file in the book\n\
         index.html: has a broken link `gone.html`: there is no such file in the book\n\
         print.html: has a broken link `gone.html`: there is no such file in the book",
    );
}

#[test]
fn a_fragment_that_leads_nowhere() {
    let problems = Small::new("[there](chapter.md#gone)\n\n[here](#a-chapter)").problems(true);
    let first = problems.lines().next().unwrap_or_default();
    assert_eq!(first, "chapter.html: has a broken link `chapter.html#gone`: the page has no heading or element `gone`");
    assert!(!problems.contains("a-chapter"), "{problems}");
}

#[test]
fn what_is_loaded_from_elsewhere() {
    for load in [
        "<img src=\"https://example.com/a.png\" alt=\"a\">",
        "<script src=\"//example.com/a.js\"></script>",
        "<link rel=\"stylesheet\" href=\"http://example.com/a.css\">",
        "<p style=\"background: url(https://example.com/a.png)\">text</p>",
    ] {
        let problems = Small::new(load).problems(true);
        assert!(
            problems.starts_with("chapter.html: loads ") && problems.contains("from outside of the book"),
            "{problems}"
        );
    }
    finds_nothing(&Small::new("[a link](https://example.com) and <a href=\"mailto:a@example.com\">one</a>"));
}

#[test]
fn a_picture_that_is_not_there() {
    let problems = Small::new("![a](gone.png)").problems(true);
    assert!(problems.starts_with("chapter.html: loads `gone.png`: there is no such file in the book"), "{problems}");
}

#[test]
fn two_elements_of_one_name() {
    finds(
        &Small::new("<p id=\"a\">one</p>\n\n<p id=\"a\">two</p>"),
        "chapter.html: has two elements called `a`; links find only the first\n\
         index.html: has two elements called `a`; links find only the first",
    );
}

const LISTING: &str = "```cpp\n{{#include ../../kernels/add.cu:map}}\n```";

/// Returns PTX whose header has the hash of this source.
fn ptx(source: &str) -> String {
    format!("// Generated by a test.\n// source: kernels/add.cu sha256:{}\n.version 8.4\n", sha256(source.as_bytes()))
}

#[test]
fn a_listing_that_is_not_what_was_compiled() {
    let shows = "book/src/chapter.md:4: shows kernels/add.cu, but";
    finds(
        &Small::new(LISTING),
        &format!("{shows} there is no kernels/ptx/add.ptx; compile it with: cargo xtask ptx kernels/add.cu"),
    );
    finds(
        &Small::new(LISTING).with("kernels/ptx/add.ptx", &ptx("another text")),
        &format!(
            "{shows} kernels/ptx/add.ptx was made from another version of kernels/add.cu; compile it with: cargo xtask ptx kernels/add.cu"
        ),
    );
    finds(
        &Small::new(LISTING).with("kernels/ptx/add.ptx", ".version 8.4\n"),
        &format!(
            "{shows} kernels/ptx/add.ptx does not say what it was made from; compile it with: cargo xtask ptx kernels/add.cu"
        ),
    );
}

#[test]
fn a_listing_that_was_compiled_and_how_that_is_known() {
    let small = Small::new(LISTING).with("kernels/ptx/add.ptx", &ptx(KERNEL));
    let told = std::cell::RefCell::new(String::new());
    let tell = |line: &str| told.borrow_mut().push_str(line);
    bookbuild::check(&small.repo(), tell).map(drop).expect("nothing to find");
    assert!(told.borrow().contains("by the hashes in their PTX (there is no xtask here)"), "{told:?}");
}

const OUTPUTS: &str = "[[output]]\nname = \"hello\"\ncommand = \"echo hello 12.5 ms\"\n";

fn with_output(text: &str) -> Small {
    let text = format!("# Made by `cargo xtask book --refresh`.\n$ echo hello 12.5 ms\n{text}\n");
    let small = Small::new("{{#output hello}}").with("book/outputs.toml", OUTPUTS);
    small.with("book/src/generated/hello.txt", &text)
}

#[test]
fn an_output_that_is_stale() {
    finds(
        &with_output("goodbye 12.5 ms"),
        "book/src/generated/hello.txt:3: is stale: it has `goodbye 12.5 ms` where `echo hello 12.5 ms` prints `hello 12.5 ms`; make it again with: cargo xtask book --refresh hello",
    );
}

#[test]
fn an_output_that_took_another_time() {
    finds_nothing(&with_output("hello  9.75 ms"));
}

#[test]
fn an_output_that_ran_elsewhere() {
    let list = format!("volatile = ['^host .*']\n{}", OUTPUTS.replace("hello 12.5 ms", "host here"));
    let small = Small::new("text").with("book/outputs.toml", &list);
    let text = "# Made by `cargo xtask book --refresh`.\n$ echo host here\nhost somewhere else\n";
    finds_nothing(&small.with("book/src/generated/hello.txt", text));
}

#[test]
fn an_output_that_nothing_makes() {
    let small = with_output("hello 12.5 ms").with("book/src/generated/stray.txt", "text\n");
    finds(
        &small,
        "book/src/generated/stray.txt: is made by nothing in book/outputs.toml or book/transcripts; list what makes it, or remove it",
    );
}

#[test]
fn a_command_that_fails() {
    let small = Small::new("text").with("book/outputs.toml", "[[output]]\nname = \"no\"\ncommand = \"false\"\n");
    finds(&small, "book/src/generated/no.txt: `false` ended with exit status: 1, not with exit code 0: ");
}

#[test]
fn a_program_whose_files_are_stale() {
    let list = "[[program]]\nmakes = \"pictures\"\ncommand = \"cp drawn.svg {folder}\"\n";
    let small = Small::new("text").with("book/outputs.toml", list).with("drawn.svg", "<svg/>\n");
    finds(
        &small,
        "book/src/generated/drawn.svg: differs from what `cp drawn.svg {folder}` writes today; make them again with: cargo xtask book --refresh",
    );
    let repo = small.repo();
    let outputs = bookbuild::generated_files::Outputs::load(&repo).expect("a list");
    outputs.refresh(&repo, &[]).expect("a program that runs");
    finds_nothing(&small);
}

#[test]
fn refreshing_writes_what_changed_and_keeps_what_only_took_another_time() {
    let small = with_output("hello 9.75 ms");
    let repo = small.repo();
    let path = repo.generated().join("hello.txt");
    let read = || std::fs::read_to_string(&path).expect("an output");
    let outputs = bookbuild::generated_files::Outputs::load(&repo).expect("a list");
    outputs.refresh(&repo, &[]).expect("a command that runs");
    assert!(read().ends_with("hello 9.75 ms\n"), "{}", read());
    small.write("book/src/generated/hello.txt", "goodbye\n");
    outputs.refresh(&repo, &["hello".into()]).expect("a command that runs");
    assert_eq!(read(), "# Made by `cargo xtask book --refresh`.\n$ echo hello 12.5 ms\nhello 12.5 ms\n");
    let unknown = outputs.refresh(&repo, &["gone".into()]).expect_err("no such output");
    assert_eq!(unknown.to_string(), "book/outputs.toml lists no output `gone`, and book/transcripts has none");
}
