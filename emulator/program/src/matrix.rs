//! Operands of the tensor-core operations.

use crate::memory::{Addr, MemSpace};
use crate::mma::warpgroup;
use arithmetic::lanes::{Dst, NONE, Src};
use arithmetic::products::AccumulatorType;

/// Warp-wide matrix multiply-add: D = A·B + C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mma {
    pub form: crate::mma::layout::MmaForm,
    /// Registers of A. Unused ones, here and below, are [`arithmetic::lanes::NONE`].
    pub a: [Src; 8],
    pub b: [Src; 4],
    pub c: [Src; 4],
    /// All sources are read before D is written.
    pub d: [Dst; 4],
    /// Places of the elements of a sparse A.
    pub metadata: Option<Src>,
    /// Fragments A, B and C that were made for another use; `wmma` only.
    pub foreign: [Option<crate::mma::fragment::Foreign>; 3],
}

impl Mma {
    /// Creates an operation whose registers are still to be set.
    pub fn new(form: crate::mma::layout::MmaForm) -> Self {
        Self { form, a: [NONE; 8], b: [NONE; 4], c: [NONE; 4], d: [0; 4], metadata: None, foreign: [None; 3] }
    }
}

/// `ldmatrix` or `stmatrix`: matrices of 8x8 16-bit elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixAccess {
    /// `Shared` or `Generic`.
    pub space: MemSpace,
    /// Lane `8 m + r` has the address of row `r` of matrix `m`.
    pub addr: Addr,
    /// Number of matrices: 1, 2 or 4.
    pub n: u8,
    pub transposed: bool,
    /// A register per matrix; unused ones are [`arithmetic::lanes::NONE`].
    pub regs: [i32; 4],
}

impl MatrixAccess {
    /// Returns the destinations of a load, in order; `None` for a matrix that is dropped.
    pub fn destinations(&self) -> impl Iterator<Item = Option<Dst>> {
        self.regs.iter().take(usize::from(self.n)).map(|&register| Dst::try_from(register).ok())
    }

    /// Lanes whose addresses are used.
    pub fn lanes(&self) -> u32 {
        u32::MAX >> (32 - 8 * u32::from(self.n.clamp(1, 4)))
    }
}

/// `wgmma.mma_async`: D = A·B + D of four warps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wgmma {
    /// Element types of A and B, which differ for FP8 only.
    pub kinds: [arithmetic::products::FactorType; 2],
    pub sum: AccumulatorType,
    /// Columns of B and D: 8 to 256.
    pub n: u16,
    /// Accumulators that are read: a line per `f32`, or per two `f16`.
    pub c: Box<[Src]>,
    /// Accumulators that are written.
    pub d: Box<[Dst]>,
    pub a: WgmmaA,
    /// Descriptor of B: a 64-bit operand.
    pub b: Src,
    /// Predicate: true adds to the accumulators, false replaces them.
    pub adds: u32,
    pub negated: bool,
    /// Negates A, B.
    pub minus: [bool; 2],
    /// A, B lie in shared memory with neighbouring rows (of B: columns) side by side, not neighbouring k.
    pub transposed: [bool; 2],
}

/// Registers of a thread that hold its part of A.
pub const A_REGISTERS: usize = 4;

impl Wgmma {
    /// Returns the lines of the accumulators of a product with `n` columns.
    pub fn lines(sum: AccumulatorType, n: u16) -> u16 {
        match sum {
            AccumulatorType::F32 => n / 2,
            AccumulatorType::F16 => n / 4,
        }
    }

    /// Returns the elements in a row of A and in a column of B.
    pub fn k(&self) -> usize {
        warpgroup::K_BYTES / warpgroup::element_bytes(self.kinds[0])
    }

    /// Returns the element products of each of the four warps.
    pub fn products(&self) -> u64 {
        (warpgroup::WARP_ROWS * usize::from(self.n) * self.k()) as u64
    }

    /// Returns the bytes of shared memory read for each of the four warps: its rows of A, if there, and a quarter of B.
    pub fn operand_bytes(&self) -> u64 {
        let rows = match self.a {
            WgmmaA::Registers(_) => 0,
            WgmmaA::Shared(_) => warpgroup::WARP_ROWS,
        };
        // A row of A or column of B has as many bytes in every format.
        ((rows + usize::from(self.n) / 4) * warpgroup::K_BYTES) as u64
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WgmmaA {
    /// Four 32-bit registers of each thread.
    Registers([Src; A_REGISTERS]),
    /// Descriptor: a 64-bit operand.
    Shared(Src),
}

/// Accesses to registers that `wgmma` uses, for the checks while products are pending.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InFlight {
    /// Registers of products that each operation accesses.
    pub touches: Vec<Box<[RegisterAccess]>>,
    /// Registers of products that each operation writes, where a path leads from the write to a product without
    /// `wgmma.fence`. Running shows if a warp takes that path.
    pub unfenced: Option<Vec<Box<[RegisterWrite]>>>,
}

/// A register of a product that an operation writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisterWrite {
    pub line: u32,
    /// Source lines of a move, which the compiler may have added, `None` if the operation computes or loads the value.
    pub from: Option<Box<[u32]>>,
}

/// A register of a product that an operation accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterAccess {
    pub line: u32,
    /// PTX register in the line. Several can share a line, one after another.
    pub register: u32,
    pub writes: bool,
}
