//! The program around every step: verification, timing, records, the page.
//!
//! A step binary is its kernels' launches in cudarc and one call of [`main`]:
//!
//! ```no_run
//! # use harness::{KernelSource, Gemm, Kernel, Shape, blocks, to_i32};
//! # use cudarc::driver::{DriverError, LaunchConfig, PushKernelArg};
//! const CODE: KernelSource = KernelSource { text: "…the source…", ptx: "…the PTX…", cubin: &[], rust: None };
//!
//! fn geometry(shape: Shape) -> LaunchConfig {
//!     LaunchConfig {
//!         grid_dim: (blocks(shape.n, 32), blocks(shape.m, 32), 1),
//!         block_dim: (32 * 32, 1, 1),
//!         shared_mem_bytes: 0,
//!     }
//! }
//!
//! fn launch(gemm: Gemm<'_, f32>) -> Result<(), DriverError> {
//!     let (m, n, k) = (to_i32(gemm.shape.m), to_i32(gemm.shape.n), to_i32(gemm.shape.k));
//!     let mut launch = gemm.stream.launch_builder(gemm.kernel);
//!     launch.arg(&m).arg(&n).arg(&k).arg(gemm.a).arg(gemm.b).arg(gemm.c);
//!     // SAFETY: the arguments are what the kernel takes, and the buffers have the sizes that it is given.
//!     unsafe { launch.launch(gemm.config) }?;
//!     Ok(())
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     harness::main("v01", &[Kernel::sgemm("sgemm_v01_col_per_lane", CODE, geometry, launch)])
//! }
//! ```
//!
//! The modules, from the command line inwards; steps and tools use those that are links, the others are of this crate:
//!
//! - `args`, [`out`], `error`: the command line, printing, and errors that stop a step. Exit codes are 0 to 3, and 10
//!   of `probe-device` when the driver has no device.
//! - `kernel`: the declarations of a step. Products, transposes, functions of the CPU and cuBLAS are variants of one
//!   [`LaunchKind`]; the crate `catalog` lists what each computes. [`declared`] compares the two, for the steps' tests.
//! - [`library`]: what the GEMM libraries of v11 and v12 share: operands, and what they refuse.
//! - [`shapes`]: the default, recorded and awkward sizes, and a check that a size fits the device.
//! - [`mod@reference`]: seeded inputs, their answer in FP64, and the comparison of every element with it.
//! - [`device`]: the machine's GPU, or the emulated one; a [`Gpu`] has the context and the stream. In its folder:
//!   operands on the device, a launch, events ([`session`]); tensor maps ([`map`]) and FP32 split into three parts of
//!   bf16 ([`parts`]); launches of kernels that no step declares ([`foreign`]); the emulated device's `counters`;
//!   `clocks`, `cublas` and the device's limits ([`roofline`]).
//! - [`timing`]: how samples are taken: warm, hot, cold, whole, with a `yardstick` in between; and the kernel and
//!   cuBLAS in turns ([`mod@duel`]), for the question which is faster on a hot GPU.
//! - `measure`: one kernel on one shape, from all of these: an [`Outcome`](records::Outcome). In its folder: inputs and
//!   answers (`case`), likely causes of a wrong result (`diagnosis`), and machine code on the emulated device
//!   (`machine`).
//! - [`mod@run`]: the record of the machine and the revision that measured.
//! - `step_run`: the step, its kernels and the device, which all commands work with.
//! - `commands`: `bench`, `check`, `launch`, [`sums`]. All kernels on all shapes, as records or as a `page`; each
//!   kernel once, for a profiler; checksums of C, to compare devices bit by bit.
//!
//! The crate depends on no step. Steps are independent of each other, except for v13, which calls the library of v11.

pub(crate) mod args;
mod commands;
pub mod declared;
pub mod device;
pub(crate) mod error;
pub(crate) mod kernel;
pub mod library;
pub(crate) mod measure;
pub mod out;
pub(crate) mod page;
pub mod run;
pub mod shapes;
pub(crate) mod step_run;
pub mod timing;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

