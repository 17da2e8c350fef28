//! Loops of instructions whose work goes on by itself: products of warpgroups, copies of boxes, barriers in shared
//! memory.
//!
//! Each measurement stands alone: where one fails, its record has the error, and the next one follows.

#[cfg(test)]
mod tests;

use std::process::Command;

use catalog::statistics::median;
use cudarc::driver::{CudaFunction, CudaSlice, DevicePtr as _, DeviceRepr, LaunchConfig, PushKernelArg as _, sys};
use harness::map::{Element, Matrix, Swizzle, TensorMap};
use harness::{Gpu, KernelSource, StepError, code, session};

use crate::workers::{self, Measured, Measurement, Tally};
use crate::{REPEATS, print};

/// The kernels, `kernels/calibrate_async.cu`.
pub(crate) const CODE: KernelSource = code!("calibrate_async");

/// Rounds of the short loop and of the long one; on the emulated GPU, which shows that the loops end.
const ROUNDS: [i32; 2] = [32, 160];
const ROUNDS_EMULATED: [i32; 2] = [4, 10];
/// Instructions in a round: UNROLL of the kernels.
const UNROLL: f64 = 16.0;
const WARP: u32 = 32;
const GROUP: u32 = 128;
/// Barriers of a block, and the most copies under way.
const SLOTS: u32 = 8;
/// Products of a chain.
const CHAINS: [u32; 3] = [1, 4, 16];
/// Shapes of products: type and columns.
const PRODUCTS: [(&str, u32); 8] = [
    ("bf16", 64),
    ("bf16", 128),
    ("bf16", 192),
    ("bf16", 256),
    ("tf32", 128),
    ("tf32", 256),
    ("e4m3", 128),
    ("e4m3", 256),
];
/// Bytes of a row of tiles.
const ROW_BYTES: u32 = 128;
/// Rows of the matrix whose boxes are copied: of 8 KB.
const MATRIX_ROWS: usize = 1 << 18;
const MATRIX_PITCH: usize = 8192;
const RAGGED_PITCH: usize = 8016;
const MATRIX_ROWS_IN_L2: usize = 4096;
/// Rows in which blocks stay whose boxes are to be in L2.
const ROWS_IN_L2: i32 = 1024;
/// Blocks and milliseconds of the launches that show the clock while tensor cores work: before all SMs do.
const LOADS: [(u32, f64); 5] = [(1, 0.02), (1, LOAD_MS), (8, LOAD_MS), (32, LOAD_MS), (64, LOAD_MS)];
const LOAD_MS: f64 = 20.0;
const LONG_LOAD_MS: f64 = 200.0;

/// Instructions that are repeated on one SM: kernel, threads of a block, blocks, instructions in a round.
type Loop = (&'static str, &'static [u32], u32, f64);
const LOOPS: [Loop; 27] = [
    ("products_none", &[GROUP], 1, 1.0),
    ("mma_bf16", &[128, 512], 1, UNROLL),
    ("mma_tf32", &[128, 512], 1, UNROLL),
    ("mma_tf32_k4", &[512], 1, UNROLL),
    ("mma_bf16_chain", &[32], 1, UNROLL),
    ("load_matrices_many", &[128, 512], 1, UNROLL),
    ("load_matrices_chain", &[32], 1, UNROLL),
    ("store_matrices_many", &[128, 512], 1, UNROLL),
    ("barrier_turns", &[64], 1, 2.0),
    ("barrier_passed", &[32], 1, UNROLL),
    ("barrier_arrive", &[1, 32], 1, UNROLL),
    ("barrier_expect", &[1, 32], 1, UNROLL),
    ("barrier_named_64", &[64], 1, UNROLL),
    ("barrier_named_128", &[128], 1, UNROLL),
    ("barrier_named_256", &[256], 1, UNROLL),
    ("barrier_named_384", &[384], 1, UNROLL),
    ("publish", &[32], 1, UNROLL),
    ("barrier_turns_in_cluster", &[32], 2, 2.0),
    ("barrier_cluster_2", &[32, 128, 256], 2, UNROLL),
    ("barrier_cluster_4", &[32, 256], 4, UNROLL),
    ("barrier_cluster_relaxed_2", &[32, 128, 256], 2, UNROLL),
    ("fence_alone", &[32, 128, 256], 1, UNROLL),
    ("fence_after_store", &[32, 256], 1, UNROLL),
    ("remote_stores", &[32, 256], 2, UNROLL),
    ("remote_exchange", &[32, 256], 2, 1.0),
    ("code_64", &[128], 1, 64.0),
    ("code_1024", &[128], 1, 1024.0),
];

