//! Barriers and mbarriers.

use crate::lane_mask::LaneMask;

/// What is wrong where threads of a block wait at barriers.
#[derive(Debug, Clone, PartialEq)]
pub enum BarrierProblem {
    Deadlock,
    /// Lanes of one warp met at different barriers, and continued.
    SplitWarp,
    /// Whole warps met at different barriers, and continued.
    DifferentBarriers,
    /// They did, and later these threads waited at a barrier of another group, after threads of that group had exited.
    LeftBehind(BarrierGroup),
}

/// Threads of one block of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elsewhere {
    /// The block, as linear index.
    pub block: u64,
    pub rank: u32,
    pub at_cluster_barrier: bool,
    pub group: BarrierGroup,
}

/// Threads that wait for one phase of an mbarrier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseWaits {
    /// Waiting threads, and their instruction.
    pub group: BarrierGroup,
    /// Offset of the mbarrier.
    pub offset: u32,
    /// The parity that they name; `None` if they name the phase itself.
    pub parity: Option<u8>,
    /// Phases of the barrier that have ended.
    pub ended: u64,
    /// Arrivals that each phase waits for.
    pub arrivals: u32,
    /// Arrivals that the phase still waits for.
    pub pending: u32,
    /// Bytes that it still waits for; negative: bytes that came and that no phase expected.
    pub bytes: i64,
    /// Bytes of copies that are in flight to it.
    pub in_flight: u64,
    /// Phases that had ended at the last wait of the thread with the fewest; `None` in launches without checks.
    pub seen: Option<u64>,
    /// Threads of the block that have arrived at it so far; 0 when that was not followed.
    pub arrivers: u32,
    /// Whether none of the threads has passed a wait for it before.
    pub never: bool,
}

impl PhaseWaits {
    /// Returns whether some thread missed its phase: the parity that it waits for has flipped twice since.
    pub fn has_missed(&self) -> bool {
        self.seen.is_some_and(|seen| self.ended.saturating_sub(seen) >= 2)
    }
}

/// Misuse of an mbarrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadBarrier {
    /// No `mbarrier.init` made it.
    NotInitialised {
        /// In a cluster: the block in whose memory the barrier is, and its rank, where that is not the thread's own.
        other: Option<(u64, u32)>,
    },
    /// The address is outside shared memory.
    NotShared(u64),
    /// The barrier is initialised with a count of arrivals out of range.
    Arrivals(u32),
    /// Another warp initialised it, and nothing orders that before its use.
    NotSynchronised { init_warp: u32 },
    /// No fence has made it visible to the async proxy.
    NotFenced,
    TooManyArrivals {
        arrivals: u32,
        pending: u32,
        /// Bytes that it still waits for.
        bytes: i64,
        /// Offset of the barrier and parity of the thread's last wait, where it had already passed a wait for that
        /// parity and no phase has ended since.
        again: Option<(u32, u8)>,
    },
    /// The phase's last arrivals are `.noComplete`.
    Completes(u32),
    /// The barrier lies in another block of the cluster: only arrivals without a result and counts of bytes reach it.
    OtherBlock,
    /// A phase is to wait for more bytes than a barrier counts.
    TooManyBytes(u64),
    /// Its bytes were written to after it was initialised, and instruction `used` uses it later.
    Overwritten { used: u32 },
    /// A wait names no parity but this token, and no arrival can have returned it; this many phases have ended.
    Token { token: u64, phase: u64 },
}

/// Threads of one block at one barrier, or elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BarrierGroup {
    /// Instruction at which the threads wait, or their current one if they do not wait at a barrier.
    pub instr: u32,
    pub at_barrier: bool,
    /// The lanes that wait, as one mask per warp.
    pub threads: Box<[LaneMask]>,
}

impl BarrierGroup {
    /// Returns the first warp that has threads in the group, and their lanes.
    pub(crate) fn first(&self) -> Option<(u32, LaneMask)> {
        let warp = self.threads.iter().position(|lanes| !lanes.is_empty())?;
        Some((warp as u32, self.threads[warp]))
    }

    /// Adds threads at the same place, as lanes by warp.
    pub(crate) fn add(&mut self, threads: &[LaneMask]) {
        self.threads.iter_mut().zip(threads).for_each(|(own, more)| *own |= *more);
    }
}
