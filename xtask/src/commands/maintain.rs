//! The commands that keep the repository whole: generated files, the book, rules.

mod book;
mod fixtures;
pub(crate) mod packed;
mod ptx;
pub(crate) mod readme;
mod setup;
mod solutions;
mod starters;
mod tidy;
pub(crate) mod wheel;

use anyhow::Result;
use xtask_support::CommandOutcome;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Build the book, check it, or keep it up to date while you write
    Book(book::Args),
    /// Download the compiler NVRTC 12.4 into target/nvrtc
    Setup(setup::Args),
    /// Compile CUDA sources to the PTX committed beside them
    Ptx(ptx::Args),
    /// Write the starters of all tasks
    Starters(starters::Args),
    /// Compile the task solutions that the tests judge
    Solutions(solutions::Args),
    /// Compile the kernels in tests/fixtures, or show one
    Fixtures(fixtures::Args),
    /// Check the rules of the repository
    Tidy(tidy::Args),
    /// Update the generated parts of the documents
    Readme(readme::Args),
}

impl Command {
    pub(crate) fn run(&self) -> Result<CommandOutcome> {
        match self {
            Self::Book(args) => book::run(args),
            Self::Setup(args) => setup::run(args),
            Self::Ptx(args) => ptx::run(args),
            Self::Starters(args) => starters::run(args),
            Self::Solutions(args) => solutions::run(args),
            Self::Fixtures(args) => fixtures::run(args),
            Self::Tidy(args) => tidy::run(args),
            Self::Readme(args) => readme::run(args),
        }
    }
}
