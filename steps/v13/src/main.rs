//! v13: the whole process, from arrays of the host to the result in the host.

mod clock;
mod compare;
mod measure;
mod two_devices;

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use harness::{Exit, Gpu, Shape, StepError};
use records::Samples;

/// C = A · B in FP32, from arrays of the host to the result in the host
#[derive(Debug, Parser)]
#[command(name = "v13", version)]
struct Cli {
    #[command(subcommand)]
    command: StepCommand,
}

#[derive(Debug, Subcommand)]
enum StepCommand {
    /// Compute products in several ways, verify each, and show its time beside the bound.
    Run(compare::Run),
    /// Compute products on one device and on two, and measure the links between them and the host.
    Two(two_devices::Two),
    /// Measure what surrounds a product: copies, allocations, modules, launches.
    Measure(measure::Measure),
}

/// Options of all commands.
#[derive(Debug, clap::Args)]
struct Common {
    /// Sizes, such as 1024 or 4096x1024x8192 (M x N x K) [default: 1024,8192; on the emulated GPU 256]
    #[arg(long, value_delimiter = ',')]
    size: Vec<Shape>,
    /// Repetitions
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Write everything into this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Common {
    fn sizes(&self, gpu: &Gpu) -> Result<Vec<Shape>, StepError> {
        if let Some(size) = self.size.iter().find(|size| size.k == 0) {
            return Err(StepError::Usage(format!(
                "{size} has no K; sizes look like 1024 (M = N = K) or 1025x1023x1021 (MxNxK)"
            )));
        }
        Ok(match (self.size.is_empty(), gpu.emulator) {
            (false, _) => Shape::from_options(&self.size, [None; 3])?,
            (true, Some(_)) => vec![Shape::square(256)],
            (true, None) => [1024, 8192].map(Shape::square).into(),
        })
    }

    /// Returns how often to time a product: never on the emulated device.
    fn timed(&self, gpu: &Gpu) -> u32 {
        if gpu.emulator.is_some() { 0 } else { self.repeat }
    }

    /// Fails before the work if its result cannot be written.
    fn check_json(&self) -> Result<(), StepError> {
        let Some(path) = &self.json else { return Ok(()) };
        let file = OpenOptions::new().append(true).create(true).open(path);
        file.map_or_else(|error| Err(cannot_write(path, &error)), |_| Ok(()))
    }

    fn write_json(&self, value: &impl serde::Serialize) -> Result<(), StepError> {
        let Some(path) = &self.json else { return Ok(()) };
        let text = serde_json::to_string(value).map_err(could_not)? + "\n";
        std::fs::write(path, text).map_err(|error| cannot_write(path, &error))
    }
}

fn main() -> ExitCode {
    // `Gpu::find` probes the device in a process of its own: this one.
    if std::env::args().nth(1).as_deref() == Some("probe-device") {
        return harness::main("v13", &[]);
    }
    let cli = Cli::parse();
    let done = match &cli.command {
        StepCommand::Run(args) => compare::main(args),
        StepCommand::Two(args) => two_devices::main(args),
        StepCommand::Measure(args) => measure::main(args),
    };
    harness::exit_code(done.map(|right| if right { Exit::Passed } else { Exit::Failed }.into()))
}

fn cannot_write(path: &Path, error: &std::io::Error) -> StepError {
    could_not(format!("cannot write {}: {error}", path.display()))
}

fn could_not(error: impl std::fmt::Display) -> StepError {
    StepError::CouldNot(error.to_string())
}

/// Returns the median of times, also in words with the least and the most; `None` where nothing was timed.
fn span(times: &Samples) -> Option<(f64, String)> {
    let (median, [least, most]) = (times.median(), times.extent());
    (!times.0.is_empty()).then(|| (median, format!("{median:.3} ({least:.3} … {most:.3})")))
}

/// Returns the events of the repetition with the median time.
fn of_median<E: Default>(totals: &Samples, events: Vec<E>) -> E {
    let mut timed: Vec<_> = totals.0.iter().zip(events).collect();
    timed.sort_by(|a, b| a.0.total_cmp(b.0));
    let middle = timed.len() / 2;
    timed.into_iter().nth(middle).map(|(_, events)| events).unwrap_or_default()
}

/// Returns the name of a choice on the command line, which it has in records, too.
fn name(choice: impl ValueEnum) -> String {
    choice.to_possible_value().expect("none is skipped").get_name().to_owned()
}

/// Formats bytes in powers of ten: `256 MB`.
fn bytes(n: usize) -> String {
    harness::shapes::bytes(n as f64)
}
