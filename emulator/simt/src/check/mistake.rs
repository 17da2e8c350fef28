//! A mistake as the checks record it: data, without the text of a message.

mod access;
mod asynchronous;
mod barrier;
mod race;
mod sync_mask;
mod undefined;

use std::num::NonZeroU64;

use super::Code;
use crate::lane_mask::LaneMask;
use program::{MemSpace, mma::fragment::Foreign};

pub use access::{AccessKind, AccessProblem, BadAccess, RemoteProblem};
pub use asynchronous::{BadTensor, BadWgmma, CopyInFlight, PhaseOfCopy, Waited};
pub use barrier::{BadBarrier, BarrierGroup, BarrierProblem, Elsewhere, PhaseWaits};
pub use race::{MissingOrder, RaceFacts, RaceParty};
pub use sync_mask::{Astray, SyncMask, WrongMask};
pub use undefined::{CopiedBy, Use};

/// A mistake that lanes of one warp made together.
#[derive(Debug, Clone, PartialEq)]
pub struct Mistake {
    /// Instruction: index into [`program::DecodedKernel::instrs`].
    pub instr: u32,
    /// Block, as linear index.
    pub block: u64,
    pub warp: u32,
    /// Lanes that made the mistake. The message names the lowest.
    pub mask: LaneMask,
    pub details: MistakeDetails,
}

impl Mistake {
    pub fn code(&self) -> Code {
        self.details.code()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadId {
    /// Linear index of its block.
    pub block: u64,
    /// Index in the block.
    pub thread: u64,
}

/// An instruction and a thread of the block that executed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstrThread {
    pub instr: u32,
    /// Index in the block.
    pub thread: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseId {
    /// Offset of the mbarrier in shared memory.
    pub barrier: u32,
    /// Number of phases that ended before it.
    pub number: u64,
}

/// An element of memory that a loop reads in each round, and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolledElement {
    pub space: MemSpace,
    pub address: u64,
    pub bytes: u32,
    pub value: u64,
}

/// How much is known of a loop in which a launch spent its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownOfLoop {
    /// It may only be slow, or wait for threads that were still running.
    Nothing,
    /// It waits for memory to change, and all other threads have exited or wait, too.
    OthersWait {
        /// Blocks that have ended.
        ended: u64,
        /// Element that it waits for, if there is only one.
        polled: Option<PolledElement>,
    },
    /// It never ends: the registers that its conditions depend on repeat.
    Endless,
    /// It never ends, as no other thread is left to change the memory that its conditions depend on.
    EndlessAlone,
}

