//! Operations: the steps of the emulated GPU.

use crate::matrix::{MatrixAccess, Mma, Wgmma};
use crate::memory::{Access, Addr, Atomic, BulkBytes, Mbarrier, MemSpace, TensorCopy};
use crate::special::Clock;
use arithmetic::lanes::{AluArgs, AluFn, Dst, Src};

#[derive(Debug, Clone)]
pub struct Op {
    pub guard: Guard,
    /// Instruction of the operation: index into [`DecodedKernel::instrs`](crate::DecodedKernel::instrs).
    pub instr: u32,
    /// Whether it is the first operation of its instruction, which is the counted one.
    pub first: bool,
    pub kind: OpKind,
}

/// Guard of an operation: `@p`, `@!p`, or always.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// Predicate number; 0 is constant true.
    pub pred: u16,
    /// Whether lanes are active where the predicate is false.
    pub negated: bool,
}

// `repr`: a tag in a byte of its own is compared as it is, and not worked out from the fields of a variant first.
#[derive(Debug, Clone)]
#[repr(u8)]
pub enum OpKind {
    /// Arithmetic on registers, lane by lane.
    Alu {
        run: AluFn,
        args: AluArgs,
    },
    Load(Box<Access>),
    Store(Box<Access>),
    Atomic(Box<Atomic>),
    /// Branch to `target` where the guard holds.
    Branch {
        /// Position in [`DecodedKernel::ops`](crate::DecodedKernel::ops).
        target: u32,
        reconverge: Reconverge,
    },
    /// `brx.idx`: branch to `targets[index]`.
    BranchIndexed {
        /// A 32-bit register.
        index: Src,
        targets: Box<[u32]>,
        reconverge: Reconverge,
    },
    /// `BSSY` of machine code: lanes that diverge from here on reconverge at this position.
    Converge {
        position: u32,
    },
    /// `BREAK` of machine code: the lanes no longer reconverge at this position.
    Leave {
        position: u32,
    },
    /// A call of a function that is not inlined; [`OpKind::Resume`] follows.
    Call {
        /// Index into [`Calls::sites`](crate::Calls::sites).
        site: u32,
        /// Address of the function: a 64-bit operand; `None` when the call names the function.
        target: Option<Src>,
    },
    /// Return of a call's lanes: restores the caller's registers.
    Resume {
        /// Index into [`Calls::sites`](crate::Calls::sites).
        site: u32,
    },
    /// `ret` of a function that is not inlined.
    Return,
    /// `exit`, and `ret` of an entry.
    Exit,
    /// Stops the launch with an error.
    Trap,
    Barrier {
        kind: BarrierKind,
        /// Number of the barrier: a 32-bit operand.
        id: Src,
        /// Number of threads: a 32-bit operand; `None` for all.
        count: Option<Src>,
    },
    /// `barrier.cluster`: arrives, or waits for all threads of the cluster.
    ClusterBarrier {
        /// Whether it is `barrier.cluster.wait`, not `.arrive`.
        waits: bool,
    },
    /// `bar.warp.sync`: waits until the named lanes have arrived.
    WarpSync {
        /// Mask of the lanes: a 32-bit operand.
        members: Src,
    },
    /// `membar`, `fence`: orders this thread's accesses to memory.
    Fence,
    /// `fence.proxy.async`: orders bulk copies too.
    ProxyFence,
    /// `fence.mbarrier_init`: orders initialised barriers only.
    InitFence,
    /// `nanosleep` and `yield` hints: other warps may run.
    Yield,
    /// `shfl.sync`: each lane reads a value of another lane.
    Shuffle {
        mode: ShuffleMode,
        dst: Dst,
        /// Predicate "lane in range".
        dst_pred: Option<Dst>,
        /// Value, lane, clamp-and-segment, mask.
        src: [Src; 4],
    },
    /// `vote.sync`: predicate result, or a line for `ballot`.
    Vote {
        mode: VoteMode,
        /// A predicate, or a 32-bit line for `ballot`.
        dst: Dst,
        pred: u32,
        negated: bool,
        /// Mask of the lanes: a 32-bit operand.
        members: Src,
    },
    /// `match.any.sync`, `match.all.sync`: finds lanes with equal values.
    Match {
        /// Whether it is `match.all.sync`, not `match.any.sync`.
        all: bool,
        wide: bool,
        /// Mask of the lanes with an equal value.
        dst: Dst,
        /// Predicate "all equal".
        dst_pred: Option<Dst>,
        /// Value, mask.
        src: [Src; 2],
    },
    /// `redux.sync`: reduces a 32-bit value over lanes of the warp.
    Redux {
        kind: ReduxKind,
        dst: Dst,
        /// Value, mask.
        src: [Src; 2],
    },
    /// `activemask`: the converged lanes.
    ActiveMask {
        dst: Dst,
    },
    /// `mov` from `%clock`, `%globaltimer` and similar.
    ReadClock {
        clock: Clock,
        /// 32 or 64 bits, by the clock.
        dst: Dst,
    },
    /// `cp.async.ca/cg.shared.global [dst], [src], bytes{, src_size};`
    CpAsync {
        /// 4, 8 or 16.
        bytes: u8,
        /// Bytes to read, the rest is zero: a 32-bit operand; `None` for all.
        src_bytes: Option<Src>,
        /// Address in shared memory.
        dst: Addr,
        /// Address in global memory.
        src: Addr,
    },
    CpAsyncCommit,
    /// `cp.async.wait_group n`, `cp.async.wait_all`
    CpAsyncWait {
        allowed: PendingCopies,
    },
    /// `isspacep.space p, a`: tests if a generic address lies in a state space.
    IsSpace {
        space: MemSpace,
        /// Whether only the block's own shared memory counts.
        own: bool,
        dst: Dst,
        /// Generic address: a 64-bit operand.
        src: Src,
    },
    Mma(Box<Mma>),
    MatrixLoad(Box<MatrixAccess>),
    MatrixStore(Box<MatrixAccess>),
    /// `movmatrix`: transposes a matrix of 8x8 16-bit elements in registers.
    MatrixMove {
        dst: Dst,
        /// A 32-bit operand.
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
        pending: u32,
    },
    /// `wgmma.mma_async`
    Wgmma(Box<Wgmma>),
    WgmmaFence,
    WgmmaCommit,
    /// `wgmma.wait_group n`
    WgmmaWait {
        pending: u32,
    },
    Mbarrier(Box<Mbarrier>),
    /// Precedes the operations of an instruction that all lanes execute together, such as `wmma.load`.
    WholeWarp,
    /// `tex.1d`, `tex.2d`: a texture fetch.
    Texture(Box<Texture>),
    /// A call of `vprintf`.
    Printf {
        /// 64-bit generic pointer to the format string.
        format: Src,
        /// 64-bit generic pointer to the packed arguments.
        arguments: Src,
        /// `int` result.
        dst: Option<Dst>,
    },
    /// A call of `__assertfail(message, file, line, function, char_size)`.
    AssertFail {
        /// 64-bit generic pointers to message, file and function.
        text: [Src; 3],
        /// Line in the source: a 32-bit operand.
        line: Src,
    },
    /// No operation: hints, prefetches.
    Nop,
}

