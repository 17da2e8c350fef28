//! All cores, all lanes, and a tile of C in registers.
//!
//! Three ideas that a good library stands on:
//!
//! - **Registers.** A tile of `MR` × `NR` elements of C is accumulated in vector registers. For each k it takes `MR`
//!   elements of A and `NR` of B, and makes `MR * NR` products of them: the loads are few against the arithmetic.
//! - **Packing.** A is cut into panels of `MR` rows and B into panels of `NR` columns, each laid out in the order in
//!   which the tile reads it. Edges are filled up with zeros, so the tile's code has no case for edges.
//! - **Cores.** C is cut into bands of rows; a thread that is free takes the next.
//!
//! ```text
//!                panel of B, NR columns         in memory, one k after the other:
//!                   k │ b b b b │               k=0: b b b b  k=1: b b b b …
//!                     ▼
//!    panel of A    ┌─────────┐
//!    MR rows   a a │ acc     │                  k=0: a a      k=1: a a     …
//!              a a │         │
//!           k ───► └─────────┘
//! ```
//!
//! The vectors are the compiler's: the loops over `MR` and `NR` have constant lengths, and the functions that hold them
//! are compiled for the instruction sets in `Lanes`. Which one runs is decided when the program runs.

#[cfg(test)]
mod tests;

use std::sync::{Barrier, OnceLock};

use catalog::Shape;

use crate::threads::{Queue, n_threads, on_threads};

/// Depth of the pieces of panels that are multiplied at once: a piece of a panel of B stays in the first-level cache.
const KC: usize = 256;
/// Rows of a band, at most: its pieces of A stay in the second-level cache.
const MC: usize = 192;

/// Computes C = A · B on all cores, with the widest vectors that they have.
pub fn multiply(shape: Shape, a: &[f32], b: &[f32], c: &mut [f32]) {
    multiply_with(Lanes::best(), n_threads(shape), shape, a, b, c);
}

/// Instruction sets that the tile is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "vectors of x86-64"))]
enum Lanes {
    /// 16 lanes, 32 registers, fused multiply-add.
    Avx512,
    /// 8 lanes, 16 registers, fused multiply-add.
    Avx2,
    /// Vectors that every processor of the target has.
    Portable,
}

impl Lanes {
    fn best() -> Self {
        *Self::available().first().expect("portable is always there")
    }

    /// Returns the widths that this CPU has, the widest first.
    fn available() -> Vec<Self> {
        let mut available = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                available.push(Self::Avx512);
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                available.push(Self::Avx2);
            }
        }
        available.push(Self::Portable);
        available
    }

    /// Returns `MR` and `NR`: as many as leave registers for a row of B and an element of A.
    const fn tile(self) -> (usize, usize) {
        match self {
            Self::Avx512 => (12, 32),
            Self::Avx2 => (6, 16),
            Self::Portable => (4, 8),
        }
    }

    const fn mr(self) -> usize {
        self.tile().0
    }

    const fn nr(self) -> usize {
        self.tile().1
    }
}

