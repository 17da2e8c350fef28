//! Operands of the operations that access memory.

use arithmetic::lanes::Src;

/// A state space, as an access names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the PTX state spaces")]
pub enum MemSpace {
    Global,
    Shared,
    Local,
    Const,
    Param,
    Generic,
}

/// An address operand. Its value is `src + offset`; `wide` distinguishes a 64-bit register from a 32-bit one.
/// Addresses in `Shared`, `Local` and `Param` count from the start of their space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addr {
    /// Register or constant. Symbols and absolute addresses are constants.
    pub src: Src,
    /// The register is a 64-bit one, of two lines.
    pub wide: bool,
    /// Bytes added to the address.
    pub offset: i64,
}

/// How strongly an access is ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// An ordinary access.
    Weak,
    /// An ordinary load whose value a compare-and-swap compares with what memory holds then: a stale value costs
    /// one more round. Ordinary but for the race checks.
    Guess,
    /// `.volatile` on shared memory, in a kernel where no thread waits for what another one stores: it keeps
    /// accesses in the program and orders no threads.
    InStep,
    /// `.volatile`, `.relaxed`, `.acquire`, `.release`, `.mmio`: seen by others while the kernel runs.
    Strong,
}

/// A load or a store of one to eight elements per lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The state space that it goes to.
    pub space: MemSpace,
    /// The first element's address.
    pub addr: Addr,
    /// Bytes of one element: 1, 2, 4, 8.
    pub element: u8,
    /// Elements: 1, 2, 4, 8.
    pub n: u8,
    /// Registers of the elements: destinations of a load ([`arithmetic::lanes::NONE`] for `_`), sources of a store.
    pub regs: [i32; 8],
    /// The registers are 64-bit ones.
    pub wide: bool,
    /// A load extends the sign of elements narrower than the register.
    pub signed: bool,
    /// How strongly it is ordered.
    pub order: Order,
}

/// What an atomic does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the PTX operations of the same names")]
pub enum AtomicKind {
    Add,
    Min,
    Max,
    Inc,
    Dec,
    And,
    Or,
    Xor,
    Exch,
    Cas,
}

/// Operands of `atom` and `red`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Atomic {
    /// The state space that it goes to.
    pub space: MemSpace,
    /// The address that it changes.
    pub addr: Addr,
    /// The operation, such as a sum.
    pub kind: AtomicKind,
    /// Type that it works on.
    pub ty: ptx::ast::Type,
    /// Second operand, and third for `cas`.
    pub src: [Src; 2],
    /// Old value; [`arithmetic::lanes::NONE`] for `red`.
    pub dst: i32,
    /// Its result is wanted: `atom`, not `red`.
    pub returns: bool,
}

/// A copy of a box of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TensorCopy {
    /// Address of the tensor map, and the space that it is in.
    pub map: Addr,
    /// Parameters, when the map is named; else generic.
    pub map_space: MemSpace,
    /// Coordinates that the instruction gives: 1 to 5.
    pub dims: u8,
    /// The box's first element, innermost coordinate first: 32-bit operands.
    pub at: [Src; 5],
    /// Where the box lies in shared memory. Of a prefetch: not used.
    pub shared: Addr,
    /// The blocks of the cluster that a load goes to, one bit each: a 32-bit operand, or [`arithmetic::lanes::NONE`].
    pub blocks: Src,
    /// Which way it goes.
    pub way: TensorWay,
}

/// Which way a copy of a box goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TensorWay {
    /// To shared memory; this barrier in shared memory receives the bytes.
    Load(Addr),
    /// From shared memory.
    Store,
    /// Into a cache: nothing that a program can see.
    Prefetch,
}

/// A copy of neighbouring bytes by `cp.async.bulk`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BulkBytes {
    /// Address in shared memory.
    pub shared: Addr,
    /// Address in global memory.
    pub global: Addr,
    /// The other end lies in shared memory, too: a copy from the block's own to another block's.
    pub within_cluster: bool,
    /// How many bytes: a 32-bit operand.
    pub bytes: Src,
    /// As [`TensorCopy::blocks`].
    pub blocks: Src,
    /// The direction.
    pub way: TensorWay,
}

/// An operation on a barrier in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mbarrier {
    /// What it does.
    pub kind: MbarrierKind,
    /// `Shared` or `Generic`.
    pub space: MemSpace,
    /// The barrier.
    pub addr: Addr,
    /// Arrivals, bytes or a parity: a 32-bit operand, or [`arithmetic::lanes::NONE`].
    pub number: Src,
    /// The phase that a wait asks for: a 64-bit operand, or [`arithmetic::lanes::NONE`].
    pub phase: Src,
    /// The phase that an arrival is part of, a 64-bit register, or [`arithmetic::lanes::NONE`].
    pub dst: i32,
    /// Whether the phase has ended: a predicate, or [`arithmetic::lanes::NONE`].
    pub done: i32,
}

/// What an operation on a barrier in shared memory does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MbarrierKind {
    /// `mbarrier.init`
    Init,
    /// `mbarrier.inval`
    Invalidate,
    /// `mbarrier.expect_tx`
    Expect,
    /// `mbarrier.complete_tx`
    Complete,
    /// `mbarrier.arrive`, `mbarrier.arrive_drop`
    Arrive {
        /// The number is one of bytes that the phase waits for, and one thread arrives.
        expect: bool,
        /// Later phases wait for fewer arrivals.
        drop: bool,
        /// The phase may end by it.
        completes: bool,
    },
    /// `cp.async.mbarrier.arrive`: an arrival when the copies of the thread are done.
    ArriveBehindCopies {
        /// The phase waits for one more arrival.
        counts: bool,
    },
    /// `mbarrier.test_wait`, `mbarrier.try_wait`
    Wait,
}

/// Bits of what an arrival returns that hold the arrivals that were missing before it; those above hold the phase.
pub const TOKEN_PENDING: u64 = (1 << 20) - 1;
