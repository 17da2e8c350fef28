//! `wgmma`: layout of the factors in shared memory and of the registers.
//!
//! A descriptor of 64 bits names a factor in shared memory. Its elements lie in pieces of 16 bytes; eight pieces make a
//! core matrix. K-major: a piece holds neighbouring k of one row (of B: column). MN-major: a piece holds neighbouring
//! rows at one k. With a swizzle, rows are as long as the swizzle is wide, and the pieces change places by the bits of
//! their absolute address ([`Swizzle::apply`]), as copies of boxes write them.

use crate::tensor::Swizzle;
use arithmetic::products::FactorType;

pub const ROWS: usize = 64;
/// Rows of one of the four warps.
pub const WARP_ROWS: usize = 16;
pub const WARPS: u32 = 4;
/// Bytes of a piece.
pub const PIECE: u32 = 16;
/// Bytes of a row: all of its k.
pub(crate) const K_BYTES: usize = 32;

/// Returns the bytes of an element in shared memory.
pub fn element_bytes(kind: FactorType) -> usize {
    match kind {
        FactorType::Bf16 | FactorType::F16 => 2,
        FactorType::Tf32 => 4,
        FactorType::E4m3 | FactorType::E5m2 => 1,
    }
}

/// Descriptor of a factor in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descriptor {
    /// Address of the first piece, a multiple of 16.
    pub start: u32,
    /// Leading dimension byte offset.
    pub leading: u32,
    /// Stride dimension byte offset.
    pub stride: u32,
    /// Start of the swizzle's pattern, in units of 128 bytes.
    pub base: u32,
    pub swizzle: Swizzle,
}

impl Descriptor {
    /// Reads the fields of a descriptor; other bits are ignored.
    pub fn decode(bits: u64) -> Self {
        let field = |at: u32| ((bits >> at & 0x3fff) as u32) << 4;
        Self {
            start: field(0),
            leading: field(16),
            stride: field(32),
            base: (bits >> 49 & 7) as u32,
            swizzle: match bits >> 62 {
                0 => Swizzle::None,
                1 => Swizzle::B128,
                2 => Swizzle::B64,
                _ => Swizzle::B32,
            },
        }
    }

    /// Returns the address of the piece of row `row` (of B: column) that holds the k from byte `16 * piece` on.
    pub fn k_major(&self, row: u32, piece: u32) -> u32 {
        let (group, row) = (row / 8, row % 8);
        self.place(match self.swizzle {
            Swizzle::None => row * PIECE + group * self.stride + piece * self.leading,
            swizzle => row * swizzle.span() as u32 + group * self.stride + piece * PIECE,
        })
    }

    /// Returns the address of the piece with eight rows (of B: columns) of 16-bit elements from `8 * piece` on.
    pub fn mn_major(&self, k: u32, piece: u32) -> u32 {
        let (group, k) = (k / 8, k % 8);
        self.place(match self.swizzle {
            Swizzle::None => k * PIECE + group * self.leading + piece * self.stride,
            swizzle => {
                let span = swizzle.span() as u32;
                let pieces = span / PIECE;
                k * span + group * self.stride + piece % pieces * PIECE + piece / pieces * self.leading
            }
        })
    }

    /// Returns the swizzled address at `offset` from the start.
    fn place(&self, offset: u32) -> u32 {
        let base = self.base << 7;
        let at = self.start + offset;
        self.swizzle.apply(at.wrapping_sub(base)).wrapping_add(base)
    }
}

/// Returns the row and column of the first of two neighbouring accumulators: register pair `pair` of a lane, in the 16
/// rows of its warp. A pair of `f32` takes two registers, one of `f16` one.
pub fn accumulator(lane: usize, pair: usize) -> (usize, usize) {
    (lane / 4 + pair % 2 * 8, pair / 2 * 8 + lane % 4 * 2)
}

/// Returns the row and first byte of the four bytes of A in a lane's register.
pub fn a_register(lane: usize, register: usize) -> (usize, usize) {
    (lane / 4 + register % 2 * 8, register / 2 * 16 + lane % 4 * 4)
}
