//! NVRTC in a process of its own, which can be stopped.
//!
//! A template that expands without end or an `#include` of an endless file keeps NVRTC busy for ever, and a library
//! call cannot be interrupted. So `xtask` starts itself as `compile-server`: requests and answers are lines of JSON.

#[cfg(all(test, unix))]
mod tests;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use catalog::process;
use serde::{Deserialize, Serialize};

use crate::CommandOutcome;
use crate::nvrtc::{CompileInput, Compiled, DoesNotCompile, LoadedNvrtc, Nvrtc};
use crate::output::{self, Stop};
use crate::{interrupt, paths};

/// Time limit for one source; the slowest of the repository takes half a minute on an idle machine.
const TIME_LIMIT: Duration = Duration::from_secs(120);
/// Limit of address space, so that a runaway template does not take the machine's memory.
#[cfg(unix)]
const MAX_ADDRESS_SPACE_BYTES: libc::rlim_t = 8 << 30;

/// Starts in place of a command of the user.
#[derive(clap::Args)]
pub struct Args {
    /// Folder of NVRTC
    directory: PathBuf,
    /// Print the version, and compile nothing
    #[arg(long)]
    version_only: bool,
}

/// The compiled program, or why there is none.
type Answer = Result<Compiled, Failure>;

#[derive(Serialize, Deserialize)]
enum Failure {
    /// The messages of the compiler on the source.
    Source(String),
    /// A failure of the compiler itself.
    Compiler(String),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        match error.downcast::<DoesNotCompile>() {
            Ok(DoesNotCompile(log)) => Self::Source(log),
            Err(other) => Self::Compiler(format!("{other:#}")),
        }
    }
}

/// Answers requests until standard input ends.
pub fn serve(args: &Args) -> Result<CommandOutcome> {
    #[cfg(unix)]
    {
        let limit = libc::rlimit { rlim_cur: MAX_ADDRESS_SPACE_BYTES, rlim_max: MAX_ADDRESS_SPACE_BYTES };
        // SAFETY: the pointer is to a live local. Where the limit is refused, there is none.
        unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) };
    }
    let nvrtc = LoadedNvrtc::load(&args.directory)?;
    if args.version_only {
        output::print(&serde_json::to_string(&nvrtc.nvrtc.version)?)?;
        return Ok(CommandOutcome::Passed);
    }
    // Windows deletes no folder that is in use.
    if cfg!(unix) {
        enter_deleted_folder();
    }
    for line in std::io::stdin().lines() {
        let input: CompileInput = serde_json::from_str(&line?)?;
        let answer: Answer = nvrtc.compile(&input).map_err(Failure::from);
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", serde_json::to_string(&answer)?)?;
        out.flush()?;
    }
    Ok(CommandOutcome::Passed)
}

/// Changes to a deleted folder. NVRTC writes names of sources into machine code with its working directory in front,
/// and where there is none, as they are.
fn enter_deleted_folder() {
    let nowhere = std::env::temp_dir().join(format!("tile-by-tile-nowhere-{}", std::process::id()));
    if std::fs::create_dir(&nowhere).is_ok() {
        // Where this fails, machine code has longer names.
        let _ = std::env::set_current_dir(&nowhere);
        let _ = std::fs::remove_dir(&nowhere);
    }
}

/// Returns the version of the NVRTC in a folder. Another process loads it: where the library is cut off or damaged,
/// that one ends.
pub(crate) fn version(directory: &Path) -> Result<(i32, i32)> {
    /// Time limit for loading; it takes a tenth of a second.
    const TIME_LIMIT: Duration = Duration::from_secs(30);
    const MAX_OUTPUT_BYTES: usize = 1 << 16;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("compile-server").arg(directory).arg("--version-only").stdin(Stdio::null());
    let ended = process::run(command, TIME_LIMIT, MAX_OUTPUT_BYTES, &interrupt::happened).context("starting it")?;
    interrupt::check("nothing was compiled")?;
    let words = ended.errors.trim().trim_start_matches("error: ");
    match serde_json::from_slice(&ended.output) {
        Ok(version) if ended.status.success() => Ok(version),
        _ if ended.stopped.is_some() => bail!("it took more than {} s", TIME_LIMIT.as_secs()),
        _ if words.is_empty() => bail!("the process that loads it ended ({})", ended.status),
        _ => bail!("{words}"),
    }
}

/// A compiler that runs elsewhere.
pub struct Compiler {
    pub nvrtc: Nvrtc,
    child: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
    limit: Duration,
}

impl Compiler {
    pub fn start(nvrtc: &Nvrtc) -> Result<Self> {
        // NVRTC writes where a source lies as seen from its working directory: what comes out must not depend on ours.
        let directory = nvrtc.directory.canonicalize().unwrap_or_else(|_| nvrtc.directory.clone());
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("compile-server").arg(directory);
        if let Some(root) = paths::checkout() {
            command.current_dir(root);
        }
        Self::spawn(nvrtc.clone(), command, TIME_LIMIT)
    }

    fn spawn(nvrtc: Nvrtc, mut command: Command, limit: Duration) -> Result<Self> {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("starting the compiler")?;
        let requests = child.stdin.take().context("no standard input")?;
        let out = BufReader::new(child.stdout.take().context("no standard output")?);
        let (sender, answers) = channel();
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Ok(Self { nvrtc, child, requests, answers, limit })
    }

    /// Compiles one source. After an error that is not the compiler's answer the process is gone, and so are further
    /// answers.
    pub fn compile(&mut self, input: &CompileInput) -> Result<Compiled> {
        let name = &input.name;
        let sent = writeln!(self.requests, "{}", serde_json::to_string(input)?);
        let answer = match sent {
            Ok(()) => self.answers.recv_timeout(self.limit),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        };
        match answer {
            Ok(line) => serde_json::from_str::<Answer>(&line)?.map_err(|failure| match failure {
                Failure::Source(log) => anyhow!(DoesNotCompile(log)),
                Failure::Compiler(why) => anyhow!(why),
            }),
            Err(_) if interrupt::happened() => Err(Stop::Interrupted(format!("{name} was not compiled")).into()),
            Err(RecvTimeoutError::Timeout) => {
                let _ = self.child.kill();
                Err(anyhow!(DoesNotCompile(format!(
                    "{name} was still being compiled after {} s, and the compiler was stopped; look for a template, a \
                     macro or an #include without end",
                    self.limit.as_secs()
                ))))
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.child.wait()?;
                bail!(
                    "the compiler ended ({status}) while it compiled {name}; if that happens again, this gets a new one \
                     where it is damaged: cargo xtask setup"
                )
            }
        }
    }
}

impl Drop for Compiler {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Compilers for several threads: a thread takes one that waits, or starts one.
pub struct Compilers {
    nvrtc: Nvrtc,
    waiting: Mutex<Vec<Compiler>>,
}

impl Compilers {
    /// Returns none yet.
    pub fn new(nvrtc: Nvrtc) -> Self {
        Self { nvrtc, waiting: Mutex::default() }
    }

    /// Lends a compiler, and returns what came of the work.
    pub fn lend<T>(&self, work: impl FnOnce(&mut Compiler) -> Result<T>) -> Result<T> {
        let waiting = self.waiting.lock().ok().and_then(|mut waiting| waiting.pop());
        let mut compiler = waiting.map_or_else(|| Compiler::start(&self.nvrtc), Ok)?;
        let result = work(&mut compiler);
        if let Ok(mut waiting) = self.waiting.lock() {
            waiting.push(compiler);
        }
        result
    }
}
