//! Paths of the repository's files, and of the built book.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::{Context as _, Result};

/// The repository and the book in it. Remembers what was read, so that `--watch` knows what to look at.
#[derive(Debug, Clone)]
pub struct RepoPaths {
    root: PathBuf,
    read: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl RepoPaths {
    /// A folder that holds `book/book.toml`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self {
            root: root.canonicalize().unwrap_or(root),
            read: Arc::default(),
        }
    }

    /// The root of the repository.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of `book.toml`.
    pub fn book(&self) -> PathBuf {
        self.root.join("book")
    }

    /// The folder of the chapters.
    pub fn chapters(&self) -> PathBuf {
        self.book().join("src")
    }

    /// Pictures and outputs that programs made.
    pub fn generated(&self) -> PathBuf {
        self.chapters().join("generated")
    }

    /// The folder with records of measurements.
    pub fn data(&self) -> PathBuf {
        self.book().join("data")
    }

    /// A path as seen from the repository.
    pub fn shown(&self, path: &Path) -> String {
        let path = flat(path);
        path.strip_prefix(&self.root)
            .unwrap_or(&path)
            .display()
            .to_string()
    }

    /// A text file, remembered as part of the book.
    ///
    /// # Errors
    /// When there is none: a sentence that names it.
    pub fn read(&self, path: &Path) -> Result<String, String> {
        let path = flat(path);
        self.note(&path);
        std::fs::read_to_string(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => format!("there is no file {}", self.shown(&path)),
            _ => format!("{} cannot be read: {error}", self.shown(&path)),
        })
    }

    /// Remembers a file as part of the book.
    pub fn note(&self, path: &Path) {
        if let Ok(mut read) = self.read.lock() {
            read.insert(path.to_owned());
        }
    }

    /// Everything that was read.
    pub fn all_read(&self) -> BTreeSet<PathBuf> {
        self.read.lock().map(|read| read.clone()).unwrap_or_default()
    }
}

/// Without `..` in it, as far as the text of the path tells.
pub(crate) fn flat(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if out.parent().is_some() => drop(out.pop()),
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

/// All files of a folder and of the folders in it, in order.
///
/// # Errors
/// When a folder cannot be read.
pub(crate) fn files_under(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        match path.is_dir() {
            true => files.extend(files_under(&path)?),
            false => files.push(path),
        }
    }
    files.sort();
    Ok(files)
}
