//! Races on the shared memory of a block.

use super::interval::{Interval, Space};
use super::warp_clocks::WarpClocks;
use super::{Touch, bits::CHUNK};
use crate::check::Collector;
use program::{DecodedKernel, MemSpace, OpKind};

/// The accesses to the shared memory of one block at a time. One per worker thread.
#[derive(Debug)]
pub struct SharedRaces {
    /// What happens between barriers of the block; the block itself tells it of warps and barriers.
    pub(crate) interval: Interval<Flat>,
    /// Vector clocks of the warps; `None` unless the kernel has mbarriers or barriers of part of a block.
    pub(crate) clocks: Option<Box<WarpClocks>>,
}

/// Chunks by number, since shared memory is small.
#[derive(Debug, Default)]
pub(crate) struct Flat;

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
    pub fn new(kernel: &DecodedKernel) -> Self {
        let shift = unit_shift(kernel, MemSpace::Shared);
        Self { interval: Interval::new(kernel, shift, Flat), clocks: WarpClocks::new(kernel, shift) }
    }

    pub fn begin_block(&mut self, block: u64) {
        self.interval.begin_block(block);
        if let Some(clocks) = &mut self.clocks {
            clocks.begin_block(block);
        }
    }

    #[inline]
    pub fn access(&mut self, touch: &Touch<'_>, out: &mut Collector) {
        self.interval.access(touch, out, |_, _, _| {});
        if let Some(clocks) = &mut self.clocks {
            clocks.access(touch);
        }
    }

    /// Records a fence of the running warp.
    pub fn fence(&mut self) {
        self.interval.fence();
    }

    /// Records that a barrier of the block has completed.
    pub(crate) fn barrier(&mut self, out: &mut Collector) {
        self.interval.barrier(out);
    }

    /// Records that the running warp used an mbarrier, through which threads hand data to each other.
    pub fn note_mbarrier(&mut self) {
        self.interval.note_mbarrier();
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
}

/// Returns the size of a unit as a power of two: the narrowest access of a kernel to a space, at most four bytes. What
/// lies in one unit is not distinguished.
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
