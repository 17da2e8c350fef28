//! Programs of the system, and what the programs of the steps share.

use std::path::PathBuf;
use std::process::Command;

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

/// Returns the folders in which CUDA toolkits may be.
pub fn toolkits() -> impl Iterator<Item = PathBuf> {
    let named = ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    named.chain(["/usr/local/cuda", "/opt/cuda"].map(PathBuf::from))
}

/// Returns the folders in which Python looks for packages; none without Python.
pub fn python_packages() -> Vec<PathBuf> {
    let output = Command::new("python3").args(["-c", r"import sys; print('\n'.join(sys.path))"]).output();
    let text = output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.lines().filter(|line| !line.is_empty()).map(PathBuf::from).collect()
}

/// Returns the folders into which CUDA's installer and NVIDIA's Python packages put libcublas. Asking Python takes a
/// moment, so its folders come last.
pub fn cublas_folders() -> impl Iterator<Item = PathBuf> {
    let installed = toolkits().flat_map(|root| ["lib64", "targets/x86_64-linux/lib"].map(|end| root.join(end)));
    let packages = std::iter::once_with(python_packages).flatten().map(|root| root.join("nvidia"));
    let packages = packages.flat_map(std::fs::read_dir).flatten().flatten().map(|entry| entry.path().join("lib"));
    installed.chain(packages.filter(|folder| folder.is_dir()))
}
