//! `calibrate`: measures what kinds of instructions cost on this machine's GPU and prints records; `cargo xtask
//! calibrate` computes the constants from them that predictions of time use.
//!
//! `kernels/calibrate.cu` has the loops. Each number here is the median of some launches, each of them a difference
//! between two lengths of a loop, so that what happens once does not count.

mod clocks;
mod device;
mod memory;

use std::process::ExitCode;

use catalog::statistics::median;
use clap::Parser;
use harness::{Gpu, KernelSource, StepError, code, out};

/// The kernels with the loops, `kernels/calibrate.cu`.
const CODE: KernelSource = code!("calibrate");

/// Measure what instructions cost on this machine's GPU
#[derive(Parser)]
#[command(
    name = "calibrate",
    version,
    after_help = "Prints one JSON object per line: name, value, unit.\nExit codes: 0 measured, 2 wrong usage, 3 could not run."
)]
struct Cli {}

fn main() -> ExitCode {
    Cli::parse();
    harness::exit_code(run().map(|()| ExitCode::SUCCESS))
}

fn run() -> Result<(), StepError> {
    let gpu = Gpu::real().map_err(|why| StepError::CouldNot(format!("no GPU to measure: {why}")))?;
    let info = &gpu.info;
    print(&serde_json::json!({
        "device": info.name,
        "capability": info.capability,
        "driver": info.driver,
        "date": catalog::time::now(),
    }))?;
    let ghz = device::all(&gpu)?;
    clocks::all(&gpu)?;
    memory::all(&gpu, ghz)
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
