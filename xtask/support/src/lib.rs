//! Parts that the commands of `cargo xtask` share: compilers, building and starting the steps' programs, printing.

#![deny(unsafe_code)]
#![warn(clippy::print_stderr)]

pub mod committed;
pub mod compile_cache;
#[cfg_attr(unix, expect(unsafe_code, reason = "a limit for a child process"))]
pub mod compiler;
pub mod cubin;
pub mod find_nvrtc;
#[cfg_attr(unix, expect(unsafe_code, reason = "signals"))]
pub mod interrupt;
pub mod kernels;
#[expect(unsafe_code, reason = "a C library")]
pub mod nvrtc;
pub mod output;
pub mod paths;
pub mod programs;
pub mod source;
pub mod staleness;
pub mod step_args;
pub mod table;
pub mod wheels;

use std::process::ExitCode;

use anyhow::Result;
use catalog::process::Exit;

use crate::output::Stop;

/// The outcome of a command that could run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandOutcome {
    /// Exit code 0.
    Passed,
    /// Exit code 1.
    Failed,
    /// Nothing failed, and something could not be run.
    NotRun,
}

/// Prints why a command ended early, and returns its exit code.
pub fn exit_code(result: Result<CommandOutcome>) -> ExitCode {
    let error = match result {
        Ok(CommandOutcome::Passed) => return ExitCode::SUCCESS,
        Ok(CommandOutcome::Failed) => return Exit::Failed.into(),
        Ok(CommandOutcome::NotRun) => return Exit::CouldNot.into(),
        Err(error) => error,
    };
    const BY_SIGNAL: u8 = 128;
    let (print, code): (fn(&str), ExitCode) = match error.downcast_ref() {
        Some(Stop::ClosedPipe) => return ExitCode::SUCCESS,
        Some(Stop::Ended(code)) => return ExitCode::from(*code),
        Some(Stop::Usage(_)) => (output::error, Exit::Usage.into()),
        Some(Stop::Signal(signal, _)) => (output::note, BY_SIGNAL.saturating_add(*signal).into()),
        Some(Stop::Interrupted(_)) => (output::note, interrupt::EXIT_CODE.into()),
        None => (output::error, Exit::CouldNot.into()),
    };
    print(&format!("{error:#}"));
    code
}
