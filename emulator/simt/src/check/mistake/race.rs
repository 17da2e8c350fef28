//! Races.

use super::access::AccessKind;
use super::{Mistake, MistakeDetails, ThreadId};
use crate::lane_mask::LaneMask;
use program::MemSpace;

/// One of the two accesses of a race.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RaceParty {
    pub kind: AccessKind,
    pub instr: u32,
    /// Linear index of its block.
    pub block: u64,
    /// Index of the thread in the block.
    pub thread: u32,
    /// Bytes of one lane's access.
    pub bytes: u32,
}

impl RaceParty {
    pub fn thread_id(&self) -> ThreadId {
        ThreadId { block: self.block, thread: self.thread.into() }
    }
}

/// A race: accesses of two threads to the same memory, at least one of them a write, that nothing orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RaceFacts {
    /// Space of the memory: `Shared` or `Global`.
    pub space: MemSpace,
    /// The first unit of memory that both touch: offset in shared memory, or address.
    pub address: u64,
    /// End of the memory that this warp's part of the race covers.
    pub end: u64,
    /// The two; the one that came first in the emulated order first.
    pub parties: [RaceParty; 2],
    /// Whether both write, and the same value.
    pub equal: bool,
    /// Whether both are in one warp, where `__syncwarp()` suffices.
    pub same_warp: bool,
    /// Whether both are in one instruction: lanes that store to the same address.
    pub same_instruction: bool,
    /// Missing order, where the accesses of one warp show it.
    pub missing: MissingOrder,
    /// In one warp: the instruction and the mask of a `__syncwarp` that leaves out one of the two.
    pub left_out: Option<(u32, LaneMask)>,
}

impl RaceFacts {
    /// Creates a race on the memory from an address to its end, of which nothing else is known.
    pub(in crate::check) fn new(space: MemSpace, [address, end]: [u64; 2], parties: [RaceParty; 2]) -> Self {
        Self {
            space,
            address,
            end,
            parties,
            equal: false,
            same_warp: false,
            same_instruction: false,
            missing: MissingOrder::Unknown,
            left_out: None,
        }
    }

    /// Returns the mistake of the lanes that made the second access.
    pub(in crate::check) fn mistake(self, block: u64, warp: u32, mask: LaneMask) -> Mistake {
        let instr = self.parties[1].instr;
        Mistake { instr, block, warp, mask, details: MistakeDetails::Race(Box::new(self)) }
    }
}

/// Place of the missing barrier between a write and a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingOrder {
    /// Threads write, then read: the barrier between is missing.
    BeforeReading,
    /// Threads read, then write again: the barrier between is missing.
    BeforeOverwriting,
    Both,
    /// Threads hand data over by mbarriers or barriers of some threads, and none of them orders the two.
    Phase,
    /// Blocks hand data to each other by fences and flags, and the second one has read no flag that the first one set
    /// after its access and a fence.
    Flag,
    /// The second block has read such a flag, and executed no fence since.
    Acquire,
    /// Likewise, and one of the two is an ordinary access, the other an atomic or a volatile one.
    Strength,
    /// The accesses do not tell.
    Unknown,
}
