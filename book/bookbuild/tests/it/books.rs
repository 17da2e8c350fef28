//! Creates small books in temporary folders.

use bookbuild::make::{BuiltBook, Options};
use bookbuild::{Problems, RepoPaths};
use tempfile::TempDir;

const BOOK_TOML: &str = include_str!("data/book.toml");

/// A kernel with marker lines, and with correct and incorrect anchors.
pub(crate) const KERNEL: &str = include_str!("data/add.cu");

/// [`KERNEL`] with another map from threads to elements.
pub(crate) const OTHER_KERNEL: &str = include_str!("data/other.cu");

/// Measurements on `A Card`.
pub(crate) const RECORD: &str = include_str!("data/record.json");

/// Returns the text of a page without tags; a bar follows each table cell.
pub(crate) fn text_of(page: &str) -> String {
    let page = page.replace("</td>", " |").replace("</th>", " |");
    let text: String = page.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines.join("\n")
}

/// A repository whose book has one chapter.
pub(crate) struct Small {
    root: TempDir,
}

impl Small {
    /// Creates the book; the chapter's text begins on line 3.
    pub(crate) fn new(chapter: &str) -> Self {
        Self { root: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder") }
            .with("book/book.toml", BOOK_TOML)
            .with("book/src/SUMMARY.md", "[A chapter](chapter.md)\n")
            .with("book/src/chapter.md", &format!("# A chapter\n\n{chapter}\n"))
            .with("kernels/add.cu", KERNEL)
            .with("kernels/other.cu", OTHER_KERNEL)
    }

    pub(crate) fn with(self, path: &str, text: &str) -> Self {
        self.write(path, text);
        self
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder to write to");
        std::fs::write(path, text).expect("a file");
    }

    pub(crate) fn repo(&self) -> RepoPaths {
        RepoPaths::new(self.root.path())
    }

    pub(crate) fn make(&self) -> anyhow::Result<BuiltBook> {
        bookbuild::make(&self.repo(), &Options::default())
    }

    /// Returns the HTML of the page below its heading.
    pub(crate) fn page(&self) -> String {
        let made = self.make().expect("a book without mistakes");
        let html = std::fs::read_to_string(made.folder.join("chapter.html")).expect("a page");
        let main = html.split("<main>").nth(1).and_then(|rest| rest.split("</main>").next());
        let main = main.expect("a page has a main part");
        let text = main.split_once("</h1>").map_or(main, |(_, text)| text);
        text.trim().to_owned()
    }

    /// Returns the problems of building or checking the book.
    #[track_caller]
    pub(crate) fn problems(&self, check: bool) -> String {
        let done = if check { bookbuild::check(&self.repo(), |_| ()).map(drop) } else { self.make().map(drop) };
        let error = done.expect_err("a book with a mistake");
        match error.downcast_ref::<Problems>() {
            Some(Problems(problems)) => {
                let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
                lines.join("\n")
            }
            None => panic!("could not run: {error:#}"),
        }
    }

    /// Asserts that the only problem is on line 3 of the chapter, with this message.
    #[track_caller]
    pub(crate) fn refuses(&self, why: &str) {
        assert_eq!(self.problems(false), format!("book/src/chapter.md:3: {why}"));
    }
}
