//! The textbook: row, column, sum.
//!
//! The innermost loop walks down a column of B. Each step lands in another cache line, of which it uses four bytes
//! of 64, and there is one sum only, so every addition waits for the one before it.

use catalog::Shape;

// ANCHOR: loops
/// Computes C = A · B, one element of C after the other.
pub fn multiply(shape: Shape, a: &[f32], b: &[f32], c: &mut [f32]) {
    for row in 0..shape.m {
        for col in 0..shape.n {
            let mut sum = 0.0;
            for k in 0..shape.k {
                sum += a[row * shape.k + k] // A[row][k]: the next four bytes
                     * b[k * shape.n + col]; // B[k][col]: a whole row of B further on
            }
            c[row * shape.n + col] = sum;
        }
    }
}
// ANCHOR_END: loops
