//! `{{#include}}`: parts of files that are built and tested.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail, ensure};

use crate::RepoPaths;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Numbered {
    /// Number of the line in its file, from 1.
    pub(crate) number: usize,
    pub(crate) text: String,
}

/// Returns the lines between `ANCHOR: name` and `ANCHOR_END: name`, or of the whole file. No lines are an error.
pub(crate) fn listing(repo: &RepoPaths, path: &Path, anchor: Option<&str>) -> Result<Vec<Numbered>> {
    let text = repo.read(path)?;
    let name = repo.display_path(path);
    let mut out = match anchor {
        None => without_marks(text.lines().enumerate()),
        Some(anchor) => {
            let range = anchored(&text, anchor).map_err(|why| anyhow!("{name} {why}"))?;
            let within = |(index, _): &(usize, &str)| range.contains(index);
            without_marks(text.lines().enumerate().filter(within))
        }
    };
    let is_blank = |line: &Numbered| line.text.trim().is_empty();
    while out.last().is_some_and(is_blank) {
        out.pop();
    }
    let first = out.iter().position(|line| !is_blank(line)).unwrap_or(out.len());
    out.drain(..first);
    match anchor {
        Some(anchor) if out.is_empty() => {
            bail!("the anchor `{anchor}` of {name} is empty; put it around the lines to show")
        }
        _ => ensure!(!out.is_empty(), "{name} is empty"),
    }
    outdent(&mut out);
    Ok(out)
}

pub(crate) fn text(lines: &[Numbered]) -> String {
    let lines: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    lines.join("\n")
}

fn anchored(text: &str, anchor: &str) -> Result<std::ops::Range<usize>> {
    let mut found: Option<std::ops::Range<usize>> = None;
    let mut open = None;
    for (index, line) in text.lines().enumerate() {
        match mark(line) {
            Some(("ANCHOR", name)) if name == anchor => {
                ensure!(open.is_none() && found.is_none(), "has the anchor `{anchor}` twice; rename one of them");
                open = Some(index);
            }
            Some(("ANCHOR_END", name)) if name == anchor => {
                let start = open.take().with_context(|| format!("ends the anchor `{anchor}` before it begins"))?;
                found = Some(start..index);
            }
            _ => {}
        }
    }
    match (found, open) {
        (Some(range), None) => Ok(range),
        (_, Some(_)) => Err(anyhow!("never ends the anchor `{anchor}`; add a line `// ANCHOR_END: {anchor}`")),
        (None, None) => Err(match names(text).as_slice() {
            [] => anyhow!("has no anchor `{anchor}`, nor any other; add `// ANCHOR: {anchor}` and its end"),
            names => anyhow!("has no anchor `{anchor}`; it has {}", names.join(", ")),
        }),
    }
}

fn names(text: &str) -> Vec<&str> {
    text.lines().filter_map(mark).filter_map(|(kind, name)| (kind == "ANCHOR").then_some(name)).collect()
}

/// Parses `ANCHOR: map` in a comment of any language.
fn mark(line: &str) -> Option<(&str, &str)> {
    let text = line.trim().trim_start_matches(['/', '#', '*', '-', '<', '!']).trim_start();
    let (kind, name) = text.split_once(':')?;
    let name = name.trim().split([' ', '*', '-']).next().unwrap_or_default();
    matches!(kind, "ANCHOR" | "ANCHOR_END").then_some((kind, name))
}

/// Returns true for lines that only direct other programs.
fn is_mark(line: &str) -> bool {
    let comment = line.trim().trim_start_matches('/').trim_start();
    let solution = ["SOLUTION(", "SOLUTION_END", "STARTER|"];
    line.trim().starts_with("//") && solution.iter().any(|mark| comment.starts_with(mark)) || mark(line).is_some()
}

fn without_marks<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Vec<Numbered> {
    lines
        .filter(|(_, text)| !is_mark(text))
        .map(|(index, text)| Numbered { number: index + 1, text: text.trim_end().to_owned() })
        .collect()
}

/// Removes the indentation that all lines share.
fn outdent(lines: &mut [Numbered]) {
    let blanks = |line: &Numbered| line.text.len() - line.text.trim_start_matches(' ').len();
    let common = lines.iter().filter(|line| !line.text.is_empty()).map(blanks).min().unwrap_or(0);
    for line in lines.iter_mut().filter(|line| !line.text.is_empty()) {
        line.text.drain(..common);
    }
}
