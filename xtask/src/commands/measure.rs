//! The commands that measure, and show what was measured.

mod calibrate;
mod doctor;
mod list;
mod profile;
mod sanitize;
mod sums;
pub(crate) mod tools;
mod tune;

use anyhow::Result;
use xtask_support::CommandOutcome;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// List the steps, their kernels and best recorded numbers
    List(list::Args),
    /// List what this machine has and lacks, and what needs it
    Doctor(doctor::Args),
    /// Compare the counters of a real GPU with the emulated ones
    Profile(profile::Args),
    /// Measure what products cost with each plan of v11, by which it chooses
    ///
    /// With --search, look for other plans that its kernels allow
    Tune(tune::Args),
    /// Check the steps under NVIDIA's compute-sanitizer
    Sanitize(sanitize::Args),
    /// Compare C bit by bit with that of the GPU on record, by checksums
    Sums(sums::Args),
    /// Measure what instructions cost on this machine's GPU, to predict times from it
    Calibrate(calibrate::Args),
}

impl Command {
    pub(crate) fn run(&self) -> Result<CommandOutcome> {
        match self {
            Self::List(args) => list::run(args),
            Self::Doctor(args) => doctor::run(args),
            Self::Profile(args) => profile::run(args),
            Self::Tune(args) => tune::run(args),
            Self::Sanitize(args) => sanitize::run(args),
            Self::Sums(args) => sums::run(args),
            Self::Calibrate(args) => calibrate::run(args),
        }
    }
}
