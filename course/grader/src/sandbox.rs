//! How a program is started that must reach nothing: bubblewrap, with limits set by the program itself.
//!
//! Inside there are the program, the libraries that it loads, the folder of the job (read-only), and nothing else: no
//! other file, no device, no `/proc`, no network, no other process, no environment, no capability, nothing that can be
//! written. Both the compiler and the kernel run so, each in a sandbox of its own.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use catalog::process;

/// Where the job lies inside.
const JOB: &str = "/job";
/// Where programs lie inside.
const PROGRAMS: &str = "/bin";

/// Limits of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Limits {
    /// Seconds of processor time.
    pub seconds: u64,
    /// Bytes of address space.
    pub memory: u64,
    /// Bytes that it may print.
    pub output: usize,
}

/// Seconds of the clock for one of processor time: the machine does other work, too.
const PATIENCE: u64 = 10;
/// Bytes of a file that a program may write; nothing that it sees can be written.
const FILE: u64 = 1 << 20;
/// Processes and threads of one program.
const PROCESSES: u64 = 64;
/// Without a sandbox the limit would count everything else that the user runs, too.
const NO_LIMIT: u64 = u64::MAX;

/// Numbers for `setrlimit`, which the launcher gets as words of its command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ceilings {
    /// Seconds of processor time.
    pub seconds: u64,
    /// Bytes of address space.
    pub memory: u64,
    /// Bytes of a file that the program writes.
    pub file: u64,
    /// Number of processes and threads.
    pub processes: u64,
}

impl Ceilings {
    /// `20 4294967296 1048576 64`
    pub fn words(&self) -> [String; 4] {
        [self.seconds, self.memory, self.file, self.processes].map(|limit| limit.to_string())
    }

    /// Reads the numbers that [`Ceilings::words`] wrote.
    pub fn of_words(words: [u64; 4]) -> Self {
        let [seconds, memory, file, processes] = words;
        Self {
            seconds,
            memory,
            file,
            processes,
        }
    }
}

/// How programs are kept from everything else.
#[derive(Debug, Clone)]
pub enum Sandbox {
    /// With bubblewrap.
    Bubblewrap(Bubblewrap),
    /// None: limits of time and memory only.
    None,
}

/// bubblewrap as it is installed here.
#[derive(Debug, Clone)]
pub struct Bubblewrap {
    program: PathBuf,
    /// Since 0.8: nothing inside can make a user namespace.
    has_disable_userns: bool,
}

/// A program to run in a sandbox.
#[derive(Debug, Clone)]
pub struct Confined<'a> {
    /// Path of the program.
    pub program: &'a Path,
    /// Further files and folders that it reads: outside, and the same place inside.
    pub reads: &'a [PathBuf],
    /// The folder of the job, in which it starts.
    pub job: &'a Path,
    /// Its arguments; paths are relative to the job, or among `reads`.
    pub arguments: &'a [OsString],
    /// Limits of the program.
    pub limits: Limits,
}

impl Sandbox {
    /// bubblewrap, if it is installed; otherwise why not. Some systems do not let users make a sandbox: that shows when
    /// one is run.
    ///
    /// # Errors
    /// With a sentence for the instructor.
    pub fn find() -> Result<Self, String> {
        let missing = "no bubblewrap found (the program `bwrap`; Debian and Ubuntu: apt install bubblewrap)";
        let program = catalog::programs::on_path("bwrap").ok_or(missing)?;
        let version = Command::new(&program)
            .arg("--version")
            .output()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        Ok(Self::Bubblewrap(Bubblewrap {
            program,
            has_disable_userns: is_new(&String::from_utf8_lossy(&version.stdout)),
        }))
    }

    /// Returns whether a program can reach nothing outside.
    pub fn is_tight(&self) -> bool {
        matches!(self, Self::Bubblewrap(_))
    }

    /// The command that runs it. `launcher` is a program that calls [`crate::confine`], with the words before its limits.
    pub fn command(&self, launcher: &Launcher, what: &Confined<'_>) -> Command {
        match self {
            Self::Bubblewrap(wrap) => wrap.command(launcher, what),
            Self::None => {
                let mut command = Command::new(&launcher.program);
                command.env_clear().current_dir(what.job);
                command
                    .args(launcher.words(what.limits, NO_LIMIT))
                    .arg(what.program);
                command.args(what.arguments);
                command
            }
        }
    }

    /// Runs it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run(&self, launcher: &Launcher, what: &Confined<'_>) -> std::io::Result<process::Ended> {
        let clock = Duration::from_secs(what.limits.seconds * PATIENCE);
        let mut command = self.command(launcher, what);
        command.stdin(Stdio::null());
        process::run(command, clock, what.limits.output, &launcher.interrupted)
    }
}

