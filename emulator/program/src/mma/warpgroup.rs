//! `wgmma`: layout of the factors in shared memory and of the registers.
//!
//! A descriptor of 64 bits names a factor in shared memory. Its elements lie in pieces of 16 bytes; eight pieces make a
//! core matrix. K-major: a piece holds neighbouring k of one row (of B: column). MN-major: a piece holds neighbouring
//! rows at one k. With a swizzle, rows are as long as the swizzle is wide, and the pieces change places by the bits of
//! their absolute address ([`Swizzle::apply`]), as copies of boxes write them.

use crate::tensor::Swizzle;
use arithmetic::products::FactorType;

/// Rows of a product.
pub const ROWS: usize = 64;
/// Rows of one of the four warps.
pub const WARP_ROWS: usize = 16;
pub const WARPS: u32 = 4;
/// Bytes of a piece.
pub const PIECE: u32 = 16;
/// Bytes of a row: all of its k.
const K_BYTES: usize = 32;

/// Returns the bytes of an element in shared memory.
pub fn element_bytes(kind: FactorType) -> usize {
    match kind {
        FactorType::Bf16 | FactorType::F16 => 2,
        FactorType::Tf32 => 4,
        FactorType::E4m3 | FactorType::E5m2 => 1,
    }
}

pub fn elements_per_row(kind: FactorType) -> usize {
    K_BYTES / element_bytes(kind)
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
    /// Order of the pieces.
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

    /// Returns the address of the piece that holds eight rows (of B: columns) from `8 * piece` on, at one k. Elements
    /// have 16 bits.
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

    /// Swizzled address at `offset` from the start.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor(swizzle: u64, leading: u64, stride: u64) -> Descriptor {
        Descriptor::decode(0x1000 >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | swizzle << 62)
    }

    /// Addresses of a factor of 64 rows (K-major) or 64 rows at 16 k (MN-major), checked to be different pieces.
    #[track_caller]
    fn covers(pieces: impl Iterator<Item = u32>, bytes: u32) {
        let mut found: Vec<u32> = pieces.collect();
        found.sort_unstable();
        let want: Vec<u32> = (0x1000..0x1000 + bytes).step_by(16).collect();
        assert_eq!(found, want);
    }

    #[test]
    fn core_matrices_are_apart_by_the_offsets() {
        let one = descriptor(0, 128, 256);
        assert_eq!(one.k_major(9, 1), 0x1000 + 16 + 256 + 128);
        assert_eq!(one.mn_major(9, 1), 0x1000 + 16 + 128 + 256);
        covers((0..64).flat_map(|r| [one.k_major(r, 0), one.k_major(r, 1)]), 2048);
    }

    #[test]
    fn swizzled_rows_cover_their_tile() {
        // Four steps of k in rows of 128 bytes, by the start address.
        let tile = (0..4).flat_map(|step| {
            let mut one = descriptor(1, 0, 1024);
            one.start += 32 * step;
            (0..64).flat_map(move |r| [one.k_major(r, 0), one.k_major(r, 1)])
        });
        covers(tile, 64 * 128);
        let narrow = descriptor(3, 0, 256);
        covers((0..64).flat_map(|r| [narrow.k_major(r, 0), narrow.k_major(r, 1)]), 64 * 32);
        let across = descriptor(1, 0, 1024);
        covers((0..16).flat_map(|k| (0..8).map(move |p| across.mn_major(k, p))), 16 * 128);
    }

    #[test]
    fn pieces_change_places_by_their_row() {
        let one = descriptor(1, 0, 1024);
        assert_eq!(one.k_major(3, 1), 0x1000 + 3 * 128 + (1 ^ 3) * 16);
    }
}
