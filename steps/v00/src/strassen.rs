//! Seven products instead of eight (Strassen, 1969).
//!
//! Cut A, B and C into quadrants. The textbook makes C of eight products of quadrants. Strassen found sums of
//! quadrants of A and of B of which seven products are enough. Used again on each of the seven, the exponent of the
//! work falls from log₂ 8 = 3 to log₂ 7 = 2.807….
//!
//! ```text
//!   A = │ A11 A12 │   B = │ B11 B12 │   C = │ C11 C12 │
//!       │ A21 A22 │       │ B21 B22 │       │ C21 C22 │
//! ```
//!
//! The price: sums of quadrants are passes over memory without reuse, and memory does not grow with the cores. So below
//! [`cutoff`] the product is left to [`parallel`]. And accuracy: the sums mix elements that the textbook keeps apart,
//! so what is lost depends on the *largest* elements of A and B, not on those of the row and the column concerned. An
//! element of C that is small because its row of A is small can be wrong in every digit: see [`error_bound`].
//!
//! Other schemes are other tables: PRODUCTS is all that Strassen found, and what searching programs look for today.

#[cfg(test)]
mod tests;

use catalog::Shape;

use crate::threads::{for_each, n_cores};
use crate::{UNIT, parallel};

/// Returns the smallest quadrant: no product is cut whose quadrants would be smaller than this in any direction.
///
/// The more cores there are, the sooner the multiplications that are saved cost less than the sums that are added. On 2
/// cores of an AMD EPYC, cutting a product of 4096 once took as much processor time as not cutting it. On 16 threads of
/// a Xeon it took 1.6 times as long, and for 8192 still 1.1 times.
pub fn cutoff() -> usize {
    const PER_CORE: usize = 1024;
    const MAX_CUTOFF: usize = 4096;
    MAX_CUTOFF.min(PER_CORE * n_cores())
}

/// Rows that a thread takes at a time when it adds.
const BAND: usize = 32;

/// Factors of the quadrants 11, 12, 21, 22.
type Factors = [f32; 4];

/// One of the seven products: the factors of its operands, and those of its sum in C.
struct Product {
    of_a: Factors,
    of_b: Factors,
    into_c: Factors,
}

// ANCHOR: products
#[rustfmt::skip]
const PRODUCTS: [Product; 7] = [
    Product { of_a: [ 1., 0., 0., 1.], of_b: [ 1., 0., 0., 1.], into_c: [ 1., 0., 0., 1.] },
    Product { of_a: [ 0., 0., 1., 1.], of_b: [ 1., 0., 0., 0.], into_c: [ 0., 0., 1.,-1.] },
    Product { of_a: [ 1., 0., 0., 0.], of_b: [ 0., 1., 0.,-1.], into_c: [ 0., 1., 0., 1.] },
    Product { of_a: [ 0., 0., 0., 1.], of_b: [-1., 0., 1., 0.], into_c: [ 1., 0., 1., 0.] },
    Product { of_a: [ 1., 1., 0., 0.], of_b: [ 0., 0., 0., 1.], into_c: [-1., 1., 0., 0.] },
    Product { of_a: [-1., 0., 1., 0.], of_b: [ 1., 1., 0., 0.], into_c: [ 0., 0., 0., 1.] },
    Product { of_a: [ 0., 1., 0.,-1.], of_b: [ 0., 0., 1., 1.], into_c: [ 1., 0., 0., 0.] },
];
// ANCHOR_END: products

/// Computes C = A · B by Strassen's scheme where the matrices are large, and by [`parallel`] where they are not.
pub fn multiply(shape: Shape, a: &[f32], b: &[f32], c: &mut [f32]) {
    multiply_levels(n_levels(shape), shape, a, b, c);
}

/// Returns the number of times that a product of this shape is cut in quadrants.
pub fn n_levels(shape: Shape) -> u32 {
    let shortest = shape.m.min(shape.n).min(shape.k);
    (shortest / cutoff()).checked_ilog2().unwrap_or(0)
}

/// Returns the first-order bound on the error of any element of C, where no element of A or B is larger than these.
///
/// By induction over the levels. With u half an ulp of 1, the error of a product with inner dimension k is at most
/// f · u · max|A| · max|B|, where the textbook below the cut-off has f₀ = (k + 2) · k. One level up, operands such
/// as A11 + A22 are up to twice as large and carry a rounding each, and four products are added up with a
/// rounding each: for C11 and C22, which are the worst, f = 12 · f' + 46 · k/2. After Higham, "Accuracy and Stability
/// of Numerical Algorithms", section 23.2.2.
pub fn error_bound(shape: Shape, max_a: f64, max_b: f64) -> f64 {
    bound_of_levels(n_levels(shape), shape.k, max_a, max_b)
}

