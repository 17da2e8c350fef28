//! Beyond L1: latency by rings of addresses, bandwidth by all SMs at once.

use cudarc::driver::{CudaSlice, DevicePtr as _, PushKernelArg as _};
use harness::{Gpu, StepError, grid_1d, session};

use crate::{CODE, print_value, slope};
use crate::{clocks::links, device::NS_PER_MS};

const THREADS: u32 = 1024;
const SECTOR: usize = 32;
const FLOAT4: usize = 16;
/// Bytes between the places of a ring: a page of L2 has several.
const APART: usize = 256;
/// Number of elements of a ring that fits in L2.
const IN_L2: usize = 16 << 10;
/// Length of the stream that L2 does not hold, as a multiple of L2.
const CACHES: usize = 16;
/// A part of L2 that stays in it, whichever half an SM is near to.
const PART_OF_L2: usize = 3;
/// SMs that load the same lines.
const SHARE: u32 = 12;
/// Blocks that an SM holds.
const RESIDENT: u32 = 2;
const BLOCKS_PER_SM: u32 = 1;
/// Rounds of the short stream and of the long one.
const ROUNDS: [i32; 2] = [4, 20];
/// `UNROLL` of the kernels.
const UNROLL: usize = 8;

pub(crate) fn all(gpu: &Gpu, ghz: f64) -> Result<(), StepError> {
    print_value("chase_l2", chase(gpu, IN_L2)?, "clocks")?;

    let in_l2 = gpu.info.l2 / PART_OF_L2;
    let beyond = (CACHES * gpu.info.l2).min(gpu.info.memory / 8);
    let n_sms = gpu.info.n_sms as u32;
    let streams = [
        ("stream_load_l2_alone", 1, 1, in_l2),
        ("stream_store_l2_alone", 1, 1, in_l2),
        ("stream_load_l2", n_sms, 1, in_l2),
        ("stream_store_l2", n_sms, 1, in_l2),
        ("stream_load_memory", n_sms, 1, beyond),
        ("stream_load_l2_shared", n_sms, SHARE, in_l2),
    ];
    for (name, n, share, bytes) in streams {
        let kernel = if name.starts_with("stream_load") { "stream_load" } else { "stream_store" };
        let rate = stream(gpu, kernel, n, share, bytes)? * f64::from(share) / ghz / f64::from(n);
        print_value(name, rate, "bytes/clock/SM")?;
    }
    for (name, kernel, n) in [
        ("scattered_store_l2_alone", "scattered_store", 1),
        ("scattered_load_l2", "scattered_load", n_sms),
        ("scattered_store_l2", "scattered_store", n_sms),
    ] {
        let rate = scattered(gpu, kernel, n, in_l2)? / ghz / f64::from(n);
        print_value(name, rate, "sectors/clock/SM")?;
    }
    Ok(())
}

/// Returns the clocks of one step through a ring of `n` places in an order without a pattern.
fn chase(gpu: &Gpu, n: usize) -> Result<f64, StepError> {
    const OPS: i32 = 64;
    // A step of an odd number visits all of a power of two, and is never the same distance from neighbours.
    let n = n.next_power_of_two() / 2;
    let step = (n / 7 * 3) | 1;
    let ring = links(gpu, n, APART, |i| (i + step) & (n - 1))?;
    let kernel = session::load(gpu, CODE.ptx, "chase_l2")?;
    let mut clocks: CudaSlice<i64> = gpu.stream.alloc_zeros(2)?;
    let mut sink: CudaSlice<u64> = gpu.stream.alloc_zeros(1)?;
    // Each run goes on where the last one stopped.
    let mut first = ring.device_ptr(&gpu.stream).0;
    let mut run = |rounds: i32| -> Result<f64, StepError> {
        let schedulers = 4;
        let mut launch = gpu.stream.launch_builder(&kernel);
        launch.arg(&rounds).arg(&schedulers).arg(&mut clocks).arg(&mut sink).arg(&first);
        // SAFETY: as the kernel takes them; the ring leads round in its own memory.
        unsafe { launch.launch(grid_1d(1, 32)) }?;
        let read = gpu.stream.clone_dtoh(&clocks)?;
        first = gpu.stream.clone_dtoh(&sink)?[0];
        Ok((read[1] - read[0]) as f64)
    };
    // Once round, for the ring that L2 holds.
    let round = (n as i32 / OPS).clamp(16, 4096);
    run(round)?;
    Ok(slope([round / 4, round], run)? / f64::from(OPS))
}

/// Returns bytes per nanosecond of memory that is walked over by `share` blocks at a time.
fn stream(gpu: &Gpu, name: &str, n_sms: u32, share: u32, bytes: usize) -> Result<f64, StepError> {
    let blocks = match (n_sms, share) {
        (1, _) => 1,
        (_, 1) => n_sms * BLOCKS_PER_SM,
        _ => n_sms * RESIDENT,
    };
    // Whole rounds of all threads.
    let round = UNROLL * (blocks / share * THREADS) as usize;
    let n = (bytes / FLOAT4) / round * round;
    let shares = (name == "stream_load").then_some(share as i32);
    Ok(n as f64 * FLOAT4 as f64 / round_ns(gpu, name, blocks, n as i32, FLOAT4, shares)?)
}

/// Returns sectors per nanosecond that the kernel `name` loads from or stores to a footprint of `bytes` bytes.
fn scattered(gpu: &Gpu, name: &str, n_sms: u32, bytes: usize) -> Result<f64, StepError> {
    let n = (bytes / SECTOR).next_power_of_two() as i32 / 2;
    let blocks = n_sms * BLOCKS_PER_SM;
    Ok(UNROLL as f64 * f64::from(blocks * THREADS) / round_ns(gpu, name, blocks, n, SECTOR, None)?)
}

/// Returns the nanoseconds of a round of the kernel `name`, which takes the number of rounds, the `n` elements of its
/// memory, an argument for some, the memory, and where it loads, one float for each thread.
fn round_ns(
    gpu: &Gpu, name: &str, blocks: u32, n: i32, element_bytes: usize, more: Option<i32>,
) -> Result<f64, StepError> {
    let kernel = session::load(gpu, CODE.ptx, name)?;
    let mut memory: CudaSlice<u8> = gpu.stream.alloc_zeros(n as usize * element_bytes)?;
    let mut out: CudaSlice<f32> = gpu.stream.alloc_zeros((blocks * THREADS) as usize)?;
    let mut time = |rounds: i32| {
        gpu.time_ms(1, || {
            let mut launch = gpu.stream.launch_builder(&kernel);
            launch.arg(&rounds).arg(&n);
            if let Some(more) = &more {
                launch.arg(more);
            }
            launch.arg(&mut memory);
            if name.ends_with("_load") {
                launch.arg(&mut out);
            }
            // SAFETY: as the kernels take them; `memory` has `n` elements.
            unsafe { launch.launch(grid_1d(blocks, THREADS)) }?;
            Ok(())
        })
    };
    time(1)?;
    Ok(slope(ROUNDS, time)? * NS_PER_MS)
}
