//! Paths of records: the folder, and the name of a machine's file.

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use records::Run;

use crate::paths;

/// Finds out before anything is measured whether it can be kept. `instead` says what to do if it cannot.
pub fn folder(instead: &str) -> Result<PathBuf> {
    let root = paths::checkout().ok_or_else(|| {
        anyhow!("--save keeps records in book/data of a checkout, and this folder is not one; {instead}")
    })?;
    let folder = root.join("book/data");
    paths::try_write(&folder).map_err(|error| {
        anyhow!("{} cannot be written to ({error}), so nothing was measured; {instead}", paths::display_path(&folder))
    })?;
    Ok(folder)
}

/// Returns a name for the file of a machine: `h200` for `NVIDIA H200`.
pub fn slug(run: &Run) -> String {
    if run.emulated {
        return "emulated".into();
    }
    let lower = run.device.to_ascii_lowercase();
    let words = lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !matches!(*word, "" | "nvidia" | "geforce" | "tesla"));
    let slug = words.collect::<Vec<_>>().join("-");
    if slug.is_empty() { "unknown".into() } else { slug }
}
