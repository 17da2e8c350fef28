//! Running blocks: warps in lockstep over a decoded kernel.
//!
//! A worker thread owns a [`Cx`]: the block that it runs, what each memory instruction remembers, and what was
//! counted. [`grid`] hands blocks to workers; [`scheduler`] runs the warps of one block; [`warp`] is the loop
//! over operations; [`access`] finds memory, and checks and counts on the way. How closely a run is watched is a
//! type ([`Mode`]), so that what is not asked for is not compiled in.

pub(crate) mod access;
pub(crate) mod access_checks;
pub(crate) mod atomic;
pub(crate) mod barrier;
pub(crate) mod block;
pub(crate) mod bulk;
pub(crate) mod call;
pub(crate) mod cluster;
pub(crate) mod copy;
pub(crate) mod data;
pub(crate) mod fiber;
pub(crate) mod grid;
pub(crate) mod matrix;
pub(crate) mod mbarrier;
pub(crate) mod memo;
pub(crate) mod per_lane;
pub(crate) mod plan;
pub(crate) mod poll_cache;
pub(crate) mod printf;
pub(crate) mod report;
pub(crate) mod scheduler;
pub(crate) mod tensor;
pub(crate) mod termination;
pub(crate) mod texture;
pub(crate) mod traced;
pub(crate) mod undefined;
pub(crate) mod warp;
pub(crate) mod warpwide;
pub(crate) mod wgmma;

use std::sync::Arc;

use crate::check::Code;
use crate::check::race::{BlockRaces, SharedRaces};
use crate::check::{Collector, Details, Event};
use crate::lanes::{CpuLevel, Lanes, Line, NONE, Src};
use crate::launch::Environment;
use crate::memory::Table;
use crate::program::Kernel;
use crate::trace::Observer;

use block::Block;
use fiber::Fiber;
use memo::Memo;
use plan::Plan;
use undefined::{Fresh, Shadow};

