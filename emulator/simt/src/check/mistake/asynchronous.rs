//! Asynchronous copies and products.

use super::InstrThread;
use crate::lane_mask::LaneMask;
use program::tensor::Swizzle;

/// Misuse of a product of a warpgroup. `which` is `A` or `B`; addresses are offsets in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadWgmma {
    /// [`super::Mistake::instr`] uses a register of a `wgmma` that is in flight.
    InFlight {
        product: u32,
        /// Whether the instruction writes the register, and does not read it.
        writes: bool,
        /// Whether the register is one of the product's A, and not an accumulator.
        factor: bool,
        /// Groups that the warp has committed after the MMA's group; `None` if that one is not committed.
        behind: Option<u32>,
        /// Groups that the last wait of the warp left in flight; `None` if it has not waited.
        left: Option<u32>,
    },
    /// The warp has executed no `wgmma.fence` before its first product.
    NoFence,
    /// Registers of it were written since the warp's last `wgmma.fence`.
    WrittenBehindFence {
        /// The instruction that wrote the first of them.
        by: u32,
        /// Whether the register holds A, not an accumulator.
        factor: bool,
    },
    /// The factor was overwritten before the product was waited for.
    Changed {
        factor: char,
        /// The first bytes that changed.
        address: u32,
        /// A bulk copy that writes there, `None` if stores did.
        by: Option<InstrThread>,
    },
    /// A part of the factor lies outside of the array that it starts in.
    Outside {
        factor: char,
        start: u32,
        /// The first part that is outside.
        address: u32,
        /// Bounds of the array; both 0 where there is none.
        array: (u32, u32),
    },
    /// A copy of a box wrote the factor with another swizzle than the descriptor has.
    Swizzle {
        factor: char,
        /// The first such place.
        address: u32,
        copy: Swizzle,
        by: u32,
        descriptor: Swizzle,
    },
    /// Threads of a warpgroup have different descriptors.
    Differs {
        factor: char,
        /// The warp in which another descriptor was found.
        warp: u32,
        values: [u64; 2],
    },
    /// The block's rank in its cluster is in the leading dimension's offset of a descriptor.
    Rank {
        factor: char,
        /// The rank of the block that has such a descriptor.
        rank: u32,
        /// The offset in bytes: in this block, and in the one of rank 0.
        leading: [u32; 2],
    },
    /// Lanes of the warp do not execute it.
    Apart { missing: LaneMask },
    /// Warps of the four never execute the product, and others wait for it.
    Missing {
        warps: u8,
        /// Missing warps that the block does not have, or that have exited.
        gone: u8,
    },
}

impl BadWgmma {
    /// Returns a number that differs where the mistakes at one instruction are reported separately: by variant, and of
    /// [`Self::InFlight`] by `writes`.
    pub(in crate::check) fn group_key(&self) -> u32 {
        match self {
            Self::InFlight { writes, .. } => u32::from(*writes),
            Self::NoFence => 2,
            Self::Changed { .. } => 3,
            Self::Outside { .. } => 4,
            Self::Swizzle { .. } => 5,
            Self::Differs { .. } => 6,
            Self::Apart { .. } => 7,
            Self::Missing { .. } => 8,
            Self::Rank { .. } => 9,
            Self::WrittenBehindFence { .. } => 10,
        }
    }
}

/// Why a copy of a box of a tensor cannot start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadTensor {
    /// The address of the map is not a multiple of 64.
    MapAlign(u64),
    /// No parameter and no global memory is at the address of the map.
    MapPlace(u64),
    /// The bytes of the map at this address are zeros.
    Zeros(u64),
    /// A map was at this address, and its bytes were changed.
    Changed(u64),
    /// The bytes at this address are no map.
    NoMap(u64),
    /// The tensor has another number of dimensions than the instruction.
    Rank {
        /// Dimensions of the tensor.
        map: u8,
        /// Coordinates of the instruction.
        given: u8,
    },
    /// The first element of the box does not start at a multiple of 16 bytes in its row.
    Column {
        /// The innermost coordinate.
        at: i32,
        /// Bytes of an element.
        bytes: u8,
    },
    /// A store to a box that begins before the tensor.
    Negative {
        /// The dimension, from the innermost.
        dimension: u8,
        at: i32,
    },
    /// The place in shared memory is not a multiple of 128.
    Shared(u64),
}

/// An asynchronous copy that was not waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyInFlight {
    pub instr: u32,
    /// Thread in the block that started it.
    pub thread: u32,
    /// Groups that this thread committed after the copy's; `None` if the copy's own is not committed.
    pub behind: Option<u32>,
    /// Groups that the last `cp.async.wait_group` of this thread left in flight; `None` if it has not waited.
    pub left: Option<u32>,
    /// The same number at the time of that wait; `None` if the copy's group was committed later.
    pub behind_then: Option<u32>,
    /// The phase of an mbarrier that the copy belongs to; `None` if the copy is a `cp.async`.
    pub phase: Option<PhaseOfCopy>,
}

/// The phase that a bulk copy belongs to, and what the thread that reads too early did to wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseOfCopy {
    /// Offset of the mbarrier.
    pub offset: u32,
    /// Number of the phase: phases of the barrier that had ended when the copy was started.
    pub number: u64,
    /// Phases that have ended now: more than `number` if the phase ended without the copy.
    pub ended: u64,
    /// Bytes that came in the last phase that ended.
    pub brought: u64,
    /// Bytes of all copies that were started in the phase.
    pub started: u64,
    /// The last wait of the reading thread for this barrier that found a phase to have ended.
    pub waited: Option<Waited>,
}

/// A wait for a phase of an mbarrier that was successful.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waited {
    /// Phases of the barrier that had ended then.
    pub ended: u64,
    /// Number of successful waits of the thread since the number of ended phases reached this value.
    pub times: u32,
    /// The parity that the last of them named.
    pub parity: Option<u8>,
}
