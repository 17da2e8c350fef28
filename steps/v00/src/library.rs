//! A library: `sgemm` of the crate `matrixmultiply`.
//!
//! It packs and tiles much as [`parallel`](crate::parallel) does, with vectors written by hand for AVX2. Its own
//! threading ends at four threads, so here each thread multiplies a band of rows with a call of its own.

use catalog::Shape;
use harness::inputs::Accumulator as _;

use crate::threads::{for_each, n_threads};

/// Computes C = A · B by the library, a band of rows per core.
pub fn multiply(shape: Shape, a: &[f32], b: &[f32], c: &mut [f32]) {
    let Shape { m, n, k } = shape;
    let n_threads = n_threads(shape);
    let rows_of_band = m.div_ceil(n_threads);
    let bands = a.chunks(rows_of_band * k).zip(c.chunks_mut(rows_of_band * n));
    for_each(n_threads, bands, |(a, c)| f32::gemm(c.len() / n, k, n, a, b, c));
}
