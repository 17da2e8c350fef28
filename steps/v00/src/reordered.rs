//! The three loops in another order: row, k, column.
//!
//! Now the innermost loop walks along a row of B and a row of C, as they lie in memory: all 64 bytes of a cache line
//! are used, the next line is known in advance, and neighbouring columns do not depend on each other, so the compiler
//! makes vector instructions of them. Each element of C still gets its products in the order of k.

use catalog::Shape;

// ANCHOR: loops
/// Computes C = A · B, one row of C after the other, as a sum of rows of B.
pub fn multiply(shape: Shape, a: &[f32], b: &[f32], c: &mut [f32]) {
    let rows_of_b = || b.chunks_exact(shape.n);
    for (row_of_a, row_of_c) in a.chunks_exact(shape.k).zip(c.chunks_exact_mut(shape.n)) {
        row_of_c.fill(0.0);
        for (&a, row_of_b) in row_of_a.iter().zip(rows_of_b()) {
            for (c, &b) in row_of_c.iter_mut().zip(row_of_b) {
                *c += a * b; // C[row][col] += A[row][k] * B[k][col]
            }
        }
    }
}
// ANCHOR_END: loops
