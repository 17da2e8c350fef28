//! Runs mdBook in this process.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use catalog::files::StagedFolder;
use mdbook_driver::MDBook;

use crate::{BookPreprocessor, Problems, RepoPaths, slides};
use crate::{chapter::ChapterSource, preprocess::Findings, run::Runs};

#[derive(Debug, Clone)]
pub struct BuiltBook {
    pub folder: PathBuf,
    /// Findings of the preprocessor; without problems, unless the book is a draft.
    pub findings: Findings,
    pub chapters: Vec<ChapterSource>,
}

#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Whether to show problems in the pages instead of failing.
    pub draft: bool,
    /// Output folder, in place of the one that `book.toml` names.
    pub into: Option<PathBuf>,
    /// Whether to omit the search index, which is faster.
    pub no_search: bool,
}

/// Builds the book.
///
/// # Errors
/// [`Problems`] if something in the book must be corrected; any other error means that the build could not run.
pub fn make(repo: &RepoPaths, options: &Options) -> Result<BuiltBook> {
    let book = repo.book();
    repo.note(&book.join("book.toml"));
    let mut config = mdbook_driver::config::Config::from_disk(book.join("book.toml"))
        .with_context(|| format!("reading {}", repo.display_path(&book.join("book.toml"))))?;
    let place = book.join(options.into.as_ref().unwrap_or(&config.build.build_dir));
    let place = crate::repo_paths::flat(&std::path::absolute(place)?);
    let staged = StagedFolder::new(&place).with_context(|| {
        format!("{}: the book cannot be built there; move it away, then build again", repo.display_path(&place))
    })?;
    config.build.build_dir = staged.path().to_owned();
    if options.no_search {
        config.set("output.html.search.enable", false)?;
    }
    let mut book = MDBook::load_with_config(book, config)
        .with_context(|| format!("reading {}", repo.display_path(&repo.chapters().join("SUMMARY.md"))))?;
    let preprocessor = BookPreprocessor::new(repo.clone(), options.draft);
    let findings = preprocessor.findings();
    book.with_preprocessor(preprocessor);
    let built = book.build();
    let findings = findings.borrow().clone();
    if !findings.problems.is_empty() && !options.draft {
        return Err(Problems(findings.problems).into());
    }
    built.context("building the book")?;
    let folder = book.build_dir_for("html");
    slides::write(&folder, &findings.slides).context("writing the slides")?;
    Runs::load(repo)?.write(repo, &folder).context("writing what runs in the page")?;
    let folder = place.join(folder.strip_prefix(staged.path()).context("a folder of the book")?);
    let folder = crate::repo_paths::flat(&folder);
    staged.finish().with_context(|| format!("moving the book to {}", repo.display_path(&place)))?;
    let mut chapters = Vec::new();
    for chapter in book.book.chapters() {
        let path = repo.chapters().join(chapter.source_path.clone().unwrap_or_default());
        repo.note(&path);
        chapters.push(ChapterSource { shown: repo.display_path(&path), text: chapter.content.clone() });
    }
    Ok(BuiltBook { folder, findings, chapters })
}
