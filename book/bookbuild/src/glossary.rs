//! Links the first use of each term in a chapter to the glossary.
//!
//! Terms are the third-level headings of `glossary.md`. A heading lists forms of one term, separated by commas or in
//! parentheses: `### Coalescing (coalesced)`. Plurals in *s* need no form of their own.
//!
//! Code, headings, paragraphs of HTML, existing links, tags, directives and folded text get no links: a reader who
//! unfolds an answer has read the text around it. A term inside a link of the author's counts as explained there.
//! The comment `<!-- no terms: thread, lane -->` excludes words that are not terms on a page, as *thread* on one about
//! the CPU. The title of a link is the term's explanation.

use std::collections::{HashMap, HashSet};

use regex::Regex;

use crate::Pattern;
use crate::chapter::{self, ChapterLine, LineKind};

pub(crate) const PAGE: &str = "glossary.md";

/// Terms of the glossary page, and the forms by which text names them.
#[derive(Debug, Default)]
pub(crate) struct Glossary {
    /// Matches any form of any term, longest first; `None` without terms.
    forms: Option<Regex>,
    /// Anchor of each form in lower case.
    anchors: HashMap<String, String>,
    /// Explanation of each anchor, for the title of a link.
    titles: HashMap<String, String>,
}

impl Glossary {
    pub(crate) fn new(page: &str) -> Self {
        let mut anchors = HashMap::new();
        let mut titles = HashMap::new();
        let mut last = None;
        for line in chapter::lines(page).into_iter().filter(|line| line.kind == LineKind::Prose) {
            if let Some(heading) = line.text.strip_prefix("### ") {
                last = Some(anchor(heading));
                for form in heading.split([',', '(', ')']).map(str::trim) {
                    if !form.is_empty() {
                        anchors.insert(form.to_lowercase(), anchor(heading));
                    }
                }
            } else if !line.text.trim().is_empty()
                && let Some(anchor) = last.take()
            {
                titles.insert(anchor, title(line.text));
            }
        }
        let mut all: Vec<&String> = anchors.keys().collect();
        // A regular expression takes the first alternative that fits.
        all.sort_by_key(|form| (std::cmp::Reverse(form.len()), *form));
        let all: Vec<String> = all.into_iter().map(|form| regex::escape(form)).collect();
        let forms = (!all.is_empty())
            .then(|| Regex::new(&format!(r"(?i)\b({})(?:s|es)?\b", all.join("|"))).expect("escaped words"));
        Self { forms, anchors, titles }
    }
}

/// Returns an explanation as plain text, without the sentence that points to a chapter.
fn title(text: &str) -> String {
    static MARKUP: Pattern = pattern!(r"\s*See (also )?\[.*$|\{\{.*$|\[([^\]]*)\]\([^)]*\)|[*`]");
    MARKUP.replace_all(text, "$2").replace('"', "'")
}

/// Returns the anchor that mdBook gives a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|c| match c {
        c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c.to_ascii_lowercase()),
        c if c.is_whitespace() => Some('-'),
        _ => None,
    });
    kept.collect()
}

/// Adds links to one page, and remembers the terms it has linked.
pub(crate) struct Linker<'a> {
    glossary: &'a Glossary,
    /// Path from the page to the glossary.
    to: String,
    used: HashSet<&'a str>,
    folded: usize,
}

impl<'a> Linker<'a> {
    /// Makes the glossary for a page; `up` is the path from the page to the glossary's folder.
    pub(crate) fn new(glossary: &'a Glossary, up: &str) -> Self {
        Self { glossary, to: format!("{up}{PAGE}"), used: HashSet::new(), folded: 0 }
    }

