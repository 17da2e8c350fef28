//! The command line of every step.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use step_cli::{Device, Kernels, Lang, Sizes};

/// The command line of a step's program.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true, after_help = "Example: cargo run -p v05 -- bench --size 1024")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub command: StepCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StepCommand {
    /// Verify and measure the kernels of this step
    Bench(Bench),
    /// Verify the kernels on awkward sizes, with all checks
    Check(Common),
    /// Launch each kernel once and nothing else, for a profiler
    Launch(Launch),
    /// Launch each kernel on small sizes, and print checksums of C
    Sums(Common),
    /// Measure the ceilings of the device: FP32 arithmetic, copying. Prints a JSON object
    #[command(hide = true)]
    Roofline(Device),
    /// Tell whether the driver of this machine has a device
    #[command(name = crate::device::PROBE, hide = true)]
    ProbeDevice,
}

/// Options of several subcommands.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// Print one JSON record per line
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub device: Device,
    #[command(flatten)]
    pub kernels: Kernels,
    /// Seed of the inputs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Run this PTX in place of the step's own
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub ptx: Option<PathBuf>,
    /// Count and predict this machine code in place of the step's own
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub cubin: Option<PathBuf>,
    /// Compare predictions with those of this machine code, from before an edit; may be given several times
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub before: Vec<PathBuf>,
}

impl Common {
    /// Returns arguments for all kernels on the emulated device, on the default inputs.
    pub(crate) fn emulated() -> Self {
        Self {
            json: false,
            device: Device { emulate: true },
            kernels: Kernels { kernel: None, lang: Lang::Cuda },
            seed: 1,
            ptx: None,
            cubin: None,
            before: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Bench {
    #[command(flatten)]
    pub asked: step_cli::BenchOptions,
    /// Run at all sizes that are kept on record
    #[arg(long, conflicts_with_all = ["size", "m", "n", "k"])]
    pub recorded_shapes: bool,
    /// Leave out what the device's record in this folder has of the same code, measured on --since or later
    #[arg(long, value_name = "FOLDER", requires = "since", hide_short_help = true)]
    pub unless_in: Option<PathBuf>,
    /// A day such as 2026-11-29
    #[arg(long, value_name = "DAY", hide_short_help = true)]
    pub since: Option<String>,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Launch {
    #[command(flatten)]
    pub sizes: Sizes,
    #[command(flatten)]
    pub common: Common,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn declarations_hold_together() {
        Cli::command().debug_assert();
        let words = ["v05", "bench", "--size", "64,65", "--duel", "--kernel", "x", "--emulate"];
        let StepCommand::Bench(bench) = Cli::parse_from(words).command else {
            panic!("it is bench");
        };
        assert_eq!(bench.asked.sizes.shapes().map(|sizes| sizes.len()), Ok(2));
        assert!(bench.asked.duel && bench.common.device.emulate);
        assert_eq!(bench.common.kernels.kernel.as_deref(), Some("x"));
    }
}
