//! `cargo xtask`: the command line of the workspace.
//!
//! Starts the steps, keeps generated files up to date, and reports what is missing. It links neither a
//! CUDA library nor a step, so that it is built in seconds. It is a library so that `teach`, the program behind the
//! commands for classes, shares [`commands::teach`] and [`support`].

#![deny(unsafe_code)]
#![warn(clippy::print_stderr)]

mod command_line;
pub mod commands;
pub mod support;

use std::process::ExitCode;

use anyhow::Result;
use clap::{FromArgMatches as _, Parser, Subcommand};

use commands::{learn, maintain, measure, teach};
use support::{compiler, interrupt, output};

/// Tile by Tile: run, check and measure the steps
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
#[command(after_help = "Example: cargo xtask bench v05\n\n\
    Exit codes: 0 passed, 1 failed, 2 wrong usage, 3 could not run, 130 interrupted.")]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    #[command(flatten)]
    Learn(learn::Command),
    #[command(flatten)]
    Teach(teach::Command),
    #[command(flatten)]
    Measure(measure::Command),
    #[command(flatten)]
    Maintain(maintain::Command),
    /// Compile what standard input asks for
    #[command(hide = true)]
    CompileServer(compiler::Args),
}

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

/// The parsed command line; what clap has to say of it ends the program.
fn cli() -> Cli {
    let matches = command_line::declared().get_matches();
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// Runs the command that the command line names.
pub fn main() -> ExitCode {
    let result = match cli().command {
        None => learn::home::run(),
        Some(Command::Learn(command)) => command.run(),
        Some(Command::Teach(_)) => teach::run(),
        Some(Command::Measure(command)) => command.run(),
        Some(Command::Maintain(command)) => command.run(),
        Some(Command::CompileServer(args)) => compiler::serve(&args),
    };
    exit_code(result)
}

/// Prints why a command ended early, and returns its exit code.
pub fn exit_code(result: Result<CommandOutcome>) -> ExitCode {
    let error = match result {
        Ok(CommandOutcome::Passed) => return ExitCode::SUCCESS,
        Ok(CommandOutcome::Failed) => return ExitCode::from(1),
        Ok(CommandOutcome::NotRun) => return ExitCode::from(3),
        Err(error) => error,
    };
    match error.downcast_ref::<output::Stop>() {
        Some(output::Stop::ClosedPipe) => ExitCode::SUCCESS,
        Some(output::Stop::Ended(code)) => ExitCode::from(*code),
        Some(output::Stop::Usage(_)) => {
            output::error(&format!("{error:#}"));
            ExitCode::from(2)
        }
        Some(output::Stop::Signal(signal, _)) => {
            const BY_SIGNAL: u8 = 128;
            output::note(&format!("{error:#}"));
            ExitCode::from(BY_SIGNAL.saturating_add(*signal))
        }
        Some(output::Stop::Interrupted(_)) => {
            output::note(&format!("{error:#}"));
            ExitCode::from(interrupt::EXIT_CODE)
        }
        None => {
            output::error(&format!("{error:#}"));
            ExitCode::from(3)
        }
    }
}