/// The program that sets the limits and becomes another.
#[derive(Debug, Clone)]
pub struct Launcher {
    /// Path of the program.
    pub program: PathBuf,
    /// Its first argument, a subcommand.
    pub word: String,
    /// Libraries that it loads, and those of the programs that it starts.
    pub libraries: BTreeSet<PathBuf>,
    /// Returns whether running programs are to be stopped.
    pub interrupted: fn() -> bool,
}

impl Launcher {
    fn words(&self, limits: Limits, processes: u64) -> Vec<String> {
        let ceilings = Ceilings {
            seconds: limits.seconds,
            memory: limits.memory,
            file: FILE,
            processes,
        };
        let mut words = vec![self.word.clone()];
        words.extend(ceilings.words());
        words.push("--".into());
        words
    }
}

impl Bubblewrap {
    fn command(&self, launcher: &Launcher, what: &Confined<'_>) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear();
        command.args([
            "--unshare-all",
            "--unshare-user",
            "--die-with-parent",
            "--new-session",
            "--clearenv",
        ]);
        command.args([
            "--cap-drop",
            "ALL",
            "--uid",
            "65534",
            "--gid",
            "65534",
            "--hostname",
            "sandbox",
        ]);
        if self.has_disable_userns {
            command.arg("--disable-userns");
        }
        let inside = |program: &Path| Path::new(PROGRAMS).join(program.file_name().unwrap_or_default());
        for file in launcher.libraries.iter().chain(what.reads) {
            command.arg("--ro-bind").arg(file).arg(file);
        }
        let mut programs = vec![launcher.program.as_path()];
        if what.program != launcher.program {
            programs.push(what.program);
        }
        for program in programs {
            command.arg("--ro-bind").arg(program).arg(inside(program));
        }
        command
            .arg("--ro-bind")
            .arg(what.job)
            .args([JOB, "--remount-ro", "/", "--chdir", JOB]);
        command.arg(inside(&launcher.program));
        command
            .args(launcher.words(what.limits, PROCESSES))
            .arg(inside(what.program));
        command.args(what.arguments);
        command
    }
}

/// Returns whether a version such as `bubblewrap 0.8.0` has the options of 0.8.
fn is_new(version: &str) -> bool {
    let number = version.trim().rsplit(' ').next().unwrap_or_default();
    let mut parts = number.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= (0, 8)
}

/// The libraries that the loader gives to programs and libraries of ours, by `ldd`.
///
/// # Errors
/// When there is no `ldd`, or it does not find one of them.
pub fn libraries(of: &[PathBuf]) -> Result<BTreeSet<PathBuf>, String> {
    let mut found = BTreeSet::new();
    for path in of {
        let output = Command::new("ldd").arg(path).output();
        let output = output.map_err(|error| format!("ldd, which lists what a program loads: {error}"))?;
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let line = line.trim();
            if line.contains("not found") {
                return Err(format!("{}: {line}", path.display()));
            }
            let path = line.split_once("=> ").map_or(line, |(_, path)| path);
            let path = path.split(" (0x").next().unwrap_or_default().trim();
            if path.starts_with('/') {
                found.insert(PathBuf::from(path));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(is_new("bubblewrap 0.8.0\n") && is_new("bubblewrap 0.11.0") && is_new("bubblewrap 1.0"));
        assert!(!is_new("bubblewrap 0.6.1\n") && !is_new(""));
    }

    #[test]
    fn ceilings_are_read_back() {
        let ceilings = Ceilings::of_words([1, 2, 3, 4]);
        let words = ceilings.words().map(|word| word.parse().expect("a number"));
        assert_eq!(Ceilings::of_words(words), ceilings);
    }

    #[test]
    fn only_processes_in_the_sandbox_are_counted() {
        let launcher = Launcher {
            program: "/launcher".into(),
            word: "confined".into(),
            libraries: BTreeSet::new(),
            interrupted: || false,
        };
        let what = Confined {
            program: Path::new("/program"),
            reads: &[],
            job: Path::new("/job"),
            arguments: &[],
            limits: Limits {
                seconds: 1,
                memory: 2,
                output: 3,
            },
        };
        let wrap = Bubblewrap {
            program: "/bwrap".into(),
            has_disable_userns: true,
        };
        let processes = |sandbox: Sandbox| {
            let command = sandbox.command(&launcher, &what);
            let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
            let at = words
                .iter()
                .position(|word| word == "confined")
                .expect("a launcher");
            words[at + 4].parse::<u64>().expect("a number")
        };
        assert_eq!(processes(Sandbox::Bubblewrap(wrap)), PROCESSES);
        assert_eq!(processes(Sandbox::None), NO_LIMIT);
    }
}
