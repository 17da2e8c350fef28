//! `cargo xtask starters`: writes what learners begin with, `exercise.cu` of each step and `tasks/ID.starter.cu`.
//!
//! They are committed with their PTX, so that a test proves without a compiler that each of them falls short.

use std::path::{Path, PathBuf};

use anyhow::Result;
use tasks::Catalogue;
use xtask_support::{CommandOutcome, committed::write_changed, output};

use crate::learner;

#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask starters && cargo xtask ptx")]
pub(crate) struct Args {
    /// Change nothing; fail if a file would change
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &Args) -> Result<CommandOutcome> {
    let root = learner::root()?;
    let files = all(&root)?.into_iter().map(|(path, text)| (root.join(path), text.into_bytes()));
    let stale = write_changed(&root, files, args.check)?;
    if args.check && stale > 0 {
        output::error(&format!("{stale} starters are out of date; write them again with: cargo xtask starters"));
        return Ok(CommandOutcome::Failed);
    }
    if stale > 0 {
        output::note("their PTX: cargo xtask ptx");
    }
    Ok(CommandOutcome::Passed)
}

/// Returns the paths and texts of all starters.
pub(crate) fn all(root: &Path) -> Result<Vec<(PathBuf, String)>> {
    let mut found = Vec::new();
    for catalogue in Catalogue::load_all(root)? {
        // A task about the host has no kernel, and its starter no file.
        for task in catalogue.tasks.iter().filter(|task| task.host.is_none()) {
            found.push((task.starter_file(), learner::generated_starter(root, task)?));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn committed_starters_are_those_of_their_solutions() {
        let root = learner::root().expect("tests run in the checkout");
        for (path, text) in all(&root).expect("the catalogues are right") {
            let there = std::fs::read_to_string(root.join(&path)).unwrap_or_default();
            assert!(there == text, "{}: run `cargo xtask starters`", path.display());
        }
    }
}
