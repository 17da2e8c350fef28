//! The book's preprocessor for mdBook: fills in the directives.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Result, anyhow, bail, ensure};
use mdbook_preprocessor::book::{Book, BookItem, Chapter};
use mdbook_preprocessor::errors::Error;
use mdbook_preprocessor::{Preprocessor, PreprocessorContext};
use serde::Deserialize;

use crate::blocks::{self, InRust, Included};
use crate::chapter::{self, ChapterLine, Directive, Items, LineKind};
use crate::directives::step::{self, StepHead};
use crate::directives::{
    ceilings, chip, differences, figures, lessons, listings, output_directive, predicted, questions, sums, tasks,
};
use crate::glossary::{self, Glossary, Linker};
use crate::line_counts::LineCounts;
use crate::quote::{Sources, footnote};
use crate::run::Runs;
use crate::slides::{Deck, Slide};
use crate::{Problem, Problems, RepoPaths};
use crate::{checks::ptx, directives::record_lookup::Records};

const NAME: &str = "bookbuild";

#[rustfmt::skip]
const DIRECTIVES: [&str; 24] = [
    "include", "diff", "output", "figure", "recorded", "duels", "others", "process", "ceilings", "n",
    "counters", "sums", "step", "steps", "task", "judged", "finished", "transfers", "mistakes", "predict", "sheets",
    "answers", "lesson", "plan",
];

/// Extensions of files that a chapter may include outside of a fence.
const TEXT_FILES: [&str; 2] = ["md", "html"];

/// The table `[preprocessor.bookbuild]` of `book.toml`.
#[derive(Debug, Default, Deserialize)]
struct Settings {
    /// Record of the book's main device: `h200`.
    record: Option<String>,
}

#[derive(Debug, Default, Clone)]
pub struct Findings {
    pub problems: Vec<Problem>,
    /// CUDA sources that the book shows, and where each is shown first.
    pub listings: BTreeMap<PathBuf, (String, usize)>,
    pub(crate) slides: Vec<Deck>,
}

pub struct BookPreprocessor {
    repo: RepoPaths,
    draft: bool,
    findings: Rc<RefCell<Findings>>,
}

impl BookPreprocessor {
    /// Creates a preprocessor; in a draft, problems show in the pages and do not stop the build.
    pub fn new(repo: RepoPaths, draft: bool) -> Self {
        Self { repo, draft, findings: Rc::default() }
    }

    /// Returns the findings, which grow while mdBook runs.
    pub fn findings(&self) -> Rc<RefCell<Findings>> {
        Rc::clone(&self.findings)
    }
}

impl Preprocessor for BookPreprocessor {
    fn name(&self) -> &str {
        NAME
    }

    fn run(&self, context: &PreprocessorContext, mut book: Book) -> Result<Book, Error> {
        let settings: Settings = context.config.get(&format!("preprocessor.{NAME}"))?.unwrap_or_default();
        let pages: Vec<PathBuf> = book.chapters().filter_map(|chapter| chapter.path.clone()).collect();
        // Comments at the head of the steps' chapters; errors in them are reported with their chapters.
        let mut heads: Vec<StepHead> =
            book.chapters().filter_map(|chapter| step::step_head(&chapter::lines(&chapter.content))?.1.ok()).collect();
        heads.sort_by_key(|head| head.step.id);
        let mut findings = self.findings.borrow_mut();
        let records = Records::load(&self.repo, settings.record);
        let terms = |chapter: &&Chapter| chapter.path.as_deref() == Some(Path::new(glossary::PAGE));
        let page = book.chapters().find(terms).map(|chapter| chapter.content.as_str());
        let glossary = Glossary::new(page.unwrap_or_default());
        let counts = LineCounts::load(&self.repo)?;
        let runs = Runs::load(&self.repo)?;
        let shared = BookContext {
            repo: &self.repo,
            records: &records,
            glossary: &glossary,
            pages: &pages,
            heads: &heads,
            runs: &runs,
        };
        book.for_each_mut(|item: &mut BookItem| {
            if let BookItem::Chapter(chapter) = item {
                let mut page = Page::new(shared, chapter, &mut findings);
                let text = page.filled(&chapter.content);
                let text = blocks::render_blocks(&text, &page.included, &counts, &runs);
                let text = text.clone() + &page.scripts(&text);
                page.findings.slides.push(page.deck);
                chapter.content = text;
            }
        });
        findings.problems.sort();
        if findings.problems.is_empty() || self.draft {
            Ok(book)
        } else {
            Err(Problems(findings.problems.clone()).into())
        }
    }
}

/// Sources that all pages share.
#[derive(Clone, Copy)]
struct BookContext<'a> {
    repo: &'a RepoPaths,
    records: &'a Result<Records>,
    glossary: &'a Glossary,
    pages: &'a [PathBuf],
    /// Comments at the head of the steps' chapters.
    heads: &'a [StepHead],
    runs: &'a Runs,
}

