//! `--check`: finds the faults of a book that don't stop it from being built.

use anyhow::Result;

use crate::checks::{numbers, pages, ptx};
use crate::generated_files::Outputs;
use crate::make::{BuiltBook, Options, make};
use crate::{Problems, RepoPaths};

/// Builds the book and checks it; calls `report` with each check that ran, and how.
///
/// # Errors
/// [`Problems`] if something in the book must be corrected; any other error means that a check could not run.
pub fn check(repo: &RepoPaths, report: impl Fn(&str)) -> Result<BuiltBook> {
    let made = make(repo, &Options::default())?;
    report(&format!("built: {} chapters, nothing missing", made.chapters.len()));
    let mut problems = numbers::check(repo, &made.chapters);

    problems.extend(pages::check(&made.folder)?);
    report("looked at: numbers in the text, links, what pages load");

    problems.extend(ptx::check(repo, &made.findings.listings));
    let n = made.findings.listings.len();
    report(&format!("listings: compared with the hashes in their PTX, CUDA sources: {n}"));

    let outputs = Outputs::load(repo)?;
    problems.extend(outputs.check(repo, &report)?);
    report(&format!(
        "outputs: {} commands and {} transcripts run again, {} programs asked",
        outputs.output.len(),
        outputs.transcripts.len(),
        outputs.program.len()
    ));
    if problems.is_empty() {
        Ok(made)
    } else {
        problems.sort();
        Err(Problems(problems).into())
    }
}
