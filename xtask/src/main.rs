//! `cargo xtask`: the command line of the workspace.
//!
//! Starts programs and writes generated files; what it writes is committed, so that nobody needs it to build.

#![expect(clippy::print_stdout, reason = "a command line answers on standard output")]

mod calls;
mod nvrtc;
mod ptx;
mod readme;
mod setup;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Tools of the workspace", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compile the CUDA sources of the repository to the PTX that is committed beside them
    Ptx(ptx::Args),
    /// List the driver calls that libnvcuda exports, from the bindings of cudarc
    Calls,
    /// Fill the parts of README.md that quote other files and records
    Readme(readme::Args),
    /// Fetch the compiler that `ptx` uses (NVRTC 12.4, from PyPI) into target/nvrtc
    Setup,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Ptx(args) => ptx::run(&args),
        Command::Calls => calls::run(),
        Command::Readme(args) => readme::run(&args),
        Command::Setup => setup::run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
