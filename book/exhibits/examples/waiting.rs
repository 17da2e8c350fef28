//! Waiting and hiding: the same work by 1 to 32 warps of a multiprocessor, and how many blocks of a kernel it holds.
//!
//! `cargo run -p exhibits --example waiting`
//!
//! On the emulated GPU times are predicted from machine code, for an H200; on another they are measured.

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;
use std::sync::Arc;

use cudarc::driver::sys::{CUdevice_attribute, CUevent_flags};
use cudarc::driver::{CudaContext, CudaModule, CudaSlice, CudaStream, PushKernelArg};

const CUBIN: &[u8] = include_bytes!("../../../kernels/cubin/waiting.cubin");
const PTX: &str = include_str!("../../../kernels/ptx/waiting.ptx");
/// Floats that a block walks over: 256 KiB, past L1, together less than L2 holds.
const PART: usize = 1 << 16;
const WARPS: [u32; 6] = [1, 2, 4, 8, 16, 32];

fn main() -> Result<(), Box<dyn Error>> {
    let context = exhibits::device()?;
    let module = match emulator_client::find() {
        Some(_) => context.load_module(cudarc::nvrtc::Ptx::from_binary(CUBIN.to_vec()))?,
        None => context.load_module(PTX.into())?,
    };
    let bench = Bench::new(&context, module)?;

    // ANCHOR: sums
    const ROUNDS: u32 = 200;
    const FMAS: u32 = 64;
    println!("multiply-adds of a warp that one scheduler issues in a clock");
    println!("warps on it  one sum  four sums");
    for warps in [1, 2, 4, 8] {
        let rate = |kernel| -> Result<f64, Box<dyn Error>> {
            let clocks = bench.clocks(kernel, 4 * warps, ROUNDS)?;
            Ok(f64::from(warps * ROUNDS * FMAS) / clocks)
        };
        println!("{warps:11}  {:7.2}  {:9.2}", rate("one_sum")?, rate("four_sums")?);
    }
    // ANCHOR_END: sums

    // ANCHOR: loads
    println!(
        "\nloads from L2, 128 bytes for a warp: bytes in flight on one SM, and bytes that come in a clock"
    );
    println!("warps on it  one load  in a clock  four loads  in a clock");
    for warps in WARPS {
        let rate = |kernel, loads| -> Result<(u32, f64), Box<dyn Error>> {
            let in_flight = warps * loads * 128;
            let clocks = bench.clocks(kernel, warps, ROUNDS)?;
            Ok((in_flight, f64::from(ROUNDS * in_flight) / clocks))
        };
        let (one, four) = (rate("one_load", 1)?, rate("four_loads", 4)?);
        println!("{warps:11}  {:8}  {:10.1}  {:10}  {:10.1}", one.0, one.1, four.0, four.1);
    }
    // ANCHOR_END: loads
    Ok(())
}

/// A launch of one block on each multiprocessor.
struct Bench {
    stream: Arc<CudaStream>,
    module: Arc<CudaModule>,
    n_sms: u32,
    ghz: f64,
    from: CudaSlice<f32>,
    to: CudaSlice<f32>,
}

impl Bench {
    fn new(context: &Arc<CudaContext>, module: Arc<CudaModule>) -> Result<Self, Box<dyn Error>> {
        let of = |attribute| context.attribute(attribute);
        let n_sms = of(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.unsigned_abs();
        let khz = of(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?;
        let stream = context.default_stream();
        let from = stream.alloc_zeros(PART * n_sms as usize)?;
        let to = stream.alloc_zeros(1024 * n_sms as usize)?;
        Ok(Self { stream, module, n_sms, ghz: f64::from(khz) / 1e6, from, to })
    }

    /// Clocks that `rounds` rounds take, without the launch.
    fn clocks(&self, kernel: &str, warps: u32, rounds: u32) -> Result<f64, Box<dyn Error>> {
        Ok(self.launch(kernel, warps, rounds)? - self.launch(kernel, warps, 0)?)
    }

    /// Clocks of a launch: predicted on the emulated GPU, measured on another.
    fn launch(&self, kernel: &str, warps: u32, rounds: u32) -> Result<f64, Box<dyn Error>> {
        let kernel = self.module.load_function(kernel)?;
        let config = harness::grid_1d(self.n_sms, 32 * warps);
        let flags = Some(CUevent_flags::CU_EVENT_DEFAULT);
        if let Some(emulator) = emulator_client::find() {
            emulator.predict_next();
        }
        let before = self.stream.record_event(flags)?;
        let mut launch = self.stream.launch_builder(&kernel);
        launch.arg(&rounds).arg(&self.from).arg(&self.to);
        // SAFETY: the arguments are what the kernels take; a block stays in its part of `from` and has 1024 floats
        // of `to`.
        unsafe { launch.launch(config) }?;
        let after = self.stream.record_event(flags)?;
        let us = match emulator_client::find() {
            Some(emulator) => {
                let report = emulator.report().ok_or("there was a launch")?;
                let report: serde_json::Value = serde_json::from_str(&report)?;
                let us = report["prediction"]["us"].as_f64();
                us.ok_or_else(|| report["no_prediction"].to_string())?
            }
            None => f64::from(before.elapsed_ms(&after)?) * 1e3,
        };
        Ok(us * 1e3 * self.ghz)
    }
}