pub use catalog::Shape;
pub use catalog::process::Exit;
pub use commands::sums;
pub use device::cublas::Cublas;
pub use device::{Gpu, dependent, foreign, map, parts, roofline, session};
pub use error::{StepError, describe};
pub use kernel::{
    Cpu, Gemm, Kernel, KernelSource, LaunchKind, LoadModule, OpenLibraryFn, Prepared, Product, Transpose, blocks,
    grid_1d, grid_of_tiles, launch_gemm, launch_scaled_gemm, to_i32,
};
pub use reference::{self, Bf16, E4m3, inputs, verify};
pub(crate) use step_run::StepRun;
pub use timing::duel;
pub use timing::yardstick::light;

use args::{Cli, StepCommand};
use commands::{bench, check, launch};
use device::DeviceChoice;

/// The [`KernelSource`] of `kernels/NAME.cu` and what was compiled from it; with `rust`, also of
/// `kernels/rust/NAME.rs`.
#[macro_export]
macro_rules! code {
    ($name:literal) => { $crate::code!(@ "", $name, ".cu", None) };
    ($name:literal, rust) => { $crate::code!(@ "", $name, ".cu", Some(&$crate::code!(@ "rust/", $name, ".rs", None))) };
    (@ $folder:literal, $name:literal, $ending:literal, $rust:expr) => {
        $crate::KernelSource {
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/", $folder, $name, $ending)),
            ptx: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/", $folder, "ptx/", $name, ".ptx")),
            cubin: include_bytes!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/../../kernels/", $folder, "cubin/", $name, ".cubin"
            )),
            rust: $rust,
        }
    };
}

/// Runs the `main` of a step: reads the command line, executes it, and returns the exit code.
pub fn main(step: &'static str, kernels: &[Kernel]) -> ExitCode {
    exit_code(parse(step).and_then(|cli| run(step, kernels, &cli.command)))
}

/// Returns the exit code of a program, and prints its error, unless the reader closed the pipe.
pub fn exit_code(outcome: Result<ExitCode, StepError>) -> ExitCode {
    outcome.unwrap_or_else(|error| {
        if !matches!(error, StepError::Closed) {
            eprintln!("error: {error}");
        }
        error.exit_code().into()
    })
}

fn parse(step: &'static str) -> Result<Cli, StepError> {
    let command = Cli::command().name(step).bin_name(step);
    let command = match catalog::find(step) {
        Ok(found) => command.about(format!("{step} {}: {}", found.name, found.idea)),
        Err(_) => command,
    };
    // Prints and ends the process on its own for --help, --version (0) and bad usage (2).
    let matches = command.get_matches();
    Cli::from_arg_matches(&matches).map_err(|error| StepError::Usage(error.to_string()))
}

fn run(step: &str, kernels: &[Kernel], command: &StepCommand) -> Result<ExitCode, StepError> {
    let kernels: Vec<Kernel> = kernels.iter().flat_map(|kernel| [Some(*kernel), kernel.in_rust()]).flatten().collect();
    let step_run = |common| {
        let step = catalog::find(step).map_err(|error| StepError::Usage(error.to_string()))?;
        StepRun::new(step, &kernels, common)
    };
    match command {
        StepCommand::ProbeDevice => probe_device(),
        StepCommand::Roofline(device) => show_roofline(device.emulate),
        StepCommand::Bench(bench) => bench::run(&mut step_run(&bench.common)?, bench),
        StepCommand::Check(check) => check::run(&mut step_run(check)?),
        StepCommand::Launch(launch) => launch::run(&mut step_run(&launch.common)?, launch),
        StepCommand::Sums(sums) => sums::run(&mut step_run(sums)?),
    }
}

/// Returns in the exit code whether the driver has a device; prints why it has none.
fn probe_device() -> Result<ExitCode, StepError> {
    match device::count_devices() {
        Ok(_) => Ok(Exit::Passed.into()),
        Err(why) => {
            out::write(&format!("{why}\n"))?;
            Ok(ExitCode::from(device::NO_DEVICE))
        }
    }
}

/// Measures and prints the device's limits alone, as JSON.
fn show_roofline(emulate: bool) -> Result<ExitCode, StepError> {
    device::choose_driver(DeviceChoice::from_option(emulate)?)?;
    let roofline = roofline::measure(&Gpu::open()?)?;
    out::write(&format!("{}\n", serde_json::to_string(&roofline).expect("two numbers")))?;
    Ok(Exit::Passed.into())
}