/// The facts of a mistake; each variant names the codes that it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub enum MistakeDetails {
    /// `E-TRAP`.
    Trap,
    /// `E-OOB`, `E-FREED`, `E-ALIGN`, `E-READ-ONLY`.
    Access { problem: AccessProblem, access: BadAccess },
    /// `E-UNINIT`, `W-UNINIT`: [`Mistake::instr`] is where the value was put to use.
    Uninitialised {
        /// The read that brought the value.
        access: BadAccess,
        /// The instruction that read it: often [`Mistake::instr`] itself or one on the same line.
        load: u32,
        /// Use that makes the undefined value a mistake.
        used: Use,
        /// The last store of a copy of the value, `None` if nothing was stored at the address.
        copied: Option<CopiedBy>,
        /// Byte ranges (start, end) of the same array that were written before the use, or of the same allocation
        /// before the launch, as addresses like [`BadAccess::address`], in order, `None` if not known, as of later
        /// mistakes of a kind.
        written: Option<Box<[(u64, u64)]>>,
        /// The asynchronous copy that was to write it.
        copy: Option<CopyInFlight>,
        /// An mbarrier for which the reading thread waited and which it passed before any phase had
        /// ended, as its offset. Of shared memory only.
        fresh: Option<u32>,
    },
    /// `E-UNINIT`, `W-UNINIT`: [`Mistake::instr`] uses a register that nothing has set, or what was computed from it.
    Unset {
        /// Use that makes the undefined value a mistake.
        used: Use,
        /// The instruction that made that use: often [`Mistake::instr`] itself.
        by: u32,
        /// The last store of the value to memory in between.
        copied: Option<CopiedBy>,
    },
    /// `E-RACE`, `W-RACE-EQUAL`: made by the race checks.
    Race(Box<RaceFacts>),
    /// `E-BARRIER`, `W-BARRIER`: the groups of threads, those of [`Mistake::instr`] first.
    Barrier { groups: Vec<BarrierGroup>, problem: BarrierProblem },
    /// `W-BARRIER`: [`Mistake::instr`] is the barrier, [`Mistake::mask`] lanes of a warp that waited there. Whether
    /// that is a mistake depends on the source: a branch around the barrier, or a `return` before it.
    PartOfWarp {
        /// The other lanes of the warp that had not exited then. They exited without coming to the barrier.
        missing: LaneMask,
        /// The instruction at which the lowest thread of the warp that has exited did so.
        exit: Option<u32>,
    },
    /// `W-EXITED`: [`Mistake::instr`] is the barrier, [`Mistake::mask`] lanes of a warp that waited there.
    Exited {
        /// Threads of the block that had returned.
        returned: u32,
        /// The lowest of them (index in the block).
        first: u32,
        /// The instruction at which that one returned, when known.
        exit: Option<u32>,
    },
    /// `E-BARRIER`: all blocks that a device runs at once wait for memory to change, and others are still to start.
    NotResident {
        /// Maximum number of blocks that a device runs at once.
        resident: u64,
    },
    /// `E-LOOP`: the kernel does not end.
    Runaway {
        /// Thread-instructions allowed to the launch; `None` if there was no limit.
        budget: Option<NonZeroU64>,
        known: KnownOfLoop,
        /// First and last instruction of the loop that the warp is in, when known.
        span: Option<(u32, u32)>,
    },
    /// `E-ASSERT`: the arguments of `__assertfail`.
    Assert {
        /// The expression that was asserted.
        message: String,
        file: String,
        line: u32,
        function: String,
    },
    /// `E-SYNC-MASK`, `W-SHUFFLE`: the mask of a `.sync` instruction does not fit the lanes that execute it.
    SyncMask(SyncMask),
    /// `E-OPERAND`: an operand has a value that the instruction does not allow.
    Operand { problem: BadOperand, value: u32 },
    /// `E-LOCAL`: [`Mistake::instr`] loads a pointer to local memory that another thread stored, and follows it.
    LocalPointer {
        /// That thread's index in the block.
        owner: u32,
        /// The instruction that stored it.
        stored: u32,
    },
    /// `E-CALL`: a call through an address that is not a fitting function.
    Call { address: u64, problem: BadTarget },
    /// `E-STACK`: calls nested deeper than the stack holds.
    Stack {
        /// The function that was about to start.
        function: String,
        /// Calls that have not returned.
        depth: u32,
        /// Bytes of a thread's stack.
        limit: u32,
    },
    /// `E-TEXTURE`: a texture fetch through a value that is not a texture object.
    Texture { handle: u64 },
    /// `E-TENSOR`, `E-ALIGN`: a copy of a box that cannot start.
    TensorCopy { problem: BadTensor },
    /// `E-RACE`: a bulk copy writes where another one is in flight.
    TwoCopies {
        /// The first byte that both write: an offset in shared memory.
        address: u64,
        other: InstrThread,
        /// The phase that the other copy belongs to.
        phase: PhaseId,
        /// In a cluster: whose memory it is, and the block of the other copy's thread.
        blocks: Option<[u64; 2]>,
        /// The phase of the other copy has ended without it.
        late: Option<PhaseOfCopy>,
    },
    /// `E-RACE`: what a bulk copy reads was written to before anybody had waited for the copy.
    ChangedUnderCopy {
        /// The first word that was changed: an offset in shared memory.
        address: u64,
    },
    /// `E-PROXY`: a bulk copy reads what was stored without a fence.
    Proxy {
        /// The first bytes of these that the copy reads: an offset in shared memory.
        address: u64,
    },
    /// `E-WGMMA`: [`Mistake::instr`] is the product, except for [`BadWgmma::InFlight`].
    Wgmma { problem: BadWgmma },
    /// `E-FRAGMENT`: [`Mistake::instr`] is the product.
    Fragment {
        /// The fragment that the MMA takes, and the one that it was given.
        foreign: Foreign,
    },
    /// `E-BARRIER`: no thread can go on, and some wait for phases of mbarriers.
    Phases {
        /// Awaited phases, the one of [`Mistake::instr`] first.
        waits: Vec<PhaseWaits>,
        /// The other threads that have not exited.
        others: Vec<BarrierGroup>,
    },
    /// `E-CLUSTER`: an access to the shared memory of another block that cannot be.
    Remote {
        /// The access; [`BadAccess::address`] holds the rank plus one above the offset.
        access: BadAccess,
        problem: RemoteProblem,
    },
    /// `E-CLUSTER`: `barrier.cluster` out of turn.
    ClusterBarrier {
        /// Whether it is a wait without an arrival before; otherwise it is an arrival by threads that have not waited
        /// since their last.
        waits: bool,
    },
    /// `E-BARRIER`: no thread of a cluster can go on.
    ClusterDeadlock {
        /// Positions of its threads, those at a barrier of the cluster first.
        places: Vec<Elsewhere>,
    },
    /// `E-MBARRIER`, `E-PROXY`: misuse of an mbarrier.
    MemoryBarrier { offset: u32, problem: BadBarrier },
}

