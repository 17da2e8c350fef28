//! `cargo xtask`: the command line of the workspace.
//!
//! Starts the steps, keeps generated files up to date, and reports what is missing. It links neither a
//! CUDA library nor a step, so that it is built in seconds. It is a library so that `teach`, the program behind the
//! commands for classes, shares [`commands::class`] and [`support`].

#![deny(unsafe_code)]
#![warn(clippy::print_stderr)]

pub mod commands;
pub mod support;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use commands::{
    bench, book, calibrate, calls, check, class, doctor, exercise, explain, hint, home, list, predict,
    profile, ptx, readme, sanitize, setup, solutions, specimens, starters, sums, tidy, tune, watch,
};
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
    /// Measure steps, after verifying their results
    Bench(bench::Args),
    /// Begin a task: write its starter to my/
    Start(exercise::StartArgs),
    /// Check your copy of a task, or the kernels of steps
    Check(check::Args),
    /// Check your copy of a task each time you save it
    Watch(watch::Args),
    /// Give a hint that fits the last check
    Hint(hint::Args),
    /// Explain what each line of a kernel did: requests, sectors, wavefronts
    Explain(explain::Args),
    /// Ask the questions of a step, to be answered before you run it
    Predict(predict::Args),
    /// Compare your copy with the starter, or once it has passed, with the finished kernel
    Diff(exercise::DiffArgs),
    /// Begin a task again, and keep your text in another file
    Reset(exercise::ResetArgs),
    /// Show the finished kernel of a task that you passed
    Solution(exercise::SolutionArgs),
    #[command(flatten)]
    Class(class::Command),
    /// List the steps, their kernels and best recorded numbers
    List(list::Args),
    /// Compare the counters of a real GPU with the emulated ones
    Profile(profile::Args),
    /// Measure what products cost with each plan of v11, by which it chooses
    Tune(tune::Args),
    /// Check the steps under NVIDIA's compute-sanitizer
    Sanitize(sanitize::Args),
    /// Compare C bit by bit with that of the GPU on record, by checksums
    Sums(sums::Args),
    /// Measure what instructions cost on this machine's GPU, to predict times from it
    Calibrate(calibrate::Args),
    /// List what this machine has and lacks, and what needs it
    Doctor(doctor::Args),
    /// Check the repository's rules, as far as a program can
    Tidy(tidy::Args),
    /// Build the book, check it, or serve it while you write
    Book(book::Args),
    /// Compile CUDA sources to the PTX committed beside them
    Ptx(ptx::Args),
    /// Write the starters of all tasks
    Starters(starters::Args),
    /// Compile the solutions that the tests judge
    Solutions(solutions::Args),
    /// Compile the kernels in tests/data that the tests run, or show one
    Specimens(specimens::Args),
    /// Fetch the compiler that `ptx` uses into target/nvrtc
    Setup,
    /// Fill the parts of READMEs that come from other files
    Readme(readme::Args),
    /// Write the list of driver calls that libnvcuda exports
    Calls,
    /// Compile what standard input asks for
    #[command(hide = true)]
    CompileServer(compiler::Args),
}

/// How a command that could run came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Exit code 0.
    Passed,
    /// Exit code 1.
    Failed,
    /// Nothing failed, and something could not be run.
    NotRun,
}

/// Runs the command that the command line names.
pub fn main() -> ExitCode {
    let result = match Cli::parse().command {
        None => home::run(),
        Some(Command::Bench(args)) => bench::run(&args),
        Some(Command::Start(args)) => exercise::start(&args),
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Watch(args)) => watch::run(&args),
        Some(Command::Hint(args)) => hint::run(&args),
        Some(Command::Explain(args)) => explain::run(&args),
        Some(Command::Predict(args)) => predict::run(&args),
        Some(Command::Diff(args)) => exercise::diff(&args),
        Some(Command::Reset(args)) => exercise::reset(&args),
        Some(Command::Solution(args)) => exercise::solution(&args),
        Some(Command::List(args)) => list::run(&args),
        Some(Command::Profile(args)) => profile::run(&args),
        Some(Command::Tune(args)) => tune::run(&args),
        Some(Command::Sanitize(args)) => sanitize::run(&args),
        Some(Command::Sums(args)) => sums::run(&args),
        Some(Command::Calibrate(args)) => calibrate::run(&args),
        Some(Command::Doctor(args)) => doctor::run(&args),
        Some(Command::Tidy(args)) => tidy::run(&args),
        Some(Command::Book(args)) => book::run(&args),
        Some(Command::Ptx(args)) => ptx::run(&args),
        Some(Command::Starters(args)) => starters::run(&args),
        Some(Command::Solutions(args)) => solutions::run(&args),
        Some(Command::Specimens(args)) => specimens::run(&args),
        Some(Command::Setup) => setup::run(),
        Some(Command::Readme(args)) => readme::run(&args),
        Some(Command::Calls) => calls::run(),
        Some(Command::CompileServer(args)) => compiler::serve(&args),
        Some(Command::Class(_)) => class::run(),
    };
    exit_code(result)
}

/// Prints why a command ended early, and returns its exit code.
pub fn exit_code(result: Result<Verdict>) -> ExitCode {
    let error = match result {
        Ok(Verdict::Passed) => return ExitCode::SUCCESS,
        Ok(Verdict::Failed) => return ExitCode::from(1),
        Ok(Verdict::NotRun) => return ExitCode::from(3),
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
