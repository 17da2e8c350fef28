//! Barriers of a block (`bar.sync`), and warps that met at different ones.

use crate::check::{BarrierGroup, MistakeDetails};
use crate::lane_mask::LaneMask;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Barrier {
    pub(crate) arrived: u32,
    /// Threads that it waits for; 0: all of the block.
    pub(crate) count: u32,
    /// Number of threads that arrived with a true predicate, and of threads that arrived with any.
    pub(crate) trues: u32,
    pub(crate) voters: u32,
}

/// The first barrier that completed without threads that had exited: threads that waited there.
#[derive(Debug)]
pub(crate) struct ExitedBefore {
    pub(crate) warp: u32,
    pub(crate) mask: LaneMask,
    pub(crate) instr: u32,
    /// The mistake, until it is reported.
    pub(crate) facts: Option<MistakeDetails>,
}

/// Meetings of whole warps at different barriers.
#[derive(Debug, Default)]
pub(crate) struct Apart {
    /// The first such meeting.
    pub(crate) first: Vec<BarrierGroup>,
    /// Threads that passed a barrier in such a meeting.
    pub(crate) passed: Vec<BarrierGroup>,
    /// Whether threads of the block that are out of step were reported.
    pub(crate) reported: bool,
    /// Part of a warp waits at an aligned barrier, the rest of it was elsewhere.
    pub(crate) part: Option<PartOfWarp>,
    /// Whether such a part of a warp was reported: later ones are not recorded.
    pub(crate) part_reported: bool,
}

/// Lanes that came to a barrier without the rest of their warp.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartOfWarp {
    pub(crate) id: u32,
    pub(crate) instr: u32,
    pub(crate) warp: u32,
    pub(crate) here: LaneMask,
    /// Lanes that had neither exited nor arrived.
    pub(crate) missing: LaneMask,
}
