//! The answer in FP64, by the CPU's cores in parallel, and how far a kernel may be from it.

mod answer_cache;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::time::Instant;

use catalog::Shape;

use self::answer_cache::AnswerCache;
use crate::answer::Answer;
use crate::inputs::{Accumulator, Data, Real, elements};
use crate::threads;

/// An argument of a kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Argument {
    Int(i32),
    Float(f32),
    /// A pointer to the buffer of this number.
    Buffer(usize),
}

/// A problem with its answer: inputs as matrices (row-major, not transposed), C in FP64, and what bounds need.
#[derive(Debug)]
pub struct Problem<T> {
    pub shape: Shape,
    pub data: Data,
    /// The operand A, M × K, row-major.
    pub a: Vec<T>,
    /// The operand B, K × N, row-major.
    pub b: Vec<T>,
    /// The product, M × N, row-major.
    pub c: Vec<f64>,
    /// Euclidean norm of each row of A.
    row_norms: Vec<f64>,
    /// Euclidean norm of each column of B.
    col_norms: Vec<f64>,
    /// Milliseconds that computing `c` took on the CPU.
    pub cpu_ms: f64,
}

impl<T: Real> Problem<T> {
    /// Draws inputs and computes the answer, on all cores.
    pub fn new(shape: Shape, data: Data, seed: u64) -> Self {
        Self::on_threads(0, shape, data, seed)
    }

    /// Works as [`Self::new`], but keeps an answer that takes long to compute in a folder for the next process.
    pub fn kept(folder: Option<&Path>, shape: Shape, data: Data, seed: u64) -> Self {
        let of = std::any::type_name::<T>();
        let kept = folder
            .filter(|_| shape.volume() >= answer_cache::WORTH)
            .map(|folder| AnswerCache::new(folder.join(format!("{shape}-{of}-{data:?}-{seed}"))));
        Self::made(0, kept, shape, data, seed)
    }

    /// Works as [`Self::new`], on `threads` threads; 0 for one per core.
    pub fn on_threads(threads: usize, shape: Shape, data: Data, seed: u64) -> Self {
        Self::made(threads, None, shape, data, seed)
    }

    fn made(threads: usize, kept: Option<AnswerCache>, shape: Shape, data: Data, seed: u64) -> Self {
        let Shape { m, n, k } = shape;
        let operands = [(0, m * k), (1, k * n)];
        let mut drawn =
            threads::each(threads, operands, |(operand, count)| elements::<T>(data, seed, operand, k, count))
                .into_iter();
        let (a, b) = (drawn.next().unwrap_or_default(), drawn.next().unwrap_or_default());
        let (wide_a, wide_b) = (T::widen(&a), T::widen(&b));
        let known = kept.as_ref().and_then(|kept| kept.read(m * n));
        let (c, cpu_ms) = known.unwrap_or_else(|| {
            // A page of the web has no such clock.
            let start = (!cfg!(target_family = "wasm")).then(Instant::now);
            let c = match data {
                Data::Reals => multiply(threads, shape, &wide_a, &wide_b),
                Data::Integers => multiply_exact(threads, shape, &wide_a, &wide_b),
            };
            let took = start.map_or(0.0, |start| start.elapsed().as_secs_f64() * 1e3);
            if let Some(kept) = &kept {
                kept.write(&c, took);
            }
            (c, took)
        });
        Self { shape, data, a, b, c, row_norms: row_norms(&wide_a, k), col_norms: col_norms(&wide_b, n), cpu_ms }
    }

    /// Returns the product as an answer for kernels whose sums round with an error of at most `unit`.
    pub(crate) fn answer_of_sums(&self, unit: f64) -> Answer<'_> {
        self.answer_within(allowed(self.shape.k, unit))
    }

    /// Returns the product as an answer from which results may differ by this part of ‖a‖·‖b‖. At most that much is
    /// Σ|a·b| of an element (Cauchy–Schwarz).
    pub(crate) fn answer_within(&self, part: f64) -> Answer<'_> {
        let answer = Answer::exact(self.shape.n, self.c.as_slice());
        match self.data {
            // All sums are exact.
            Data::Integers => answer,
            Data::Reals => answer.within_norms(part, &self.row_norms, &self.col_norms),
        }
    }
}

impl<T: Accumulator> Problem<T> {
    /// Returns the product as an answer for kernels that add in `T`.
    pub fn answer(&self) -> Answer<'_> {
        self.answer_of_sums(T::UNIT)
    }
}

// ANCHOR: bound
/// Returns the largest error of an element of C when K products are summed in any order, fused or not, as a part of
/// ‖a‖·‖b‖. A rounding has an error of at most `unit`.
///
/// Each term passes through at most K roundings, so the error is at most γ · Σ|a·b| with γ = n·u / (1 − n·u),
/// n = K + 2, and Σ|a·b| ≤ ‖a‖·‖b‖ (Cauchy–Schwarz). The reference itself rounds in FP64: that is γ₆₄ more.
/// On integers all sums are exact, and nothing may differ.
fn allowed(k: usize, unit: f64) -> f64 {
    let gamma = |unit: f64| {
        let nu = (k as f64 + 2.0) * unit;
        nu / (1.0 - nu)
    };
    gamma(unit) + gamma(f64::UNIT)
}
// ANCHOR_END: bound

fn row_norms(a: &[f64], k: usize) -> Vec<f64> {
    let norm = |row: &[f64]| row.iter().map(|v| v * v).sum::<f64>().sqrt();
    a.chunks(k).map(norm).collect()
}

fn col_norms(b: &[f64], n: usize) -> Vec<f64> {
    let mut squares = vec![0.0; n];
    for row in b.chunks(n) {
        for (sum, value) in squares.iter_mut().zip(row) {
            *sum += value * value;
        }
    }
    squares.into_iter().map(f64::sqrt).collect()
}

/// Computes C = A · B of small integers. Every sum is exact in FP32 too, which is twice as fast.
fn multiply_exact(threads: usize, shape: Shape, a: &[f64], b: &[f64]) -> Vec<f64> {
    let short = |x: &[f64]| x.iter().map(|v| *v as f32).collect::<Vec<f32>>();
    let c = multiply(threads, shape, &short(a), &short(b));
    c.into_iter().map(f64::from).collect()
}

/// Computes C = A · B: each thread takes a band of rows.
fn multiply<T: Accumulator>(threads: usize, shape: Shape, a: &[T], b: &[T]) -> Vec<T> {
    let Shape { m, n, k } = shape;
    let mut c = vec![T::default(); m * n];
    let band = m.div_ceil(threads::count(threads));
    let bands = a.chunks(band * k).zip(c.chunks_mut(band * n));
    threads::each(threads, bands, |(a, c)| T::gemm(c.len() / n, k, n, a, b, c));
    c
}