impl OpKind {
    /// Returns whether it orders a thread's accesses before it with those after it.
    pub fn is_fence(&self) -> bool {
        matches!(self, Self::Fence | Self::ProxyFence)
    }
}

/// Where the lanes that a branch separates reconverge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reconverge {
    /// At this position in [`DecodedKernel::ops`](crate::DecodedKernel::ops): the immediate post-dominator.
    At(u32),
    /// At the position of the last [`OpKind::Converge`].
    Enclosing,
    AtExit,
}

/// Copies by `cp.async` that may be pending after a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingCopies {
    /// Those of the last groups, at most this many, and those without a group.
    Groups(u32),
    /// None, not even those without a group.
    None,
}

/// `bar.sync`, `bar.arrive` or `bar.red`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BarrierKind {
    /// Waits until all threads of the barrier have arrived.
    Sync,
    /// Arrives without waiting.
    Arrive,
    /// `bar.red`: waits, and reduces a predicate over the threads.
    Reduce { pred: u32, negated: bool, result: BarrierResult },
}

/// Operation and destination of `bar.red`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BarrierResult {
    /// `bar.red.popc.u32`: the number of threads whose predicate holds, in a line.
    Popc(Dst),
    /// `bar.red.and.pred`: whether all predicates hold, in a predicate.
    And(Dst),
    /// `bar.red.or.pred`: whether any predicate holds, in a predicate.
    Or(Dst),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShuffleMode {
    Up,
    Down,
    Bfly,
    Idx,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VoteMode {
    All,
    Any,
    Uni,
    Ballot,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Texture {
    /// Handle: a 64-bit register or constant (texture object).
    pub handle: Src,
    /// 1 or 2.
    pub dims: u8,
    /// Whether coordinates are `f32`, not `s32`.
    pub float_coordinates: bool,
    /// A coordinate per dimension; unused ones are [`arithmetic::lanes::NONE`].
    pub coordinates: [Src; 2],
    /// Destinations: four 32-bit lines.
    pub dst: [Option<Dst>; 4],
    /// Destination type: `F32`, `S32` or `U32`.
    pub ty: ptx::ast::Type,
}
