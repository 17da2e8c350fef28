//! Steps of one warp, or of all warps of a block, for pictures and inspection.
//!
//! [`crate::gpu::Gpu::trace`] runs a kernel as a counted launch does and writes down these steps. It is a way of
//! running of its own, so the others know nothing of it. Not here: what the steps cost; that is what
//! [`crate::memory::rules`] says of an access's addresses.

use std::sync::Mutex;

use crate::lock::{into_inner, lock};
use crate::memory::rules::Addresses;
use crate::program::MemSpace;

/// Sees what warps do while a launch runs: [`crate::launch::observe`].
pub trait Observer: Sync {
    /// Returns whether a block runs; blocks are numbered with x running fastest. The results of the others are missing.
    fn runs(&self, block: u64) -> bool {
        let _ = block;
        true
    }

    /// Returns whether the steps of a warp are observed.
    fn follows(&self, block: u64, warp: u32) -> bool;

    /// Receives what a warp is about to do. Warps of one block come one after the other, blocks at the same time.
    fn step(&self, block: u64, warp: u32, step: Step);
}

/// Selection of warps and a number of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Follow {
    /// Coordinates of the block in the grid.
    pub block: [u32; 3],
    /// Number of the warp in the block; all of them for `None`.
    pub warp: Option<u32>,
    /// Steps to keep: the first ones. A warp can run for long.
    pub max_steps: usize,
}

/// An executed operation, usually a whole PTX instruction; one that had to wait appears again when it goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The instruction: an index into [`crate::report::LaunchReport::instructions`].
    pub instr: u32,
    /// Whether the operation begins its instruction: machine code may need several operations for one.
    pub first: bool,
    /// The lanes that do it: those that are here and that its guard lets through.
    pub lanes: u32,
    /// Memory of a load, a store or an atomic.
    pub access: Option<Access>,
    /// Matrices of an `ldmatrix`, which is no other access.
    pub matrices: Option<Matrices>,
}

/// Matrices of 8 × 8 elements of 16 bits that `ldmatrix` distributes over the lanes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrices {
    /// Rows: lane `8 m + r` has the address of row `r` of matrix `m`.
    pub rows: Access,
    /// Whether neighbouring lanes receive neighbours of a column, not of a row.
    pub transposed: bool,
}

/// A warp-wide access to memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// Space; for a generic address, the one that it led to.
    pub space: MemSpace,
    /// Whether it is a load, not a store or an atomic.
    pub load: bool,
    /// Bytes that each lane accesses.
    pub bytes: u32,
    /// First byte of each lane: of global memory its address, otherwise its place in that memory, as in
    /// [`crate::program::DeclaredArray::offset`].
    pub addresses: Addresses,
}

/// Records the steps of the warps that are followed, each with its warp.
#[derive(Debug)]
pub(crate) struct Recorder {
    block: u64,
    warp: Option<u32>,
    max_steps: usize,
    steps: Mutex<Vec<(u32, Step)>>,
}

impl Recorder {
    pub(crate) fn new(follow: Follow, grid: [u32; 3]) -> Self {
        let [x, y, z] = follow.block.map(u64::from);
        let [width, height, _] = grid.map(u64::from);
        Self {
            block: x + width * (y + height * z),
            warp: follow.warp,
            max_steps: follow.max_steps,
            steps: Mutex::default(),
        }
    }

    pub(crate) fn into_steps(self) -> Vec<(u32, Step)> {
        into_inner(self.steps)
    }
}

impl Observer for Recorder {
    fn follows(&self, block: u64, warp: u32) -> bool {
        self.block == block && self.warp.is_none_or(|followed| followed == warp)
    }

    fn step(&self, _: u64, warp: u32, step: Step) {
        let mut steps = lock(&self.steps);
        if steps.len() < self.max_steps && step.lanes != 0 {
            steps.push((warp, step));
        }
    }
}
