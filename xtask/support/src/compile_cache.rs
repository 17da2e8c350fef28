//! Compiled sources, kept under `target/my` by the hash of everything that goes in, so that a source that is unchanged
//! starts no compiler.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result};
use catalog::{files::write_whole_bytes, provenance::sha256};

use crate::paths;
use crate::source::{self, CompileJob, Include};

/// Compiled files that are kept.
const MAX_KEPT: usize = 64;
/// Part of a key: the one version that is used.
pub const NVRTC: &str = "NVRTC 12.4";
/// Endings of compiled files that are kept.
pub const PTX: &str = "ptx";
pub const CUBIN: &str = "cubin";

/// Returns a hash of everything that goes into what a compiler makes of a source.
pub fn key(job: &CompileJob, includes: &[Include], compiler: &str) -> Result<String> {
    let mut parts = vec![job.name.clone(), job.source.clone()];
    for Include { path, .. } in includes {
        parts.push(path.display().to_string());
        parts.push(source::read_source(path)?);
    }
    parts.extend(job.options());
    let text: String = parts.iter().map(|part| format!("{}:{part}", part.len())).collect();
    Ok(sha256(format!("{compiler}\n{text}").as_bytes()))
}

/// Folder of compiled copies: in the checkout, or where that cannot be written, among temporary files.
pub struct CompileCache(PathBuf);

impl CompileCache {
    pub fn in_checkout(root: &Path) -> Self {
        let inside = root.join("target/my");
        let works = std::fs::create_dir_all(&inside).and_then(|()| paths::try_write(&inside)).is_ok();
        if works { Self(inside) } else { Self(std::env::temp_dir().join(format!("tile-by-tile-{}", user()))) }
    }

    pub fn known(&self, key: &str, ending: &str) -> Option<PathBuf> {
        let path = self.0.join(key).with_extension(ending);
        path.is_file().then_some(path)
    }

    pub fn keep(&self, key: &str, ending: &str, contents: &[u8]) -> Result<PathBuf> {
        self.forget_the_oldest(ending);
        self.put(&format!("{key}.{ending}"), contents)
    }

    pub fn put(&self, name: &str, contents: impl AsRef<[u8]>) -> Result<PathBuf> {
        let path = self.0.join(name);
        std::fs::create_dir_all(&self.0).with_context(|| format!("making {}", self.0.display()))?;
        write_whole_bytes(&path, contents.as_ref()).with_context(|| format!("writing {}", path.display()))?;
        Ok(path)
    }

    fn forget_the_oldest(&self, ending: &str) {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut files: Vec<(SystemTime, PathBuf)> = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == ending))
            .filter_map(|path| Some((path.metadata().ok()?.modified().ok()?, path)))
            .collect();
        files.sort();
        let n = files.len().saturating_sub(MAX_KEPT - 1);
        for (_, path) in &files[..n] {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Returns the name of the user, so that two users of a machine do not share a folder for temporary files.
fn user() -> String {
    let name = std::env::var("USER").or_else(|_| std::env::var("USERNAME")).unwrap_or_default();
    name.chars().filter(|c| c.is_ascii_alphanumeric()).collect()
}
