//! Checks the built pages: every link has a target, and nothing is loaded from elsewhere.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use catalog::files::files_under;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::{tendril::StrTendril, tokenizer::states::RawKind};

use crate::{Pattern, Problem};

/// All chapters on one page; it repeats the other pages.
const PRINT: &str = "print.html";

/// Maximum bytes of a page with everything that it loads at once; the search index and the fonts are loaded later.
const MAX_PAGE_BYTES: u64 = 900_000;

/// Identifiers and references of a page.
#[derive(Debug, Default)]
struct Page {
    ids: BTreeSet<String>,
    twice: BTreeSet<String>,
    links: BTreeSet<String>,
    /// Resources that the browser fetches by itself.
    loads: BTreeSet<String>,
}

/// Checks every page and style sheet of a folder.
pub(crate) fn check(folder: &Path) -> Result<Vec<Problem>> {
    let files = files_under(folder).with_context(|| folder.display().to_string())?;
    let mut pages: BTreeMap<PathBuf, Page> = BTreeMap::new();
    let mut problems = Vec::new();
    for file in &files {
        let Ok(text) = std::fs::read_to_string(file) else {
            continue; // a font, or another file that is not text
        };
        match file.extension().and_then(|e| e.to_str()) {
            Some("html") => drop(pages.insert(file.clone(), read(&text))),
            Some("css") => drop(pages.insert(file.clone(), Page { loads: urls(&text), ..Page::default() })),
            _ => {}
        }
    }
    for (path, page) in &pages {
        let name = path.strip_prefix(folder).unwrap_or(path).display().to_string();
        let mut problem = |what: String| problems.push(Problem { file: name.clone(), line: 0, what });
        for target in &page.loads {
            if target.starts_with("data:") || target.starts_with("javascript:") {
                continue;
            }
            if is_outside(target) {
                problem(format!("loads {target} from outside of the book; put it into book/theme"));
            } else if let Err(why) = find(folder, path, target, &pages) {
                problem(format!("loads `{target}`: {why}"));
            }
        }
        for target in page.links.iter().filter(|target| !is_outside(target)) {
            if let Err(why) = find(folder, path, target, &pages) {
                problem(format!("has a broken link `{target}`: {why}"));
            }
        }
        let is_page = path.extension().is_some_and(|e| e == "html") && name != PRINT;
        let weight = |file: &Path| std::fs::metadata(file).map_or(0, |data| data.len());
        let loaded = page.loads.iter().filter(|target| !is_outside(target));
        let loaded =
            loaded.map(|target| weight(&crate::repo_paths::flat(&path.parent().unwrap_or(folder).join(target))));
        let bytes = weight(path) + loaded.sum::<u64>();
        if is_page && bytes > MAX_PAGE_BYTES {
            problem(format!("weighs {bytes} bytes with what it loads, more than {MAX_PAGE_BYTES}"));
        }
        if name != PRINT {
            for id in &page.twice {
                problem(format!("has two elements called `{id}`; links find only the first"));
            }
        }
    }
    Ok(problems)
}

/// Returns true for `https:`, `mailto:`, `//host`, …
fn is_outside(target: &str) -> bool {
    static SCHEME: Pattern = pattern!(r"^(?:[A-Za-z][A-Za-z0-9+.-]*:|//)");
    SCHEME.is_match(target)
}

fn find(folder: &Path, from: &Path, target: &str, pages: &BTreeMap<PathBuf, Page>) -> Result<()> {
    let (target, fragment) = target.split_once('#').unwrap_or((target, ""));
    let target = decoded(target.split('?').next().unwrap_or(target));
    // The root of a server is not the root of a copied folder.
    ensure!(!target.starts_with('/'), "it begins at the root of a server; write it from this page");
    let mut path = match target.as_str() {
        "" => from.to_owned(),
        target => crate::repo_paths::flat(&from.parent().unwrap_or(folder).join(target)),
    };
    if path.is_dir() {
        path.push("index.html");
    }
    ensure!(path.is_file(), "there is no such file in the book");
    let has_element = |page: &Page| fragment.is_empty() || page.ids.contains(&decoded(fragment));
    ensure!(pages.get(&path).is_none_or(has_element), "the page has no heading or element `{fragment}`");
    Ok(())
}

/// Decodes percent escapes such as `%20`.
fn decoded(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let [byte, tail @ ..] = rest {
        let digits = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match (byte, digits.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(value)) => {
                out.push(value);
                rest = &tail[2..];
            }
            _ => {
                out.push(*byte);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns the addresses in `url(…)` and `@import` of a style sheet.
fn urls(css: &str) -> BTreeSet<String> {
    static URL: Pattern = pattern!(r#"(?:url\(\s*|@import\s+)["']?([^"')\s;]+)"#);
    static COMMENT: Pattern = pattern!(r"(?s)/\*.*?\*/");
    let css = COMMENT.replace_all(css, "");
    let found = URL.captures_iter(&css).filter_map(|found| found.get(1));
    found.map(|url| url.as_str().to_owned()).filter(|url| !url.starts_with('#') && url != "url(").collect()
}

fn read(html: &str) -> Page {
    let sink = Sink::default();
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(html));
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.page.into_inner()
}

/// Collects identifiers and references from the tags of a page.
#[derive(Default)]
struct Sink {
    page: RefCell<Page>,
    in_style: RefCell<bool>,
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => {
                self.tag(&tag);
                match &*tag.name {
                    "script" => return TokenSinkResult::RawData(RawKind::ScriptData),
                    "style" => {
                        *self.in_style.borrow_mut() = true;
                        return TokenSinkResult::RawData(RawKind::Rawtext);
                    }
                    _ => {}
                }
            }
            Token::TagToken(_) => *self.in_style.borrow_mut() = false,
            Token::CharacterTokens(text) if *self.in_style.borrow() => {
                self.page.borrow_mut().loads.extend(urls(&text));
            }
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

impl Sink {
    fn tag(&self, tag: &Tag) {
        let mut page = self.page.borrow_mut();
        for attribute in &tag.attrs {
            let value = attribute.value.trim().to_owned();
            match (&*tag.name, &*attribute.name.local) {
                (_, "id") => {
                    let is_new = page.ids.insert(value.clone());
                    page.twice.extend((!is_new).then_some(value));
                }
                ("a", "name") => drop(page.ids.insert(value)),
                ("a" | "area", "href") => drop(page.links.insert(value)),
                ("base", "href") => {}
                // Inside an SVG, a reference may also be to a part of the same page.
                (_, "href" | "xlink:href") if value.starts_with('#') => drop(page.links.insert(value)),
                (_, "href" | "xlink:href" | "src" | "poster" | "data") => drop(page.loads.insert(value)),
                (_, "srcset") => {
                    let each = value.split(',').filter_map(|one| one.split_whitespace().next());
                    page.loads.extend(each.map(str::to_owned));
                }
                (_, "style" | "fill" | "stroke" | "filter" | "mask" | "clip-path" | "marker-end" | "marker-start") => {
                    page.loads.extend(urls(&value));
                }
                _ => {}
            }
        }
    }
}
