//! `--watch`: builds the book again when a file of it changes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;
use catalog::files::files_under;

use crate::make::{Options, make};
use crate::{Problems, RepoPaths};

const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Time without changes before the book is built.
const QUIET_TIME: Duration = Duration::from_millis(40);

/// Builds the book, and again whenever a file of it changes. Calls `built` with the first page of each build.
pub fn watch(repo: &RepoPaths, options: &Options, mut built: impl FnMut(&Path) -> Result<()>) -> Result<()> {
    let mut seen = file_times(repo);
    loop {
        if let Some(page) = build(repo, options) {
            built(&page)?;
        }
        // Adds files that only the last build has read; a file that changed meanwhile differs from `seen`.
        for (path, time) in file_times(repo) {
            seen.entry(path).or_insert(time);
        }
        let mut now = file_times(repo);
        while now == seen {
            std::thread::sleep(POLL_INTERVAL);
            now = file_times(repo);
        }
        // An editor may still be writing.
        while now != seen {
            std::thread::sleep(QUIET_TIME);
            seen = std::mem::replace(&mut now, file_times(repo));
        }
    }
}

/// Returns the modification time and length of each file of the book.
fn file_times(repo: &RepoPaths) -> BTreeMap<PathBuf, Option<(SystemTime, u64)>> {
    let mut files: Vec<PathBuf> = repo.all_read().into_iter().collect();
    for folder in [repo.chapters(), repo.book().join("theme"), repo.data()] {
        // A folder may be missing or removed meanwhile; that is a change too.
        files.extend(files_under(&folder).unwrap_or_default());
    }
    files.push(repo.book().join("book.toml"));
    let time = |path: &Path| {
        let data = path.metadata().ok()?;
        Some((data.modified().ok()?, data.len()))
    };
    files.into_iter().map(|path| (path.clone(), time(&path))).collect()
}

/// Builds the book, and prints how long that took, or the errors. Returns the book's first page.
#[expect(clippy::print_stderr, reason = "progress, for the author")]
fn build(repo: &RepoPaths, options: &Options) -> Option<PathBuf> {
    let start = Instant::now();
    match make(repo, options) {
        Ok(made) => {
            for problem in &made.findings.problems {
                eprintln!("draft: {problem}");
            }
            eprintln!("built in {:.1} s", start.elapsed().as_secs_f64());
            Some(made.folder.join("index.html"))
        }
        Err(error) => {
            match error.downcast_ref::<Problems>() {
                Some(problems) => eprintln!("{problems}"),
                None => eprintln!("error: {error:#}"),
            }
            None
        }
    }
}
