//! The schedulers of an SM, and the instructions that they issue.

use crate::stall::Reason;

pub(crate) const SCHEDULERS: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Issue {
    /// Time from the start of the launch.
    pub clock: u64,
    /// Index of the block among those that the SM runs.
    pub block: u32,
    /// Index of the warp in its block.
    pub warp: u32,
    pub instruction: u32,
    /// Last reason for which this warp waited: if the scheduler issued nothing before, the cause.
    pub waited: Reason,
}
