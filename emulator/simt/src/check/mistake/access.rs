//! Accesses to memory that go wrong.

use program::MemSpace;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    Read,
    Write,
    Atomic,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessProblem {
    OutOfBounds,
    UseAfterFree,
    Misaligned,
    ReadOnly,
}

/// Why a thread cannot reach the shared memory of another block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteProblem {
    Ended {
        rank: u32,
        /// Linear index.
        block: u64,
        /// An instruction at which threads of it exited.
        exit: Option<u32>,
    },
    /// The instruction reaches the block's own shared memory only.
    NotOwn { rank: u32 },
    /// No block of the cluster has the rank.
    NoBlock { rank: u32, blocks: u32 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadAccess {
    pub kind: AccessKind,
    /// Space of the address: never `Generic` when it follows from the address; `Generic` for an address in no space.
    pub space: MemSpace,
    /// Address that the lowest lane of [`super::Mistake::mask`] used. In `Global` and `Generic` the 64-bit address; in
    /// the other spaces the offset from the start of the space. In another block's shared memory the rank of that block
    /// plus one is above the offset ([`program::RANK_SHIFT`]).
    pub address: u64,
    /// Address of the lane with the highest one.
    pub high: u64,
    /// Bytes of the whole access of one lane (16 for a `float4`).
    pub bytes: u32,
}

impl BadAccess {
    /// Creates an access to the same address by all lanes.
    pub(crate) fn at(kind: AccessKind, space: MemSpace, address: u64, bytes: u32) -> BadAccess {
        BadAccess { kind, space, address, high: address, bytes }
    }
}