fn bound_of_levels(n_levels: u32, k: usize, max_a: f64, max_b: f64) -> f64 {
    let k_below = k.div_ceil(1 << n_levels) as f64;
    let textbook = (k_below + 2.0) * k_below;
    let factor =
        (0..n_levels).fold(textbook, |factor, level| 12.0 * factor + 46.0 * k_below * f64::from(1 << level));
    factor * UNIT * max_a * max_b
}

/// Cuts `n_levels` times. Sizes that do not halve so often are filled up with zeros, once.
fn multiply_levels(n_levels: u32, shape: Shape, a: &[f32], b: &[f32], c: &mut [f32]) {
    let whole = |size: usize| size.next_multiple_of(1 << n_levels);
    let padded = Shape { m: whole(shape.m), n: whole(shape.n), k: whole(shape.k) };
    if padded == shape {
        return multiply_whole(n_levels, shape, a, b, c);
    }
    let a = resized(a, shape.k, padded.m, padded.k);
    let b = resized(b, shape.n, padded.k, padded.n);
    let mut padded_c = vec![0.0; padded.m * padded.n];
    multiply_whole(n_levels, padded, &a, &b, &mut padded_c);
    for (row, padded_row) in c.chunks_exact_mut(shape.n).zip(padded_c.chunks_exact(padded.n)) {
        row.copy_from_slice(&padded_row[..shape.n]);
    }
}

/// Returns a copy with more rows and columns, zero where there was nothing.
fn resized(matrix: &[f32], n_cols: usize, new_rows: usize, new_cols: usize) -> Vec<f32> {
    let mut new = vec![0.0; new_rows * new_cols];
    for (new_row, row) in new.chunks_exact_mut(new_cols).zip(matrix.chunks_exact(n_cols)) {
        new_row[..n_cols].copy_from_slice(row);
    }
    new
}

/// Multiplies matrices whose sizes can be halved `n_levels` times.
fn multiply_whole(n_levels: u32, shape: Shape, a: &[f32], b: &[f32], c: &mut [f32]) {
    if n_levels == 0 {
        return parallel::multiply(shape, a, b, c);
    }
    let half = Shape { m: shape.m / 2, n: shape.n / 2, k: shape.k / 2 };
    let mut left = vec![0.0; half.m * half.k];
    let mut right = vec![0.0; half.k * half.n];
    let mut product = vec![0.0; half.m * half.n];
    c.fill(0.0);
    for Product { of_a, of_b, into_c } in PRODUCTS {
        sum_of_quadrants(of_a, half.k, a, &mut left);
        sum_of_quadrants(of_b, half.n, b, &mut right);
        multiply_whole(n_levels - 1, half, &left, &right, &mut product);
        add_to_quadrants(into_c, half.n, &product, c);
    }
}

/// Computes `sum` = Σ factor · quadrant. `width` is that of a quadrant.
fn sum_of_quadrants(factors: Factors, width: usize, matrix: &[f32], sum: &mut [f32]) {
    let (upper, lower) = matrix.split_at(matrix.len() / 2);
    let bands = upper.chunks(BAND * 2 * width).zip(lower.chunks(BAND * 2 * width));
    for_each(n_cores(), sum.chunks_mut(BAND * width).zip(bands), |(sum, (upper, lower))| {
        let rows = upper.chunks_exact(2 * width).zip(lower.chunks_exact(2 * width));
        for (sum, (upper, lower)) in sum.chunks_exact_mut(width).zip(rows) {
            sum.fill(0.0);
            let quadrants = upper.chunks_exact(width).chain(lower.chunks_exact(width));
            quadrants.zip(factors).for_each(|(quadrant, factor)| add(sum, factor, quadrant));
        }
    });
}

fn add_to_quadrants(factors: Factors, width: usize, product: &[f32], matrix: &mut [f32]) {
    let (upper, lower) = matrix.split_at_mut(matrix.len() / 2);
    let bands = upper.chunks_mut(BAND * 2 * width).zip(lower.chunks_mut(BAND * 2 * width));
    for_each(n_cores(), product.chunks(BAND * width).zip(bands), |(product, (upper, lower))| {
        let rows = upper.chunks_exact_mut(2 * width).zip(lower.chunks_exact_mut(2 * width));
        for (product, (upper, lower)) in product.chunks_exact(width).zip(rows) {
            let quadrants = upper.chunks_exact_mut(width).chain(lower.chunks_exact_mut(width));
            quadrants.zip(factors).for_each(|(quadrant, factor)| add(quadrant, factor, product));
        }
    });
}

/// Adds, exactly except for the rounding of the sum: the factors are 1 and −1.
fn add(sum: &mut [f32], factor: f32, terms: &[f32]) {
    if factor != 0.0 {
        sum.iter_mut().zip(terms).for_each(|(sum, term)| *sum += factor * term);
    }
}
