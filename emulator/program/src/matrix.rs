//! Operands of the tensor-core operations.

use crate::memory::{Addr, MemSpace};
use arithmetic::lanes::{Dst, Src};

/// A product of tiles by the tensor cores of a warp: D = A·B + C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mma {
    /// Its shape and types.
    pub form: crate::mma::layout::Form,
    /// Registers of A, of B and of C: as many as the form has, the others are [`arithmetic::lanes::NONE`].
    pub a: [Src; 8],
    /// Registers of B.
    pub b: [Src; 4],
    /// Registers of C.
    pub c: [Src; 4],
    /// Registers of D. All sources are read before any is written.
    pub d: [i32; 4],
    /// Of `wmma`: what is wrong with the fragments A, B and C.
    pub foreign: [Option<crate::mma::fragment::Foreign>; 3],
}

/// A load or store of matrices of 8x8 16-bit elements: `ldmatrix`, `stmatrix`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixAccess {
    /// `Shared` or `Generic`.
    pub space: MemSpace,
    /// The address of a row: lane `8 m + r` has that of row `r` of matrix `m`.
    pub addr: Addr,
    /// Matrices: 1, 2 or 4.
    pub n: u8,
    /// Each matrix is transposed.
    pub transposed: bool,
    /// One register for each matrix; the others are [`arithmetic::lanes::NONE`].
    pub regs: [i32; 4],
}

impl MatrixAccess {
    /// The lanes whose addresses count.
    pub fn lanes(&self) -> u32 {
        u32::MAX >> (32 - 8 * u32::from(self.n.clamp(1, 4)))
    }
}

/// `wgmma.mma_async`: D = A·B + D of four warps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wgmma {
    /// Types of the elements of A and of B: they differ for FP8 only.
    pub kinds: [arithmetic::products::Kind; 2],
    /// Type of the sums.
    pub sum: arithmetic::products::Sum,
    /// Columns: 8 to 256.
    pub n: u16,
    /// The accumulators, read: a line for each `f32`, or for two `f16`.
    pub c: Box<[Src]>,
    /// The same, written.
    pub d: Box<[Dst]>,
    /// Where A is.
    pub a: WgmmaA,
    /// Descriptor of B: a 64-bit operand.
    pub b: Src,
    /// Sums are added to where this predicate holds; elsewhere they replace what was there.
    pub adds: u32,
    /// The predicate is negated.
    pub negated: bool,
    /// A and B are multiplied by -1.
    pub minus: [bool; 2],
    /// A and B lie in shared memory with neighbouring rows (of B: columns) side by side, not neighbouring k.
    pub transposed: [bool; 2],
}

impl Wgmma {
    /// Elements of A in a row, and of B in a column.
    pub fn k(&self) -> usize {
        crate::mma::warpgroup::k(self.kinds[0])
    }

    /// Products of elements that each of the four warps adds.
    pub fn products(&self) -> u64 {
        (crate::mma::warpgroup::WARP_ROWS * usize::from(self.n) * self.k()) as u64
    }

    /// Bytes of shared memory that it reads for each of the four warps: its rows of A, if they lie there, and a quarter
    /// of B, which all four multiply by.
    pub fn operand_bytes(&self) -> u64 {
        let rows = match self.a {
            WgmmaA::Registers(_) => 0,
            WgmmaA::Shared(_) => crate::mma::warpgroup::WARP_ROWS,
        };
        let bytes = crate::mma::warpgroup::bytes(self.kinds[0]);
        ((rows + usize::from(self.n) / 4) * self.k() * bytes) as u64
    }
}

/// Where the first factor of a [`Wgmma`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WgmmaA {
    /// Four 32-bit registers of each thread.
    Registers([Src; 4]),
    /// Its descriptor: a 64-bit operand.
    Shared(Src),
}

/// Registers that products of a warpgroup use, by operation, for the checks of what touches them meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InFlight {
    /// What each operation touches of these registers.
    pub touches: Vec<Box<[Touched]>>,
    /// Where the text has a way from an instruction that writes such a register to a product without `wgmma.fence`
    /// between: what each operation writes of them. Whether a warp goes that way shows when it runs.
    pub unfenced: Option<Vec<Box<[Written]>>>,
}

/// A register of a product that an operation writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Its line.
    pub line: u32,
    /// A move, which the compiler may have added: the lines that it takes the value from. `None`: the operation computes or
    /// loads it.
    pub from: Option<Box<[u32]>>,
}

/// A register that an operation touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touched {
    /// Its line.
    pub line: u32,
    /// The PTX register in the line: several registers can share one, one after another.
    pub register: u32,
    /// Written, not read.
    pub writes: bool,
}
