//! `cargo xtask bench`, without the other commands.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Parser;
use xtask_support::{CommandOutcome, compiler, programs};

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
enum Cli {
    /// Measure steps, after verifying their results
    Bench(xtask_bench::Args),
    /// Compile the requests on standard input
    #[command(hide = true)]
    CompileServer(compiler::Args),
}

fn main() -> ExitCode {
    xtask_support::exit_code(match Cli::parse() {
        Cli::Bench(args) => xtask_bench::run(&args, |_| fill_documents()),
        Cli::CompileServer(args) => compiler::serve(&args),
    })
}

/// Starts `xtask` to fill the documents.
fn fill_documents() -> Result<CommandOutcome> {
    let mut xtask = std::process::Command::new(programs::find_program("xtask")?);
    let status = xtask.arg("readme").status().context("starting xtask")?;
    if !status.success() {
        bail!("`cargo xtask readme` failed ({status})");
    }
    Ok(CommandOutcome::Passed)
}
