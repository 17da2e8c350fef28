//! A mistake as the emulator records it, without words.

use std::num::NonZeroU64;

use super::Code;
use crate::lane_mask::LaneMask;
use crate::program::MemSpace;
use crate::program::mma::fragment::Foreign;
use crate::program::tensor::Swizzle;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    Read,
    Write,
    Atomic,
}

/// A mistake that lanes of one warp made together.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Instruction: index into [`crate::program::Kernel::instrs`].
    pub instr: u32,
    /// Block, as linear index.
    pub block: u64,
    pub warp: u32,
    /// Lanes that made the mistake. The message names the lowest.
    pub mask: LaneMask,
    pub details: Details,
}

impl Event {
    pub fn code(&self) -> Code {
        self.details.code()
    }
}

/// The facts of an event; each variant names the codes that it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub enum Details {
    /// `E-TRAP`.
    Trap,
    /// `E-OOB`, `E-FREED`, `E-ALIGN`, `E-READ-ONLY`.
    Access { problem: AccessProblem, access: BadAccess },
    /// `E-UNINIT`, `W-UNINIT`: [`Event::instr`] is where the value was put to use.
    Uninitialised {
        /// The read that brought the value.
        access: BadAccess,
        /// The instruction that read it: often [`Event::instr`] itself or one on the same line.
        load: u32,
        /// Use that makes the undefined value a mistake.
        used: Use,
        /// The last store of a copy of the value. `None`: nothing was stored at the address.
        copied: Option<CopiedBy>,
        /// Byte ranges (start, end) of the same array or allocation that were written so far, as addresses like
        /// [`BadAccess::address`], in order. May be empty for later events of a kind.
        written: Box<[(u64, u64)]>,
        /// The asynchronous copy that was to write it.
        copy: Option<CopyUnderWay>,
        /// An mbarrier for which the reading thread waited and which it passed before any phase had
        /// ended, as its offset. Of shared memory only.
        fresh: Option<u32>,
    },
    /// `E-UNINIT`, `W-UNINIT`: [`Event::instr`] uses a register that nothing has set, or what was computed from it.
    Unset {
        /// Use that makes the undefined value a mistake.
        used: Use,
        /// The instruction that made that use: often [`Event::instr`] itself.
        by: u32,
        /// The last store of the value to memory in between.
        copied: Option<CopiedBy>,
    },
    /// `E-RACE`, `W-RACE-EQUAL`: made by the race checks.
    Race(Box<RaceFacts>),
    /// `E-BARRIER`, `W-BARRIER`: the groups of threads, those of [`Event::instr`] first.
    Barrier { groups: Vec<BarrierGroup>, problem: BarrierProblem },
    /// `W-BARRIER`: [`Event::instr`] is the barrier, [`Event::mask`] lanes of a warp that waited there. Whether that
    /// is a mistake depends on the source: a branch around the barrier, or a `return` before it.
    Parted {
        /// The other lanes of the warp that had not exited then. They exited without coming to the barrier.
        missing: LaneMask,
        /// The instruction at which the lowest thread of the warp that has exited did so.
        exit: Option<u32>,
    },
    /// `W-EXITED`: [`Event::instr`] is the barrier, [`Event::mask`] lanes of a warp that waited there.
    Exited {
        /// Threads of the block that had returned.
        returned: u32,
        /// The lowest of them (index in the block).
        first: u32,
        /// The instruction at which that one returned, when known.
        exit: Option<u32>,
    },
    /// `E-LOOP`: the kernel does not end.
    Runaway {
        /// Thread-instructions allowed to the launch; `None`: there was no limit.
        budget: Option<NonZeroU64>,
        /// Whether the loop provably never ends: the warp's registers repeat and nothing was stored.
        proven: bool,
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
    /// `E-TEXTURE`: a texture fetch through a value that is no texture object.
    Texture { handle: u64 },
    /// `E-TENSOR`, `E-ALIGN`: a copy of a box that cannot start.
    TensorCopy { problem: BadTensor },
    /// `E-RACE`: a bulk copy writes where another one is under way.
    TwoCopies {
        /// The first byte that both write: an offset in shared memory.
        address: u64,
        /// The instruction and the thread of the other copy.
        other: (u32, u32),
        /// The offset of its barrier, and the number of its phase.
        phase: (u32, u64),
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
    /// `E-WGMMA`: [`Event::instr`] is the product, but for [`BadWgmma::InFlight`].
    Wgmma { problem: BadWgmma },
    /// `E-FRAGMENT`: [`Event::instr`] is the product.
    Fragment {
        /// The expected and the given shared memory.
        foreign: Foreign,
    },
    /// `E-BARRIER`: no thread can go on, and some wait for phases of mbarriers.
    Phases {
        /// Awaited phases, the one of [`Event::instr`] first.
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
    MemoryBarrier {
        /// Offset of the mbarrier.
        offset: u32,
        problem: BadBarrier,
    },
}

impl Details {
    /// Returns the code of a mistake with these facts.
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
            Self::Barrier { problem: BarrierProblem::DifferentBarriers, .. } | Self::Parted { .. } => {
                Code::BarriersApart
            }
            Self::Barrier { .. } | Self::Phases { .. } | Self::ClusterDeadlock { .. } => Code::Barrier,
            Self::Exited { .. } => Code::ExitedBeforeBarrier,
            Self::Runaway { .. } => Code::Runaway,
            Self::Assert { .. } => Code::Assert,
            Self::SyncMask(SyncMask { wrong: WrongMask::SourceNotNamed(_), .. }) => Code::ShuffleOutside,
            Self::SyncMask(_) => Code::SyncMask,
            Self::Operand { .. } => Code::Operand,
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

/// Why an access fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessProblem {
    OutOfBounds,
    UseAfterFree,
    Misaligned,
    ReadOnly,
}

/// What is wrong where threads of a block wait at barriers.
#[derive(Debug, Clone, PartialEq)]
pub enum BarrierProblem {
    /// No thread can continue.
    Deadlock,
    /// Lanes of one warp met at different barriers, and continued.
    SplitWarp,
    /// Whole warps met at different barriers, and continued.
    DifferentBarriers,
    /// They did, and later these threads waited at a barrier of another group, after threads of that group had exited.
    LeftBehind(BarrierGroup),
}

/// Misuse of a product of a warpgroup. `which` is `A` or `B`; addresses are offsets in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadWgmma {
    /// [`Event::instr`] uses a register of a product that is under way.
    InFlight {
        product: u32,
        /// Whether the instruction writes the register, and does not read it.
        writes: bool,
        /// Whether the register is one of the product's A, and not an accumulator.
        factor: bool,
        /// Groups that the warp has committed after the product's; `None`: that is not committed.
        behind: Option<u32>,
        /// Groups that the last wait of the warp left under way; `None`: it has not waited.
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
        which: char,
        /// The first bytes that changed.
        address: u32,
        /// A bulk copy that writes there: instruction and thread. `None`: stores did.
        by: Option<(u32, u32)>,
    },
    /// A part of the factor lies outside of the array that it starts in.
    Outside {
        which: char,
        start: u32,
        /// The first part that is outside.
        address: u32,
        /// Bounds of the array; both 0 where there is none.
        array: (u32, u32),
    },
    /// A copy of a box wrote the factor with another swizzle than the descriptor has.
    Swizzle {
        which: char,
        /// The first such place.
        address: u32,
        copy: Swizzle,
        /// The instruction of the copy.
        by: u32,
        descriptor: Swizzle,
    },
    /// Threads of a warpgroup have different descriptors.
    Differs {
        which: char,
        /// The warp in which another descriptor was found.
        warp: u32,
        /// The two descriptors.
        values: [u64; 2],
    },
    /// The block's rank in its cluster is in the leading dimension's offset of a descriptor.
    Rank {
        which: char,
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
    pub(super) fn group_key(&self) -> u32 {
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

/// Threads of one block of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elsewhere {
    /// The block, as linear index.
    pub block: u64,
    pub rank: u32,
    /// Whether the threads wait at a barrier of the cluster.
    pub at_cluster_barrier: bool,
    pub group: BarrierGroup,
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

/// Threads that wait for one phase of an mbarrier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseWaits {
    /// Waiting threads, and their instruction.
    pub group: BarrierGroup,
    /// Offset of the mbarrier.
    pub offset: u32,
    /// The parity that they name; `None`: they name the phase itself.
    pub parity: Option<u8>,
    /// Phases of the barrier that have ended.
    pub ended: u64,
    /// Arrivals that each phase waits for.
    pub arrivals: u32,
    /// Arrivals that the phase still waits for.
    pub pending: u32,
    /// Bytes that it still waits for; negative: bytes that came and that no phase expected.
    pub bytes: i64,
    /// Bytes of copies that are under way to it.
    pub under_way: u64,
    /// Phases that had ended at the last wait of the thread with the fewest; `None` in launches without checks.
    pub seen: Option<u64>,
    /// Threads of the block that have arrived at it so far; 0 when that was not followed.
    pub arrivers: u32,
    /// Whether none of the threads has passed a wait for it before.
    pub never: bool,
}

impl PhaseWaits {
    /// Returns whether some thread waits for a parity that has come back since.
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
    /// The barrier is initialised with a count of arrivals out of range.
    Arrivals(u32),
    /// Another warp initialised it, and nothing orders that before its use.
    NotSynchronised {
        /// The warp that initialised it.
        init_warp: u32,
    },
    /// No fence has made it visible to the async proxy.
    NotFenced,
    /// More arrivals come than the phase waits for.
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
}

/// The store that put a copy of an undefined value in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopiedBy {
    /// An instruction of this kernel, by index.
    Instr(u32),
    /// An earlier launch, or a store that is no longer recorded.
    Unknown,
}

/// Use of an undefined value. Moving it is no use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    Address,
    /// A branch or a guard depends on it.
    Condition,
    /// The number of a lane or barrier, or a mask of lanes.
    Control,
    /// An atomic works on it.
    Atomic,
    Printed,
    /// The value went through arithmetic, and the result was stored.
    Stored {
        /// Index of the instruction that stored.
        by: u32,
    },
    /// The value was stored unchanged to global memory (`W-UNINIT`): a mistake only if the host reads it there.
    Output {
        /// The lowest address, and the end of the highest.
        range: (u64, u64),
    },
}

impl Use {
    /// Returns the code of an undefined value with this use.
    pub(crate) fn code(self) -> Code {
        match self {
            Self::Output { .. } => Code::UndefinedOutput,
            _ => Code::Uninitialised,
        }
    }
}

/// Why an instruction does not take a value.
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

/// Wrong mask of a warp-wide instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncMask {
    /// Lanes that the instruction names, in the first lane of [`Event::mask`].
    pub named: LaneMask,
    /// Lanes that execute the instruction.
    pub present: LaneMask,
    /// Lanes of the warp that have exited.
    pub exited: LaneMask,
    pub wrong: WrongMask,
    /// The warp's lanes that do not execute it, in groups: the instruction at which a group is, and its lanes.
    pub elsewhere: Vec<(u32, LaneMask)>,
}

