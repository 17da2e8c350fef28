//! The device's ceilings, measured in a moment: multiply-adds from registers, and bytes through memory.
//!
//! Both are the best of several launches of different sizes, because a single size can mislead: too small does not
//! fill the device, and a copy of exactly 1 GiB has been seen at two thirds of the rate of its neighbours.
//! Real devices only; the emulated one has no speed.

use cudarc::driver::{CudaFunction, CudaSlice, LaunchConfig, PushKernelArg as _};
use records::Roofline;

use crate::device::{Gpu, session};
use crate::error::StepError;
use crate::kernel::{KernelSource, grid_1d};

const PROBE: KernelSource = KernelSource {
    text: include_str!("../../../../kernels/probe.cu"),
    ptx: include_str!("../../../../kernels/ptx/probe.ptx"),
    cubin: &[],
    rust: None,
};
/// Threads of a block, in both kernels.
const THREADS: u32 = PROBE.constant("THREADS");
/// Multiply-adds of one thread of `probe_fma` in each round.
const FMAS_PER_ROUND: u32 = PROBE.constant("FMAS_PER_ROUND");
/// Bytes of what a thread of `probe_copy` moves at a time.
const FLOAT4: usize = 16;

/// Blocks per SM: no more than fit at a time, and more, for a tail that is a smaller part.
const BLOCKS_PER_SM: [u32; 3] = [8, 16, 32];
/// Milliseconds of a launch of `probe_fma`: long enough for the clock to rise.
const FMA_MS: f64 = 4.0;
/// Sizes of the copy, as multiples of the level-2 cache: none stays in it, and none is a power of two.
const CACHES: [usize; 3] = [5, 9, 13];
/// Launches of each size; the best one counts.
const REPEATS: usize = 5;

pub fn measure(gpu: &Gpu) -> Result<Roofline, StepError> {
    if gpu.emulator.is_some() {
        return Err(StepError::CouldNot("a roofline needs an NVIDIA GPU: the emulated one has no speed".into()));
    }
    Ok(Roofline { fp32_tflops: fma_tflops(gpu)?, copy_gbs: copy_gbs(gpu)? })
}

fn fma_tflops(gpu: &Gpu) -> Result<f64, StepError> {
    let kernel = session::load(gpu, PROBE.ptx, "probe_fma")?;
    let n_sms = u32::try_from(gpu.info.n_sms).unwrap_or(1);
    let mut best = 0.0_f64;
    for blocks_per_sm in BLOCKS_PER_SM {
        let config = grid_1d(n_sms * blocks_per_sm, THREADS);
        // The kernel writes where a sum is negative, which none is.
        let mut out = gpu.stream.alloc_zeros::<f32>((config.grid_dim.0 * THREADS) as usize)?;
        let mut time = |rounds| gpu.time_ms(1, || fma(gpu, &kernel, config, rounds, &mut out));
        time(1)?;
        let n_some = 100;
        let some_ms = time(n_some)?;
        let rounds = (f64::from(n_some) * FMA_MS / some_ms).clamp(1.0, 1e6) as i32;
        let flop = 2.0 * f64::from(FMAS_PER_ROUND) * f64::from(rounds) * f64::from(config.grid_dim.0 * THREADS);
        for _ in 0..REPEATS {
            best = best.max(flop / time(rounds)? * 1e-9);
        }
    }
    Ok(best)
}

fn fma(
    gpu: &Gpu, kernel: &CudaFunction, config: LaunchConfig, rounds: i32, out: &mut CudaSlice<f32>,
) -> Result<(), StepError> {
    // acc * seed + (1 - seed): it stays finite, and ordinary.
    const SEED: f32 = 0.5;
    let mut launch = gpu.stream.launch_builder(kernel);
    launch.arg(&rounds).arg(&SEED).arg(out);
    // SAFETY: the arguments are what the kernel takes, and `out` has an element for each thread.
    unsafe { launch.launch(config) }?;
    Ok(())
}

/// Measures the bandwidth of a copy: by a kernel and by the driver's own copy.
fn copy_gbs(gpu: &Gpu) -> Result<f64, StepError> {
    let kernel = session::load(gpu, PROBE.ptx, "probe_copy")?;
    let mut best = 0.0_f64;
    for caches in CACHES {
        // Not more than leaves room on a small device.
        let bytes = (caches * gpu.info.l2).min(gpu.info.memory / 16).next_multiple_of(FLOAT4);
        let from = gpu.stream.alloc_zeros::<u8>(bytes)?;
        let mut to = gpu.stream.alloc_zeros::<u8>(bytes)?;
        let gbs = |ms: f64| 2.0 * bytes as f64 / ms * 1e-6;
        for _ in 0..REPEATS {
            best = best.max(gbs(gpu.time_ms(1, || copy(gpu, &kernel, &from, &mut to))?));
            best = best.max(gbs(gpu.time_ms(1, || Ok(gpu.stream.memcpy_dtod(&from, &mut to)?))?));
        }
    }
    Ok(best)
}

fn copy(gpu: &Gpu, kernel: &CudaFunction, from: &CudaSlice<u8>, to: &mut CudaSlice<u8>) -> Result<(), StepError> {
    let n_float4 = (from.len() / FLOAT4) as i64;
    let blocks = (from.len() / FLOAT4).div_ceil(THREADS as usize);
    let mut launch = gpu.stream.launch_builder(kernel);
    launch.arg(&n_float4).arg(from).arg(to);
    // SAFETY: the arguments are what the kernel takes; both have so many float4, and an allocation is aligned for them.
    unsafe { launch.launch(grid_1d(u32::try_from(blocks).unwrap_or(u32::MAX), THREADS)) }?;
    Ok(())
}
