//! Operands of the operations that access memory.

use crate::address::window;
use arithmetic::lanes::{Dst, Src};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemSpace {
    Global,
    Shared,
    Local,
    Const,
    Param,
    Generic,
}

impl MemSpace {
    /// Returns the start of the space among generic addresses; 0 where address operands are generic already.
    #[inline(always)]
    pub fn window(self) -> u64 {
        match self {
            Self::Shared => window::SHARED,
            Self::Local => window::LOCAL,
            Self::Param => window::PARAM,
            Self::Global | Self::Const | Self::Generic => 0,
        }
    }
}

/// An address operand: `src + offset`. Addresses in `Shared`, `Local` and `Param` count from the start of their space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addr {
    /// Register or constant. Symbols and absolute addresses are constants.
    pub src: Src,
    /// Whether the register has 64 bits.
    pub wide: bool,
    pub offset: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Weak,
    /// An ordinary load whose value a compare-and-swap compares later: a stale one costs one more round.
    Guess,
    /// `.volatile` on shared memory in a kernel without threads that wait for others' stores: orders no threads.
    InStep,
    /// `.volatile`, `.relaxed`, `.acquire`, `.release`, `.mmio`: visible to others while the kernel runs.
    Strong,
}

impl Order {
    /// Returns whether it is an atomic or a volatile, relaxed, acquire or release access.
    pub fn is_strong(self) -> bool {
        matches!(self, Self::Strong | Self::InStep)
    }
}

/// A load or a store of one to eight elements per lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    pub space: MemSpace,
    pub addr: Addr,
    /// Bytes of one element: 1, 2, 4, 8.
    pub element: u8,
    /// Number of elements: 1, 2, 4, 8.
    pub n: u8,
    /// Registers of the elements: destinations of a load ([`arithmetic::lanes::NONE`] for `_`), sources of a store.
    pub regs: [i32; 8],
    /// Whether the registers have 64 bits.
    pub wide: bool,
    /// Whether elements narrower than the register are sign-extended.
    pub signed: bool,
    pub order: Order,
}

impl Access {
    /// Returns a weak access to elements without sign, in 32-bit registers.
    pub fn new(space: MemSpace, addr: Addr, element: u8, registers: &[i32]) -> Access {
        let mut regs = [arithmetic::lanes::NONE; 8];
        regs[..registers.len()].copy_from_slice(registers);
        let n = registers.len() as u8;
        Access { space, addr, element, n, regs, wide: false, signed: false, order: Order::Weak }
    }

    /// Returns the bytes that a lane accesses.
    #[inline(always)]
    pub fn bytes(&self) -> u32 {
        u32::from(self.element) * u32::from(self.n)
    }

    /// Returns the destinations of a load, in order; `None` for an element that is dropped.
    pub fn destinations(&self) -> impl Iterator<Item = Option<Dst>> {
        self.regs.iter().take(usize::from(self.n)).map(|&register| Dst::try_from(register).ok())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Atomic {
    pub space: MemSpace,
    pub addr: Addr,
    pub kind: AtomicKind,
    pub ty: ptx::ast::Type,
    /// Second operand, and the third of `cas`.
    pub src: [Src; 2],
    /// Old value; `None` for `red`.
    pub dst: Option<Dst>,
    /// Whether it is `atom`, not `red`.
    pub returns: bool,
}

/// `cp.async.bulk.tensor`: a copy of a box of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TensorCopy {
    pub map: Addr,
    /// `Param` when the instruction names the map, else `Generic`.
    pub map_space: MemSpace,
    /// Number of coordinates: 1 to 5.
    pub dims: u8,
    /// Coordinates of the box's first element, innermost first: 32-bit operands.
    pub at: [Src; 5],
    /// Address of the box in shared memory; unused by a prefetch.
    pub shared: Addr,
    /// Mask of the cluster's blocks that a load goes to: a 32-bit operand.
    pub blocks: Option<Src>,
    pub way: TensorWay,
}

/// Direction of a bulk copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TensorWay {
    /// To shared memory; the barrier there counts the bytes.
    Load(Addr),
    Store,
    /// Into a cache, invisible to a program.
    Prefetch,
}

/// `cp.async.bulk` of consecutive bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BulkBytes {
    pub shared: Addr,
    pub global: Addr,
    /// Whether it copies from the block's own shared memory, at `global`, to another block's, at `shared`.
    pub within_cluster: bool,
    /// Number of bytes: a 32-bit operand.
    pub bytes: Src,
    /// See [`TensorCopy::blocks`].
    pub blocks: Option<Src>,
    pub way: TensorWay,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mbarrier {
    pub kind: MbarrierKind,
    /// `Shared` or `Generic`.
    pub space: MemSpace,
    pub addr: Addr,
    /// Arrivals, bytes or a parity: a 32-bit operand.
    pub number: Option<Src>,
    /// Phase to wait for: a 64-bit operand.
    pub phase: Option<Src>,
    /// Receives the phase of an arrival: a 64-bit register.
    pub dst: Option<Dst>,
    /// Predicate that is set if the phase has ended.
    pub done: Option<Dst>,
}

impl Mbarrier {
    /// Creates an operation without other operands than its address.
    pub fn new(kind: MbarrierKind, space: MemSpace, addr: Addr) -> Self {
        Self { kind, space, addr, number: None, phase: None, dst: None, done: None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MbarrierKind {
    Init,
    Invalidate,
    Expect,
    Complete,
    Arrive {
        /// Whether `number` is a count of bytes to expect, and one thread arrives.
        expect: bool,
        /// Whether later phases expect fewer arrivals.
        drop: bool,
        /// Whether the phase may complete.
        completes: bool,
    },
    /// `cp.async.mbarrier.arrive`: arrives when the thread's copies are done.
    ArriveAfterCopies {
        /// Whether it raises the phase's pending count by one.
        counts: bool,
    },
    /// `mbarrier.test_wait`, `mbarrier.try_wait`
    Wait {
        /// The instruction is `mbarrier.try_wait`, which suspends its threads for a while.
        tries: bool,
    },
}

/// Bits of an arrival's result that hold the number of pending arrivals before it; the phase is above them.
pub const TOKEN_PENDING: u64 = (1 << 20) - 1;
