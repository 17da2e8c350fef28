//! cuBLAS where the loader does not look for it by itself: in a toolkit, or in a Python package.
//!
//! The bindings that the steps use (cudarc, for CUDA 12.4) ask for `libcublas.so` and for versions up to 12. The
//! functions that they call are the same in 13, so where only 13 is there, a folder of links gives it the plain name.

use std::path::{Path, PathBuf};

use crate::place;

/// The two libraries that belong together.
const NAMES: [&str; 2] = ["libcublas", "libcublasLt"];
/// Newest first: what the bindings know by name, then what needs a link.
const KNOWN: [&str; 3] = ["so", "so.12", "so.11"];
const LINKED: [&str; 1] = ["so.13"];

/// A folder to put on the library path of a step; `None` when nothing is needed or nothing is there.
pub(crate) fn folder() -> Option<PathBuf> {
    if !has_gpu() {
        return None;
    }
    let folders = candidates();
    let known = |folder: &&PathBuf| KNOWN.iter().any(|end| library(folder, NAMES[0], end).exists());
    if let Some(folder) = folders.iter().find(known) {
        return Some(folder.clone());
    }
    let (folder, end) = folders.iter().find_map(|folder| {
        let end = LINKED
            .iter()
            .find(|end| library(folder, NAMES[0], end).exists())?;
        Some((folder, end))
    })?;
    link(folder, end).ok()
}

/// Where cuBLAS is, and whether it is used through a link; for `doctor`.
pub(crate) fn found() -> Option<PathBuf> {
    let folders = candidates();
    let ends = || KNOWN.iter().chain(&LINKED);
    let path = |folder: &PathBuf| {
        ends()
            .map(|end| library(folder, NAMES[0], end))
            .find(|path| path.exists())
    };
    folders.iter().find_map(path)
}

/// Whether there is an NVIDIA GPU to run it on.
pub(crate) fn has_gpu() -> bool {
    Path::new("/dev/nvidiactl").exists() || Path::new("/dev/dxg").exists()
}

fn library(folder: &Path, name: &str, end: &str) -> PathBuf {
    folder.join(format!("{name}.{end}"))
}

fn candidates() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    if let Some(path) = std::env::var_os("LD_LIBRARY_PATH") {
        folders.extend(std::env::split_paths(&path));
    }
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let toolkits = [
        variable("CUDA_PATH"),
        variable("CUDA_HOME"),
        Some("/usr/local/cuda".into()),
    ];
    for root in toolkits.into_iter().flatten() {
        folders.extend([
            root.join("lib64"),
            root.join("lib"),
            root.join("targets/x86_64-linux/lib"),
        ]);
    }
    folders.extend(["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"].map(PathBuf::from));
    for packages in crate::nvrtc::site_packages() {
        folders.extend(["nvidia/cublas/lib", "nvidia/cu13/lib"].map(|end| packages.join(end)));
    }
    folders.retain(|folder| !folder.as_os_str().is_empty() && folder.is_dir());
    folders
}

/// `libcublas.so` → `…/libcublas.so.13`, and the same for its companion, in a folder of our own.
fn link(from: &Path, end: &str) -> std::io::Result<PathBuf> {
    let home = match place::checkout() {
        Some(root) if root.join("target").is_dir() => root.join("target"),
        _ => std::env::temp_dir(),
    };
    let folder = home.join(format!("tile-cublas-{}", end.trim_start_matches("so.")));
    std::fs::create_dir_all(&folder)?;
    for name in NAMES {
        let target = library(from, name, end).canonicalize()?;
        for link in [library(&folder, name, "so"), library(&folder, name, end)] {
            if link.canonicalize().is_ok_and(|there| there == target) {
                continue;
            }
            let _ = std::fs::remove_file(&link);
            #[cfg(unix)]
            std::os::unix::fs::symlink(&target, &link)?;
        }
    }
    Ok(folder)
}
