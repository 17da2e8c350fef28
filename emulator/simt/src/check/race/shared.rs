//! Races on the shared memory of a block.

use super::Touch;
use crate::check::Collector;
use crate::program::Kernel;

/// Watches the shared memory of one block at a time. One per worker thread.
#[derive(Debug)]
pub struct SharedRaces {}

impl SharedRaces {
    /// For blocks of `kernel`.
    pub fn new(_kernel: &Kernel, _block: [u32; 3]) -> Self {
        Self {}
    }

    /// A block begins; nothing is remembered of the one before.
    pub fn begin_block(&mut self, _block: u64) {}

    /// `warp` runs from now on.
    pub fn enter(&mut self, _warp: u32) {}

    /// The warp that runs stops. `done`: none of its lanes runs again before the next barrier of the block
    /// completes (they wait there or have ended).
    pub fn leave(&mut self, _done: bool, _out: &mut Collector) {}

    /// The running warp is about to access shared memory.
    pub fn access(&mut self, _touch: &Touch<'_>, _out: &mut Collector) {}

    /// The running warp passed `bar.warp.sync`.
    pub fn warp_sync(&mut self) {}

    /// The running warp passed a fence.
    pub fn fence(&mut self) {}

    /// A barrier of the block completed.
    pub fn barrier(&mut self, _out: &mut Collector) {}

    /// The block ended.
    pub fn end_block(&mut self, _out: &mut Collector) {}
}