fn multiply_with(lanes: Lanes, n_threads: usize, shape: Shape, a: &[f32], b: &[f32], c: &mut [f32]) {
    let (mr, nr) = lanes.tile();
    let b_panels: Vec<OnceLock<Vec<f32>>> = vec![OnceLock::new(); shape.n.div_ceil(nr)];
    let unpacked = Queue::new(b_panels.iter().zip((0..).step_by(nr)));
    let all_packed = Barrier::new(n_threads);

    // As many bands as keep every thread busy equally long, no band above MC rows.
    let n_rounds = shape.m.div_ceil(n_threads * MC);
    let rows_of_band = shape.m.div_ceil(n_threads * n_rounds).next_multiple_of(mr);
    let bands_of_c = c.chunks_mut(rows_of_band * shape.n);
    let bands = Queue::new(a.chunks(rows_of_band * shape.k).zip(bands_of_c));

    on_threads(n_threads, || {
        while let Some((panel, col0)) = unpacked.take() {
            panel.get_or_init(|| pack_columns(shape, b, col0, nr));
        }
        all_packed.wait(); // panels of B are written -> threads may read them
        let mut a_panels = Vec::new();
        while let Some((band_of_a, band_of_c)) = bands.take() {
            pack_rows(shape.k, band_of_a, mr, &mut a_panels);
            let operands = Operands { shape, a_panels: &a_panels, b_panels: &b_panels };
            match lanes {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `available` lists what this processor has, and nobody else makes a `Lanes`.
                Lanes::Avx512 => unsafe { band_avx512(operands, band_of_c) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: as above.
                Lanes::Avx2 => unsafe { band_avx2(operands, band_of_c) },
                _ => multiply_band::<{ Lanes::Portable.mr() }, { Lanes::Portable.nr() }, false>(
                    operands, band_of_c,
                ),
            }
        }
    });
}

/// Panels of `mr` rows each, in which the `mr` elements of a column lie side by side.
fn pack_rows(k: usize, rows: &[f32], mr: usize, panels: &mut Vec<f32>) {
    panels.clear();
    panels.resize((rows.len() / k).next_multiple_of(mr) * k, 0.0);
    for (panel, rows) in panels.chunks_exact_mut(mr * k).zip(rows.chunks(mr * k)) {
        for (i, row) in rows.chunks_exact(k).enumerate() {
            for (slot, &a) in panel[i..].iter_mut().step_by(mr).zip(row) {
                *slot = a; // panel[k][i] = A[row0 + i][k]
            }
        }
    }
}

/// Returns a panel of the `nr` columns from `col0` on, in which pieces of rows follow each other.
fn pack_columns(shape: Shape, b: &[f32], col0: usize, nr: usize) -> Vec<f32> {
    let mut panel = vec![0.0; nr * shape.k];
    let width = nr.min(shape.n - col0);
    for (slots, row) in panel.chunks_exact_mut(nr).zip(b.chunks_exact(shape.n)) {
        slots[..width].copy_from_slice(&row[col0..][..width]); // panel[k][j] = B[k][col0 + j]
    }
    panel
}

#[derive(Clone, Copy)]
struct Operands<'a> {
    shape: Shape,
    /// Panels of A, of this band only.
    a_panels: &'a [f32],
    /// Panels of B, of the whole matrix.
    b_panels: &'a [OnceLock<Vec<f32>>],
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn band_avx512(operands: Operands, band: &mut [f32]) {
    multiply_band::<{ Lanes::Avx512.mr() }, { Lanes::Avx512.nr() }, true>(operands, band);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn band_avx2(operands: Operands, band: &mut [f32]) {
    multiply_band::<{ Lanes::Avx2.mr() }, { Lanes::Avx2.nr() }, true>(operands, band);
}

/// Multiplies a band. Inlined into the functions above, so that it is compiled for their instructions.
#[inline(always)]
fn multiply_band<const MR: usize, const NR: usize, const FUSED: bool>(operands: Operands, band: &mut [f32]) {
    let Operands { shape, a_panels, b_panels } = operands;
    for k0 in (0..shape.k).step_by(KC) {
        let k_end = shape.k.min(k0 + KC);
        for (b_panel, col0) in b_panels.iter().zip((0..).step_by(NR)) {
            let b_panel = b_panel.get().expect("packed before the barrier");
            let b_piece = &b_panel[k0 * NR..k_end * NR];
            let width = NR.min(shape.n - col0);
            let rows = band.chunks_mut(MR * shape.n);
            for (a_panel, rows) in a_panels.chunks_exact(MR * shape.k).zip(rows) {
                let acc = tile::<MR, NR, FUSED>(&a_panel[k0 * MR..k_end * MR], b_piece);
                for (acc, row) in acc.iter().zip(rows.chunks_exact_mut(shape.n)) {
                    let row = &mut row[col0..][..width];
                    match k0 {
                        0 => row.copy_from_slice(&acc[..width]),
                        _ => row.iter_mut().zip(acc).for_each(|(c, acc)| *c += acc),
                    }
                }
            }
        }
    }
}

// ANCHOR: tile
/// Returns a tile of C from a piece of a panel of A and one of B: a rank-1 update for each k.
#[inline(always)]
fn tile<const MR: usize, const NR: usize, const FUSED: bool>(a: &[f32], b: &[f32]) -> [[f32; NR]; MR] {
    let mut acc = [[0.0; NR]; MR];
    for (a, b) in a.as_chunks::<MR>().0.iter().zip(b.as_chunks::<NR>().0) {
        for i in 0..MR {
            for j in 0..NR {
                // Without the instruction, `mul_add` would be a call.
                acc[i][j] = if FUSED { a[i].mul_add(b[j], acc[i][j]) } else { acc[i][j] + a[i] * b[j] };
            }
        }
    }
    acc
}
// ANCHOR_END: tile