/// Disagreement of a lane mask and the lanes that execute the instruction; see [`SyncMask`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrongMask {
    /// Named lanes never come.
    Missing,
    /// A lane that executes it is not named by itself.
    CallerNotNamed,
    /// Lanes that execute it together name different masks; this is the other one.
    Differs(LaneMask),
    /// A shuffle reads from this lane, which is named and does not execute it.
    SourceMissing(u32),
    /// A shuffle reads from this lane, which is not named.
    SourceNotNamed(u32),
}

/// An asynchronous copy that was not waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyUnderWay {
    /// Index of the instruction that copies.
    pub instr: u32,
    /// Thread in the block that started it.
    pub thread: u32,
    /// Groups that this thread committed after the copy's; `None`: the copy's own is not committed.
    pub behind: Option<u32>,
    /// Groups that the last `cp.async.wait_group` of this thread left under way; `None`: it has not waited.
    pub left: Option<u32>,
    /// As `behind`, at that wait; `None`: the copy's own was committed later.
    pub behind_then: Option<u32>,
    /// The phase of an mbarrier that the copy belongs to; `None`: the copy is a `cp.async`.
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
    /// Successful waits of the thread since that many have ended.
    pub times: u32,
    /// The parity that the last of them named.
    pub parity: Option<u8>,
}