/// State while a chapter is filled in.
struct Page<'a> {
    book: BookContext<'a>,
    /// Path of the page below `book/src`.
    path: PathBuf,
    shown: String,
    /// From the page to the book's first folder: `../` for each folder that it is in.
    up: String,
    head: Option<(usize, Result<StepHead>)>,
    sources: Sources,
    linker: Linker<'a>,
    heading: String,
    deck: Deck,
    /// Current line of the filled text, from 1.
    at: usize,
    /// Listings, by their first line in the filled text.
    included: Vec<Included>,
    findings: &'a mut Findings,
}

impl<'a> Page<'a> {
    fn new(book: BookContext<'a>, chapter: &Chapter, findings: &'a mut Findings) -> Self {
        let path = chapter.source_path.clone().unwrap_or_default();
        let head = step::step_head(&chapter::lines(&chapter.content));
        let deck = Deck {
            title: chapter.name.clone(),
            step: head.as_ref().and_then(|(_, head)| catalog::find(head.as_ref().ok()?.step.id).ok()),
            page: path.with_extension("html").display().to_string(),
            slides: Vec::new(),
        };
        let up = "../".repeat(path.components().count().saturating_sub(1));
        Self {
            linker: Linker::new(book.glossary, &up),
            up,
            book,
            shown: book.repo.display_path(&book.repo.chapters().join(&path)),
            head,
            path,
            sources: Sources::new(),
            heading: String::new(),
            deck,
            at: 1,
            included: Vec::new(),
            findings,
        }
    }

    /// Returns elements that load the page's explorers with a script of their own, `book/src/explorers/NAME.js`.
    fn scripts(&self, text: &str) -> String {
        let names = text.split("data-explorer=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let questions = text.contains(" data-question=\"").then_some("questions");
        let names: BTreeSet<&str> = names.chain(questions).collect();
        let own =
            names.into_iter().filter(|name| self.book.repo.chapters().join(format!("explorers/{name}.js")).is_file());
        let own = own.map(|name| format!("explorers/{name}.js"));
        let run = (text.contains(" data-run=\"") && !self.book.runs.is_empty()).then(|| "run/run.js".to_owned());
        own.chain(run).map(|path| format!("\n\n<script defer src=\"{}{path}\"></script>\n", self.up)).collect()
    }

