//! Programs of the system, and what the programs of the steps share.

use std::path::PathBuf;

/// Variable that names a folder in which steps keep reference answers that take long, for each other.
pub const ANSWERS: &str = "TILE_ANSWERS";

/// Returns the first program of this name on the `PATH`.
pub fn on_path(name: &str) -> Option<PathBuf> {
    all_on_path(name).into_iter().next()
}

/// Returns all programs of this name on the `PATH`, in its order.
pub fn all_on_path(name: &str) -> Vec<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).map(|folder| folder.join(name)).filter(|path| path.is_file()).collect()
}