/// Measures all in worker processes.
pub(crate) fn all(gpu: Gpu, ghz: f64) -> Result<Tally, StepError> {
    let measurements = measurements(gpu.info.n_sms as u32, ghz);
    if let Err(why) = session::load_cubin(&gpu, CODE.cubin, "products_none") {
        print(&workers::error("asynchronous", &why))?;
        return Ok(Tally { all: measurements.len(), failed: measurements.len() });
    }
    let is_emulated = gpu.emulator.is_some();
    // Its memory is for the workers.
    drop(gpu);
    let start = |skip: usize| {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--skip", &skip.to_string(), "--ghz", &ghz.to_string()]);
        command.args(is_emulated.then_some("--emulate"));
        Ok(command)
    };
    let names: Vec<String> = measurements.into_iter().map(|measurement| measurement.name).collect();
    workers::supervise(&names, start, &mut print)
}

/// Measures as a worker, after so many measurements that other workers made.
pub(crate) fn after(skip: usize, gpu: &Gpu, ghz: f64) -> Result<(), StepError> {
    let measurements = measurements(gpu.info.n_sms as u32, ghz);
    workers::work(gpu, measurements.get(skip..).unwrap_or_default(), &mut print)
}

/// Returns all measurements, those first that are needed most.
fn measurements(n_sms: u32, ghz: f64) -> Vec<Measurement> {
    let mut all = Vec::new();
    for (element, n) in PRODUCTS {
        for from in ["shared", "registers"] {
            for groups in [1, 2] {
                for chain in CHAINS {
                    let kernel = format!("products_{element}_{n}_{from}_{chain}");
                    all.push(Measurement::new(format!("{kernel}_x{groups}"), move |gpu| {
                        Bench::new(gpu, &kernel, [1, groups * GROUP], tiles_bytes(n))?.measure(1.0, &sink(gpu)?)
                    }));
                }
            }
        }
    }
    for (kernel, threads, blocks, per_round) in LOOPS {
        all.extend(threads.iter().map(|&threads| {
            Measurement::new(format!("{kernel}_{threads}_threads"), move |gpu| {
                Bench::new(gpu, kernel, [blocks, threads], 0)?.measure(per_round, &sink(gpu)?)
            })
        }));
    }
    all.extend(copies().into_iter().map(|copy| Measurement::new(copy.name(), move |gpu| copy.measure(gpu, n_sms))));
    for (blocks, ms) in LOADS.into_iter().chain([(n_sms, LOAD_MS), (n_sms, LONG_LOAD_MS)]) {
        for element in ["bf16", "tf32", "e4m3"] {
            let name = format!("clock_products_{element}_256_{blocks}_blocks_{ms}_ms");
            all.push(Measurement::new(name, move |gpu| clock_under_load(gpu, element, blocks, ms, ghz)));
        }
    }
    all
}

/// Bytes of the tiles of `products_*`.
const fn tiles_bytes(n: u32) -> u32 {
    (64 + n) * ROW_BYTES
}

fn sink(gpu: &Gpu) -> Result<Rest, StepError> {
    Ok(Rest::Sink(gpu.stream.alloc_zeros(1024)?))
}

/// The arguments of a kernel after the rounds and the clocks.
enum Rest {
    Sink(CudaSlice<f32>),
    Boxes(Walk, TensorMap),
    Bulk(Walk, u64),
}

/// A kernel and where its blocks write their clocks.
struct Bench<'g> {
    gpu: &'g Gpu,
    kernel: CudaFunction,
    config: LaunchConfig,
    clocks: CudaSlice<i64>,
}

