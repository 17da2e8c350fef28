//! Beyond L1: latency by rings of addresses, bandwidth by all SMs at once.

use cudarc::driver::{CudaSlice, DevicePtr as _, PushKernelArg as _};
use harness::{Gpu, StepError, grid_1d, session};

use crate::clocks::links;
use crate::device::NS_PER_MS;
use crate::{CODE, Measurement, slope};

const THREADS: u32 = 1024;
const SECTOR: usize = 32;
const FLOAT4: usize = 16;
/// Bytes between the places of a ring: a page of L2 has several.
const APART: usize = 256;
/// Places of the ring that L2 holds, and of the one that it does not, as a multiple of L2.
const IN_L2: usize = 16 << 10;
const CACHES: usize = 16;
/// A part of L2 that stays in it, whichever half an SM is near to.
const PART_OF_L2: usize = 3;
/// SMs that load the same lines.
const SHARE: u32 = 12;
/// Blocks that an SM holds.
const RESIDENT: u32 = 2;
/// Blocks of each SM for streams.
const BLOCKS_PER_SM: u32 = 1;
/// Rounds of the short stream and of the long one.
const ROUNDS: [i32; 2] = [4, 20];
/// `UNROLL` of the kernels.
const UNROLL: usize = 8;

pub(crate) fn all(
    gpu: &Gpu,
    ghz: f64,
    tell: &mut dyn FnMut(Measurement) -> Result<(), StepError>,
) -> Result<(), StepError> {
    let number = |name: &str, value, unit| Measurement { name: name.into(), value, unit };
    tell(number("chase_l2", chase(gpu, IN_L2)?, "clocks"))?;
    let many = CACHES * gpu.info.l2 / APART;
    tell(number("chase_memory", chase(gpu, many)?, "clocks"))?;

    let in_l2 = gpu.info.l2 / PART_OF_L2;
    let beyond = (CACHES * gpu.info.l2).min(gpu.info.memory / 8);
    let n_sms = gpu.info.n_sms as u32;
    for (place, bytes) in [("l2", in_l2), ("memory", beyond)] {
        for n in [1, n_sms] {
            let who = if n == 1 { "_alone" } else { "" };
            // One SM takes long for much memory, and a short stretch gives the same rate.
            let bytes = if n == 1 { bytes.min(in_l2) } else { bytes };
            if n == 1 && place == "memory" {
                continue;
            }
            let per_clock = |bytes_per_ns: f64| bytes_per_ns / ghz / f64::from(n);
            let load = per_clock(stream(gpu, "stream_load", n, 1, bytes)?);
            tell(number(&format!("stream_load_{place}{who}"), load, "bytes/clock/SM"))?;
            let store = per_clock(stream(gpu, "stream_store", n, 1, bytes)?);
            tell(number(&format!("stream_store_{place}{who}"), store, "bytes/clock/SM"))?;
        }
    }
    let load = stream(gpu, "stream_load", n_sms, SHARE, in_l2)? * f64::from(SHARE) / ghz / f64::from(n_sms);
    tell(number("stream_load_l2_shared", load, "bytes/clock/SM"))?;
    let sectors = scattered(gpu, "scattered_store", 1, in_l2)? / ghz;
    tell(number("scattered_store_l2_alone", sectors, "sectors/clock/SM"))?;
    for (place, bytes) in [("l2", in_l2), ("memory", beyond)] {
        let clocks = touch(gpu, bytes)? * ghz;
        tell(number(&format!("touch_{place}"), clocks, "clocks/round of blocks"))?;
    }
    for (place, bytes) in [("l2", in_l2), ("memory", beyond)] {
        for kind in ["load", "store"] {
            let kernel = format!("scattered_{kind}");
            let sectors = scattered(gpu, &kernel, n_sms, bytes)? / ghz / f64::from(n_sms);
            tell(number(&format!("{kernel}_{place}"), sectors, "sectors/clock/SM"))?;
        }
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

/// Nanoseconds of a round of blocks, two on each SM, each of whose threads loads one word of `bytes`.
fn touch(gpu: &Gpu, bytes: usize) -> Result<f64, StepError> {
    let threads = THREADS as usize;
    let kernel = session::load(gpu, CODE.ptx, "touch")?;
    let n_blocks = (bytes / (threads * size_of::<f32>())) as u32;
    let memory: CudaSlice<f32> = gpu.stream.alloc_zeros(n_blocks as usize * threads)?;
    let mut out: CudaSlice<f32> = gpu.stream.alloc_zeros(threads)?;
    let mut time = |blocks: u32| {
        gpu.time_ms(1, || {
            let mut launch = gpu.stream.launch_builder(&kernel);
            launch.arg(&memory).arg(&mut out);
            // SAFETY: as the kernel takes them: a float for each thread of no more than `n_blocks` blocks.
            unsafe { launch.launch(grid_1d(blocks, THREADS)) }?;
            Ok(())
        })
    };
    time(n_blocks)?;
    let of_a_round = f64::from(RESIDENT) * gpu.info.n_sms as f64;
    Ok(slope([n_blocks / 4, n_blocks], time)? * NS_PER_MS * of_a_round)
}

/// Returns bytes per nanosecond of memory that is walked over by `share` blocks at a time.
fn stream(gpu: &Gpu, name: &str, n_sms: u32, share: u32, bytes: usize) -> Result<f64, StepError> {
    let kernel = session::load(gpu, CODE.ptx, name)?;
    let blocks = match (n_sms, share) {
        (1, _) => 1,
        (_, 1) => n_sms * BLOCKS_PER_SM,
        _ => n_sms * RESIDENT,
    };
    // Whole rounds of all threads.
    let round = UNROLL * (blocks / share * THREADS) as usize;
    let n = (bytes / FLOAT4) / round * round;
    let (n, share) = (n as i32, share as i32);
    let mut memory: CudaSlice<u8> = gpu.stream.alloc_zeros(n as usize * FLOAT4)?;
    let mut out: CudaSlice<f32> = gpu.stream.alloc_zeros((blocks * THREADS) as usize)?;
    let config = grid_1d(blocks, THREADS);
    let mut time = |rounds: i32| {
        gpu.time_ms(1, || {
            let mut launch = gpu.stream.launch_builder(&kernel);
            launch.arg(&rounds).arg(&n);
            if name == "stream_load" {
                launch.arg(&share);
            }
            launch.arg(&mut memory);
            if name == "stream_load" {
                launch.arg(&mut out);
            }
            // SAFETY: as the kernels take them: `n` float4, and one float for each thread in `out`.
            unsafe { launch.launch(config) }?;
            Ok(())
        })
    };
    time(1)?;
    let of_a_round = f64::from(n) * FLOAT4 as f64;
    Ok(of_a_round / (slope(ROUNDS, time)? * NS_PER_MS))
}

/// Returns sectors per nanosecond that the kernel `name` loads from or stores to a footprint of `bytes` bytes.
fn scattered(gpu: &Gpu, name: &str, n_sms: u32, bytes: usize) -> Result<f64, StepError> {
    let kernel = session::load(gpu, CODE.ptx, name)?;
    let n = (bytes / SECTOR).next_power_of_two() as i32 / 2;
    let mut memory: CudaSlice<u8> = gpu.stream.alloc_zeros(n as usize * SECTOR)?;
    let blocks = n_sms * BLOCKS_PER_SM;
    let mut out: CudaSlice<f32> = gpu.stream.alloc_zeros((blocks * THREADS) as usize)?;
    let config = grid_1d(blocks, THREADS);
    let mut time = |rounds: i32| {
        gpu.time_ms(1, || {
            let mut launch = gpu.stream.launch_builder(&kernel);
            launch.arg(&rounds).arg(&n).arg(&mut memory);
            if name == "scattered_load" {
                launch.arg(&mut out);
            }
            // SAFETY: as the kernels take them: `n` sectors, a power of two, and one float for each thread in `out`.
            unsafe { launch.launch(config) }?;
            Ok(())
        })
    };
    time(1)?;
    let of_a_round = UNROLL as f64 * f64::from(blocks * THREADS);
    Ok(of_a_round / (slope(ROUNDS, time)? * NS_PER_MS))
}
