//! Starts untrusted programs: bubblewrap isolates them, and the started program sets limits for itself.
//!
//! The sandbox contains the program, the libraries that it loads, the folder of the job (read-only), and nothing else:
//! no other file, no device, no `/proc`, no network, no other process, no environment, no capability, nothing writable
//! but a small `/tmp` for rustc.
//! Both the compiler and the kernel run so, each in a sandbox of its own.
//!
//! Landlock and a seccomp filter restrict the program to the same files and to itself where users may not make
//! namespaces, as in most containers. It can then learn of a path whether it exists, and it has a single thread.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, ensure};
use catalog::{files::FileError, process};

/// Path of the job's folder in the sandbox.
const JOB: &str = "/job";
const PROGRAMS: &str = "/bin";

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct JobLimits {
    /// Processor time in seconds.
    pub seconds: u64,
    /// Address space in bytes.
    pub memory: u64,
    /// Printed output in bytes.
    pub output: usize,
}

/// Wall-clock seconds per second of processor time: the machine does other work, too.
const CLOCK_PER_CPU: u64 = 10;
/// Limit for a file that a program writes, in bytes, although nothing in the sandbox is writable.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Size of a `/tmp` in bytes.
const SCRATCH_BYTES: u64 = 64 << 20;
/// Processes and threads of one program.
const PROCESSES: u64 = 64;
/// No limit without a sandbox, because it would count everything else that the user runs.
const NO_LIMIT: u64 = u64::MAX;

/// Numbers for `setrlimit`, which the launcher gets as words of its command line: seconds of processor time, bytes of
/// address space, bytes of a written file, processes and threads.
pub type ResourceLimits = [u64; 4];

#[derive(Debug, Clone)]
pub enum Sandbox {
    Bubblewrap(Bubblewrap),
    /// Restrictions that the started program sets for itself: `confine::restrict`.
    Landlock,
    /// Limits of time and memory only.
    None,
}

#[derive(Debug, Clone)]
pub struct Bubblewrap {
    program: PathBuf,
    /// Bubblewrap is 0.8 or newer, and has `--disable-userns` and `--size`.
    is_new: bool,
}

/// A program to run in a sandbox.
#[derive(Debug, Clone)]
pub struct Confined<'a> {
    pub program: &'a Path,
    /// Further files and folders that it reads, under the same paths inside.
    pub reads: &'a [PathBuf],
    /// The folder of the job, its working directory.
    pub job: &'a Path,
    /// Arguments; paths are relative to the job, or among `reads`.
    pub arguments: &'a [OsString],
    pub limits: JobLimits,
    /// The program gets a `/tmp` in memory, which is gone when it ends. Bubblewrap alone gives one.
    pub has_scratch: bool,
}

impl Sandbox {
    /// Finds bubblewrap. On systems where users may not make a sandbox, only running one fails.
    pub fn bubblewrap() -> Result<Self> {
        let get = "no bubblewrap found (the program `bwrap`; Debian and Ubuntu: apt install bubblewrap)";
        let program = catalog::programs::on_path("bwrap").context(get)?;
        let version = Command::new(&program).arg("--version").output().map_err(FileError::at(&program))?;
        Ok(Self::Bubblewrap(Bubblewrap { program, is_new: is_new(&String::from_utf8_lossy(&version.stdout)) }))
    }

    /// Returns whether a program can reach nothing outside.
    pub fn is_tight(&self) -> bool {
        !matches!(self, Self::None)
    }

    /// Returns the command that runs the program. `launcher` is a program that calls [`crate::confine`] with the words
    /// before its limits.
    pub fn command(&self, launcher: &Launcher, confined: &Confined<'_>) -> Command {
        match self {
            Self::Bubblewrap(wrap) => wrap.command(launcher, confined),
            Self::Landlock | Self::None => {
                let mut command = Command::new(&launcher.program);
                command.env_clear().current_dir(confined.job);
                command.args(launcher.arguments(confined.limits, NO_LIMIT));
                if matches!(self, Self::Landlock) {
                    let others = launcher.libraries.iter().chain(confined.reads).map(PathBuf::as_path);
                    for path in others.chain([confined.program, confined.job]) {
                        command.arg("--reads").arg(path);
                    }
                }
                command.arg("--").arg(confined.program).args(confined.arguments);
                command
            }
        }
    }

