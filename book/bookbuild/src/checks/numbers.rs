//! Checks that neither messages of the emulated GPU nor measured numbers are typed by hand: a number with a unit in
//! prose comes from a record (`{{#n}}`), or is listed in `book/allow-numbers.toml` with a reason.
//!
//! Counts are measured numbers too if they are registers of a kernel, or have a fraction: `1.45 instructions`. A
//! fraction behind `=` is allowed: the reader can compute it from the terms before it.

use serde::Deserialize;

use crate::chapter::{self, ChapterSource, LineKind};
use crate::{Pattern, Problem, RepoPaths};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowList {
    #[serde(default)]
    allow: Vec<Allowed>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Allowed {
    /// The number as it is in the text: `3.35 TB/s`.
    number: String,
    /// The only chapter that may contain it, such as `roofline.md`; any chapter if absent.
    chapter: Option<String>,
    reason: String,
}

pub(crate) fn check(repo: &RepoPaths, chapters: &[ChapterSource]) -> Vec<Problem> {
    let path = repo.book().join("allow-numbers.toml");
    let shown = repo.display_path(&path);
    let here = |what: String| Problem { file: shown.clone(), line: 0, what };
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let list: AllowList = match toml::from_str(&text) {
        Ok(list) => list,
        Err(error) => return vec![here(format!("is not a list of numbers: {error}"))],
    };
    let unexplained = list.allow.iter().filter(|allowed| allowed.reason.trim().is_empty());
    let no_reason = |number: &str| here(format!("`{number}` has no reason; say where it comes from"));
    let mut problems: Vec<Problem> = unexplained.map(|allowed| no_reason(&allowed.number)).collect();
    let mut used = vec![false; list.allow.len()];
    for chapter in chapters {
        problems.extend(typed_messages(&chapter.text).map(|line| Problem {
            file: chapter.shown.clone(),
            line,
            what: "a message of the emulated GPU is typed; show what a program prints, {{#output NAME}}, or say it in words".into(),
        }));
        for (line, number) in bare(&chapter.text) {
            let is_it = |allowed: &Allowed| {
                allowed.number == number
                    && allowed.chapter.as_ref().is_none_or(|name| chapter.shown.ends_with(&format!("/{name}")))
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
        problems.push(here(format!("`{}` stands in no chapter; remove it", allowed.number)));
    }
    problems
}

/// Returns the lines with the head of a message, such as `error[E-RACE]`. `{{#output}}` is not expanded yet here.
fn typed_messages(text: &str) -> impl Iterator<Item = usize> {
    static HEAD: Pattern = pattern!(r"(?:error|warning)\[[EW]-");
    let is_typed = |line: &chapter::ChapterLine<'_>| line.kind != LineKind::Comment && HEAD.is_match(line.text);
    chapter::lines(text).into_iter().filter(is_typed).map(|line| line.number)
}

/// Returns numbers with a unit of measurement, and their lines.
fn bare(text: &str) -> Vec<(usize, String)> {
    const BLANK: &str = r"[ \u{a0}\u{202f}-]?";
    const NUMBER: &str = r"(?:\d{1,3}(?: \d{3})+|\d[\d.,]*)(?:[eE]-?\d+)?";
    const UNIT: &str =
        r"[TGMk]?FLOPS?(?:/s)?|[TGMk]i?B/s|[mµnu]?s|seconds?|milliseconds?|[GMk]Hz|%|percent|per cent|registers";
    const COUNTED: &str = "(?:instruction|sector|wavefront|request|barrier|clock|load|store)s?";
    static MEASURED: Pattern = pattern!(&format!(r"({NUMBER}){BLANK}({UNIT})(?:\b|$|[^\w])"));
    static FRACTION: Pattern = pattern!(&format!(r"(\d+\.\d+){BLANK}({COUNTED})\b"));
    let mut found = Vec::new();
    for line in chapter::lines(text) {
        if line.kind != LineKind::Prose {
            continue;
        }
        let words = chapter::plain(line.text).replace("&nbsp;", " ");
        let measured = MEASURED.captures_iter(&words).map(|number| (number, false));
        let fractions = FRACTION.captures_iter(&words).map(|number| (number, true));
        for (number, is_fraction) in measured.chain(fractions) {
            let (Some(value), Some(unit)) = (number.get(1), number.get(2)) else { continue };
            let before = &words[..value.start()];
            // In `sm_90s` or `v05s` the number is part of a name.
            let in_a_name = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            // As in `8 / 32 = 0.25 sectors`.
            let divided = is_fraction && before.ends_with("= ");
            if !in_a_name && !divided {
                found.push((line.number, words[value.start()..unit.end()].to_owned()));
            }
        }
    }
    found
}
