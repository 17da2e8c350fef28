//! Blocks of code as the book shows them: with colours, and where they are part of a file, with its name, the numbers
//! of its lines, and what the emulated GPU counts for each of them.
//!
//! This is done when the book is built, so that a page needs no script for it, and paper has it too. Numbers and counts
//! are attributes: copying a listing copies its code alone.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use catalog::text::escaped;

use crate::chapter::{self, Part};
use crate::highlight;
use crate::line_counts::LineCounts;

/// Lines of a chapter that were taken from a file.
#[derive(Debug, Clone)]
pub(crate) struct Included {
    /// The line of the filled chapter on which they begin, from 1.
    pub(crate) at: usize,
    /// The file that they come from, such as `kernels/v05_bank_conflict_free.cu`.
    pub(crate) file: String,
    /// The number of each line in its file; a line that was taken out of it has none.
    pub(crate) numbers: Vec<Option<usize>>,
}

/// A line of a block.
struct CodeLine<'a> {
    text: &'a str,
    /// The file that it is from, and its number there.
    origin: Option<(&'a str, usize)>,
}

/// A chapter that is filled in, with its blocks of code as HTML. Blocks of languages that get no colours stay.
pub(crate) fn dressed(text: &str, included: &[Included], counts: &LineCounts) -> String {
    let mut origins: BTreeMap<usize, (&str, usize)> = BTreeMap::new();
    for one in included {
        let lines = one.numbers.iter().enumerate();
        origins.extend(lines.filter_map(|(i, number)| Some((one.at + i, (one.file.as_str(), (*number)?)))));
    }
    let mut out = String::with_capacity(text.len() * 2);
    let mut open: Option<(&str, &str)> = None;
    let mut code: Vec<CodeLine<'_>> = Vec::new();
    for line in chapter::lines(text) {
        match (line.part, open) {
            (Part::Fence, None) => {
                let start = line.text.find(['`', '~']).unwrap_or(0);
                let (indent, fence) = line.text.split_at(start);
                let name = fence.trim_start_matches(['`', '~']).trim();
                open = Some((indent, name));
                if !highlight::is_known(name) {
                    out.push_str(line.text);
                    out.push('\n');
                }
            }
            (Part::Fence, Some((indent, name))) => {
                open = None;
                match highlight::is_known(name) {
                    true => out.push_str(&block(indent, name, &code, counts)),
                    false => out.push_str(line.text),
                }
                code.clear();
                out.push('\n');
            }
            (Part::Code, Some((indent, name))) if highlight::is_known(name) => code.push(CodeLine {
                text: line.text.strip_prefix(indent).unwrap_or(line.text.trim_start()),
                origin: origins.get(&line.number).copied(),
            }),
            _ => {
                out.push_str(line.text);
                out.push('\n');
            }
        }
    }
    // A fence that is never closed ends with its chapter.
    if let Some((indent, name)) = open.filter(|_| !code.is_empty()) {
        out.push_str(&block(indent, name, &code, counts));
        out.push('\n');
    }
    out
}

/// Every physical line begins with the indent, so that the block stays in its list or quote; none is blank, so that
/// Markdown takes all of it as HTML.
fn block(indent: &str, name: &str, code: &[CodeLine<'_>], counts: &LineCounts) -> String {
    let mut files: Vec<&str> = code.iter().filter_map(|line| Some(line.origin?.0)).collect();
    files.dedup();
    let file = match files.as_slice() {
        [file] => Some(*file),
        _ => None,
    };
    let texts: Vec<&str> = code.iter().map(|line| line.text).collect();
    let launch = file.and_then(|file| counts.launch(file));
    let numbered = if file.is_some() { " numbered" } else { "" };
    let mut out = format!("{indent}<figure class=\"listing{numbered}\"");
    if let Some(launch) = launch {
        let _ = write!(out, " data-launch=\"{}\"", escaped(launch));
    }
    out.push('>');
    // A difference names its files itself.
    if let Some(file) = file.filter(|_| name != "diff") {
        let _ = write!(out, "<figcaption>{}</figcaption>", escaped(file));
    }
    // The class keeps the page's own script from colouring it once more.
    let _ = write!(out, "<pre><code class=\"nohighlight {name}\">");
    let mut lines = Vec::new();
    for (line, code) in code.iter().zip(highlight::lines(name, &texts)) {
        let class = match (name, line.text.chars().next()) {
            ("diff", Some('+')) => "l add",
            ("diff", Some('-')) => "l del",
            _ => "l",
        };
        let mut html = String::new();
        let _ = write!(html, "<span class=\"{class}\"");
        if let (Some(file), Some((_, number))) = (file, line.origin) {
            let _ = write!(html, " data-n=\"{number}\"");
            if let Some(counts) = counts.of(file, number) {
                let _ = write!(html, " data-counts=\"{}\"", escaped(counts));
            }
        }
        let _ = write!(html, ">{code}</span>");
        lines.push(html);
    }
    out.push_str(&lines.join(&format!("\n{indent}")));
    let _ = write!(out, "</code></pre></figure>\n{}", indent.trim_end());
    out
}