/// A variant of the loop over operations: work that its runs do not ask for is not compiled in.
pub(crate) trait Mode {
    /// Decided while it runs; besides, observers, undefined values and products under way are followed.
    const RARE: bool = false;
    fn counts(cx: &Cx<'_>) -> bool;
    fn checks(cx: &Cx<'_>) -> bool;
}

/// Computes results only.
pub(crate) struct Plain;
/// Computes results and counters.
pub(crate) struct Counted;
/// Results, counters and all checks.
pub(crate) struct Checked;
/// Whatever the launch asks for, and all that is rare: see [`Cx::is_rare`].
pub(crate) struct Rare;

impl Mode for Plain {
    #[inline(always)]
    fn counts(_: &Cx<'_>) -> bool {
        false
    }
    #[inline(always)]
    fn checks(_: &Cx<'_>) -> bool {
        false
    }
}

impl Mode for Counted {
    #[inline(always)]
    fn counts(_: &Cx<'_>) -> bool {
        true
    }
    #[inline(always)]
    fn checks(_: &Cx<'_>) -> bool {
        false
    }
}

impl Mode for Checked {
    #[inline(always)]
    fn counts(_: &Cx<'_>) -> bool {
        true
    }
    #[inline(always)]
    fn checks(_: &Cx<'_>) -> bool {
        true
    }
}

impl Mode for Rare {
    const RARE: bool = true;
    #[inline(always)]
    fn counts(cx: &Cx<'_>) -> bool {
        cx.job.watch.counts()
    }
    #[inline(always)]
    fn checks(cx: &Cx<'_>) -> bool {
        cx.job.watch.checks()
    }
}

/// What all workers of a launch share.
pub(crate) struct Job<'j> {
    pub(crate) kernel: &'j Kernel,
    pub(crate) plan: &'j Plan,
    pub(crate) table: Arc<Table>,
    pub(crate) params: &'j [u8],
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// Blocks of a cluster in x, y and z, and in all; 1 where there are none. `explicit_cluster`: the launch was given them.
    pub(crate) cluster: [u32; 3],
    pub(crate) cluster_blocks: u32,
    pub(crate) explicit_cluster: bool,
    /// Constants of the blocks of a cluster, by rank, from 1 on: [`cluster::constants`].
    pub(crate) constants: Vec<Vec<Line>>,
    pub(crate) n_threads: u32,
    pub(crate) n_warps: u32,
    pub(crate) shared_bytes: u32,
    /// The narrowest access to shared and to global memory, as powers of two.
    pub(crate) shared_shift: u32,
    pub(crate) global_shift: u32,
    pub(crate) dynamic_shared: u32,
    /// Address of the workspace: [`crate::launch::LaunchOptions::grid_workspace`].
    pub(crate) grid_workspace: u64,
    pub(crate) watch: crate::launch::Watch,
    pub(crate) level: CpuLevel,
    pub(crate) environment: Environment<'j>,
    pub(crate) budget: u64,
    /// Local memory of a thread, with its stack; and what the stack is for a GPU.
    pub(crate) local_bytes: u32,
    pub(crate) stack_bytes: u32,
    /// Memory for running blocks.
    pub(crate) room: u64,
    pub(crate) observer: Option<&'j dyn Observer>,
}

/// The state of one worker thread.
pub(crate) struct Cx<'j> {
    pub(crate) job: &'j Job<'j>,
    /// Registers of the warp that runs.
    pub(crate) lanes: Lanes,
    /// The warp that runs, its lanes that have not exited, and the fiber that runs.
    pub(crate) warp: u32,
    pub(crate) live: u32,
    pub(crate) fiber: Fiber,
    /// Operations left of the warp's turn, and how many the running fiber began with.
    pub(crate) left: i64,
    pub(crate) turn_start: i64,
    /// Number of the last access pattern that a memo learnt.
    pub(crate) serial: u64,
    /// Thread-instructions of the block so far.
    pub(crate) spent: u64,
    /// Memory changed or lanes exited, so warps that poll may get on.
    pub(crate) progress: bool,
    /// Something happened in the current visit to the block but looking at memory.
    pub(crate) moved: bool,
    /// The turn looked at memory that others change.
    pub(crate) polled: bool,
    /// Nothing has happened for some turns: what is looked at is remembered.
    pub(crate) listening: bool,
    /// The warp that runs has products of its warpgroup under way.
    pub(crate) in_flight: bool,
    /// Checked, and some product may come behind a write of its registers without `wgmma.fence` between.
    pub(crate) follows_fences: bool,
    /// The block cannot go on.
    pub(crate) stopped: bool,
    pub(crate) block: Box<Block>,
    /// While a thread does something to another block of its cluster, which is in `block` then.
    pub(crate) acting: Option<cluster::Acting>,
    pub(crate) memos: Vec<Memo<'j>>,
    pub(crate) counts: Counts,
    /// Undefined registers of the warp that runs.
    pub(crate) shadow: Shadow,
    /// What the last access read that nothing had written.
    pub(crate) fresh: Box<Fresh>,
    /// Host addresses of an access that was looked up lane by lane.
    pub(crate) pointers: [*mut u8; 32],
    /// What the current block did wrong.
    pub(crate) collector: Collector,
    pub(crate) shared_races: Option<SharedRaces>,
    pub(crate) global_races: Option<BlockRaces>,
}

/// What is counted per operation.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Straight runs: +1 where one starts, -1 after its end, so that sums give how often each operation ran.
    pub(crate) runs: Vec<u64>,
    /// As `runs`, with the number of active lanes in place of 1.
    pub(crate) lanes: Vec<u64>,
    /// Active lanes that a guard held back.
    pub(crate) held: Vec<u64>,
    /// Branches that parted lanes.
    pub(crate) parted: Vec<u64>,
}

impl Counts {
    pub(crate) fn new(n_ops: usize) -> Self {
        let zeros = || vec![0; n_ops + 1];
        Self {
            runs: zeros(),
            lanes: zeros(),
            held: zeros(),
            parted: zeros(),
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let sum =
            |a: &mut Vec<u64>, b: &Vec<u64>| a.iter_mut().zip(b).for_each(|(a, b)| *a = a.wrapping_add(*b));
        sum(&mut self.runs, &other.runs);
        sum(&mut self.lanes, &other.lanes);
        sum(&mut self.held, &other.held);
        sum(&mut self.parted, &other.parted);
    }
}

/// Memory that a worker takes: a block, and what it remembers and counts by operation.
pub(crate) fn worker_bytes(job: &Job<'_>) -> u64 {
    let counts = if job.watch.counts() {
        4 * 8 * job.kernel.ops.len()
    } else {
        0
    };
    let memos = job.plan.n_memos * size_of::<Memo<'_>>();
    block::block_bytes(job) + (counts + memos) as u64
}

/// Each set bit, lowest first.
#[inline(always)]
pub(crate) fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}

