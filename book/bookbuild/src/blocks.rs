//! Renders blocks of code: colours, and for blocks of a file its name, line numbers and each line's counts.
//!
//! Done at build time, so that pages need no script and paper has it too; copying a listing copies only its code.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use catalog::text::escaped;

use crate::chapter::{self, LineKind};
use crate::run::{Runnable, Runs};
use crate::{directives::listings::Numbered, highlight, line_counts::LineCounts};

/// Lines of a chapter that were included from a file.
#[derive(Debug, Clone)]
pub(crate) struct Included {
    /// First line in the filled chapter, from 1.
    pub(crate) at: usize,
    /// Path of the file, such as `kernels/v05_bank_conflict_free.cu`.
    pub(crate) file: String,
    /// Number of each line in its file; `None` for a line that a difference removed.
    pub(crate) numbers: Vec<Option<usize>>,
    /// Lines of the kernel's sibling in Rust with the same anchor, if it has one.
    pub(crate) in_rust: Option<InRust>,
}

#[derive(Debug, Clone)]
pub(crate) struct InRust {
    pub(crate) file: String,
    pub(crate) lines: Vec<Numbered>,
}

struct CodeLine<'a> {
    text: &'a str,
    /// File and line number that the line comes from.
    origin: Option<(&'a str, usize)>,
}

/// Returns a filled chapter with its blocks of code as HTML. Blocks in languages without colours stay as they are.
pub(crate) fn render_blocks(text: &str, included: &[Included], counts: &LineCounts, runs: &Runs) -> String {
    let mut origins: BTreeMap<usize, (&str, usize)> = BTreeMap::new();
    for listing in included {
        let lines = listing.numbers.iter().enumerate();
        origins.extend(lines.filter_map(|(i, number)| Some((listing.at + i, (listing.file.as_str(), (*number)?)))));
    }
    let siblings: BTreeMap<usize, &InRust> =
        included.iter().filter_map(|listing| Some((listing.at, listing.in_rust.as_ref()?))).collect();
    let mut out = String::with_capacity(text.len() * 2);
    let mut open: Option<(&str, &str)> = None;
    let mut code: Vec<CodeLine<'_>> = Vec::new();
    // The same block in Rust, where all its listings have siblings.
    let mut in_rust: Vec<CodeLine<'_>> = Vec::new();
    let mut shown: BTreeSet<&str> = BTreeSet::new();
    for line in chapter::lines(text) {
        match (line.kind, open) {
            (LineKind::Fence, None) => {
                let start = line.text.find(['`', '~']).unwrap_or(0);
                let (indent, fence) = line.text.split_at(start);
                let name = fence.trim_start_matches(['`', '~']).trim();
                open = Some((indent, name));
                if !highlight::is_known(name) {
                    out.push_str(line.text);
                    out.push('\n');
                }
            }
            (LineKind::Fence, Some((indent, name))) => {
                open = None;
                if highlight::is_known(name) {
                    let listings =
                        included.iter().filter(|listing| (line.number - code.len()..line.number).contains(&listing.at));
                    let has_sibling =
                        listings.clone().count() > 0 && listings.clone().all(|listing| listing.in_rust.is_some());
                    let mut attributes = String::from(if has_sibling { " data-lang=\"cuda\"" } else { "" });
                    // The first listing with code of a kernel has the buttons; one that is edited begins with its head.
                    let run = code.iter().find_map(|line| runs.of_file(line.origin?.0));
                    let has = |what: &str| code.iter().any(|line| line.text.contains(what));
                    if let Some(Runnable { key, committed }) = run.filter(|_| name == "cpp")
                        && has(if committed.is_some() { "{" } else { "__global__" })
                        && shown.insert(key)
                    {
                        let _ = write!(attributes, " data-run=\"{key}\"");
                        if let Some((entry, [m, n, k])) = committed {
                            let _ = write!(attributes, " data-committed=\"{entry}\" data-sizes=\"{m} × {n} × {k}\"");
                        }
                    }
                    out.push_str(&block(indent, name, &attributes, &code, counts));
                    if has_sibling {
                        out.push('\n');
                        out.push_str(&block(indent, "rust", " data-lang=\"rust\" hidden", &in_rust, counts));
                    }
                } else {
                    out.push_str(line.text)
                }
                code.clear();
                in_rust.clear();
                out.push('\n');
            }
            (LineKind::Code, Some((indent, name))) if highlight::is_known(name) => {
                let text = line.text.strip_prefix(indent).unwrap_or(line.text.trim_start());
                let origin = origins.get(&line.number).copied();
                code.push(CodeLine { text, origin });
                if let Some(InRust { file, lines }) = siblings.get(&line.number) {
                    in_rust.extend(
                        lines.iter().map(|line| CodeLine { text: &line.text, origin: Some((file, line.number)) }),
                    );
                } else if origin.is_none() {
                    in_rust.push(CodeLine { text, origin });
                }
            }
            _ => {
                out.push_str(line.text);
                out.push('\n');
            }
        }
    }
    // A fence that is never closed ends with its chapter.
    if let Some((indent, name)) = open.filter(|_| !code.is_empty()) {
        out.push_str(&block(indent, name, "", &code, counts));
        out.push('\n');
    }
    out
}

/// Renders a block. Every line has the indent, to stay in its list or quote, and none is blank, which would end HTML.
fn block(indent: &str, name: &str, attributes: &str, code: &[CodeLine<'_>], counts: &LineCounts) -> String {
    let mut files = code.iter().filter_map(|line| Some(line.origin?.0));
    let file = files.next().filter(|first| files.all(|file| file == *first));
    let texts: Vec<&str> = code.iter().map(|line| line.text).collect();
    let launch = file.and_then(|file| counts.launch(file));
    let numbered = if file.is_some() { " numbered" } else { "" };
    let mut out = format!("{indent}<figure class=\"listing{numbered}\"{attributes}");
    if let Some(launch) = launch {
        let _ = write!(out, " data-launch=\"{}\"", escaped(launch));
    }
    out.push('>');
    // A difference names its files itself.
    if let Some(file) = file.filter(|_| name != "diff") {
        let _ = write!(out, "<figcaption>{}</figcaption>", escaped(file));
    }
    // `nohighlight` keeps the page's own script from colouring the code again.
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
            if let Some(counts) = counts.line(file, number) {
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
