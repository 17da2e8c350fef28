//! Steps of one warp, or of all warps of a block, for pictures and inspection.
//!
//! [`crate::gpu::Gpu::trace`] runs a kernel as a counted launch does and records these steps. Their costs follow from
//! the addresses of the accesses, by [`crate::memory::rules`].

use std::sync::Mutex;

use crate::lock::{into_inner, lock};
use crate::memory::rules::{Addresses, Direction};
use program::{MemSpace, tensor::Run};

/// Receives the steps of warps while a launch runs: [`crate::launch::launch`].
pub trait Observer: Sync {
    /// Returns whether a block runs, and with it the others of its cluster; blocks are numbered with x running fastest.
    /// The results of the others are missing.
    fn runs(&self, block: u64) -> bool {
        let _ = block;
        true
    }

    fn observes(&self, block: u64, warp: u32) -> bool;

    /// Returns whether all is known of a block, which then ends, and with it the others of its cluster.
    fn is_done(&self, block: u64) -> bool {
        let _ = block;
        false
    }

    /// Receives the next step of a warp. Warps of one block run one after the other, blocks at the same time.
    fn step(&self, block: u64, warp: u32, step: Step);

    /// Receives what an instruction did to a barrier or which copy it started, after the warp's step with this
    /// instruction: one event for each lane.
    fn event(&self, block: u64, warp: u32, instr: u32, event: Event) {
        let _ = (block, warp, instr, event);
    }
}

/// Barriers and copies that go on by themselves. A barrier in shared memory has its offset in the block's own, also
/// where it is that of another block of the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A barrier was made whose phases each expect so many arrivals.
    Init { barrier: u32, arrivals: u32 },
    /// So many arrivals, and more or fewer bytes that the phase expects. `is_remote`: in another block of the cluster.
    Arrive { barrier: u32, is_remote: bool, arrivals: u32, bytes: i64 },
    /// An arrival as soon as the lane's copies so far are done; `counts`: it is one more than the phase expects.
    ArriveAfterCopies { barrier: u32, counts: bool },
    /// A wait for a phase: how many phases have ended, or `None` where it has not, and the lane will poll again.
    Wait { barrier: u32, ended: Option<u64> },
    /// A copy to shared memory: of each of `blocks` blocks of the cluster, whose barriers get the bytes.
    Load { barrier: u32, blocks: u32, bytes: u64, runs: Vec<Run> },
    /// A copy from shared memory.
    Store { runs: Vec<Run> },
    /// The warp arrives at a barrier of the block at which so many threads meet, and waits there or not.
    Meet { id: u32, threads: u32, waits: bool },
}

/// The warps whose steps are recorded, and the number of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceSelection {
    /// Coordinates of the block in the grid.
    pub block: [u32; 3],
    /// Number of the warp in the block; all of them for `None`.
    pub warp: Option<u32>,
    /// Steps to keep: the first ones.
    pub max_steps: usize,
}

/// An executed operation, usually a whole PTX instruction; one that had to wait appears again when it goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The instruction: an index into [`crate::report::LaunchReport::instructions`].
    pub instr: u32,
    /// Whether the operation begins its instruction: machine code may need several operations for one.
    pub first: bool,
    /// The lanes that execute it: those of the running group for which the guard holds.
    pub lanes: u32,
    /// Memory of a load, a store or an atomic.
    pub access: Option<Access>,
    /// Memory of a `cp.async`, which is no other access.
    pub copy: Option<Box<AsyncCopy>>,
    /// Matrices of an `ldmatrix`, which is no other access.
    pub matrices: Option<Box<Matrices>>,
}

/// Matrices of 8 × 8 elements of 16 bits that `ldmatrix` distributes over the lanes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrices {
    /// Rows: lane `8 m + r` has the address of row `r` of matrix `m`.
    pub rows: Access,
    /// Whether neighbouring lanes receive neighbours of a column, not of a row.
    pub transposed: bool,
}

/// Both sides of a `cp.async`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AsyncCopy {
    /// Global memory; `None` where all lanes fill with zeros.
    pub from: Option<Access>,
    /// Shared memory.
    pub to: Access,
}

/// A warp-wide access to memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// Space; for a generic address, the one that it led to.
    pub space: MemSpace,
    pub direction: Direction,
    /// Bytes that each lane accesses.
    pub bytes: u32,
    /// First byte of each lane: an address, or outside of global memory the offset from the start of the space.
    pub addresses: Addresses,
}

/// Records the steps of the selected warps, each with its warp.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// Linear index of the selected block.
    block: u64,
    selection: TraceSelection,
    steps: Mutex<Vec<(u32, Step)>>,
}

impl Recorder {
    pub(crate) fn new(selection: TraceSelection, grid: [u32; 3]) -> Self {
        let [x, y, z] = selection.block.map(u64::from);
        let [width, height, _] = grid.map(u64::from);
        Self { block: x + width * (y + height * z), selection, steps: Mutex::default() }
    }

    pub(crate) fn into_steps(self) -> Vec<(u32, Step)> {
        into_inner(self.steps)
    }
}

impl Observer for Recorder {
    fn observes(&self, block: u64, warp: u32) -> bool {
        self.block == block && self.selection.warp.is_none_or(|selected| selected == warp)
    }

    fn step(&self, _: u64, warp: u32, step: Step) {
        let mut steps = lock(&self.steps);
        if steps.len() < self.selection.max_steps && step.lanes != 0 {
            steps.push((warp, step));
        }
    }
}
