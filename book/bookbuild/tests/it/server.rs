//! The program as a preprocessor of a separately installed mdBook, and as a server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

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

/// A running `bookbuild --watch`, stopped when dropped.
struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    fn start(small: &Small) -> Self {
        let mut child = bookbuild()
            .args(["--watch", "--port", "0"])
            .env("CARGO_MANIFEST_DIR", small.repo().root())
            .stderr(Stdio::null())
            .spawn()
            .expect("bookbuild");
        let mut line = String::new();
        let out = child.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("an address");
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { child, address }
    }

    fn ask(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("a server");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address).expect("a listener");
        stream
    }

    fn get(&self, path: &str) -> String {
        let mut bytes = Vec::new();
        self.ask(path).read_to_end(&mut bytes).expect("an answer");
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_change_is_built_and_told() {
    let small = Small::new("the first text");
    let serving = Serving::start(&small);
    let mut events = BufReader::new(serving.ask("/~changes")).lines();
    let mut next = |prefix: &str| loop {
        let line = events.next().expect("a server that goes on").expect("text");
        if let Some(rest) = line.strip_prefix(prefix) {
            return rest.to_owned();
        }
    };
    assert_eq!(next("data: "), "1");
    let page = serving.get("/chapter.html");
    assert!(page.starts_with("HTTP/1.1 200 OK") && page.contains("the first text"), "{page}");
    assert!(page.contains("new EventSource"), "{page}");

    small.write("book/src/chapter.md", "# A chapter\n\nthe second text, longer\n");
    assert_eq!(next("data: "), "2");
    assert!(serving.get("/").contains("the second text"));

    small.write("book/src/chapter.md", "# A chapter\n\n{{#gone}} and more\n");
    let told = next("data: ");
    assert!(told.contains("there is no directive `gone`"), "{told}");
    assert!(serving.get("/chapter.html").contains("the second text"));
}

#[test]
fn nothing_above_the_book_is_served() {
    let serving = Serving::start(&Small::new("text"));
    for path in ["/../../book/book.toml", "/%2e%2e/book.toml", "//etc/passwd", "/gone.html"] {
        let answer = serving.get(path);
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
}
