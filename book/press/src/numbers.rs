//! No measured number is typed: a number with a unit of measurement in prose comes from a record (`{{#n}}`), or
//! stands in `book/allow-numbers.toml` with a reason.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use crate::chapter::{self, Part};
use crate::make::Source;
use crate::{House, Problem};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowList {
    #[serde(default)]
    allow: Vec<Allowed>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Allowed {
    /// As it stands in the text: `3.35 TB/s`.
    number: String,
    /// The only chapter where it may stand: `roofline.md`. Everywhere when left out.
    chapter: Option<String>,
    /// Where it comes from.
    reason: String,
}

/// What is wrong with the numbers of the chapters.
pub(crate) fn check(house: &House, chapters: &[Source]) -> Vec<Problem> {
    let path = house.book().join("allow-numbers.toml");
    let shown = house.shown(&path);
    let here = |what: String| Problem {
        file: shown.clone(),
        line: 0,
        what,
    };
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let list: AllowList = match toml::from_str(&text) {
        Ok(list) => list,
        Err(error) => return vec![here(format!("is not a list of numbers: {error}"))],
    };
    let mut problems = Vec::new();
    for allowed in list.allow.iter().filter(|a| a.reason.trim().is_empty()) {
        problems.push(here(format!(
            "`{}` has no reason; say where it comes from",
            allowed.number
        )));
    }
    let mut used = vec![false; list.allow.len()];
    for chapter in chapters {
        for (line, number) in bare(&chapter.text) {
            let is_it = |allowed: &Allowed| {
                allowed.number == number
                    && allowed
                        .chapter
                        .as_ref()
                        .is_none_or(|name| chapter.shown.ends_with(&format!("/{name}")))
            };
            match list.allow.iter().position(is_it) {
                Some(index) => used[index] = true,
                None => problems.push(Problem {
                    file: chapter.shown.clone(),
                    line,
                    what: format!(
                        "`{number}` does not come from a record; write {{{{#n KERNEL SIZE WHAT}}}}, or list it with a reason in {shown}"
                    ),
                }),
            }
        }
    }
    for (allowed, _) in list.allow.iter().zip(&used).filter(|(_, used)| !**used) {
        problems.push(here(format!(
            "`{}` stands in no chapter; remove it",
            allowed.number
        )));
    }
    problems
}

/// Numbers with a unit of measurement, with their lines.
fn bare(text: &str) -> Vec<(usize, String)> {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        let number = r"\d[\d.,]*(?:[eE]-?\d+)?";
        let unit =
            r"[TGMk]?FLOPS?(?:/s)?|[TGMk]i?B/s|[mµnu]?s|seconds?|milliseconds?|[GMk]Hz|%|percent|per cent";
        Regex::new(&format!(
            r"({number})[ \u{{a0}}\u{{202f}}-]?({unit})(?:\b|$|[^\w])"
        ))
        .expect("a fixed pattern")
    });
    let mut found = Vec::new();
    for line in chapter::lines(text) {
        if line.part != Part::Prose {
            continue;
        }
        let words = chapter::plain(line.text).replace("&nbsp;", " ");
        for number in NUMBER.captures_iter(&words) {
            let (Some(value), Some(unit)) = (number.get(1), number.get(2)) else {
                continue;
            };
            // In `sm_90s` or `v05s` the number belongs to a name.
            let before = words[..value.start()].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
                continue;
            }
            found.push((line.number, words[value.start()..unit.end()].to_owned()));
        }
    }
    found
}
