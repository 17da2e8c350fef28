//! Parses a chapter line by line into prose, code, comments and directives.

#[cfg(test)]
mod tests;

use std::ops::Range;

use anyhow::{Context as _, Error, Result};

use crate::Pattern;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// Text outside of fenced blocks.
    Prose,
    /// First or last line of a fenced block.
    Fence,
    Code,
    /// Line of `<!-- … -->`, which takes one or more whole lines.
    Comment,
}

#[derive(Debug, Clone)]
pub struct ChapterSource {
    /// Path of the chapter, such as `book/src/memory.md`.
    pub shown: String,
    pub text: String,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ChapterLine<'a> {
    pub(crate) number: usize,
    pub(crate) text: &'a str,
    pub(crate) kind: LineKind,
}

pub(crate) fn lines(text: &str) -> Vec<ChapterLine<'_>> {
    let mut fence: Option<(char, usize)> = None;
    let mut in_comment = false;
    let mut out = Vec::new();
    for (index, text) in text.lines().enumerate() {
        let marks = marks(text);
        let kind = match (fence, marks) {
            (Some((mark, n)), Some((found, m, closes))) if found == mark && m >= n && closes => {
                fence = None;
                LineKind::Fence
            }
            (Some(_), _) => LineKind::Code,
            (None, Some((mark, n, _))) if !in_comment => {
                fence = Some((mark, n));
                LineKind::Fence
            }
            (None, _) => comment(text, &mut in_comment),
        };
        out.push(ChapterLine { number: index + 1, text, kind });
    }
    out
}

/// Parses a line that may open or close a fence: the fence's character, its length, and whether nothing follows.
fn marks(line: &str) -> Option<(char, usize, bool)> {
    const MIN_FENCE: usize = 3;
    // A fence inside a list or a quote is indented, or follows `> `.
    let line = line.trim_start_matches([' ', '>']);
    let mark = line.chars().next().filter(|c| "`~".contains(*c))?;
    let n = line.chars().take_while(|c| *c == mark).count();
    let rest = &line[n..];
    (n >= MIN_FENCE && !rest.contains('`')).then_some((mark, n, rest.trim().is_empty()))
}

fn comment(line: &str, inside: &mut bool) -> LineKind {
    if !*inside && !line.trim_start().starts_with("<!--") {
        return LineKind::Prose;
    }
    *inside = !line.contains("-->");
    LineKind::Comment
}

/// A directive: `{{#name arguments}}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Directive<'a> {
    pub(crate) at: Range<usize>,
    pub(crate) name: &'a str,
    /// Words, and quoted texts without their quotes.
    pub(crate) args: Vec<&'a str>,
    pub(crate) alone: bool,
}

/// Returns the directives of a line; one that follows a backslash is plain text.
pub(crate) fn directives(line: &str) -> Result<Vec<Directive<'_>>> {
    static OPEN: Pattern = pattern!(r"\{\{#\s*");
    let mut out = Vec::new();
    let mut from = 0;
    while let Some(open) = OPEN.find_at(line, from) {
        let Some(length) = line[open.end()..].find("}}") else {
            return Err(Error::msg("`{{#` has no `}}` on its line"));
        };
        let at = open.start()..open.end() + length + 2;
        from = at.end;
        if line[..at.start].ends_with('\\') {
            continue;
        }
        let words = split_words(&line[open.end()..open.end() + length])?;
        let Some((name, args)) = words.split_first() else { return Err(Error::msg("`{{#}}` names no directive")) };
        out.push(Directive {
            alone: line[..at.start].trim_matches([' ', '>']).is_empty() && line[at.end..].trim().is_empty(),
            at,
            name,
            args: args.to_vec(),
        });
    }
    Ok(out)
}

fn split_words(text: &str) -> Result<Vec<&str>> {
    let mut out = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                quoted.split_once('"').with_context(|| format!("`{{{{#{text}}}}}` has a quote that does not end"))?
            }
            None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        out.push(word);
        rest = after.trim_start();
    }
    Ok(out)
}

/// Escapes numbers that Markdown would take for list items: a line such as the answer `32.` is an empty item to
/// Markdown. A list here begins with 1 and counts on; every other number is a number.
#[derive(Debug, Default)]
pub(crate) struct Items {
    last: u64,
}

impl Items {
    /// Returns the line, with a backslash before the full stop of a number that is not a list item.
    pub(crate) fn line(&mut self, line: &str) -> String {
        static NUMBER: Pattern = pattern!(r"^([ >]*)(\d+)([.)])(\s.*)?$");
        let Some(found) = NUMBER.captures(line) else {
            if line.starts_with('#') {
                self.last = 0;
            }
            return line.to_owned();
        };
        let number = found[2].parse().unwrap_or(u64::MAX);
        let has_text = found.get(4).is_some_and(|rest| !rest.as_str().trim().is_empty());
        if has_text && (number == 1 || number == self.last.saturating_add(1)) {
            self.last = number;
            return line.to_owned();
        }
        let rest = found.get(4).map_or("", |rest| rest.as_str());
        format!("{}{}\\{}{rest}", &found[1], &found[2], &found[3])
    }
}

/// Returns the ranges of a line of prose that are not words: code, comments, directives, links and tags, in order.
pub(crate) fn marked(line: &str) -> Vec<Range<usize>> {
    static MARKED: Pattern = pattern!(
        r"``[^`].*?``|`[^`]*`|<!--.*?-->|\\?\{\{#.*?\}\}|!?\[(?:[^\[\]]|\[[^\[\]]*\])*\](?:\([^)]*\))?|<[a-zA-Z/][^>]*>|https?://\S+"
    );
    MARKED.find_iter(line).map(|found| found.range()).collect()
}

/// Replaces code, comments, tags and directives of a line of prose with blanks.
pub(crate) fn plain(line: &str) -> String {
    static NOT_WORDS: Pattern = pattern!(r"``[^`].*?``|`[^`]*`|<!--.*?-->|\{\{#.*?\}\}|\]\([^)]*\)|<[^>]*>");
    NOT_WORDS.replace_all(line, " ").into_owned()
}
