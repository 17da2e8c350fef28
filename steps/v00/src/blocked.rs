//! Tiles that fit the caches.
//!
//! [`reordered`](crate::reordered) reads all of B again for each row of C, and reads and writes an element of C for
//! every single product. Here a tile of B is read from memory once, stays in the cache, and serves a row of A after the
//! other before the next tile comes; and it is used four rows at a time, so that an element of C comes and goes once
//! for four products. Each element of C still gets its products in the order of k.

use catalog::Shape;

/// Rows of the tile of B.
const BK: usize = 64;
/// Columns of the tile of B, and of the piece of a row of C that it is added to.
const BN: usize = 512;
/// Rows of the tile that are used together.
const TK: usize = 4;

/// One core's second-level cache, on the small side.
const L2_BYTES: usize = 256 << 10;
const _: () =
    assert!(BK * BN * size_of::<f32>() <= L2_BYTES / 2, "the tile of B leaves room for what passes by");

// ANCHOR: loops
/// Computes C = A · B, one tile of B after the other.
pub fn multiply(shape: Shape, a: &[f32], b: &[f32], c: &mut [f32]) {
    c.fill(0.0);
    for k0 in (0..shape.k).step_by(BK) {
        let k_end = shape.k.min(k0 + BK);
        let k_fours = k0 + (k_end - k0) / TK * TK;
        for col0 in (0..shape.n).step_by(BN) {
            let col_end = shape.n.min(col0 + BN);
            let row_of_b = |k: usize| &b[k * shape.n..][col0..col_end];
            for row in 0..shape.m {
                let row_of_c = &mut c[row * shape.n..][col0..col_end];
                let row_of_a = &a[row * shape.k..][..shape.k];
                for k in (k0..k_fours).step_by(TK) {
                    let [a0, a1, a2, a3] = [row_of_a[k], row_of_a[k + 1], row_of_a[k + 2], row_of_a[k + 3]];
                    let [b0, b1, b2, b3] = [row_of_b(k), row_of_b(k + 1), row_of_b(k + 2), row_of_b(k + 3)];
                    let rows_of_b = b0.iter().zip(b1).zip(b2).zip(b3);
                    for (c, (((b0, b1), b2), b3)) in row_of_c.iter_mut().zip(rows_of_b) {
                        // C[row][col] += A[row][k ..] * B[k ..][col], four times
                        *c = *c + a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3;
                    }
                }
                for (k, &a) in (k_fours..).zip(&row_of_a[k_fours..k_end]) {
                    for (c, b) in row_of_c.iter_mut().zip(row_of_b(k)) {
                        *c += a * b; // C[row][col] += A[row][k] * B[k][col]
                    }
                }
            }
        }
    }
}
// ANCHOR_END: loops
