//! Answers that took long, in files: the programs of several steps multiply the same matrices one after another.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read as _, Write as _};
use std::path::PathBuf;

/// Multiply-adds from which on an answer is worth a file.
pub(super) const WORTH: f64 = 2e9;

/// An answer in FP64, and what computing it took.
pub(super) struct AnswerCache {
    path: PathBuf,
}

impl AnswerCache {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Reads `n` elements and the time that they took; `None` where the file is missing or has another length.
    pub(super) fn read(&self, n: usize) -> Option<(Vec<f64>, f64)> {
        let file = File::open(&self.path).ok()?;
        let whole = u64::try_from((n + 1) * size_of::<f64>()).ok()?;
        if file.metadata().ok()?.len() != whole {
            return None;
        }
        let mut file = BufReader::with_capacity(1 << 20, file);
        let mut next = || -> Option<f64> {
            let mut bytes = [0; size_of::<f64>()];
            file.read_exact(&mut bytes).ok()?;
            Some(f64::from_le_bytes(bytes))
        };
        let took = next()?;
        let mut elements = Vec::with_capacity(n);
        for _ in 0..n {
            elements.push(next()?);
        }
        Some((elements, took))
    }

    /// Keeps an answer; one that cannot be kept is computed again.
    pub(super) fn write(&self, elements: &[f64], took: f64) {
        let part = self.path.with_extension("part");
        let written = || -> std::io::Result<()> {
            if let Some(folder) = part.parent() {
                std::fs::create_dir_all(folder)?;
            }
            let mut file = BufWriter::with_capacity(1 << 20, File::create(&part)?);
            for value in std::iter::once(&took).chain(elements) {
                file.write_all(&value.to_le_bytes())?;
            }
            file.flush()?;
            std::fs::rename(&part, &self.path)
        };
        if written().is_err() {
            let _ = std::fs::remove_file(&part);
        }
    }
}
