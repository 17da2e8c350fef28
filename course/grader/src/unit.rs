//! Compiles and judges one task of one submission.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use serde::{Deserialize, Serialize};
use tasks::compile::Refused;
use tasks::edits::{self, Clues};
use tasks::verdict::{Remedy, Status, Verdict};
use tasks::{diff, part_id};

use crate::rubric::GradedTask;
use crate::sandbox::{Confined, JobLimits, Launcher, Sandbox};
use catalog::files::FileError;
use catalog::process::{ProcessOutput, Stopped};

/// The programs that compile and judge, and the files that they need.
#[derive(Debug, Clone)]
pub struct Tools {
    /// The program that sets limits; see [`Launcher`].
    pub launcher: Launcher,
    /// The compiler of kernels in CUDA C++, where a task needs it.
    pub cuda: Option<CompilerProgram>,
    /// The compiler of kernels in Rust, where a task needs it.
    pub rust: Option<CompilerProgram>,
    pub judge: PathBuf,
    /// Headers that sources may include: name and text.
    pub headers: Vec<(String, String)>,
    /// Version of the programs: part of the key of a result.
    pub version: String,
}

/// A program that compiles a source of its working directory, and prints a [`CompilerAnswer`].
#[derive(Debug, Clone)]
pub struct CompilerProgram {
    pub program: PathBuf,
    /// Arguments before the source.
    pub arguments: Vec<OsString>,
    pub reads: Vec<PathBuf>,
    /// The program starts others, which Landlock's sandbox does not let it.
    pub needs_processes: bool,
}

