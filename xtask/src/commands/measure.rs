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
    /// List the steps, their kernels and best recorded numbers, or the tasks of one
    List(list::Args),
    /// List the tools and devices of this machine, and those that are missing
    Doctor(doctor::Args),
    /// Compare the counters of a real GPU with those of the emulated one
    Profile(profile::Args),
    /// Fit v11's cost model on this GPU
    ///
    /// With --search, try new plans instead
    Tune(tune::Args),
    /// Check the steps under NVIDIA's compute-sanitizer
    Sanitize(sanitize::Args),
    /// Compare checksums of C with the recorded ones
    Sums(sums::Args),
    /// Measure the cost of instructions on this machine's GPU, for predicted times
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
