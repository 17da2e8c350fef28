//! The packages of PyPI that hold NVRTC, and where `setup` puts them.

use std::path::PathBuf;

use crate::paths;

/// The release of both packages.
pub const VERSION: &str = "12.4.127";

/// A file of one release of a package, and what it must be.
pub struct Wheel {
    pub package: &'static str,
    pub file: &'static str,
    pub sha256: &'static str,
    /// The folder to extract.
    pub folder: &'static str,
}

const fn wheel(package: &'static str, file: &'static str, sha256: &'static str, folder: &'static str) -> Wheel {
    Wheel { package, file, sha256, folder }
}

/// The package with the compiler itself.
const NVRTC: &str = "nvidia-cuda-nvrtc-cu12";
/// The headers of CUDA: `cuda_fp16.h`, `cuda_bf16.h`, `mma.h` …
const RUNTIME: &str = "nvidia-cuda-runtime-cu12";

/// For this kind of machine. The hashes are those that PyPI lists.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub const WHEELS: &[Wheel] = &[
    wheel(
        NVRTC,
        "nvidia_cuda_nvrtc_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl",
        "a178759ebb095827bd30ef56598ec182b85547f1508941a3d560eb7ea1fbf338",
        "nvidia/cuda_nvrtc/",
    ),
    wheel(
        RUNTIME,
        "nvidia_cuda_runtime_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl",
        "64403288fa2136ee8e467cdc9c9427e0434110899d07c779f25b5c068934faa5",
        "nvidia/cuda_runtime/include/",
    ),
];
#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
pub const WHEELS: &[Wheel] = &[
    wheel(
        NVRTC,
        "nvidia_cuda_nvrtc_cu12-12.4.127-py3-none-manylinux2014_aarch64.whl",
        "0eedf14185e04b76aa05b1fea04133e59f465b6f960c0cbf4e37c3cb6b0ea198",
        "nvidia/cuda_nvrtc/",
    ),
    wheel(
        RUNTIME,
        "nvidia_cuda_runtime_cu12-12.4.127-py3-none-manylinux2014_aarch64.whl",
        "961fe0e2e716a2a1d967aab7caee97512f71767f852f67432d572e36cb3a11f3",
        "nvidia/cuda_runtime/include/",
    ),
];
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub const WHEELS: &[Wheel] = &[];

/// Whether NVIDIA publishes wheels for this kind of machine.
pub const IS_OFFERED: bool = !WHEELS.is_empty();

/// Returns the folder that receives the compiler.
pub fn directory() -> PathBuf {
    paths::repository().join("target/nvrtc")
}
