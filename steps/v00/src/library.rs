//! A library: `sgemm` of the crate `matrixmultiply`.
//!
//! It packs and tiles much as [`parallel`](crate::parallel) does, with vectors written by hand for AVX2. Its own
//! threading ends at four threads, so here each thread multiplies a band of rows with a call of its own.

use catalog::Shape;

use crate::threads::{for_each, n_threads};

/// Computes C = A · B by the library, a band of rows per core.
pub fn multiply(shape: Shape, a: &[f32], b: &[f32], c: &mut [f32]) {
    let Shape { m, n, k } = shape;
    assert!(a.len() >= m * k && b.len() >= k * n && c.len() >= m * n);
    let n_threads = n_threads(shape);
    let rows_of_band = m.div_ceil(n_threads);
    let bands = a.chunks(rows_of_band * k).zip(c.chunks_mut(rows_of_band * n));
    for_each(n_threads, bands, |(a, c)| {
        let rows = c.len() / n;
        let (row_of_a, row_of_b, row_of_c) = (k as isize, n as isize, n as isize);
        // SAFETY: `a` holds rows × k elements, `b` k × n and `c` rows × n, in rows of these lengths.
        unsafe {
            matrixmultiply::sgemm(
                rows,
                k,
                n, //
                1.0,
                a.as_ptr(),
                row_of_a,
                1, //
                b.as_ptr(),
                row_of_b,
                1, //
                0.0,
                c.as_mut_ptr(),
                row_of_c,
                1,
            );
        }
    });
}
