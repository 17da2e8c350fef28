//! The folder of records.

use std::path::PathBuf;

use crate::paths;
use anyhow::{Result, anyhow};

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
