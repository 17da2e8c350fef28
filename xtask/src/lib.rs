//! `cargo xtask`: the command line of the workspace.
//!
//! Starts the steps, keeps generated files up to date, and reports what is missing. It links neither a
//! CUDA library nor a step, so that it is built in seconds. It is a library so that `teach`, the program behind the
//! commands for classes, shares [`commands::teach`].

#![forbid(unsafe_code)]
#![warn(clippy::print_stderr)]

pub mod built_in;
mod command_line;
pub mod commands;
pub mod learner;
mod machine_code;
mod ptxas;
pub mod rustc;

use std::process::ExitCode;

use clap::{FromArgMatches as _, Parser, Subcommand};

use commands::{learn, maintain, measure, teach};
use xtask_support::compiler;

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
    /// Say where you are and what to do next, as without a command
    #[command(hide = true)]
    Next,
    /// Compile the requests on standard input
    #[command(hide = true)]
    CompileServer(compiler::Args),
}

/// Returns the parsed command line; `--help`, `--version` and wrong usage end the program.
fn cli() -> Cli {
    let matches = command_line::declared().get_matches();
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

pub fn main() -> ExitCode {
    let result = match cli().command {
        None | Some(Command::Next) => learn::home::run(),
        Some(Command::Learn(command)) => command.run(),
        Some(Command::Teach(_)) => teach::run(),
        Some(Command::Measure(command)) => command.run(),
        Some(Command::Maintain(command)) => command.run(),
        Some(Command::CompileServer(args)) => compiler::serve(&args),
    };
    xtask_support::exit_code(result)
}
