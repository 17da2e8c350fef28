//! Races on the shared memory of a block.

use super::bits::CHUNK;
use super::interval::{Interval, Space};
use super::warp_clocks::WarpClocks;
use super::{Mark, Touch};
use crate::check::{Collector, InstrThread};
use crate::lane_mask::LaneMask;
use crate::program::{DecodedKernel, MemSpace, OpKind};

/// The accesses to the shared memory of one block at a time. One per worker thread.
#[derive(Debug)]
pub struct SharedRaces {
    interval: Interval<Flat>,
    /// In kernels with mbarriers.
    clocks: Option<Box<WarpClocks>>,
}

/// Chunks by number, since shared memory is small.
#[derive(Debug)]
struct Flat;

/// More than any block can have, at one byte per unit.
const MAX_CHUNKS: u64 = (1 << 20) / CHUNK;

impl Space for Flat {
    const SPACE: MemSpace = MemSpace::Shared;
    fn chunk(&mut self, number: u64) -> Option<u32> {
        (number < MAX_CHUNKS).then_some(number as u32)
    }
    fn number(&self, chunk: u32) -> u64 {
        u64::from(chunk)
    }
    fn clear(&mut self) {}
}

impl SharedRaces {
    /// Creates the state for blocks of `kernel`.
    pub fn new(kernel: &DecodedKernel) -> Self {
        let shift = unit_shift(kernel, MemSpace::Shared);
        Self { interval: Interval::new(kernel, shift, Flat), clocks: WarpClocks::new(kernel, shift) }
    }

    /// Forgets the last block, and begins the one with this index.
    pub fn begin_block(&mut self, block: u64) {
        self.interval.begin_block(block);
        if let Some(clocks) = &mut self.clocks {
            clocks.begin_block(block);
        }
    }

    /// Makes `warp` the running warp; a barrier does not change that.
    pub fn enter(&mut self, warp: u32) {
        self.interval.enter(warp);
    }

    /// Ends the turn of the running warp. `done`: none of its lanes runs again before the next barrier of the block
    /// completes (they wait there or have exited).
    pub fn leave(&mut self, done: bool, out: &mut Collector) {
        self.interval.leave(done, out);
    }

    /// Records an access of the running warp.
    #[inline]
    pub fn access(&mut self, touch: &Touch<'_>, out: &mut Collector) {
        self.interval.access(touch, out, |_, _, _| {});
        if let Some(clocks) = &mut self.clocks {
            clocks.access(touch);
        }
    }

    /// Records that lanes of the running warp passed `bar.warp.sync`; `all`: its mask names all that have not exited.
    pub fn warp_sync(&mut self, instr: u32, mask: LaneMask, all: bool) {
        self.interval.warp_sync(instr, mask, all);
    }

    /// Records a fence of the running warp.
    pub fn fence(&mut self) {
        self.interval.fence();
    }

    /// Records that the running warp used an mbarrier, through which threads hand data to each other.
    pub fn note_mbarrier(&mut self) {
        self.interval.note_mbarrier();
    }

    /// Records that a barrier of the block has completed.
    pub fn barrier(&mut self, out: &mut Collector) {
        self.interval.barrier(out);
    }

    /// Records that a barrier of the cluster has completed, which orders all threads of the block, too.
    pub(crate) fn synchronise_all(&mut self, out: &mut Collector) {
        self.interval.barrier(out);
        if let Some(clocks) = &mut self.clocks {
            clocks.synchronise_all();
        }
    }

    /// Checks the accesses since the last barrier. Called when the block has ended.
    pub fn end_block(&mut self, out: &mut Collector) {
        self.interval.barrier(out);
        if let Some(clocks) = &mut self.clocks {
            clocks.end_block(out);
        }
    }

    /// Records an arrival of `warp` at the mbarrier at this offset.
    pub(crate) fn arrive_at_mbarrier(&mut self, barrier: u32, warp: u32) {
        if let Some(clocks) = &mut self.clocks {
            clocks.arrive_at_mbarrier(barrier, warp);
        }
    }

    /// Records how many phases of that mbarrier have ended; `waited`: the warp whose wait found one to have ended.
    pub(crate) fn set_mbarrier_phase(&mut self, barrier: u32, ended: u64, waited: Option<u32>) {
        if let Some(clocks) = &mut self.clocks {
            clocks.set_mbarrier_phase(barrier, ended);
            if let Some(warp) = waited {
                clocks.pass_mbarrier(barrier, warp);
            }
        }
    }

    /// Records an arrival of `warp` at a barrier of the block.
    pub(crate) fn arrive_at_barrier(&mut self, id: u32, warp: u32) {
        if let Some(clocks) = &mut self.clocks {
            clocks.arrive_at_barrier(id, warp);
        }
    }

    /// Records that a barrier of the block has completed, at which these warps waited.
    pub(crate) fn complete_barrier(&mut self, id: u32, warps: impl Iterator<Item = u32>) {
        if let Some(clocks) = &mut self.clocks {
            warps.for_each(|warp| clocks.pass_barrier(id, warp));
            clocks.reset_barrier(id);
        }
    }

    /// Records a strong access of a warp to global memory, which may release or acquire.
    pub(crate) fn strong_access(&mut self, kind: Mark, warp: u32) {
        if let Some(clocks) = &mut self.clocks {
            clocks.strong_access(kind, warp);
        }
    }

    /// Returns whether the reads of `reader` from this part of shared memory are ordered before what `warp` does now.
    pub(crate) fn is_ordered_after_reads(&self, start: u32, bytes: u32, warp: u32, reader: u32) -> bool {
        let clocks = self.clocks.as_ref();
        clocks.is_none_or(|clocks| clocks.is_ordered_after_reads(start.into(), bytes.into(), warp, reader))
    }

    /// Records that a thread starts a bulk copy to this part of shared memory.
    pub(crate) fn start_copy(&mut self, start: u32, bytes: u32, by: InstrThread) {
        if let Some(clocks) = &mut self.clocks {
            clocks.start_copy(start.into(), bytes.into(), by);
        }
    }

    /// Records that a bulk copy is done and its bytes arrive at the mbarrier at this offset. [`Self::wrote_by_copy`]
    /// then says which bytes it wrote.
    pub(crate) fn finish_copy(&mut self, barrier: u32) {
        if let Some(clocks) = &mut self.clocks {
            clocks.finish_copy(barrier);
        }
    }

    /// Records that a bulk copy wrote this part of shared memory.
    pub(crate) fn wrote_by_copy(&mut self, start: u32, bytes: u32, by: InstrThread) {
        if let Some(clocks) = &mut self.clocks {
            clocks.wrote_by_copy(start.into(), bytes.into(), by);
        }
    }
}

/// Returns the size of a unit as a power of two: the narrowest access of a kernel to a space, at most four bytes. What
/// lies in one unit is not told apart.
pub(crate) fn unit_shift(kernel: &DecodedKernel, space: MemSpace) -> u32 {
    let narrow = kernel.ops.iter().filter_map(|op| match &op.kind {
        OpKind::Load(access) | OpKind::Store(access) => Some((access.space, u32::from(access.element))),
        OpKind::Atomic(atomic) => Some((atomic.space, atomic.ty.bytes())),
        _ => None,
    });
    let bytes =
        narrow.filter(|&(of, _)| of == space || of == MemSpace::Generic).map(|(_, bytes)| bytes).min().unwrap_or(4);
    bytes.clamp(1, 4).ilog2()
}
