//! Finds libcublas for cudarc on machines that have CUDA, but not on the library path.

use std::path::Path;
use std::sync::OnceLock;

use catalog::programs::cublas_folders;
use cudarc::cublas::sys::is_culib_present;

/// Makes the library findable for cudarc, which panics where it is missing. The error has the searched folders.
pub(crate) fn provide() -> Result<(), &'static [String]> {
    static PROVIDED: OnceLock<Result<(), Vec<String>>> = OnceLock::new();
    PROVIDED.get_or_init(search).as_ref().copied().map_err(Vec::as_slice)
}

fn search() -> Result<(), Vec<String>> {
    if is_there() {
        return Ok(());
    }
    let mut tried = Vec::new();
    for folder in cublas_folders() {
        if versions_in(&folder).iter().any(|name| preload(&folder, name)) {
            return Ok(());
        }
        tried.push(folder.display().to_string());
    }
    Err(tried)
}

/// Returns whether cudarc finds the library now.
fn is_there() -> bool {
    // SAFETY: loads a library that is about to be used anyway.
    unsafe { is_culib_present() }
}

/// Lists the versions of cuBLAS in a folder, such as `libcublas.so.13`, newest first.
fn versions_in(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let number = |name: &String| name.strip_prefix("libcublas.so.").and_then(|n| n.parse::<u32>().ok());
    let mut numbered: Vec<_> = names.filter_map(|name| Some((number(&name)?, name))).collect();
    numbered.sort_unstable_by(|a, b| b.cmp(a));
    numbered.into_iter().map(|(_, name)| name).collect()
}

#[cfg(not(target_os = "linux"))]
fn preload(_: &Path, _: &str) -> bool {
    false
}

/// Loads a library by its path for the life of the process, so that cudarc finds it by name.
#[cfg(target_os = "linux")]
fn preload(folder: &Path, name: &str) -> bool {
    // libcublas depends on libcublasLt of the same folder, and does not always find it.
    let _ = keep(&folder.join(name.replace("cublas", "cublasLt")));
    if !keep(&folder.join(name)) {
        return false;
    }
    // The loader now has the library under the name `libcublas.so.12`, which cudarc tries. It does not try
    // `libcublas.so.13`, which therefore needs another name.
    is_there() || (emulator_client::alias("libcublas.so", &folder.join(name)).is_ok() && is_there())
}

/// Loads a library and never unloads it.
#[cfg(target_os = "linux")]
fn keep(path: &Path) -> bool {
    use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
    // SAFETY: NVIDIA's library, whose initialisers run in every program that uses it.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) }.map(std::mem::forget).is_ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_comes_first() {
        let folder = std::env::temp_dir().join(format!("harness-cublas-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        for name in ["libcublas.so", "libcublas.so.9", "libcublas.so.13", "libcublas.so.12.4.5", "libcublasLt.so.13"] {
            std::fs::write(folder.join(name), "").expect("a file");
        }
        assert_eq!(versions_in(&folder), ["libcublas.so.13", "libcublas.so.9"]);
        // A file that is not a library is passed over.
        assert!(!preload(&folder, "libcublas.so.13"));
        std::fs::remove_dir_all(&folder).expect("a folder");
    }
}
