//! `cargo xtask setup`: fetches NVRTC and its headers into `target/nvrtc`.
//!
//! NVIDIA's libraries are never part of the repository: whoever wants to compile kernels downloads them.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};

use crate::{Verdict, say};

/// The compiler and the headers (`cuda_fp16.h`, `cuda_bf16.h` …) that the committed PTX was made with.
pub(crate) const PACKAGES: [&str; 2] = [
    "nvidia-cuda-nvrtc-cu12==12.4.127",
    "nvidia-cuda-runtime-cu12==12.4.127",
];

/// Where they go.
pub(crate) fn directory() -> PathBuf {
    crate::ptx::repository().join("target/nvrtc")
}

/// Downloads with pip.
pub(crate) fn run() -> anyhow::Result<Verdict> {
    let target = directory();
    let status = Command::new("python3")
        .args(["-m", "pip", "install", "--no-deps", "--upgrade", "--target"])
        .arg(&target)
        .args(PACKAGES)
        .status()
        .context("python3 is needed to fetch packages from PyPI")?;
    if !status.success() {
        bail!(
            "pip could not install {} into {}",
            PACKAGES.join(" and "),
            target.display()
        );
    }
    say::note(&format!("NVRTC is in {}", target.display()));
    Ok(Verdict::Passed)
}
