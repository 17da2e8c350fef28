//! The packages of PyPI that hold NVRTC and ptxas, and where `setup` puts them.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use catalog::{files::write_whole, provenance::sha256};

use crate::paths;

/// The file with the hashes of what was unpacked, as `sha256sum` writes it.
const SUMS: &str = "SHA256SUMS";

/// The release of NVRTC and of the headers, and that of ptxas.
const VERSION: &str = "12.4.127";
const PTXAS_VERSION: &str = "12.4.131";

/// A file of one release of a package, and what it must be.
pub struct Wheel {
    pub package: &'static str,
    pub version: &'static str,
    pub file: String,
    pub sha256: &'static str,
    /// The folder to extract.
    pub folder: &'static str,
}

/// Platform in the names of the files, and the hashes that PyPI lists: of the compiler, of the headers of CUDA
/// (`cuda_fp16.h`, `cuda_bf16.h` …; `mma.h` needs others, of nvcc), and of ptxas.
const PLATFORM: Option<(&str, [&str; 3])> = if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
    let nvrtc = "a178759ebb095827bd30ef56598ec182b85547f1508941a3d560eb7ea1fbf338";
    let headers = "64403288fa2136ee8e467cdc9c9427e0434110899d07c779f25b5c068934faa5";
    let ptxas = "e4c9a35435c3b0e36c6397c5696334c9ea6650e524736cbd1c5d345ea099bb04";
    Some(("manylinux2014_x86_64", [nvrtc, headers, ptxas]))
} else if cfg!(all(target_os = "linux", target_arch = "aarch64")) {
    let nvrtc = "0eedf14185e04b76aa05b1fea04133e59f465b6f960c0cbf4e37c3cb6b0ea198";
    let headers = "961fe0e2e716a2a1d967aab7caee97512f71767f852f67432d572e36cb3a11f3";
    let ptxas = "00ba32f3d7928548455baa877e748a4676ba0731cfc73d4213336fc67bdc87e9";
    Some(("manylinux2014_aarch64", [nvrtc, headers, ptxas]))
} else if cfg!(all(windows, target_arch = "x86_64")) {
    let nvrtc = "a961b2f1d5f17b14867c619ceb99ef6fcec12e46612711bcec78eb05068a60ec";
    let headers = "09c2e35f48359752dfa822c09918211844a3d93c100a715d79b59591130c5e1e";
    let ptxas = "aadd9fb307352bbcd5bc89b5f98c10cd78000915094882d97321f5fe36441742";
    Some(("win_amd64", [nvrtc, headers, ptxas]))
} else {
    None
};

/// Whether NVIDIA publishes wheels for this kind of machine.
pub const IS_OFFERED: bool = PLATFORM.is_some();

/// The packages, their releases, and the folder of each that is unpacked.
const PACKAGES: [(&str, &str, &str); 3] = [
    ("nvidia-cuda-nvrtc-cu12", VERSION, "nvidia/cuda_nvrtc/"),
    ("nvidia-cuda-runtime-cu12", VERSION, "nvidia/cuda_runtime/include/"),
    ("nvidia-cuda-nvcc-cu12", PTXAS_VERSION, "nvidia/cuda_nvcc/bin/"),
];

/// Returns the packages of NVRTC and of its headers for this kind of machine; none where NVIDIA publishes none.
pub fn nvrtc() -> Vec<Wheel> {
    [0, 1].into_iter().filter_map(wheel).collect()
}

/// Returns the package of ptxas, likewise.
pub fn ptxas() -> Vec<Wheel> {
    wheel(2).into_iter().collect()
}

fn wheel(at: usize) -> Option<Wheel> {
    let ((platform, hashes), (package, version, folder)) = (PLATFORM?, PACKAGES[at]);
    let file = format!("{}-{version}-py3-none-{platform}.whl", package.replace('-', "_"));
    Some(Wheel { package, version, file, sha256: hashes[at], folder })
}

/// Returns the folder that receives NVRTC.
pub fn directory() -> PathBuf {
    paths::repository().join("target/nvrtc")
}

/// Returns the folder that receives ptxas.
pub fn ptxas_directory() -> PathBuf {
    paths::repository().join("target/ptxas")
}

/// Records the hashes of the files below a folder.
pub fn record(folder: &Path) -> std::io::Result<()> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in std::fs::read_dir(inner)? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let mut text = String::new();
    for path in files {
        let name = path.strip_prefix(folder).unwrap_or(&path).display();
        text.push_str(&format!("{}  {name}\n", sha256(&std::fs::read(&path)?)));
    }
    write_whole(&folder.join(SUMS), &text)
}

/// Returns the first file below a folder that is not as it was recorded; none where nothing was.
pub fn damaged(folder: &Path) -> Option<PathBuf> {
    let sums = std::fs::read_to_string(folder.join(SUMS)).unwrap_or_default();
    let mut lines = sums.lines().filter_map(|line| line.split_once("  "));
    let is_damaged = |hash: &str, path: &Path| !std::fs::read(path).is_ok_and(|bytes| sha256(&bytes) == hash);
    lines.find_map(|(hash, name)| Some(folder.join(name)).filter(|path| is_damaged(hash, path)))
}
