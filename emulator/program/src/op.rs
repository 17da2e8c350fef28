//! Operations: one step of the emulated GPU each.

use crate::matrix::{MatrixAccess, Mma, Wgmma};
use crate::memory::{Access, Addr, Atomic, BulkBytes, Mbarrier, MemSpace, TensorCopy};
use crate::special::Clock;
use arithmetic::lanes::{AluArgs, AluFn, Dst, Src};

/// One step of the machine.
#[derive(Debug, Clone)]
pub struct Op {
    /// Lanes that take part.
    pub guard: Guard,
    /// The instruction that it belongs to: an index into [`Kernel::instrs`].
    pub instr: u32,
    /// First op of its instruction: the one that is counted.
    pub first: bool,
    /// The operation and its operands.
    pub kind: OpKind,
}

/// `@p`, `@!p`, or always.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// Predicate; 0 is constant true.
    pub pred: u16,
    /// Run where the predicate is false.
    pub negated: bool,
}

/// What an [`Op`] does.
#[derive(Debug, Clone)]
pub enum OpKind {
    /// Registers to registers, lane by lane.
    Alu {
        /// Computes the results of all lanes.
        run: AluFn,
        /// Places of its operands.
        args: AluArgs,
    },
    /// A load from memory to registers.
    Load(Box<Access>),
    /// A store from registers to memory.
    Store(Box<Access>),
    /// `atom` or `red`: an operation on memory that other threads cannot interrupt.
    Atomic(Box<Atomic>),
    /// To `target` where the guard holds. Lanes meet again at `reconverge` (`u32::MAX`: when they exit).
    Branch {
        /// The next operation: a position in [`Kernel::ops`].
        target: u32,
        /// Immediate post-dominator, or [`ENCLOSING`].
        reconverge: u32,
    },
    /// `brx.idx`: to the target that `index` chooses.
    BranchIndexed {
        /// Index: a 32-bit register.
        index: Src,
        /// Indices of the instructions that it may go to.
        targets: Box<[u32]>,
        /// Immediate post-dominator, or [`ENCLOSING`].
        reconverge: u32,
    },
    /// Machine code's `BSSY`: lanes that part from here on meet at this position.
    Converge {
        /// Index of the instruction where its lanes meet again.
        meet: u32,
    },
    /// Machine code's `BREAK`: these lanes leave those that meet at this position.
    Leave {
        /// Index of the instruction where its lanes meet again.
        meet: u32,
    },
    /// A call of a function that is not inlined; a [`OpKind::Resume`] follows.
    Call {
        /// The call: an index into [`Calls::sites`].
        site: u32,
        /// The address of the function: a 64-bit operand, or `NONE` when the call names the function.
        target: Src,
    },
    /// The lanes of a call are back: the caller's registers are what they were.
    Resume {
        /// The call: an index into [`Calls::sites`].
        site: u32,
    },
    /// `ret` of a function that is not inlined.
    Return,
    /// `exit`, and `ret` of an entry.
    Exit,
    /// `trap`: stops the launch with an error.
    Trap,
    /// Barrier of the block. `id` and `count` are 32-bit operands; `count` is `NONE` for "all threads".
    Barrier {
        /// Whether it waits, only arrives, or reduces a predicate.
        kind: BarrierKind,
        /// Number of the barrier: a 32-bit operand.
        id: Src,
        /// Threads that take part.
        count: Src,
    },
    /// `barrier.cluster`: arrives, or waits for the threads of the cluster.
    ClusterBarrier {
        /// `barrier.cluster.wait`
        waits: bool,
    },
    /// `bar.warp.sync mask`: waits until the named lanes have arrived.
    WarpSync {
        /// The lanes that take part.
        members: Src,
    },
    /// `membar`, `fence`: orders this thread's accesses to memory.
    Fence,
    /// `fence.proxy.async`: the same, also for bulk copies.
    ProxyFence,
    /// `fence.mbarrier_init`: of barriers that were initialised only.
    InitFence,
    /// `nanosleep`, `yield` hints: a place where other warps may run.
    Yield,
    /// `shfl.sync`: each lane reads a value of another lane.
    Shuffle {
        /// How the other lane is chosen.
        mode: ShuffleMode,
        /// The value read.
        dst: Dst,
        /// "In range" predicate, or `NONE`.
        dst_pred: i32,
        /// Value, lane, clamp-and-segment, members.
        src: [Src; 4],
    },
    /// `vote.sync`: predicate result, or a line for `ballot`.
    Vote {
        /// Which vote it is.
        mode: VoteMode,
        /// A predicate, or a 32-bit line for `ballot`.
        dst: Dst,
        /// The predicate that lanes vote with.
        pred: u32,
        /// Lanes vote with the opposite of the predicate.
        negated: bool,
        /// Mask of the lanes that take part: a 32-bit operand.
        members: Src,
    },
    /// `match.any.sync`, `match.all.sync`: finds lanes with equal values.
    Match {
        /// `match.all.sync`, not `match.any.sync`.
        all: bool,
        /// The value is 64 bits wide.
        wide: bool,
        /// Mask of the lanes with an equal value.
        dst: Dst,
        /// "All equal" predicate, or `NONE`.
        dst_pred: i32,
        /// The value; the mask of the lanes that take part.
        src: [Src; 2],
    },
    /// `redux.sync`: reduces a 32-bit value over lanes of the warp.
    Redux {
        /// The operation, such as a sum.
        kind: ReduxKind,
        /// The reduced value, in every lane that takes part.
        dst: Dst,
        /// The value; the mask of the lanes that take part.
        src: [Src; 2],
    },
    /// `activemask`: the lanes that execute it together.
    ActiveMask {
        /// The mask of these lanes.
        dst: Dst,
    },
    /// `mov` from `%clock` and its kin.
    ReadClock {
        /// The clock that is read.
        clock: Clock,
        /// Its value: 32 or 64 bits, as the clock has them.
        dst: Dst,
    },
    /// `cp.async.ca/cg.shared.global [dst], [src], bytes{, src_size};`
    CpAsync {
        /// Address in shared memory.
        dst: Addr,
        /// Address in global memory.
        src: Addr,
        /// 4, 8 or 16.
        bytes: u8,
        /// Bytes to read, the rest is zero: a 32-bit operand, or `NONE`.
        src_bytes: Src,
    },
    /// `cp.async.commit_group`: closes the group of the copies since the last one.
    CpAsyncCommit,
    /// `cp.async.wait_group n` (`wait_all`: `u32::MAX` stands for "also what was not committed").
    CpAsyncWait {
        /// Groups that may stay under way.
        pending: u32,
    },
    /// `isspacep.space p, a`: whether a generic address lies in a state space.
    IsSpace {
        /// The state space that is asked for.
        space: MemSpace,
        /// Of shared memory: only the block's own.
        own: bool,
        /// The predicate that receives the answer.
        dst: Dst,
        /// The generic address: a 64-bit operand.
        src: Src,
    },
    /// `mma.sync`
    Mma(Box<Mma>),
    /// `ldmatrix`
    MatrixLoad(Box<MatrixAccess>),
    /// `stmatrix`
    MatrixStore(Box<MatrixAccess>),
    /// `movmatrix`: transposes a matrix of 8x8 16-bit elements that lies in registers.
    MatrixMove {
        /// The transposed matrix.
        dst: Dst,
        /// The matrix: a 32-bit operand.
        src: Src,
    },
    /// `cp.async.bulk.tensor`, `cp.async.bulk.prefetch.tensor`
    TensorCopy(Box<TensorCopy>),
    /// `cp.async.bulk`, without a tensor map.
    BulkBytes(Box<BulkBytes>),
    /// `cp.async.bulk.commit_group`
    BulkCommit,
    /// `cp.async.bulk.wait_group n`
    BulkWait {
        /// Groups that may stay under way.
        pending: u32,
    },
    /// `wgmma.mma_async`
    Wgmma(Box<Wgmma>),
    /// `wgmma.fence`
    WgmmaFence,
    /// `wgmma.commit_group`
    WgmmaCommit,
    /// `wgmma.wait_group n`
    WgmmaWait {
        /// Groups that may stay under way.
        pending: u32,
    },
    /// `mbarrier`
    Mbarrier(Box<Mbarrier>),
    /// Before the operations of an instruction that all lanes of a warp execute together, such as `wmma.load`.
    WholeWarp,
    /// `tex.1d`, `tex.2d`: a texture fetch.
    Texture(Box<Texture>),
    /// A call of `vprintf`: 64-bit generic pointers to the format and to the arguments; the count printed.
    Printf {
        /// Pointer to the format string.
        format: Src,
        /// Pointer to the arguments, packed as `vprintf` takes them.
        arguments: Src,
        /// `int` result, or `NONE`.
        dst: i32,
    },
    /// A call of `__assertfail(message, file, line, function, char_size)`.
    AssertFail {
        /// 64-bit generic pointers to message, file and function.
        text: [Src; 3],
        /// Line in the source: a 32-bit operand.
        line: Src,
    },
    /// Nothing (`pragma`-like instructions, prefetches).
    Nop,
}

