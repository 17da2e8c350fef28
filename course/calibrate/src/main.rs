//! `calibrate`: measures what kinds of instructions cost on this machine's GPU and prints records; `cargo xtask
//! calibrate` computes the constants from them that predictions of time use.
//!
//! `kernels/calibrate.cu` and `kernels/calibrate_async.cu` have the loops. Each number here is the median of some
//! launches, each of them a difference between two lengths of a loop, so that what happens once does not count.

mod asynchronous;
mod clocks;
mod device;
mod memory;
mod workers;

use std::process::ExitCode;

use catalog::statistics::median;
use clap::Parser;
use harness::device::{DeviceChoice, choose_driver};
use harness::{Gpu, KernelSource, StepError, code, out};

use crate::workers::Tally;

/// The kernels with the loops, `kernels/calibrate.cu`.
const CODE: KernelSource = code!("calibrate");

/// Measure what instructions cost on this machine's GPU
#[derive(Parser)]
#[command(
    name = "calibrate",
    version,
    after_help = "Prints one JSON object per line: name, value, unit.\nExit codes: 0 measured, 2 wrong usage, 3 could not run."
)]
struct Cli {
    /// Run the loops of --asynchronous on the emulated GPU, whose clocks say nothing, to see whether they end
    #[arg(long)]
    emulate: bool,
    /// Measure only the clock, and what goes on by itself: products of warpgroups, copies of boxes, barriers in shared
    /// memory
    #[arg(long)]
    asynchronous: bool,
    /// Go on after so many measurements of --asynchronous, at a known clock
    #[arg(long, requires = "ghz", hide = true)]
    skip: Option<usize>,
    #[arg(long, hide = true)]
    ghz: Option<f64>,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    harness::exit_code(run(&cli).map(|()| ExitCode::SUCCESS))
}

fn run(cli: &Cli) -> Result<(), StepError> {
    let gpu = if cli.emulate {
        choose_driver(DeviceChoice::Emulated)?;
        Gpu::open()?
    } else {
        Gpu::real().map_err(|why| StepError::CouldNot(format!("no GPU to measure: {why}")))?
    };
    if let (Some(skip), Some(ghz)) = (cli.skip, cli.ghz) {
        return asynchronous::after(skip, &gpu, ghz);
    }
    let info = &gpu.info;
    print(&serde_json::json!({
        "device": info.name,
        "capability": info.capability,
        "driver": info.driver,
        "date": catalog::time::now(),
    }))?;
    let ghz = if cli.emulate { 0.0 } else { device::all(&gpu)? };
    let is_alone = cli.emulate || cli.asynchronous;
    if !is_alone {
        clocks::all(&gpu)?;
        memory::all(&gpu, ghz)?;
    }
    let Tally { all, failed } = asynchronous::all(gpu, ghz)?;
    if failed > 0 {
        eprintln!("{failed} of {all} measurements of what goes on by itself failed");
    }
    if is_alone && failed == all {
        return Err(StepError::CouldNot("nothing was measured".into()));
    }
    Ok(())
}

/// Prints the record of a measured value: its name, such as `cost_fma`, and its unit, such as `clocks` or `ns`.
fn print_value(name: &str, value: f64, unit: &str) -> Result<(), StepError> {
    print(&serde_json::json!({"name": name, "value": value, "unit": unit}))
}

fn print(record: &serde_json::Value) -> Result<(), StepError> {
    out::write(&format!("{record}\n"))
}

const REPEATS: usize = 9;

/// Measures the time for one more of something: from the times of two numbers of it, the median of some tries.
fn slope<N: Copy + Into<f64>>(
    numbers: [N; 2], mut time: impl FnMut(N) -> Result<f64, StepError>,
) -> Result<f64, StepError> {
    let [few, many] = numbers;
    let mut samples = Vec::new();
    for _ in 0..REPEATS {
        let (short, long) = (time(few)?, time(many)?);
        samples.push((long - short) / (many.into() - few.into()));
    }
    Ok(median(samples).unwrap_or(f64::NAN))
}