    pub(crate) fn line(&mut self, line: &ChapterLine<'_>) -> String {
        let text = line.text;
        if line.kind == LineKind::Comment
            && let (Some((_, words)), Some(forms)) = (text.split_once("no terms:"), &self.glossary.forms)
        {
            self.mark_explained(forms, words);
        }
        if line.kind != LineKind::Prose {
            return text.to_owned();
        }
        let folded = self.folded > 0 || text.contains("<details");
        self.folded += text.matches("<details").count();
        self.folded = self.folded.saturating_sub(text.matches("</details").count());
        let Some(forms) = self.glossary.forms.as_ref() else { return text.to_owned() };
        if folded || text.starts_with('#') || text.starts_with("<p>") {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for kept in chapter::marked(text) {
            self.link_terms(forms, &text[from..kept.start], &mut out);
            if text[kept.clone()].starts_with('[') {
                self.mark_explained(forms, &text[kept.clone()]);
            }
            out.push_str(&text[kept.clone()]);
            from = kept.end;
        }
        self.link_terms(forms, &text[from..], &mut out);
        out
    }

    fn link_terms(&mut self, forms: &Regex, text: &str, out: &mut String) {
        let mut from = 0;
        for found in forms.captures_iter(text) {
            let (Some(whole), form) = (found.get(0), &found[1]) else { continue };
            let Some(anchor) = self.glossary.anchors.get(&form.to_lowercase()) else { continue };
            // `sub-warp`, `tile-wise` and `block_row` are words of their own.
            let joined = |c: Option<char>| c.is_some_and(|c| c == '-' || c == '/');
            let alone =
                !joined(text[..whole.start()].chars().next_back()) && !joined(text[whole.end()..].chars().next());
            if alone && self.used.insert(anchor) {
                out.push_str(&text[from..whole.start()]);
                let title = self.glossary.titles.get(anchor).map(|title| format!(" \"{title}\"")).unwrap_or_default();
                out.push_str(&format!("[{}]({}#{anchor}{title})", whole.as_str(), self.to));
                from = whole.end();
            }
        }
        out.push_str(&text[from..]);
    }

    /// Marks the terms in a link of the author's as explained.
    fn mark_explained(&mut self, forms: &Regex, link: &str) {
        let text = link.split_once("](").map_or(link, |(text, _)| text);
        for found in forms.captures_iter(text) {
            if let Some(anchor) = self.glossary.anchors.get(&found[1].to_lowercase()) {
                self.used.insert(anchor);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Glossary\n\n## B\n\n### Bank\n\nOne \"of\" [32](x.md) `b`. See [memory](memory.md).\n\n### Bank conflict\n\nx\n\n### Coalescing (coalesced)\n\nx\n\n\
                        ### Multiprocessor (SM)\n\nx\n\n```cpp\n### Code\n```\n";

    fn linked(page: &str) -> String {
        let glossary = Glossary::new(PAGE);
        let mut linker = Linker::new(&glossary, "");
        let lines: Vec<String> = chapter::lines(page).iter().map(|line| linker.line(line)).collect();
        lines.join("\n")
    }

    #[test]
    fn the_first_use_is_a_link() {
        insta::assert_snapshot!(
            linked("Banks are 32, and a bank has words. A coalesced load; coalescing."),
            @r#"[Banks](glossary.md#bank "One 'of' 32 b.") are 32, and a bank has words. A [coalesced](glossary.md#coalescing-coalesced "x") load; coalescing."#
        );
    }

    #[test]
    fn the_longest_term_wins() {
        insta::assert_snapshot!(
            linked("Bank conflicts in a bank of an SM."),
            @r#"[Bank conflicts](glossary.md#bank-conflict "x") in a [bank](glossary.md#bank "One 'of' 32 b.") of an [SM](glossary.md#multiprocessor-sm "x")."#
        );
    }

    #[test]
    fn code_headings_directives_and_tags_are_left_alone() {
        let page = "# A bank\n<p>A bank.</p>\n`bank` {{#figure bank \"a bank\"}} <b title=\"bank\">\n<!-- a bank -->\n```\nbank\n```";
        assert_eq!(linked(page), page);
    }

    #[test]
    fn what_is_folded_is_left_alone() {
        insta::assert_snapshot!(
            linked("<details><summary>A bank?</summary>\n\nA bank.\n\n</details>\n\nA bank."),
            @r#"
        <details><summary>A bank?</summary>

        A bank.

        </details>

        A [bank](glossary.md#bank "One 'of' 32 b.").
        "#
        );
    }

    #[test]
    fn a_link_of_the_author_explains_its_words() {
        let page = "The [banks](memory.md#banks) of [it](x.md), then a bank, bank-wise, and mountebanks.";
        assert_eq!(linked(page), page);
    }

    #[test]
    fn a_page_says_what_is_no_term_there() {
        let page = "<!-- no terms: bank -->\nThe banks of a river.";
        assert_eq!(linked(page), page);
    }

    #[test]
    fn a_page_without_terms() {
        let glossary = Glossary::new("# Glossary\n");
        let line = chapter::lines("a bank")[0];
        assert_eq!(Linker::new(&glossary, "").line(&line), "a bank");
    }
}
