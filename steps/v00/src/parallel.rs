//! All cores, all lanes, and a tile of C in registers.
//!
//! Three ideas that a good library stands on:
//!
//! - **Registers.** A tile of `MR` × `NR` elements of C is accumulated in vector registers. For each k it takes `MR`
//!   elements of A and `NR` of B, and makes `MR * NR` products of them: the loads are few against the arithmetic.
//! - **Packing.** A is cut into panels of `MR` rows and B into panels of `NR` columns, each laid out in the order in
//!   which the tile reads it. Edges are filled up with zeros, so the tile knows no edges.
//! - **Cores.** C is cut into bands of rows; whichever thread is free takes the next.
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
//! are compiled for the instruction sets in [`Lanes`]. Which one runs is decided when the program runs.

use ladder::Shape;

use crate::threads::{for_each, n_threads};

/// Length of the pieces of panels that meet in one go: a piece of a panel of B stays in the first-level cache.
const KC: usize = 256;
/// Rows of a band, at most: its pieces of A stay in the second-level cache.
const MC: usize = 192;
/// C = A · B on all cores, with the widest vectors that they have.
pub fn multiply(shape: Shape, a: &[f32], b: &[f32], c: &mut [f32]) {
    multiply_with(Lanes::best(), n_threads(shape), shape, a, b, c);
}

/// Instruction sets that the tile is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lanes {
    /// 16 lanes, 32 registers, fused multiply-add.
    Avx512,
    /// 8 lanes, 16 registers, fused multiply-add.
    Avx2,
    /// What every processor of the target has.
    Portable,
}

impl Lanes {
    fn best() -> Self {
        *Self::available().first().expect("portable is always there")
    }

    /// Widest first.
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

    /// `MR` and `NR`: as many as leave registers for a row of B and an element of A.
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
    let mut a_panels = vec![0.0; shape.m.next_multiple_of(mr) * shape.k];
    let mut b_panels = vec![0.0; shape.n.next_multiple_of(nr) * shape.k];
    let of_a = a_panels.chunks_mut(mr * shape.k).enumerate();
    let of_b = b_panels.chunks_mut(nr * shape.k).enumerate();
    let panels = of_a.map(Panel::OfA).chain(of_b.map(Panel::OfB));
    for_each(n_threads, panels, |panel| match panel {
        Panel::OfA((number, panel)) => pack_rows(shape, a, number * mr, mr, panel),
        Panel::OfB((number, panel)) => pack_columns(shape, b, number * nr, nr, panel),
    });

    // As many bands as keep every thread busy equally long, no band above MC rows.
    let n_rounds = shape.m.div_ceil(n_threads * MC);
    let rows_of_band = shape.m.div_ceil(n_threads * n_rounds).next_multiple_of(mr);
    let bands = c.chunks_mut(rows_of_band * shape.n);
    let of_bands = a_panels.chunks(rows_of_band * shape.k);
    for_each(n_threads, bands.zip(of_bands), |(band, a_panels)| {
        let operands = Operands {
            shape,
            a_panels,
            b_panels: &b_panels,
        };
        match lanes {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` lists what this processor has, and nobody else makes a `Lanes`.
            Lanes::Avx512 => unsafe { band_avx512(operands, band) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Lanes::Avx2 => unsafe { band_avx2(operands, band) },
            _ => multiply_band::<{ Lanes::Portable.mr() }, { Lanes::Portable.nr() }, false>(operands, band),
        }
    });
}

enum Panel<'a> {
    OfA((usize, &'a mut [f32])),
    OfB((usize, &'a mut [f32])),
}

/// Rows `row0 ..` of A, so that the `mr` elements of a column lie side by side.
fn pack_rows(shape: Shape, a: &[f32], row0: usize, mr: usize, panel: &mut [f32]) {
    let rows = a.chunks_exact(shape.k).skip(row0).take(mr);
    for (i, row) in rows.enumerate() {
        for (slot, &a) in panel[i..].iter_mut().step_by(mr).zip(row) {
            *slot = a; // panel[k][i] = A[row0 + i][k]
        }
    }
}

/// Columns `col0 ..` of B, so that pieces of rows follow each other.
fn pack_columns(shape: Shape, b: &[f32], col0: usize, nr: usize, panel: &mut [f32]) {
    let width = nr.min(shape.n - col0);
    for (slots, row) in panel.chunks_exact_mut(nr).zip(b.chunks_exact(shape.n)) {
        slots[..width].copy_from_slice(&row[col0..][..width]); // panel[k][j] = B[k][col0 + j]
    }
}

/// What a band is made of.
#[derive(Clone, Copy)]
struct Operands<'a> {
    shape: Shape,
    /// Those of the band.
    a_panels: &'a [f32],
    /// All of them.
    b_panels: &'a [f32],
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

/// Inlined into the functions above, so that it is compiled for their instructions.
#[inline(always)]
fn multiply_band<const MR: usize, const NR: usize, const FUSED: bool>(operands: Operands, band: &mut [f32]) {
    let Operands {
        shape,
        a_panels,
        b_panels,
    } = operands;
    for k0 in (0..shape.k).step_by(KC) {
        let k_end = shape.k.min(k0 + KC);
        for (b_panel, col0) in b_panels.chunks_exact(NR * shape.k).zip((0..).step_by(NR)) {
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

/// A tile of C from a piece of a panel of A and one of B: a rank-1 update for each k.
#[inline(always)]
fn tile<const MR: usize, const NR: usize, const FUSED: bool>(a: &[f32], b: &[f32]) -> [[f32; NR]; MR] {
    let mut acc = [[0.0; NR]; MR];
    for (a, b) in a.as_chunks::<MR>().0.iter().zip(b.as_chunks::<NR>().0) {
        for i in 0..MR {
            for j in 0..NR {
                // Without the instruction, `mul_add` would be a call.
                acc[i][j] = match FUSED {
                    true => a[i].mul_add(b[j], acc[i][j]),
                    false => acc[i][j] + a[i] * b[j],
                };
            }
        }
    }
    acc
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{check, shape};

    #[test]
    fn every_instruction_set_is_right_on_one_thread_and_on_three() {
        for lanes in Lanes::available() {
            for n_threads in [1, 3] {
                for shape in [
                    shape(1, 1, 1),
                    shape(13, 33, 257),
                    shape(389, 251, 101),
                    shape(581, 16, 7),
                ] {
                    check(shape, |shape, a, b, c| {
                        multiply_with(lanes, n_threads, shape, a, b, c)
                    });
                }
            }
        }
    }

    #[test]
    fn packing_turns_rows_and_fills_up() {
        // A = | 1 2 |, two rows of a panel of three.
        //     | 3 4 |
        let mut panel = [0.0; 6];
        pack_rows(shape(2, 1, 2), &[1.0, 2.0, 3.0, 4.0], 0, 3, &mut panel);
        assert_eq!(panel, [1.0, 3.0, 0.0, 2.0, 4.0, 0.0]);
        // The last column of B = A, in a panel of three.
        let mut panel = [0.0; 6];
        pack_columns(shape(1, 2, 2), &[1.0, 2.0, 3.0, 4.0], 1, 3, &mut panel);
        assert_eq!(panel, [2.0, 0.0, 0.0, 4.0, 0.0, 0.0]);
    }
}
