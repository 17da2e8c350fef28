//! NVIDIA's assembler: machine code of PTX that NVRTC did not make, and its reports, which NVRTC passes on.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use catalog::programs::on_path;

use crate::wheels;

/// The release that makes the committed machine code: that of NVRTC.
const RELEASE: &str = "release 12.4,";

/// The GPU that machine code is made for: `sm_90`.
pub const GPU: u32 = 90;

pub struct Ptxas(PathBuf);

impl Ptxas {
    /// Returns the first assembler of the right release: that of `cargo xtask setup --rust`, or one of the `PATH`.
    pub fn find() -> Result<Self> {
        let name = if cfg!(windows) { "ptxas.exe" } else { "ptxas" };
        let own = wheels::ptxas_directory().join("nvidia/cuda_nvcc/bin").join(name);
        for path in [Some(own), on_path(name)].into_iter().flatten() {
            let version = Command::new(&path).arg("--version").output();
            if version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(RELEASE)) {
                return Ok(Self(path));
            }
        }
        bail!(
            "no ptxas of {} found, NVIDIA's assembler; get it with: cargo xtask setup --rust",
            RELEASE.trim_end_matches(',')
        )
    }

    /// Returns machine code for [`GPU`], with the lines of the source, and the report on registers.
    /// `folder` receives what it reads and writes.
    pub fn assemble(&self, ptx: &str, folder: &Path) -> Result<(Vec<u8>, String)> {
        let [source, target] = ["kernel.ptx", "kernel.cubin"].map(|name| folder.join(name));
        std::fs::write(&source, ptx).with_context(|| source.display().to_string())?;
        let mut command = Command::new(&self.0);
        // Where it finds no source it writes no time of one, so that the same PTX gives the same machine code.
        command
            .current_dir(folder)
            .args(["-v", "-lineinfo"])
            .arg(format!("-arch=sm_{}", GPU))
            .arg("-o")
            .arg(&target)
            .arg(&source);
        let output = command.output().with_context(|| format!("starting {}", self.0.display()))?;
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.success(), "ptxas: {}", log.trim_end());
        Ok((std::fs::read(&target).with_context(|| target.display().to_string())?, log))
    }
}

/// Reads the output of `ptxas -v`: `kernel: 32 registers, 2048 bytes smem, 0 bytes spilled`.
pub fn resources(log: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut kernel, mut spilled) = (String::new(), 0u32);
    for line in log.lines() {
        if let Some(rest) = line.split("Compiling entry function '").nth(1) {
            kernel = rest.split('\'').next().unwrap_or_default().to_string();
        } else if let Some(rest) = line.split("bytes stack frame, ").nth(1) {
            spilled = rest.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
        } else if let Some(rest) = line.split(": Used ").nth(1)
            && !kernel.is_empty()
        {
            let registers = rest.split(' ').next().unwrap_or_default();
            let shared = rest.split(", ").find_map(|part| part.strip_suffix(" bytes smem")).unwrap_or("0");
            lines.push(format!("{kernel}: {registers} registers, {shared} bytes smem, {spilled} bytes spilled"));
            (kernel, spilled) = (String::new(), 0);
        }
    }
    lines
}
