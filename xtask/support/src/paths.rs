//! Paths of the checkout and of this program, started by Cargo or from a folder of copied programs.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};

/// Returns the folder of the workspace: Cargo's, else the one around the current folder.
pub fn checkout() -> Option<PathBuf> {
    if let Some(manifest) = std::env::var_os("CARGO_MANIFEST_DIR")
        && let Some(root) = Path::new(&manifest).ancestors().find(|folder| is_checkout(folder))
    {
        return Some(root.to_path_buf());
    }
    let here = std::env::current_dir().ok()?;
    here.ancestors().find(|f| is_checkout(f)).map(Path::to_path_buf)
}

/// Returns whether a checkout has the finished kernels of steps; a repository of tasks, which `assign` makes, has none.
pub fn has_finished_kernels(root: &Path) -> bool {
    let kernels = catalog::files::files_ending_with(&root.join("kernels"), ".cu").unwrap_or_default();
    kernels.iter().any(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('v')))
}

/// Returns the folder of the workspace; where there is none, the current one.
pub fn repository() -> PathBuf {
    checkout().unwrap_or_else(|| PathBuf::from("."))
}

fn is_checkout(folder: &Path) -> bool {
    folder.join("xtask/Cargo.toml").is_file() && folder.join("kernels").is_dir()
}

/// Writes and removes a file in a folder, to find out whether that can be done.
pub fn try_write(folder: &Path) -> std::io::Result<()> {
    let probe = folder.join(format!("probe.{}.tmp", std::process::id()));
    std::fs::write(&probe, "").and_then(|()| std::fs::remove_file(&probe))
}

/// Returns the folder of records, after making sure that what is measured can be kept there. `instead` says what to do
/// if it cannot.
pub fn record_folder(instead: &str) -> Result<PathBuf> {
    let root = checkout().with_context(|| {
        format!("--save keeps records in book/data of a checkout, and this folder is not one; {instead}")
    })?;
    let folder = root.join("book/data");
    try_write(&folder).map_err(|error| {
        anyhow!("{} cannot be written to ({error}), so nothing was measured; {instead}", display_path(&folder))
    })?;
    Ok(folder)
}

pub fn program_folder() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.parent()?.to_path_buf())
}

/// Returns the path of Cargo, when it started this program.
pub fn cargo() -> Option<PathBuf> {
    std::env::var_os("CARGO").map(PathBuf::from)
}

/// Returns the path of Cargo, when the programs are to be built before they run: it started this program, or this
/// program lies in the `target` folder of the checkout, where the programs beside it may be older than the sources.
pub fn builder(root: &Path) -> Option<PathBuf> {
    cargo().or_else(|| if is_built_in(root) { catalog::programs::on_path("cargo") } else { None })
}

/// Returns whether this program lies inside the checkout, and was not copied somewhere else.
pub fn is_built_in(root: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().ok();
    match (program_folder().as_deref().and_then(whole), whole(root)) {
        (Some(folder), Some(root)) => folder.starts_with(root),
        _ => false,
    }
}

/// Returns the command that starts this program: messages name commands that work where the reader is.
pub fn command_name() -> &'static str {
    if cargo().is_some() { "cargo xtask" } else { "xtask" }
}

/// Returns a path relative to the current folder, where it lies below that.
pub fn display_path(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    match path.strip_prefix(&here) {
        Ok(short) if short.as_os_str().is_empty() => ".".into(),
        Ok(short) => short.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

/// Returns a path as seen from the root of the checkout: `my/v05.cu`.
pub fn from_root(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

/// Returns whether there is an NVIDIA GPU, by the files that its driver makes.
pub fn has_gpu() -> bool {
    ["/dev/nvidiactl", "/dev/dxg"].iter().any(|path| Path::new(path).exists())
}
