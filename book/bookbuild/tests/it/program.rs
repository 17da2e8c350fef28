//! The program as a preprocessor of a separately installed mdBook, and `--watch`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use mdbook_driver::MDBook;
use mdbook_preprocessor::book::Book;

use crate::books::Small;

fn bookbuild() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bookbuild"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Sends a book as a plain `mdbook build` does; returns the reply.
fn preprocess(small: &Small) -> Result<Book, String> {
    let book = MDBook::load(small.repo().book()).expect("a book");
    let context = mdbook_preprocessor::PreprocessorContext::new(book.root.clone(), book.config.clone(), "html".into());
    let mut child = bookbuild().arg("preprocess").spawn().expect("bookbuild");
    let input = serde_json::to_vec(&(context, &book.book)).expect("plain data");
    child.stdin.take().expect("a pipe").write_all(&input).expect("a reader");
    let out = child.wait_with_output().expect("an end");
    if out.status.success() {
        Ok(serde_json::from_slice(&out.stdout).expect("a book"))
    } else {
        Err(String::from_utf8_lossy(&out.stderr).into_owned())
    }
}

#[test]
fn a_plain_mdbook_gets_the_same_chapters() {
    let book = preprocess(&Small::new("```cpp\n{{#include ../../kernels/add.cu:map}}\n```")).expect("a book");
    let chapter = book.chapters().next().expect("a chapter");
    assert!(chapter.content.contains("<figcaption>kernels/add.cu</figcaption>"), "{}", chapter.content);
}

#[test]
fn a_plain_mdbook_fails_with_the_same_words() {
    let error = preprocess(&Small::new("{{#gone}}")).expect_err("an unknown directive");
    assert!(error.starts_with("book/src/chapter.md:3: there is no directive `gone`"), "{error}");
}

#[test]
fn only_html_is_made() {
    let supports = |renderer: &str| {
        let status = bookbuild().args(["preprocess", "supports", renderer]).status().expect("bookbuild");
        status.code()
    };
    assert_eq!(supports("html"), Some(0));
    assert_eq!(supports("epub"), Some(1));
}

#[test]
fn a_change_is_built_and_told() {
    let small = Small::new("the first text");
    let mut watching =
        bookbuild().arg("--watch").env("CARGO_MANIFEST_DIR", small.repo().root()).spawn().expect("bookbuild");
    let mut pages = BufReader::new(watching.stdout.take().expect("a pipe")).lines();
    let mut messages = BufReader::new(watching.stderr.take().expect("a pipe")).lines();
    let mut built = || std::fs::read_to_string(pages.next().expect("goes on").expect("a path")).expect("a page");
    assert!(built().contains("the first text"));
    small.write("book/src/chapter.md", "# A chapter\n\n{{#gone}} and more\n");
    let told = messages.find_map(|line| line.ok().filter(|line| !line.starts_with("built in "))).expect("goes on");
    assert!(told.contains("there is no directive `gone`"), "{told}");
    small.write("book/src/chapter.md", "# A chapter\n\nthe second text, longer\n");
    assert!(built().contains("the second text"));
    watching.kill().expect("it runs");
    watching.wait().expect("it ends");
}