/// The output of the compiler, as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompilerAnswer {
    Ptx(String),
    /// The messages of the compiler on a source that it refuses.
    Refused(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TaskLimits {
    pub compile: JobLimits,
    pub judge: JobLimits,
}

impl Default for TaskLimits {
    fn default() -> Self {
        const GIB: u64 = 1 << 30;
        Self {
            compile: JobLimits { seconds: 20, memory: 4 * GIB, output: 64 << 20 },
            judge: JobLimits { seconds: 60, memory: 4 * GIB, output: 16 << 20 },
        }
    }
}

/// Codes of verdicts from the grader, which `judge` does not have.
pub mod code {
    /// No file was handed in.
    pub const MISSING: &str = "missing";
    /// The submission cannot be read.
    pub const REFUSED: &str = "refused";
    pub const TIMEOUT: &str = "timeout";
    /// The program `judge` ended without a verdict.
    pub const STOPPED: &str = "stopped";
}

/// Reason, other than the source, for which a source has no verdict.
#[derive(Debug, thiserror::Error)]
pub enum UnitError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("starting {program}: {why}")]
    NotStarted { program: &'static str, why: std::io::Error },
    #[error("{program} was interrupted")]
    Interrupted { program: &'static str },
    /// A signal that neither the program nor the grader sent.
    #[error("{program} was ended from outside (signal {signal})")]
    EndedFromOutside { program: &'static str, signal: i32 },
    /// The program ended without an answer; `words` are from its standard error.
    #[error("{program} gave no answer ({status}){}{words}", if .words.is_empty() { "" } else { ": " })]
    NoAnswer { program: &'static str, status: ExitStatus, words: String },
    #[error("judge gave the verdict of another task")]
    OtherTask,
}

/// All that a verdict on a source depends on, apart from the source.
pub(crate) struct Unit<'a> {
    pub(crate) tools: &'a Tools,
    pub(crate) sandbox: &'a Sandbox,
    pub(crate) limits: &'a TaskLimits,
    pub(crate) graded: &'a GradedTask,
    pub(crate) seed: u64,
    /// The file that students began with; empty where it is not known.
    pub(crate) starter: &'a str,
}

/// Barriers that are tried where threads race.
const MAX_BARRIERS: usize = 4;
/// Limit for a source in which they are tried, in bytes.
const MAX_REPAIRED: usize = 1 << 15;

impl Unit<'_> {
    /// Compiles and judges a source, or judges an answer to a task for the host. `job` is an empty folder for this call
    /// alone.
    ///
    /// Criteria are not measured in a kernel that races. If a barrier removes the race, and the result is right then,
    /// the criteria are those of the kernel with the barrier, and it is a remedy of the verdict.
    pub(crate) fn judge(&self, source: &str, job: &Path) -> Result<Verdict, UnitError> {
        let mut verdict = self.judge_alone(source, job)?;
        if verdict.code.as_deref() != Some("E-RACE") {
            return Ok(verdict);
        }
        for (n, text) in self.with_barriers(source, &verdict).iter().enumerate() {
            let job = job.join(format!("barrier{n}"));
            std::fs::create_dir(&job).map_err(FileError::at(&job))?;
            let repaired = match self.judge_alone(text, &job) {
                Ok(repaired) => repaired,
                Err(why @ (UnitError::Interrupted { .. } | UnitError::EndedFromOutside { .. })) => return Err(why),
                // Keeps the verdict on the submitted source.
                Err(_) => continue,
            };
            let passed = |id: &str| repaired.parts.iter().any(|part| part.id == id && part.status == Status::Passed);
            if passed(part_id::RIGHT) && passed(part_id::CLEAN) {
                verdict.remedies = vec![Remedy { changes: diff::changed_lines(source, text) }];
                verdict.parts.retain(|part| part.status != Status::NotRun || part.id == part_id::RIGHT);
                let known: Vec<String> = verdict.parts.iter().map(|part| part.id.clone()).collect();
                verdict.parts.extend(repaired.parts.into_iter().filter(|part| !known.contains(&part.id)));
                (verdict.n_shapes, verdict.n_tried) = (repaired.n_shapes, repaired.n_tried);
                break;
            }
        }
        Ok(verdict)
    }

    /// Returns versions of the source with a barrier added or moved, the likely ones first. This happens outside of the
    /// sandbox, so it is done for sources of usual length alone.
    fn with_barriers(&self, source: &str, verdict: &Verdict) -> Vec<String> {
        if source.len() > MAX_REPAIRED {
            return Vec::new();
        }
        let (task, file) = (&self.graded.task, self.graded.task.copy_file_name());
        let clues = Clues::new(verdict, &format!("my/{file}"), &file);
        let found = edits::barriers(source, self.starter, task, &clues, MAX_BARRIERS);
        found.iter().map(|changes| edits::apply(source, changes)).collect()
    }

    fn judge_alone(&self, source: &str, job: &Path) -> Result<Verdict, UnitError> {
        let Self { tools, sandbox, limits, graded, .. } = *self;
        let task = &graded.task;
        let io = FileError::at(job);
        let file = format!("my/{}", task.copy_file_name());
        std::fs::create_dir_all(job.join("my")).map_err(&io)?;
        std::fs::write(job.join(&file), source).map_err(&io)?;
        let mut arguments: Vec<OsString> = ["--task", "task.json"].map(OsString::from).into();
        let ptx = match &task.host {
            Some(_) => {
                arguments.extend(["--answer", &file].map(OsString::from));
                graded.finished.clone()
            }
            None => {
                std::fs::create_dir_all(job.join("kernels")).map_err(&io)?;
                arguments.extend(["--source", &file].map(OsString::from));
                for (name, text) in &tools.headers {
                    std::fs::write(job.join("kernels").join(name), text).map_err(&io)?;
                    arguments.extend(["--source".into(), format!("kernels/{name}").into()]);
                }
                match self.compile(&file, job)? {
                    Ok(ptx) => Some(ptx),
                    Err(verdict) => return Ok(*verdict),
                }
            }
        };
        if let Some(ptx) = ptx {
            std::fs::write(job.join("kernel.ptx"), ptx).map_err(&io)?;
            arguments.extend(["--ptx", "kernel.ptx"].map(OsString::from));
        }
        // Strings, numbers and lists always serialise.
        let described = serde_json::to_string(task).expect("plain data");
        std::fs::write(job.join("task.json"), described).map_err(&io)?;
        let seed = self.seed.to_string();
        arguments.extend(["--hidden", "--threads", "1", "--seed", &seed].map(OsString::from));
        let confined = Confined {
            program: &tools.judge,
            reads: &[],
            job,
            arguments: &arguments,
            limits: limits.judge,
            has_scratch: false,
        };
        let judged = sandbox.run(&tools.launcher, &confined);
        let judged = judged.map_err(|why| UnitError::NotStarted { program: "judge", why })?;
        match outcome("the kernel", &judged, limits.judge)? {
            Outcome::Ended if matches!(judged.status.code(), Some(0 | 1)) => {
                let verdict: Verdict =
                    serde_json::from_slice(&judged.output).map_err(|_| complaint("judge", &judged))?;
                if verdict.task == task.name { Ok(verdict) } else { Err(UnitError::OtherTask) }
            }
            Outcome::Ended | Outcome::Crashed(_) => Err(complaint("judge", &judged)),
            Outcome::Stopped(code, why) => Ok(Verdict::stopped(task.name.clone(), &task.criteria, code, &why)),
        }
    }

    /// Returns the PTX of a source, or the verdict on one that does not compile.
    fn compile(&self, file: &str, job: &Path) -> Result<Result<String, Box<Verdict>>, UnitError> {
        let Self { tools, sandbox, limits, .. } = *self;
        let task = &self.graded.task;
        let compiler = if task.is_rust { &tools.rust } else { &tools.cuda };
        let not_started = |why| UnitError::NotStarted { program: "the compiler", why };
        let missing = || not_started(std::io::Error::other("no compiler of this task's language was given"));
        let CompilerProgram { program, arguments, reads, .. } = compiler.as_ref().ok_or_else(missing)?;
        let mut arguments = arguments.clone();
        arguments.push(OsString::from(file));
        // rustc writes files beside its output.
        let (limits, has_scratch) = (limits.compile, task.is_rust);
        let confined = Confined { program, reads, job, arguments: &arguments, limits, has_scratch };
        let compiled = sandbox.run(&tools.launcher, &confined);
        let compiled = compiled.map_err(not_started)?;
        let refused = |log: &str| Box::new(Verdict::refused(task.name.clone(), &task.criteria, Refused::from_log(log)));
        match outcome("the compiler", &compiled, limits)? {
            Outcome::Ended => match serde_json::from_slice(&compiled.output) {
                Ok(CompilerAnswer::Ptx(ptx)) => Ok(Ok(ptx)),
                Ok(CompilerAnswer::Refused(log)) => Ok(Err(refused(&log))),
                Err(_) => Err(complaint("the compiler", &compiled)),
            },
            // NVIDIA's compiler crashes on some sources that it ought to refuse.
            Outcome::Crashed(why) => Ok(Err(refused(&why))),
            Outcome::Stopped(code, why) => {
                let mut verdict = refused(&why);
                if code == code::TIMEOUT {
                    verdict.code = Some(code.into());
                }
                Ok(Err(verdict))
            }
        }
    }
}

enum Outcome {
    Ended,
    /// Stopped by a limit: code and sentence.
    Stopped(&'static str, String),
    /// Killed by a signal that it caused.
    Crashed(String),
}

/// Tells how a program ended. It is an error when it was ended from outside: by an interrupt, by a scheduler, or by the
/// system where memory ran out.
fn outcome(who: &'static str, ended: &ProcessOutput, limits: JobLimits) -> Result<Outcome, UnitError> {
    // A sandbox passes a signal on as an exit code.
    const BY_SIGNAL: i32 = 128;
    const N_SIGNALS: i32 = 64;
    let passed_on = ended.status.code().filter(|code| (BY_SIGNAL + 1..=BY_SIGNAL + N_SIGNALS).contains(code));
    let signal = signal_of(ended.status).or(passed_on.map(|code| code - BY_SIGNAL));
    let too_long = || {
        Outcome::Stopped(
            code::TIMEOUT,
            format!("{who} was stopped: it was not done after {} s of processor time", limits.seconds),
        )
    };
    Ok(match (ended.stopped, signal) {
        (Some(Stopped::Interrupt), _) => return Err(UnitError::Interrupted { program: who }),
        (Some(Stopped::Time), _) | (_, Some(SIGXCPU)) => too_long(),
        (Some(Stopped::Output), _) => Outcome::Stopped(
            code::STOPPED,
            format!("{who} was stopped: it wrote more than {} MiB", limits.output >> 20),
        ),
        (None, Some(signal)) if is_from_outside(signal) => {
            return Err(UnitError::EndedFromOutside { program: who, signal });
        }
        // The libraries end so when an allocation fails.
        (_, Some(signal)) if is_out_of_memory(&ended.errors) => Outcome::Stopped(
            code::STOPPED,
            format!("{who} was stopped (signal {signal}): it needs more than {} MiB of memory", limits.memory >> 20),
        ),
        (None, Some(signal)) => Outcome::Crashed(format!("{who} was ended by signal {signal}")),
        (None, None) => Outcome::Ended,
    })
}

/// Number of SIGXCPU, which ends a program that used up its processor time.
const SIGXCPU: i32 = 24;

/// Returns whether a signal that nothing here sends is one with which others end a program: SIGHUP, SIGINT, SIGQUIT,
/// SIGKILL, SIGTERM.
fn is_from_outside(signal: i32) -> bool {
    matches!(signal, 1 | 2 | 3 | 9 | 15)
}

fn signal_of(status: std::process::ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    return std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    return status.code().and(None);
}

fn is_out_of_memory(errors: &str) -> bool {
    ["memory allocation of", "bad_alloc", "out of memory", "Cannot allocate memory"]
        .iter()
        .any(|words| errors.contains(words))
}

/// Returns the reason for a missing answer, from the end of standard error, or from the message of a panic.
fn complaint(program: &'static str, ended: &ProcessOutput) -> UnitError {
    let mut lines = ended.errors.trim().lines();
    let words = match lines.find(|line| line.contains(" panicked at ")) {
        Some(place) => {
            let place = place.rsplit(" panicked at ").next().unwrap_or_default();
            format!("{place} {}", lines.next().unwrap_or_default())
        }
        None => ended.errors.trim().lines().last().unwrap_or_default().to_owned(),
    };
    UnitError::NoAnswer { program, status: ended.status, words: crate::plain(&words) }
}
