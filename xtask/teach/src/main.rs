//! The commands for classes: `cargo xtask assign`, `report` and `grade` start this program.
//!
//! Two hidden commands run inside the sandbox of a grading: `confined` sets limits and becomes another program,
//! `compile-one` compiles one source.

#![forbid(unsafe_code)]
#![warn(clippy::print_stderr)]

mod assign;
mod grade;

use std::process::ExitCode;

use clap::Parser;
use xtask::commands::teach;
use xtask_support::compiler;

/// Assign tasks to a class, and grade them
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
enum Cli {
    #[command(flatten)]
    Teach(teach::Command),
    /// Compile one source of a stranger, inside a sandbox
    #[command(hide = true)]
    CompileOne(grade::CompileArgs),
    /// Compile the requests on standard input
    #[command(hide = true)]
    CompileServer(compiler::Args),
    /// Set limits, and become another program
    #[command(hide = true)]
    Confined(grade::ConfinedArgs),
}

fn main() -> ExitCode {
    xtask_support::exit_code(match Cli::parse() {
        Cli::Teach(teach::Command::Assign(args)) => assign::run(&args),
        Cli::Teach(teach::Command::Report(args)) => assign::report(&args),
        Cli::Teach(teach::Command::Grade(args)) => grade::run(&args),
        Cli::CompileOne(args) => grade::compile_one(&args),
        Cli::CompileServer(args) => compiler::serve(&args),
        Cli::Confined(args) => grade::confined(&args),
    })
}
