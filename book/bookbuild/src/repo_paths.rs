//! Paths of the repository's files, and of the built book.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::{Context as _, Result, anyhow};
use serde::de::DeserializeOwned;

/// The repository and the book in it. Remembers the files that were read, so that `--watch` can watch them.
#[derive(Debug, Clone)]
pub struct RepoPaths {
    root: PathBuf,
    read: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl RepoPaths {
    /// Returns the paths below `root`, the folder that contains `book/book.toml`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self { root: root.canonicalize().unwrap_or(root), read: Arc::default() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn book(&self) -> PathBuf {
        self.root.join("book")
    }

    pub fn chapters(&self) -> PathBuf {
        self.book().join("src")
    }

    pub fn generated(&self) -> PathBuf {
        self.chapters().join("generated")
    }

    pub fn data(&self) -> PathBuf {
        self.book().join("data")
    }

    /// Formats a path relative to the repository.
    pub fn display_path(&self, path: &Path) -> String {
        let path = flat(path);
        path.strip_prefix(&self.root).unwrap_or(&path).display().to_string()
    }

    /// Reads a text file, and records it as part of the book.
    pub fn read(&self, path: &Path) -> Result<String> {
        let path = flat(path);
        self.note(&path);
        std::fs::read_to_string(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => anyhow!("there is no file {}", self.display_path(&path)),
            _ => anyhow!("{} cannot be read: {error}", self.display_path(&path)),
        })
    }

    pub(crate) fn read_json<T: DeserializeOwned>(&self, path: &Path) -> Result<T> {
        let text = self.read(path)?;
        serde_json::from_str(&text).with_context(|| self.display_path(path))
    }

    /// Records a file as part of the book.
    pub fn note(&self, path: &Path) {
        if let Ok(mut read) = self.read.lock() {
            read.insert(path.to_owned());
        }
    }

    /// Returns the scripts with the WebAssembly modules that run kernels in a page, those of learners and committed
    /// ones, if `cargo xtask page` has made them.
    pub(crate) fn page_modules(&self) -> Option<[PathBuf; 2]> {
        let paths = ["module.js", "tensor.js"].map(|name| self.root.join("target/page").join(name));
        paths.iter().for_each(|path| self.note(path));
        paths.iter().all(|path| path.is_file()).then_some(paths)
    }

    pub fn all_read(&self) -> BTreeSet<PathBuf> {
        self.read.lock().map(|read| read.clone()).unwrap_or_default()
    }
}

/// Removes `..` components without looking at the file system.
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