impl MistakeDetails {
    pub fn code(&self) -> Code {
        match self {
            Self::Trap => Code::Trap,
            Self::Access { problem: AccessProblem::OutOfBounds, .. } => Code::OutOfBounds,
            Self::Access { problem: AccessProblem::UseAfterFree, .. } => Code::UseAfterFree,
            Self::Access { problem: AccessProblem::Misaligned, .. } => Code::Misaligned,
            Self::Access { problem: AccessProblem::ReadOnly, .. } => Code::ReadOnly,
            Self::Uninitialised { used, .. } | Self::Unset { used, .. } => used.code(),
            Self::Race(race) if race.equal => Code::RaceEqual,
            Self::Race(_) | Self::TwoCopies { .. } | Self::ChangedUnderCopy { .. } => Code::Race,
            Self::Barrier { problem: BarrierProblem::DifferentBarriers, .. } | Self::PartOfWarp { .. } => {
                Code::BarriersApart
            }
            Self::Barrier { .. } | Self::NotResident { .. } | Self::Phases { .. } | Self::ClusterDeadlock { .. } => {
                Code::Barrier
            }
            Self::Exited { .. } => Code::ExitedBeforeBarrier,
            Self::Runaway { .. } => Code::Runaway,
            Self::Assert { .. } => Code::Assert,
            Self::SyncMask(SyncMask { wrong: WrongMask::SourceNotNamed(_) | WrongMask::OwnValue { .. }, .. }) => {
                Code::ShuffleOutside
            }
            Self::SyncMask(_) => Code::SyncMask,
            Self::Operand { .. } => Code::Operand,
            Self::LocalPointer { .. } => Code::LocalPointer,
            Self::Call { .. } => Code::Call,
            Self::Stack { .. } => Code::Stack,
            Self::Texture { .. } => Code::Texture,
            Self::TensorCopy { problem: BadTensor::MapAlign(_) | BadTensor::Shared(_) } => Code::Misaligned,
            Self::TensorCopy { .. } => Code::TensorCopy,
            Self::Proxy { .. } | Self::MemoryBarrier { problem: BadBarrier::NotFenced, .. } => Code::Proxy,
            Self::MemoryBarrier { .. } => Code::MemoryBarrier,
            Self::Wgmma { .. } => Code::Wgmma,
            Self::Fragment { .. } => Code::Fragment,
            Self::Remote { .. } | Self::ClusterBarrier { .. } => Code::Cluster,
        }
    }
}

/// Reason why an operand's value is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadOperand {
    /// A block has no barrier of this number.
    BarrierNumber,
    /// A barrier cannot count this number of threads.
    BarrierThreads,
    /// Threads that meet at a barrier name different numbers of threads.
    BarrierCounts {
        /// Count of the earlier arrivals.
        other: u32,
    },
    /// The size of a bulk copy is not a multiple of 16 bytes.
    CopyBytes,
    /// `brx.idx` past the end of its table.
    BranchIndex { targets: u32 },
}

/// Why a call does not go to an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadTarget {
    /// No function of the module has this address.
    NoFunction,
    /// The function has other parameters or another result than the call declares.
    OtherSignature(String),
}
