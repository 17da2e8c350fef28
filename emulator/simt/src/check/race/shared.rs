//! Races on the shared memory of a block.

use super::bits::CHUNK;
use super::interval::{Interval, Space};
use super::phases::Phases;
use super::{Mark, Touch};
use crate::check::Collector;
use crate::program::{Kernel, MemSpace, OpKind};

/// Watches the shared memory of one block at a time. One per worker thread.
#[derive(Debug)]
pub struct SharedRaces(Interval<Flat>, Option<Box<Phases>>);

/// Shared memory is small: chunks by number.
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
    /// The state of a block of `kernel`.
    pub fn new(kernel: &Kernel) -> Self {
        let shift = unit_shift(kernel, MemSpace::Shared);
        Self(Interval::new(kernel, shift, Flat), Phases::new(kernel, shift))
    }

    /// A block begins; nothing is remembered of the one before.
    pub fn begin_block(&mut self, block: u64) {
        self.0.begin_block(block);
        if let Some(phases) = &mut self.1 {
            phases.begin_block(block);
        }
    }

    /// `warp` runs from now on. After a barrier, the warp that runs is still the same one.
    pub fn enter(&mut self, warp: u32) {
        self.0.enter(warp);
    }

    /// The warp that runs stops. `done`: none of its lanes runs again before the next barrier of the block
    /// completes (they wait there or have ended).
    pub fn leave(&mut self, done: bool, out: &mut Collector) {
        self.0.leave(done, out);
    }

    #[inline]
    pub fn access(&mut self, touch: &Touch<'_>, out: &mut Collector) {
        self.0.access(touch, out, |_, _, _| {});
        if let Some(phases) = &mut self.1 {
            phases.access(touch);
        }
    }

    /// Lanes of the running warp passed `bar.warp.sync`; `all`: it leaves out no lane that has not exited.
    pub fn warp_sync(&mut self, instr: u32, mask: u32, all: bool) {
        self.0.warp_sync(instr, mask, all);
    }

    pub fn fence(&mut self) {
        self.0.fence();
    }

    /// The running warp arrived or waited at a barrier in shared memory: threads hand data to each other there.
    pub fn synchronised(&mut self) {
        self.0.synchronised();
    }

    pub fn barrier(&mut self, out: &mut Collector) {
        self.0.barrier(out);
    }

    /// Records that all threads of the block have met, wherever they were.
    pub(crate) fn meet_all(&mut self, out: &mut Collector) {
        self.0.barrier(out);
        if let Some(phases) = &mut self.1 {
            phases.meet_all();
        }
    }

    /// Checks the accesses since the last barrier, when the block has ended.
    pub fn end_block(&mut self, out: &mut Collector) {
        self.0.barrier(out);
        if let Some(phases) = &mut self.1 {
            phases.end_block(out);
        }
    }

    /// `warp` arrives at the barrier in shared memory at this offset.
    pub(crate) fn arrive(&mut self, at: u32, warp: u32) {
        if let Some(phases) = &mut self.1 {
            phases.arrive(at, warp);
        }
    }

    /// Records how many phases of that barrier have ended; `waited`: the warp that has found one to have ended.
    pub(crate) fn phase(&mut self, at: u32, ended: u64, waited: Option<u32>) {
        if let Some(phases) = &mut self.1 {
            phases.ended(at, ended);
            if let Some(warp) = waited {
                phases.waited(at, warp);
            }
        }
    }

    pub(crate) fn meet(&mut self, id: u32, warp: u32) {
        if let Some(phases) = &mut self.1 {
            phases.meet(id, warp);
        }
    }

    /// Records that a barrier is complete at which these warps waited.
    pub(crate) fn met(&mut self, id: u32, warps: impl Iterator<Item = u32>) {
        if let Some(phases) = &mut self.1 {
            warps.for_each(|warp| phases.met(id, warp));
            phases.parted(id);
        }
    }

    /// A strong access of a warp to global memory.
    pub(crate) fn flag(&mut self, kind: Mark, warp: u32) {
        if let Some(phases) = &mut self.1 {
            phases.flag(kind, warp);
        }
    }

    /// A warp knows that another one has read this part of shared memory.
    pub(crate) fn knows_of_read(&self, start: u32, bytes: u32, warp: u32, reader: u32) -> bool {
        let phases = self.1.as_ref();
        phases.is_none_or(|phases| phases.knows_of_read(start.into(), bytes.into(), warp, reader))
    }

    /// A bulk copy to this part of shared memory starts.
    pub(crate) fn copy_starts(&mut self, start: u32, bytes: u32, (instr, thread): (u32, u32)) {
        if let Some(phases) = &mut self.1 {
            phases.copy_starts(start.into(), bytes.into(), instr, thread);
        }
    }

    /// A bulk copy is done, and the barrier at this offset gets its bytes.
    pub(crate) fn copy_ends(&mut self, barrier: u32) {
        if let Some(phases) = &mut self.1 {
            phases.copy_ends(barrier);
        }
    }

    /// Records that a bulk copy wrote this part of shared memory.
    pub(crate) fn copied(&mut self, start: u32, bytes: u32, (instr, thread): (u32, u32)) {
        if let Some(phases) = &mut self.1 {
            phases.copied(start.into(), bytes.into(), instr, thread);
        }
    }
}

/// The narrowest access that a kernel makes to a space, as a power of two, at most four bytes: what lies
/// inside one unit cannot be distinguished, and need not be.
pub(crate) fn unit_shift(kernel: &Kernel, space: MemSpace) -> u32 {
    let narrow = kernel.ops.iter().filter_map(|op| match &op.kind {
        OpKind::Load(access) | OpKind::Store(access) => Some((access.space, u32::from(access.element))),
        OpKind::Atomic(atomic) => Some((atomic.space, atomic.ty.bytes())),
        _ => None,
    });
    let bytes = narrow
        .filter(|&(of, _)| of == space || of == MemSpace::Generic)
        .map(|(_, bytes)| bytes)
        .min()
        .unwrap_or(4);
    bytes.clamp(1, 4).ilog2()
}