impl<'j> Cx<'j> {
    /// An observer sees the steps, products of the warp are under way, values of its registers are undefined, or the CPU
    /// has none of the vector instructions that the other variants are compiled for.
    #[inline(always)]
    pub(crate) fn is_rare(&self) -> bool {
        cfg!(not(vectors = "base")) && self.job.level == CpuLevel::Baseline
            || self.in_flight
            || self.follows_fences
            || self.job.observer.is_some()
            || !self.shadow.is_clean()
    }

    /// A 32-bit operand, all lanes.
    #[inline(always)]
    pub(crate) fn u32s(&self, src: Src) -> [u32; 32] {
        // SAFETY: decode keeps operands in range, which `decode::validate` has established.
        unsafe { (*self.lanes.source(src)).0 }
    }

    /// A 32-bit operand of one lane.
    #[inline(always)]
    pub(crate) fn u32_at(&self, src: Src, lane: usize) -> u32 {
        // SAFETY: as above; `lane` is below 32.
        unsafe { *self.lanes.source(src).cast::<u32>().add(lane & 31) }
    }

    /// A 64-bit operand of one lane.
    #[inline(always)]
    pub(crate) fn u64_at(&self, src: Src, lane: usize) -> u64 {
        // SAFETY: as above.
        unsafe { *self.lanes.source(src).cast::<u64>().add(lane & 31) }
    }

    /// The 32 lanes of a 32-bit register.
    #[inline(always)]
    pub(crate) fn out32(&mut self, dst: u32) -> &mut [u32; 32] {
        // SAFETY: as above; the registers belong to the block, which this worker owns.
        unsafe { &mut (*self.lanes.regs.add(dst as usize)).0 }
    }

    /// The 32 lanes of a 64-bit register.
    #[inline(always)]
    pub(crate) fn out64(&mut self, dst: u32) -> &mut [u64; 32] {
        // SAFETY: as above; a 64-bit register is two neighbouring lines.
        unsafe { &mut *self.lanes.regs.add(dst as usize).cast::<[u64; 32]>() }
    }

    /// Sets one lane of a 32-bit register.
    #[inline(always)]
    pub(crate) fn set32(&mut self, dst: i32, lane: usize, value: u32) {
        if dst != NONE {
            self.out32(dst as u32)[lane & 31] = value;
        }
    }

    /// The lanes for which a predicate holds.
    #[inline(always)]
    pub(crate) fn pred(&self, index: u32) -> u32 {
        // SAFETY: in range, as above.
        unsafe { *self.lanes.preds.add(index as usize) }
    }

    /// Sets a predicate for some lanes.
    #[inline(always)]
    pub(crate) fn set_pred(&mut self, index: u32, value: u32, lanes: u32) {
        // SAFETY: in range, as above.
        unsafe {
            let p = self.lanes.preds.add(index as usize);
            *p = (*p & !lanes) | (value & lanes);
        }
    }

    /// Records what went wrong at operation `pc`. A checked launch goes on; otherwise the block stops.
    #[cold]
    pub(crate) fn report(&mut self, pc: u32, code: Code, mask: u32, details: Details) {
        let instr = self.job.kernel.ops.get(pc as usize).map_or(0, |op| op.instr);
        self.report_at(instr, code, mask, details);
    }

    /// Reports a mistake of the instruction with this index.
    pub(crate) fn report_at(&mut self, instr: u32, code: Code, mask: u32, details: Details) {
        if self.stopped && !self.job.watch.checks() {
            return;
        }
        let warp = self.warp;
        self.collector.record(Event {
            code,
            instr,
            block: self.acting.map_or(self.block.index, |acting| acting.block),
            warp,
            mask,
            details,
        });
        self.stopped |= !self.job.watch.checks();
    }

    /// Records what ends the block, checked or not.
    #[cold]
    pub(crate) fn fatal(&mut self, pc: u32, code: Code, mask: u32, details: Details) {
        self.report(pc, code, mask, details);
        self.stopped = true;
        self.block.fatal = true;
    }
}

/// A line's 32 lanes as two lines' worth of bytes: zero.
pub(crate) const ZERO_LINE: Line = Line([0; 32]);
