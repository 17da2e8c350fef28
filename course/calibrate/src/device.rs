//! The clock of the SMs, and what launches and blocks cost.

use catalog::statistics::median;
use cudarc::driver::{CudaSlice, PushKernelArg as _, sys};
use harness::{Gpu, StepError, dependent, grid_1d, session};

use crate::{CODE, REPEATS, asynchronous, print, print_value, slope, workers};

/// Rounds of multiply-adds for the clock: some milliseconds.
const CLOCK_ROUNDS: i32 = 200_000;
/// Blocks of the two grids whose difference is what a block costs.
const BLOCKS: [u32; 2] = [20_000, 220_000];
/// Threads of small blocks and of the largest.
const THREADS: [u32; 2] = [256, 1024];
/// Clocks that a block of `spin` takes at least.
const SPIN: i32 = 2000;
/// Rounds of blocks of `spin`, few and many.
const SPINS: [u32; 2] = [20, 120];
/// Launches in a graph.
const LAUNCHES: u32 = 200;
pub(crate) const NS_PER_MS: f64 = 1e6;

/// Returns the clock in GHz.
pub(crate) fn all(gpu: &Gpu) -> Result<f64, StepError> {
    print_value("n_sms", gpu.info.n_sms as f64, "")?;
    let ghz = clock(gpu)?;
    print_value("clock", ghz, "GHz")?;
    for threads in THREADS {
        print_value(&format!("block_{threads}"), block_ns(gpu, threads)?, "ns")?;
    }
    let spin = spin_ns(gpu)? * ghz;
    print_value("spin", spin - f64::from(SPIN), "clocks")?;
    for (name, kernel, is_dependent) in LAUNCHES_OF {
        match launch_ns(gpu, kernel, is_dependent) {
            Ok(ns) => print_value(name, ns, "ns")?,
            // Not every GPU has clusters.
            Err(why) => print(&workers::error(name, &why))?,
        }
    }
    Ok(ghz)
}

/// Returns the clocks of an SM in the time of a launch, while all SMs multiply.
fn clock(gpu: &Gpu) -> Result<f64, StepError> {
    let kernel = session::load(gpu, CODE.ptx, "cost_fma")?;
    let mut clocks: CudaSlice<i64> = gpu.stream.alloc_zeros(2 * 16)?;
    let mut sink: CudaSlice<f32> = gpu.stream.alloc_zeros(64)?;
    let config = grid_1d(gpu.info.n_sms as u32, 512);
    let schedulers = 4;
    let mut samples = Vec::new();
    for _ in 0..REPEATS {
        let ms = gpu.time_ms(1, || {
            let mut launch = gpu.stream.launch_builder(&kernel);
            launch.arg(&CLOCK_ROUNDS).arg(&schedulers).arg(&mut clocks).arg(&mut sink);
            // SAFETY: as the kernel takes them; 16 warps write two clocks each, all blocks to the same place.
            unsafe { launch.launch(config) }?;
            Ok(())
        })?;
        let read = gpu.stream.clone_dtoh(&clocks)?;
        // The pairs of one warp: another block may have written the other's.
        let most = read.chunks(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        samples.push(most as f64 / ms * 1e-6);
    }
    Ok(median(samples).unwrap_or(f64::NAN))
}

/// Measures the time for one more block.
fn block_ns(gpu: &Gpu, threads: u32) -> Result<f64, StepError> {
    let kernel = session::load(gpu, CODE.ptx, "empty")?;
    let time = |blocks: u32| {
        gpu.time_ms(1, || {
            // SAFETY: it has no parameters and does nothing.
            unsafe { gpu.stream.launch_builder(&kernel).launch(grid_1d(blocks, threads)) }?;
            Ok(())
        })
    };
    Ok(slope(BLOCKS, time)? * NS_PER_MS)
}

/// Measures the time for a round of spinning blocks, two to an SM.
fn spin_ns(gpu: &Gpu) -> Result<f64, StepError> {
    const RESIDENT: u32 = 2;
    let kernel = session::load(gpu, CODE.ptx, "spin")?;
    let time = |rounds: u32| {
        let config = grid_1d(gpu.info.n_sms as u32 * RESIDENT * rounds, 1024);
        gpu.time_ms(1, || {
            let mut launch = gpu.stream.launch_builder(&kernel);
            launch.arg(&SPIN);
            // SAFETY: as the kernel takes it; it touches no memory.
            unsafe { launch.launch(config) }?;
            Ok(())
        })
    };
    time(SPINS[0])?;
    Ok(slope(SPINS, time)? * NS_PER_MS)
}

/// Launches that are measured, their kernels, and whether each launch may begin before the one before ends.
const LAUNCHES_OF: [(&str, &str, bool); 5] = [
    ("launch_384", "nothing", false),
    ("launch_cluster", "nothing_in_cluster", false),
    ("launch_store", "nothing_but_a_store", false),
    ("launch_dependent", "nothing_dependent", true),
    ("launch_dependent_store", "nothing_dependent_but_a_store", true),
];

/// Measures the time for one more launch that is queued already.
fn launch_ns(gpu: &Gpu, kernel: &str, is_dependent: bool) -> Result<f64, StepError> {
    let kernel = session::load(gpu, asynchronous::CODE.ptx, kernel)?;
    // Not the default stream, which cannot be captured.
    let stream = gpu.context.new_stream()?;
    let config = grid_1d(gpu.info.n_sms as u32, 384);
    let graph = |n: u32| {
        stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
        for _ in 0..n {
            // SAFETY: it takes an address, where it stores nothing if that is 0.
            unsafe {
                if is_dependent {
                    dependent::launch(&stream, &kernel, config, &mut [dependent::argument(&0u64)])?;
                } else {
                    stream.launch_builder(&kernel).arg(&0u64).launch(config)?;
                }
            }
        }
        let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        let graph = stream.end_capture(flags)?;
        graph.ok_or_else(|| StepError::CouldNot("the driver captured no launch".into()))
    };
    let (few, many) = (graph(LAUNCHES)?, graph(2 * LAUNCHES)?);
    let time = |n: u32| -> Result<f64, StepError> {
        let graph = if n == LAUNCHES { &few } else { &many };
        let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
        let start = stream.record_event(flags)?;
        graph.launch()?;
        let end = stream.record_event(flags)?;
        Ok(f64::from(start.elapsed_ms(&end)?))
    };
    Ok(slope([LAUNCHES, 2 * LAUNCHES], time)? * NS_PER_MS)
}
