//! Races on global memory: in a block between barriers, and between blocks over the whole launch.

use super::Touch;
use crate::check::Collector;
use crate::program::Kernel;

/// Global memory as one block after another touches it. One per worker thread.
#[derive(Debug)]
pub struct BlockRaces {}

/// What all blocks of a launch did to global memory. Shared by the workers.
#[derive(Debug)]
pub struct GlobalRaces {}

impl GlobalRaces {
    /// For one launch of `kernel`.
    pub fn new(_kernel: &Kernel) -> Self {
        Self {}
    }

    /// The races between blocks, once every block has ended.
    pub fn finish(self, _out: &mut Collector) {}
}

impl BlockRaces {
    /// For blocks of `kernel`.
    pub fn new(_kernel: &Kernel, _block: [u32; 3]) -> Self {
        Self {}
    }

    /// A block begins.
    pub fn begin_block(&mut self, _block: u64) {}

    /// `warp` runs from now on.
    pub fn enter(&mut self, _warp: u32) {}

    /// The warp that runs stops; see [`super::SharedRaces::leave`].
    pub fn leave(&mut self, _done: bool, _out: &mut Collector) {}

    /// The running warp is about to access global memory.
    pub fn access(&mut self, _touch: &Touch<'_>, _out: &mut Collector) {}

    /// The running warp passed `bar.warp.sync`.
    pub fn warp_sync(&mut self) {}

    /// The running warp passed a fence.
    pub fn fence(&mut self) {}

    /// A barrier of the block completed.
    pub fn barrier(&mut self, _out: &mut Collector) {}

    /// The block ended: it is joined with the others.
    pub fn end_block(&mut self, _all: &GlobalRaces, _out: &mut Collector) {}
}
