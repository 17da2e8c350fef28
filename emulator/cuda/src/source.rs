//! Sources, and places in them.

/// A source to compile.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// As messages and the lines of the code name it, such as `my/v02.cu`.
    pub name: &'a str,
    pub text: &'a str,
    /// Headers: as `#include` names them, and their text.
    pub headers: &'a [(String, String)],
}

/// Bytes `start..end` of a file. What a macro expands to has the place where it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// Index into [`Sources`].
    pub file: u16,
    pub start: u32,
    pub end: u32,
}

impl Span {
    /// Returns the span from the start of `self` to the end of `last`, if they are in one file.
    pub fn to(self, last: Span) -> Span {
        if self.file == last.file && last.end >= self.start { Span { end: last.end, ..self } } else { self }
    }
}

/// A line and a column, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    pub file: u16,
    pub line: u32,
    pub column: u32,
}

/// The files that a compilation read: name and text, the source first.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    pub files: Vec<File>,
}

#[derive(Debug, Clone)]
pub struct File {
    pub name: String,
    pub text: String,
    /// The start of each line.
    line_starts: Vec<u32>,
}

impl File {
    pub fn new(name: &str, text: &str) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at as u32 + 1);
        Self { name: name.to_owned(), text: text.to_owned(), line_starts: [0].into_iter().chain(starts).collect() }
    }

    /// Returns a line, from 1, without its end.
    pub fn line(&self, line: u32) -> &str {
        let start = self.line_starts[line as usize - 1] as usize;
        self.text[start..].lines().next().unwrap_or_default()
    }
}

impl Sources {
    pub fn place(&self, span: Span) -> Place {
        let starts = &self.files[usize::from(span.file)].line_starts;
        let line = starts.partition_point(|&start| start <= span.start) as u32;
        Place { file: span.file, line, column: span.start - starts[line as usize - 1] + 1 }
    }

    pub fn text(&self, span: Span) -> &str {
        let text = &self.files[usize::from(span.file)].text;
        text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }
}