    fn records(&self) -> Result<&'a Records> {
        self.book.records.as_ref().map_err(|error| anyhow!("{error:#}"))
    }

    fn problem(&mut self, line: usize, what: String) {
        self.findings.problems.push(Problem { file: self.shown.clone(), line, what });
    }

    fn filled(&mut self, text: &str) -> String {
        if let Some((line, Err(why))) = &self.head {
            let (line, why) = (*line, format!("{why:#}"));
            self.problem(line, why);
        }
        let mut out = String::with_capacity(text.len());
        let mut items = Items::default();
        let is_glossary = self.path == Path::new(glossary::PAGE);
        for line in chapter::lines(text) {
            if line.kind == LineKind::Prose
                && let Some(heading) = line.text.strip_prefix('#')
            {
                heading.trim_start_matches('#').trim().clone_into(&mut self.heading);
            }
            let text = match line.kind {
                LineKind::Prose if is_glossary => items.line(line.text),
                LineKind::Prose => items.line(&self.linker.line(&line)),
                _ => self.linker.line(&line),
            };
            let before = out.len();
            match self.line(&ChapterLine { text: &text, ..line }) {
                Ok(text) => out.push_str(&text),
                Err(why) => {
                    let why = format!("{why:#}");
                    let missing = catalog::text::escaped(&why);
                    self.problem(line.number, why);
                    match line.kind {
                        LineKind::Code => out.push_str(&format!("(missing: {missing})")),
                        _ => out.push_str(&format!("<strong class=\"missing\">missing: {missing}</strong>")),
                    }
                }
            }
            out.push('\n');
            self.at += out[before..].matches('\n').count();
        }
        out.push_str(&footnote(&self.sources));
        out
    }

    fn line(&mut self, line: &ChapterLine<'_>) -> Result<String> {
        if line.kind == LineKind::Comment {
            return Ok(line.text.to_owned());
        }
        let mut out = String::new();
        let mut from = 0;
        for directive in chapter::directives(line.text)? {
            out.push_str(&unescaped(&line.text[from..directive.at.start]));
            // In a list or a quote, every line that is filled in has the indent of the directive.
            let indent = &line.text[..directive.at.start];
            let text = self.directive(line, &directive)?;
            if directive.alone {
                out.push_str(&text.trim_end().replace('\n', &format!("\n{indent}")))
            } else {
                out.push_str(&text)
            }
            from = directive.at.end;
        }
        out.push_str(&unescaped(&line.text[from..]));
        Ok(out)
    }

    fn directive(&mut self, line: &ChapterLine<'_>, directive: &Directive<'_>) -> Result<String> {
        let Directive { name, args, alone, .. } = directive;
        let in_code = line.kind == LineKind::Code;
        ensure!(DIRECTIVES.contains(name), "there is no directive `{name}`; there are {}", DIRECTIVES.join(", "));
        match (*name, in_code) {
            ("n", false) => {
                let (repo, sources) = (self.book.repo, &mut self.sources);
                return match args.as_slice() {
                    &["output", name, row, column] => output_directive::number(repo, [name, row, column], sources),
                    &["ptxas", kernel, device, what] => ptx::number(repo, [kernel, device, what], sources),
                    &["predicted", kernel, size, what] => predicted::number(repo, [kernel, size, what], sources),
                    ["chip", rest @ ..] => chip::number(repo, rest, sources),
                    _ => self.records()?.number(args, &mut self.sources),
                };
            }
            (_, _) if !alone => bail!("`{{{{#{name}}}}}` must stand on a line of its own"),
            ("include", _) => return self.include(line, args, in_code),
            (_, true) => {
                bail!(
                    "`{{{{#{name}}}}}` stands outside of code; in code there is only `{{{{#include}}}}` (write \\{{{{# for the text itself)"
                );
            }
            _ => {}
        }
        match (*name, args.as_slice()) {
            ("diff", [old, new]) => self.diff(line, old, new, "kernel"),
            ("diff", [old, new, anchor]) => self.diff(line, old, new, anchor),
            ("diff", _) => Err(Error::msg("`{{#diff}}` wants two steps or two files, and maybe an anchor")),
            ("output", [name, titles @ ..]) => output_directive::block(self.book.repo, name, titles),
            ("output", []) => {
                Err(Error::msg("`{{#output}}` wants a name from book/outputs.toml, and maybe beginnings of paragraphs"))
            }
            ("figure", [name, alternative]) if !alternative.trim().is_empty() => {
                let html = figures::figure(self.book.repo, name, alternative)?;
                let heading = self.heading.clone();
                let slide = Slide::Picture { heading, html: html.clone() };
                self.deck.slides.push(slide);
                Ok(html)
            }
            ("figure", _) => Err(Error::msg("`{{#figure}}` wants a name and a text alternative in quotes")),
            ("recorded", args) => self.records()?.table(args, &mut self.sources),
            ("duels", args) => self.records()?.duels(args, &mut self.sources),
            ("others", args) => self.records()?.others()?.table(args, &mut self.sources),
            ("process", &[what @ ("links" | "two"), size]) => {
                self.records()?.pair()?.table(what, size, &mut self.sources)
            }
            ("process", args) => self.records()?.process()?.table(args, &mut self.sources),
            ("ceilings", units) => ceilings::table(self.records()?.main_ceilings()?, units, &mut self.sources),
            ("counters", args) => self.records()?.counters.table(args, &mut self.sources),
            ("sums", [step]) => sums::table(self.book.repo, step, &mut self.sources),
            ("step", []) => match &self.head {
                Some((_, Ok(head))) => Ok(step::strip(head, |id| self.page_of(id))),
                Some((_, Err(_))) => Ok(String::new()),
                None => Err(Error::msg(
                    "`{{#step}}` wants a comment `<!-- step: v05 minutes=50 after=v04 gpu=no -->` in its chapter",
                )),
            },
            ("step", _) => Err(Error::msg("`{{#step}}` stands alone: the comment says the rest")),
            ("steps", []) if self.book.heads.is_empty() => {
                Err(Error::msg("`{{#steps}}` finds no chapter with a comment `<!-- step: … -->`"))
            }
            ("steps", []) => Ok(step::table(self.book.heads, |id| self.page_of(id))),
            ("steps", _) => Err(Error::msg("`{{#steps}}` stands alone: it shows every step")),
            ("task", [name]) => {
                let slide = tasks::slide(self.book.repo, name)?;
                self.deck.slides.push(slide);
                tasks::what_to_do(self.book.repo, name)
            }
            ("judged", [name]) => tasks::judged(self.book.repo, name),
            ("finished", [name]) => tasks::finished(self.book.repo, name, "The finished kernel"),
            ("finished", [name, what]) => tasks::finished(self.book.repo, name, what),
            ("transfers", [step, ids @ ..]) => tasks::transfers(self.book.repo, step, ids),
            ("mistakes", [step]) => tasks::mistakes(self.book.repo, step),
            ("predict", [step, ids @ ..]) => {
                let slides = questions::slides(self.book.repo, step, ids)?;
                self.deck.slides.extend(slides.into_iter().map(Slide::Question));
                questions::predict(self.book.repo, step, ids)
            }
            ("sheets", []) => questions::sheets(self.book.repo),
            ("answers", []) => questions::answers(self.book.repo),
            ("lesson", [step]) => lessons::lesson(self.book.repo, step),
            ("plan", [name]) => lessons::plan(self.book.repo, name),
            ("task" | "judged" | "finished", _) => Err(anyhow!("`{{{{#{name}}}}}` wants a task: {{{{#{name} v05}}}}")),
            ("transfers" | "mistakes" | "predict" | "lesson" | "sums", _) => {
                Err(anyhow!("`{{{{#{name}}}}}` takes a step: {{{{#{name} v05}}}}"))
            }
            _ => Err(anyhow!("`{{{{#{name}}}}}` cannot stand here")),
        }
    }

    /// Includes `PATH` or `PATH:ANCHOR`, relative to the chapter.
    fn include(&mut self, line: &ChapterLine<'_>, args: &[&str], in_code: bool) -> Result<String> {
        let [what] = args else {
            return Err(Error::msg("`{{#include}}` wants one path, and maybe an anchor behind a colon"));
        };
        let (path, anchor) = match what.split_once(':') {
            Some((_, anchor)) if anchor.is_empty() || anchor.starts_with(|c: char| c.is_ascii_digit() || c == ':') => {
                bail!("`{what}` selects lines by number, which change; name an anchor of the file instead");
            }
            Some((path, anchor)) => (path, Some(anchor)),
            None => (*what, None),
        };
        let extension = Path::new(path).extension().unwrap_or_default().to_string_lossy();
        if !in_code && !TEXT_FILES.contains(&extension.as_ref()) {
            bail!("the listing of {path} stands outside of a fence; put ```cpp and ``` around it");
        }
        let folder = self.book.repo.chapters().join(self.path.parent().unwrap_or(Path::new("")));
        let path = crate::repo_paths::flat(&folder.join(path));
        let lines = listings::listing(self.book.repo, &path, anchor)?;
        let text = listings::text(&lines);
        if in_code && text.lines().any(|line| line.trim_start().starts_with("```")) {
            bail!("{what} has a line that begins with ```; it would end the listing");
        }
        self.shows(&path, line);
        if in_code {
            self.included.push(Included {
                at: self.at,
                file: self.book.repo.display_path(&path),
                numbers: lines.iter().map(|line| Some(line.number)).collect(),
                in_rust: self.in_rust(&path, anchor),
            });
        }
        Ok(text)
    }

    /// Returns the same part of the sibling in Rust of a kernel, if there is one.
    fn in_rust(&self, path: &Path, anchor: Option<&str>) -> Option<InRust> {
        let kernels = self.book.repo.root().join("kernels");
        let path = kernels.join("rust").join(path.strip_prefix(&kernels).ok()?).with_extension("rs");
        let lines = listings::listing(self.book.repo, &path, Some(anchor?)).ok()?;
        Some(InRust { file: self.book.repo.display_path(&path), lines })
    }

    fn diff(&mut self, line: &ChapterLine<'_>, old: &str, new: &str, anchor: &str) -> Result<String> {
        let (old, new) = (differences::side(self.book.repo, old)?, differences::side(self.book.repo, new)?);
        let (text, numbers) = differences::diff(self.book.repo, &old, &new, anchor)?;
        // The first line follows the one that opens the block.
        self.included.push(Included {
            at: self.at + 1,
            file: self.book.repo.display_path(&new.path),
            numbers,
            in_rust: None,
        });
        self.shows(&old.path, line);
        self.shows(&new.path, line);
        Ok(format!("```diff\n{text}\n```"))
    }

    /// Records that the book shows a CUDA source.
    fn shows(&mut self, path: &Path, line: &ChapterLine<'_>) {
        if path.extension().is_some_and(|e| e == "cu") {
            let place = (self.shown.clone(), line.number);
            self.findings.listings.entry(path.to_owned()).or_insert(place);
        }
    }

    /// Returns the path from this page to the page of a step: the chapter whose file is named after it.
    fn page_of(&self, id: &str) -> Option<String> {
        let is_its = |path: &&PathBuf| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            name == id || name.starts_with(&format!("{id}-"))
        };
        let page = self.book.pages.iter().find(is_its)?;
        Some(format!("{}{}", self.up, page.with_extension("html").display()))
    }
}

/// Replaces `\{{#` by `{{#`.
fn unescaped(text: &str) -> String {
    text.replace("\\{{#", "{{#")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::DIRECTIVES;

    #[test]
    fn the_readme_lists_every_directive() {
        let readme = include_str!("../../README.md");
        let name = |text: &'static str| text.split([' ', '}']).next().unwrap_or_default();
        let listed: BTreeSet<&str> = readme.split("{{#").skip(1).map(name).collect();
        assert_eq!(listed, BTreeSet::from(DIRECTIVES));
    }
}