impl<'g> Bench<'g> {
    /// Loads a kernel for so many blocks and threads of each.
    fn new(gpu: &'g Gpu, kernel: &str, [blocks, threads]: [u32; 2], shared: u32) -> Result<Self, StepError> {
        let kernel = session::load_cubin(gpu, CODE.cubin, kernel).map_err(StepError::CouldNot)?;
        let most = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        kernel.set_attribute(most, shared as i32)?;
        let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: shared };
        Ok(Self { gpu, kernel, config, clocks: gpu.stream.alloc_zeros(2 * blocks as usize)? })
    }

    /// Returns the clocks of a block, the median of all.
    fn run(&mut self, rounds: i32, rest: &Rest) -> Result<f64, StepError> {
        self.launch(rounds, rest)?;
        self.clocks()
    }

    fn launch(&mut self, rounds: i32, rest: &Rest) -> Result<(), StepError> {
        let stream = &self.gpu.stream;
        stream.memset_zeros(&mut self.clocks)?;
        let mut launch = stream.launch_builder(&self.kernel);
        launch.arg(&rounds).arg(&mut self.clocks);
        match rest {
            Rest::Sink(sink) => launch.arg(sink),
            Rest::Boxes(walk, map) => launch.arg(walk).arg(map),
            Rest::Bulk(walk, memory) => launch.arg(walk).arg(memory),
        };
        // SAFETY: the arguments are what the kernels take; each block writes its two clocks, each thread to its place
        // of 1024 in `sink`, and copies stay in the matrix, or leave out what lies outside.
        unsafe { launch.launch(self.config) }?;
        Ok(())
    }

    /// Returns the clocks of a block in the last launch, the median of all.
    fn clocks(&self) -> Result<f64, StepError> {
        let clocks = self.gpu.stream.clone_dtoh(&self.clocks)?;
        let took = clocks.chunks(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        Ok(median(took).unwrap_or(f64::NAN))
    }

    /// Measures the clocks of a part of a round.
    fn measure(mut self, per_round: f64, rest: &Rest) -> Result<Measured, StepError> {
        measured(self.gpu, per_round, |_, rounds| self.run(rounds, rest))
    }
}

/// Measures the clocks of a part of a round, from those of some launches; `run` gets the number of the launch and its
/// rounds.
fn measured(
    gpu: &Gpu, per_round: f64, mut run: impl FnMut(usize, i32) -> Result<f64, StepError>,
) -> Result<Measured, StepError> {
    let (rounds, repeats) = if gpu.emulator.is_some() { (ROUNDS_EMULATED, 1) } else { (ROUNDS, REPEATS) };
    let [few, many] = rounds;
    run(0, few)?;
    let (mut short, mut long) = (Vec::new(), Vec::new());
    for i in 0..repeats {
        short.push(run(2 * i + 1, few)?);
        long.push(run(2 * i + 2, many)?);
    }
    let slopes = short.iter().zip(&long).map(|(short, long)| (long - short) / f64::from(many - few)).collect();
    Ok(Measured {
        value: median(slopes).unwrap_or(f64::NAN) / per_round,
        unit: "clocks",
        raw: serde_json::json!({"rounds": rounds, "short": short, "long": long}),
    })
}

/// `Walk` of the kernels.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Walk {
    depth: i32,
    bytes: i32,
    x: i32,
    y: i32,
    cols: i32,
    rows: i32,
    strips: i32,
    block_rows: i32,
    span: i32,
    share: i32,
}

// SAFETY: plain numbers, in the order of the kernel's.
unsafe impl DeviceRepr for Walk {}

