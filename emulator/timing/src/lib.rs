//! The time that an H200 would take for a launch, from its machine code, without a GPU.
//!
//! [`predict()`] runs the blocks that one SM gets first on the emulated GPU, which gives a [`Trace`] per warp: its
//! instructions, and the memory that they accessed. [`simulate`] replays the traces: four schedulers issue from their
//! warps as the control bits of the machine code allow, and the units that they feed have the throughput and latency of
//! [`Chip`], which were measured with patched machine code.
//!
//! [`Reach`] divides accesses between L2 and device memory: the accesses of all blocks that run at a time pass through
//! a cache of the size of L2. The measured constants are in `data/h200.json`, each with its measurement; none depends
//! on a kernel but `short_warp_product`, which is assumed so far. [`accuracy`] has the errors of the predictions. The
//! scheduling order follows Huerta et al., "Analyzing Modern NVIDIA GPU cores" (2025); register ports and the reuse
//! cache follow the same paper and our own measurements.
//!
//! Not modelled, and so refused: atomics, blocks that wait for what others write to memory, loads from other blocks of
//! a cluster, products of integers and FP64 on tensor cores, blocks that execute too many instructions, local arrays
//! that exceed L1 where each lane has an index of its own.
//!
//! Work that goes on by itself (`asynchronous.rs`): a phase of a barrier in shared memory ends in simulated time, when
//! its arrivals and the bytes of its copies are in; warps wait for the phase that they awaited on the emulated GPU,
//! however often they polled there. A unit of the SM starts copies of boxes one after another, whose data take the way
//! of loads past L1. Products of warpgroups keep the tensor core of each scheduler busy in the order in which its warps
//! issue them; while they do, the clock of the SMs is lower (`product_ghz`), also where few of them work. Blocks of a
//! cluster are taken to be in step: one is simulated, what it does to others they do to it, and each gets the copies
//! that all make for all. `tests/asynchronous.rs` compares with the clocks of single loops.
//!
//! Findings of these loops: a box comes as fast as a load past L1, with no start of its own; its rows pass one a
//! clock, and where they begin within a line, each line that they touch takes 1.42 clocks. Boxes for all blocks of a
//! cluster pass the way into each SM. A fence waits until all that the warp stored has arrived, then as long as a load
//! from L2. A launch ends 0.3 us after its last store, which a graph of empty kernels does not show.
//!
//! Copies past the registers (`cp.async`) take the way of a load, and pass the banks of shared memory once; a warp
//! waits for the groups that `DEPBAR` names. No constant is theirs. At first a copy past L1 passed it too, which bound
//! a kernel of v11 to more than an H200 took; without that, 45 launches of v11's kernels with such copies are off by
//! 4.5 % on average, and by 16 % at most.
//!
//! Local memory, of arrays and of spilled registers: every store goes to L2, and stays in L1; what L1 holds of it does
//! not follow the order of accesses but their number (`cache.rs`). `tests/spills.rs` compares with times of an H200.
//!
//! Known errors. Streams of loads that hit L1 take a fifth longer than their passes over it, for a reason that we did
//! not find (`v01_col_per_lane`); so do loads that are mixed with loads from constant memory (`v03_from_global`).
//! Blocks in flight drift apart, and L2 then holds less of what they share: at 4096 and more the traffic of device
//! memory is too low, and loads from there wait too often (`dgemm_v01_col_per_lane`). A few blocks stand for all:
//! where some run much longer than others (a fractal), or where the data choose the addresses (a gather), the
//! prediction can be wrong by any factor. Blocks of a cluster that take turns need twice as long as one of them in
//! step. A block that lies inside of a matrix stands for those at its edges: where some blocks of a single round, or
//! blocks that stay, lie outside in each step and hold up the launch, up to half of the time is missing
//! (`tile_80x128` at 101x5952x2752, by `cargo run --release -p v12 --example predictions`). Clocks under a power limit,
//! address translation and instruction caches are not modelled.

#![forbid(unsafe_code)]

pub mod accuracy;
mod asynchronous;
mod bound;
mod cache;
mod chip;
mod instruction;
mod issue;
mod memory;
mod no_prediction;
mod ports;
mod predict;
mod reach;
mod recording;
pub mod report;
mod sm;
mod stall;
mod timeline;
mod trace;

pub use bound::{Bound, Busy, Resource};
pub use chip::Chip;
pub use instruction::{Instruction, Source, Unit};
pub use issue::Issue;
pub use no_prediction::NoPrediction;
pub use predict::{LoadedCode, Prediction, predict, predict_with_timeline};
pub use reach::Reach;
pub use sm::{Outcome, Setting, simulate};
pub use stall::{Reason, Stalls};
pub use timeline::{Product, Timeline, Transfer, Work};
pub use trace::{Access, Block, Event, Sectors, Step, Trace};
