//! clang as a compiler of kernels, for machines for which NVIDIA has no NVRTC.
//!
//! No header of CUDA is there: what kernels of this course use is declared in `prelude.cuh`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use catalog::{process, programs::on_path};
use xtask_support::{compile_cache::CompileCache, nvrtc::DoesNotCompile, output::Stop, source::CompileJob};
use xtask_support::{interrupt, source, wheels};

use crate::rustc::Stopped;

/// Message if no clang is found.
pub const MISSING: &str = if wheels::IS_OFFERED {
    "no clang found; install it, or get NVIDIA's compiler with: cargo xtask setup"
} else {
    "no clang found, and NVIDIA's compiler is for Linux and Windows; install clang 14 or later"
};

/// Declarations that NVIDIA's compilers have built in.
pub const PRELUDE: &str = include_str!("prelude.cuh");

/// Time limit for one source, because a template or a macro may be without end.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// Output limit of clang. The PTX of a kernel of the course has some ten thousand bytes.
const MAX_OUTPUT_BYTES: usize = 64 << 20;

/// Names under which it is installed. Versions before 14 lack what is needed here.
const NAMES: [&str; 10] = [
    "clang", "clang-22", "clang-21", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14",
];

pub struct Clang(pub PathBuf);

impl Clang {
    /// Returns the first on the `PATH`.
    pub fn find() -> Option<Self> {
        NAMES.iter().find_map(|name| on_path(name)).map(Self)
    }

    /// Returns the part of a cache key that names the compiler: `Debian clang version 14.0.6`, and the prelude.
    pub fn key(&self) -> Result<String> {
        let output = Command::new(&self.0)
            .arg("--version")
            .output()
            .with_context(|| format!("starting {}", self.0.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(format!("{}\n{PRELUDE}", text.lines().next().unwrap_or_default()))
    }

    pub(crate) fn compile(&self, root: &Path, path: &Path, job: &CompileJob) -> Result<String> {
        let prelude = CompileCache::in_checkout(root).put("prelude.cuh", PRELUDE)?;
        self.compile_after(&prelude, root, path, job)
    }

    /// Compiles with the prelude in an existing file.
    pub fn compile_after(&self, prelude: &Path, root: &Path, path: &Path, job: &CompileJob) -> Result<String> {
        // Clang 14 has no sm_90a. It copies inline PTX without reading it, so that the header alone names the target.
        let target = job.capability();
        let known = if target.ends_with('a') { "80" } else { target };
        let mut command = Command::new(&self.0);
        command
            .args(["-x", "cuda", "--cuda-device-only", "-S", "-O3", "-std=c++17"])
            .args(["-nocudainc", "-nostdinc", "-nostdinc++", "-nocudalib"])
            .args(["-gline-directives-only", "-ffp-contract=fast", "-fno-exceptions"])
            .args(["-fno-color-diagnostics", "-Wno-unknown-cuda-version"])
            .arg(format!("--cuda-gpu-arch=sm_{known}"))
            .args(["-Xclang", "-target-feature", "-Xclang", "+ptx70"])
            .arg("-include")
            .arg(prelude);
        for folder in &job.folders {
            command.arg("-I").arg(folder);
        }
        // Messages name the file as it is given here.
        let given = path.strip_prefix(root).unwrap_or(path);
        command.arg("-o").arg("-").arg(given).current_dir(root);
        // It reads nothing from its standard input, and a sandbox has no empty device to give it.
        let ended = process::run(command, TIME_LIMIT, MAX_OUTPUT_BYTES, &interrupt::happened)
            .with_context(|| format!("starting {}", self.0.display()))?;
        match (ended.stopped, ended.status.code()) {
            (None, Some(0)) => {}
            (None, Some(_)) => return Err(anyhow!(DoesNotCompile(ended.errors))),
            (None, None) => {
                return Err(anyhow!(Stopped {
                    compiler: "clang",
                    name: job.name.clone(),
                    status: ended.status,
                    words: ended.errors
                }));
            }
            (Some(process::Stopped::Interrupt), _) => {
                bail!(Stop::Interrupted(format!("{} was not compiled", job.name)))
            }
            (Some(process::Stopped::Output), _) => {
                return Err(anyhow!(DoesNotCompile(format!(
                    "{} compiles to more than {} MiB of PTX",
                    job.name,
                    MAX_OUTPUT_BYTES >> 20
                ))));
            }
            (Some(process::Stopped::Time), _) => {
                return Err(anyhow!(DoesNotCompile(format!(
                    "{} was still being compiled after {} s, and the compiler was stopped; look for a template, a \
                     macro or an #include without end",
                    job.name,
                    TIME_LIMIT.as_secs()
                ))));
            }
        }
        let mut text = source::normalise(&String::from_utf8_lossy(&ended.output), root, None);
        if known != target {
            text = text.replacen(".version 7.0\n.target sm_80", &format!(".version 8.0\n.target sm_{target}"), 1);
        }
        Ok(text)
    }
}