/// A memory access that went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadAccess {
    pub kind: AccessKind,
    /// Space of the address: never `Generic` when it follows from the address; `Generic` for an address in no space.
    pub space: MemSpace,
    /// Address that the lowest lane of [`Event::mask`] used. In `Global` and `Generic` the 64-bit address; in
    /// the other spaces the offset from the start of the space. In another block's shared memory the rank of that block
    /// plus one is above the offset ([`crate::program::RANK_SHIFT`]).
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

/// Threads of one block at one barrier, or elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BarrierGroup {
    /// Instruction at which the threads wait; for those that do not wait at a barrier, at which they are.
    pub instr: u32,
    pub at_barrier: bool,
    /// The lanes that wait, as one mask per warp.
    pub threads: Box<[LaneMask]>,
}

impl BarrierGroup {
    /// Adds threads at the same place, as lanes by warp.
    pub(crate) fn add(&mut self, threads: &[LaneMask]) {
        self.threads.iter_mut().zip(threads).for_each(|(own, more)| *own |= *more);
    }
}

/// One of the two accesses of a race.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RaceParty {
    pub kind: AccessKind,
    /// Index of the instruction.
    pub instr: u32,
    /// Linear index of its block.
    pub block: u64,
    /// Index of the thread in the block.
    pub thread: u32,
    /// Bytes of one lane's access.
    pub bytes: u32,
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

/// Place of the missing barrier between a write and a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingOrder {
    /// Threads write, then read: the barrier between is missing.
    BeforeReading,
    /// Threads read, then write again: the barrier between is missing.
    BeforeOverwriting,
    /// Both barriers are missing.
    Both,
    /// Threads hand data over by mbarriers, and no phase or barrier of the block orders the two.
    Phase,
    /// Blocks hand data to each other by fences and flags, and the second one has read no flag that the first one set
    /// after its access and a fence.
    Flag,
    /// The accesses do not tell.
    Unknown,
}