/// A box: type, rows, columns.
type Box = (Element, u32, u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// The kernel, and blocks of a cluster.
    Boxes(&'static str, u32, Box),
    /// So many bytes side by side.
    Bulk(u32),
    /// No copies, but stores of so many bytes by each lane.
    Stores(u32),
}

/// SMs at work, and blocks that copy the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    Alone,
    All(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Where {
    L2,
    /// L2, in rows that do not begin on 128 bytes.
    Ragged,
    Memory,
}

#[derive(Debug, Clone, Copy)]
struct Copies {
    what: What,
    depth: u32,
    who: Who,
    at: Where,
}

/// Bytes from the stores of a block to those of the next.
const STORED_BYTES: u32 = 64 << 10;
/// SMs that copy the same, where some do.
const SHARE: u32 = 12;
/// The most bytes of shared memory for boxes.
const MOST_BYTES: u32 = 216 << 10;

fn copies() -> Vec<Copies> {
    let mut all = Vec::new();
    let mut add = |what, depths: &[u32], who, at| {
        for depth in depths {
            let copies = Copies { what, depth: *depth, who, at };
            if copies.shared_bytes() <= MOST_BYTES {
                all.push(copies);
            }
        }
    };
    let boxes = |rows| What::Boxes("boxes", 1, (Element::Bf16, rows, 64));
    for rows in [8, 64, 128, 256] {
        add(boxes(rows), &[1, 2, 4, 6, 8], Who::Alone, Where::L2);
    }
    for rows in [8, 64, 256] {
        add(boxes(rows), &[1], Who::Alone, Where::Memory);
        for share in [1, SHARE] {
            add(boxes(rows), &[2, 6, 8], Who::All(share), Where::L2);
        }
    }
    for rows in [64, 256] {
        add(boxes(rows), &[6], Who::Alone, Where::Memory);
        add(boxes(rows), &[6], Who::All(1), Where::Memory);
    }
    for rows in [64, 256] {
        add(boxes(rows), &[1, 6], Who::Alone, Where::Ragged);
        for share in [1, SHARE] {
            add(boxes(rows), &[6], Who::All(share), Where::Ragged);
        }
    }
    // Of v11: rows of 64 bytes, and of 512.
    for of in [(Element::F32, 256, 16), (Element::F32, 16, 128)] {
        let what = What::Boxes("boxes", 1, of);
        add(what, &[1, 6], Who::Alone, Where::L2);
        add(what, &[6], Who::All(SHARE), Where::L2);
    }
    add(What::Boxes("boxes_start", 1, (Element::Bf16, 8, 64)), &[SLOTS], Who::Alone, Where::L2);
    add(What::Boxes("boxes_start", 1, (Element::Bf16, 128, 64)), &[SLOTS], Who::Alone, Where::L2);
    for bytes in [1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10] {
        add(What::Bulk(bytes), &[1, 4, 8], Who::Alone, Where::L2);
    }
    add(What::Bulk(2 << 10), &[1], Who::Alone, Where::Memory);
    for share in [1, SHARE] {
        add(What::Bulk(8 << 10), &[8], Who::All(share), Where::L2);
    }
    for (kernel, depth) in [("boxes_out_read_1", 1), ("boxes_out_read_4", 4), ("boxes_out_written_1", 1)] {
        for rows in [8, 64] {
            for who in [Who::Alone, Who::All(1)] {
                add(What::Boxes(kernel, 1, (Element::Bf16, rows, 64)), &[depth], who, Where::L2);
            }
        }
    }
    for bytes in [4, 8] {
        for who in [Who::Alone, Who::All(1)] {
            add(What::Stores(bytes), &[1], who, Where::L2);
        }
    }
    for (kernel, blocks) in [("multicast_2", 2), ("multicast_4", 4)] {
        for rows in [32, 64] {
            for who in [Who::Alone, Who::All(1)] {
                add(What::Boxes(kernel, blocks, (Element::Bf16, rows, 64)), &[1, 2, 4], who, Where::L2);
            }
        }
    }
    all
}

impl Copies {
    /// `boxes_64x64_F32_depth_2_alone_L2`
    fn name(&self) -> String {
        let Self { depth, who, at, .. } = self;
        let who = match who {
            Who::Alone => "alone".to_owned(),
            Who::All(share) => format!("all_share_{share}"),
        };
        let what = match self.what {
            What::Boxes(kernel, _, (element, rows, cols)) => format!("{kernel}_{rows}x{cols}_{element:?}"),
            What::Bulk(bytes) => format!("bulk_{bytes}"),
            What::Stores(bytes) => format!("stores_{bytes}"),
        };
        format!("{what}_depth_{depth}_{who}_{at:?}")
    }

    /// Returns the blocks of a cluster and the bytes of a copy.
    fn cluster_and_bytes(&self) -> (u32, u32) {
        match self.what {
            What::Boxes(_, cluster, (Element::F32 | Element::Tf32, rows, cols)) => (cluster, rows * cols * 4),
            What::Boxes(_, cluster, (Element::Bf16, rows, cols)) => (cluster, rows * cols * 2),
            What::Boxes(_, cluster, (Element::E4m3, rows, cols)) => (cluster, rows * cols),
            What::Bulk(bytes) => (1, bytes),
            What::Stores(_) => (1, STORED_BYTES),
        }
    }

    fn shared_bytes(&self) -> u32 {
        let (cluster, bytes) = self.cluster_and_bytes();
        cluster * bytes * self.depth
    }

    /// Measures the clocks from one copy to the next one.
    fn measure(&self, gpu: &Gpu, n_sms: u32) -> Result<Measured, StepError> {
        let (cluster, bytes) = self.cluster_and_bytes();
        let rows = match self.at {
            Where::L2 | Where::Ragged => MATRIX_ROWS_IN_L2,
            Where::Memory => MATRIX_ROWS.min(gpu.info.memory / 8 / MATRIX_PITCH),
        };
        let memory: CudaSlice<u8> = gpu.stream.alloc_zeros(rows * MATRIX_PITCH)?;
        let address = memory.device_ptr(&gpu.stream).0;
        let (blocks, share) = match self.who {
            Who::Alone => (cluster, 1),
            Who::All(share) => (n_sms / cluster * cluster, share),
        };
        let (kernel, threads) = match self.what {
            What::Boxes(kernel, ..) if kernel.starts_with("boxes_out") => (kernel, GROUP),
            What::Boxes(kernel, ..) => (kernel, WARP),
            What::Bulk(_) => ("bulk", WARP),
            What::Stores(4) => ("stores_4", 2 * GROUP),
            What::Stores(_) => ("stores_8", 2 * GROUP),
        };
        let mut bench = Bench::new(gpu, kernel, [blocks, threads], self.shared_bytes())?;
        let per_round = match self.what {
            What::Boxes("boxes_start", ..) => f64::from(SLOTS),
            // Warps and instructions.
            What::Stores(_) => f64::from(threads / WARP) * UNROLL,
            _ => 1.0,
        };
        measured(gpu, per_round, |launch, rounds| {
            bench.run(rounds, &self.rest(launch as i32, address, rows, bytes, share)?)
        })
    }

    /// Returns the arguments of a launch. Where copies are to come from device memory, each launch has other ones.
    fn rest(&self, launch: i32, address: u64, n_rows: usize, bytes: u32, share: u32) -> Result<Rest, StepError> {
        let (depth, share, n_rows) = (self.depth as i32, share as i32, n_rows as i32);
        let most = ROUNDS[1] + depth;
        let walk = |cols: i32, rows: i32, strips: i32, height: i32, in_l2: i32| {
            let walk = Walk {
                depth,
                bytes: bytes as i32,
                x: 0,
                y: 0,
                cols,
                rows,
                strips,
                block_rows: in_l2,
                span: in_l2,
                share,
            };
            // Blocks lie in three rows of strips.
            let third = height / 3 / rows * rows;
            let y = (launch * most * rows).rem_euclid((third - most * rows).max(rows));
            match (self.at, self.who) {
                (Where::L2 | Where::Ragged, _) => walk,
                (Where::Memory, Who::Alone) => Walk { x: launch * cols, span: most * rows, ..walk },
                (Where::Memory, Who::All(_)) => Walk { y: y / rows * rows, block_rows: third, span: third, ..walk },
            }
        };
        Ok(match self.what {
            What::Boxes(_, _, (element, rows, cols)) => {
                let element_bytes = (bytes / rows / cols) as usize;
                let pitch = match self.at {
                    Where::Ragged => RAGGED_PITCH / element_bytes,
                    _ => MATRIX_PITCH / element_bytes,
                };
                let matrix = Matrix { address, rows: n_rows as usize, cols: pitch, pitch, element };
                // A swizzle needs rows of at most 128 bytes.
                let swizzle = if cols as usize * element_bytes > 128 { Swizzle::None } else { Swizzle::ByRow };
                let map = matrix.map(rows, cols, swizzle)?;
                let strips = pitch as i32 / cols as i32;
                Rest::Boxes(walk(cols as i32, rows as i32, strips, n_rows, ROWS_IN_L2), map)
            }
            What::Stores(_) => Rest::Bulk(walk(1, 1, 1, n_rows, 1), address),
            // A row is a byte: the whole matrix is one strip, in which the launches follow each other.
            What::Bulk(bytes) => {
                let height = n_rows * (MATRIX_PITCH as i32 / 2);
                let apart = most * bytes as i32;
                Rest::Bulk(walk(apart, bytes as i32, 1, height, 128 << 10), address)
            }
        })
    }
}

/// Measures the clock of the SMs in GHz, while a block on each of some of them multiplies for so long.
fn clock_under_load(gpu: &Gpu, element: &str, blocks: u32, ms: f64, ghz: f64) -> Result<Measured, StepError> {
    const COLS: u32 = 256;
    let (kernel, groups, product) = (format!("products_{element}_{COLS}_shared_16"), 2, 128.0);
    let mut bench = Bench::new(gpu, &kernel, [blocks, groups * GROUP], tiles_bytes(COLS))?;
    let rounds = (ms * 1e6 * ghz / (product * f64::from(groups) * UNROLL)).max(1.0) as i32;
    let rest = sink(gpu)?;
    bench.run(rounds, &rest)?;
    let mut time = |rounds| -> Result<[f64; 2], StepError> {
        let ms = gpu.time_ms(1, || bench.launch(rounds, &rest))?;
        Ok([bench.clocks()?, ms])
    };
    // Launches of two lengths, often where they are short: their difference is without what each launch takes.
    let n = (LOAD_MS / ms).clamp(1.0, 100.0) as usize;
    let (mut clocks, mut took) = (0.0, 0.0);
    for _ in 0..n {
        let ([few, short], [many, long]) = (time(rounds)?, time(3 * rounds)?);
        clocks += many - few;
        took += long - short;
    }
    let raw = serde_json::json!({"clocks": clocks, "ms": took, "rounds": rounds, "launches": n});
    Ok(Measured { value: clocks / took * 1e-6, unit: "GHz", raw })
}
