//! `cargo xtask bench`, without the other commands.

use std::process::ExitCode;

use clap::Parser;
use xtask_support::compiler;

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
enum Cli {
    /// Measure steps, after verifying their results
    Bench(Box<xtask_bench::Args>),
    /// Compile the requests on standard input
    #[command(hide = true)]
    CompileServer(compiler::Args),
}

fn main() -> ExitCode {
    xtask_support::exit_code(match Cli::parse() {
        Cli::Bench(args) => xtask_bench::run(&args),
        Cli::CompileServer(args) => compiler::serve(&args),
    })
}
