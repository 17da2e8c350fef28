//! NVIDIA's assembler: machine code of PTX that NVRTC did not make.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use catalog::programs::on_path;
use xtask_support::cubin::GPU;
use xtask_support::wheels;

/// The release that makes the committed machine code: that of NVRTC.
const RELEASE: &str = "release 12.4,";

pub(crate) struct Ptxas(PathBuf);

impl Ptxas {
    /// Returns the first assembler of the right release: that of `cargo xtask setup --rust`, or one of the `PATH`.
    pub(crate) fn find() -> Result<Self> {
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
    pub(crate) fn assemble(&self, ptx: &str, folder: &Path) -> Result<(Vec<u8>, String)> {
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