    /// Runs the program. It fails when it cannot be started.
    pub fn run(&self, launcher: &Launcher, confined: &Confined<'_>) -> std::io::Result<process::ProcessOutput> {
        let clock = Duration::from_secs(confined.limits.seconds * CLOCK_PER_CPU);
        let mut command = self.command(launcher, confined);
        command.stdin(Stdio::null());
        process::run(command, clock, confined.limits.output, &launcher.interrupted)
    }
}

/// The program that sets the limits and becomes another.
#[derive(Debug, Clone)]
pub struct Launcher {
    pub program: PathBuf,
    /// First argument of the launcher, a subcommand.
    pub word: String,
    /// Libraries of the launcher and of the programs that it starts.
    pub libraries: BTreeSet<PathBuf>,
    /// Returns whether running programs are to be stopped.
    pub interrupted: fn() -> bool,
}

impl Launcher {
    fn arguments(&self, limits: JobLimits, processes: u64) -> Vec<String> {
        let words: ResourceLimits = [limits.seconds, limits.memory, MAX_FILE_BYTES, processes];
        std::iter::once(self.word.clone()).chain(words.map(|number| number.to_string())).collect()
    }
}

impl Bubblewrap {
    fn command(&self, launcher: &Launcher, confined: &Confined<'_>) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear();
        command.args(["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--clearenv"]);
        command.args(["--cap-drop", "ALL", "--uid", "65534", "--gid", "65534", "--hostname", "sandbox"]);
        if self.is_new {
            command.arg("--disable-userns");
        }
        // Before what may lie in it.
        if confined.has_scratch {
            if self.is_new {
                command.arg("--size").arg(SCRATCH_BYTES.to_string());
            }
            command.args(["--tmpfs", "/tmp"]);
        }
        let inside = |program: &Path| Path::new(PROGRAMS).join(program.file_name().unwrap_or_default());
        for file in launcher.libraries.iter().chain(confined.reads) {
            // The device of a plain bind mount cannot be opened.
            let bind = if file == Path::new("/dev/null") { "--dev-bind" } else { "--ro-bind" };
            command.arg(bind).arg(file).arg(file);
        }
        for program in [launcher.program.as_path(), confined.program] {
            command.arg("--ro-bind").arg(program).arg(inside(program));
        }
        command.arg("--ro-bind").arg(confined.job).args([JOB, "--remount-ro", "/", "--chdir", JOB]);
        command.arg(inside(&launcher.program));
        command.args(launcher.arguments(confined.limits, PROCESSES)).arg("--").arg(inside(confined.program));
        command.args(confined.arguments);
        command
    }
}

/// Returns whether a version such as `bubblewrap 0.8.0` has the options of 0.8.
fn is_new(version: &str) -> bool {
    let number = version.trim().rsplit(' ').next().unwrap_or_default();
    let mut parts = number.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= (0, 8)
}

/// Lists, by `ldd`, the libraries that the loader resolves for our programs and libraries. Fails without `ldd`, or when
/// a library is missing.
pub fn libraries(programs: &[PathBuf]) -> Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    for path in programs {
        let output = Command::new("ldd").arg(path).output();
        let output = output.map_err(|why| anyhow!("ldd, which lists what a program loads: {why}"))?;
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let line = line.trim();
            ensure!(!line.contains("not found"), "{}: {line}", path.display());
            let path = line.split_once("=> ").map_or(line, |(_, path)| path);
            let path = path.split(" (0x").next().unwrap_or_default().trim();
            if path.starts_with('/') {
                found.insert(PathBuf::from(path));
            }
        }
    }
    Ok(found)
}