/// In place of a branch's meeting place: lanes that part meet where all lanes of their group are going to, which
/// [`OpKind::Converge`] has said before.
pub const ENCLOSING: u32 = u32::MAX - 1;

/// What a barrier of the block does: `bar.sync`, `bar.arrive` or `bar.red`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BarrierKind {
    /// Wait until all threads that take part have arrived.
    Sync,
    /// Arrive and go on.
    Arrive,
    /// `bar.red.popc.u32 d, a, c, p`: destination line, predicate, negated.
    RedPopc(Dst, u32, bool),
    /// `bar.red.and.pred d, a, c, p`: destination predicate, predicate, negated.
    RedAnd(Dst, u32, bool),
    /// `bar.red.or.pred d, a, c, p`
    RedOr(Dst, u32, bool),
}

/// Modes of `shfl.sync`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the PTX modes of the same names")]
pub enum ShuffleMode {
    Up,
    Down,
    Bfly,
    Idx,
}

/// Modes of `vote.sync`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the PTX modes of the same names")]
pub enum VoteMode {
    All,
    Any,
    Uni,
    Ballot,
}

/// Operations of `redux.sync`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the PTX operations of the same names")]
pub enum ReduxKind {
    Add,
    MinS,
    MaxS,
    MinU,
    MaxU,
    And,
    Or,
    Xor,
}

/// Operands of a texture fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Texture {
    /// Handle: a 64-bit register or constant (texture object).
    pub handle: Src,
    /// Dimensions of the texture: 1 or 2.
    pub dims: u8,
    /// Coordinates are `f32` (else `s32`).
    pub float_coordinates: bool,
    /// One coordinate for each dimension; the others are [`arithmetic::lanes::NONE`].
    pub coordinates: [Src; 2],
    /// Destinations: four 32-bit lines.
    pub dst: [i32; 4],
    /// Destination type: `F32`, `S32` or `U32`.
    pub ty: ptx::ast::Type,
}
