//! Loops of one instruction on one SM, by its own clock.

use cudarc::driver::{CudaSlice, PushKernelArg as _};
use harness::{Gpu, StepError, grid_1d, session};

use crate::{CODE, print_value, slope};

/// Repetitions in a round: OPS of the kernels.
const OPS: u32 = 64;
/// Independent chains of a thread.
const CHAINS: usize = 8;
const LANES: usize = 32;
/// Warps of a block of `cost_*`.
const WARPS: usize = 16;
const SCHEDULERS: usize = 4;
/// Bytes from the address of one thread to that of the next.
const LINK: usize = 16;
/// Rounds of the short loop and of the long one.
const ROUNDS: [i32; 2] = [64, 256];

/// Kernels `cost_*`: clocks per instruction of one scheduler, with all four at work.
const COSTS: [&str; 6] = ["fma", "double", "integer_fma", "alu", "special", "load_constant"];
/// Kernels `cost_*`: clocks per instruction of one scheduler, which is alone at work.
const COSTS_ALONE: [&str; 5] = ["load_shared_4", "store_shared_4", "store_shared_8", "store_shared_16", "load_l1_4"];
/// Kernels `chase_*`: clocks from one load to the next one, which needs its result.
const CHASES: [&str; 7] = ["shared_4", "shared_8", "shared_16", "constant", "l1_4", "l1_8", "l1_16"];
/// Warps of a block for the barrier.
const BARRIERS: [usize; 2] = [1, 32];

pub(crate) fn all(gpu: &Gpu) -> Result<(), StepError> {
    let mut bench = Bench::new(gpu)?;
    for (costs, schedulers, who) in [(&COSTS[..], SCHEDULERS, ""), (&COSTS_ALONE, 1, "_alone")] {
        for cost in costs {
            let kernel = format!("cost_{cost}");
            let value = bench.clocks(&kernel, WARPS, schedulers)? / (WARPS / SCHEDULERS) as f64;
            print_value(&(kernel + who), value, "clocks")?;
        }
    }
    for chase in CHASES {
        let kernel = format!("chase_{chase}");
        let value = bench.clocks(&kernel, 1, SCHEDULERS)?;
        print_value(&kernel, value, "clocks")?;
    }
    for n_warps in BARRIERS {
        let value = bench.clocks("cost_barrier", n_warps, SCHEDULERS)?;
        print_value(&format!("barrier_{n_warps}"), value, "clocks")?;
    }
    Ok(())
}

/// Device and code for all loops.
struct Bench<'g> {
    gpu: &'g Gpu,
    /// Start and end of each warp.
    clocks: CudaSlice<i64>,
    /// Zeros to begin with, and a place for results: large enough for any of them.
    sink: CudaSlice<u8>,
    /// Each element holds its own address.
    links: CudaSlice<u64>,
}

impl<'g> Bench<'g> {
    fn new(gpu: &'g Gpu) -> Result<Self, StepError> {
        let n_places = CHAINS * WARPS * LANES;
        let links = links(gpu, n_places, LINK, |i| i)?;
        Ok(Self { gpu, clocks: gpu.stream.alloc_zeros(2 * 32)?, sink: gpu.stream.alloc_zeros(n_places * LINK)?, links })
    }

    /// Returns the clocks from one instruction of a warp to its next one.
    fn clocks(&mut self, kernel: &str, n_warps: usize, schedulers: usize) -> Result<f64, StepError> {
        let round = slope(ROUNDS, |rounds| self.run(kernel, n_warps, schedulers, rounds))?;
        Ok(round / f64::from(OPS))
    }

    /// Measures from the first warp's start to the last one's end.
    fn run(&mut self, kernel: &str, n_warps: usize, schedulers: usize, rounds: i32) -> Result<f64, StepError> {
        let stream = &self.gpu.stream;
        let function = session::load(self.gpu, CODE.ptx, kernel)?;
        stream.memset_zeros(&mut self.clocks)?;
        stream.memset_zeros(&mut self.sink)?;
        let schedulers = schedulers as i32;
        let mut launch = stream.launch_builder(&function);
        launch.arg(&rounds).arg(&schedulers).arg(&mut self.clocks);
        if kernel != "cost_barrier" {
            launch.arg(&mut self.sink);
        }
        if kernel.contains("_l1_") {
            launch.arg(&self.links);
        }
        // SAFETY: the arguments are what the kernels take. A warp writes its two clocks; `sink` and `links` have 16
        // bytes for each chain of each thread, which is more than any of them reads or writes.
        unsafe { launch.launch(grid_1d(1, (n_warps * LANES) as u32)) }?;
        let clocks = stream.clone_dtoh(&self.clocks)?;
        let (starts, ends) = (clocks.iter().step_by(2), clocks.iter().skip(1).step_by(2));
        let start = starts.copied().filter(|clock| *clock != 0).min();
        let end = ends.copied().max();
        let (Some(start), Some(end)) = (start, end) else {
            return Err(StepError::CouldNot(format!("{kernel} wrote no clock")));
        };
        Ok((end - start) as f64)
    }
}

/// Returns memory with an address in each of `n` places, `apart` bytes from each other: that of the place that `next`
/// names.
pub(crate) fn links(
    gpu: &Gpu, n: usize, apart: usize, next: impl Fn(usize) -> usize,
) -> Result<CudaSlice<u64>, StepError> {
    use cudarc::driver::DevicePtr as _;
    let words = apart / size_of::<u64>();
    let mut memory = gpu.stream.alloc_zeros::<u64>(n * words)?;
    let start = memory.device_ptr(&gpu.stream).0;
    let mut text = vec![0u64; n * words];
    for place in 0..n {
        text[place * words] = start + (next(place) * apart) as u64;
    }
    gpu.stream.memcpy_htod(&text, &mut memory)?;
    Ok(memory)
}
