//! Step v00, cpu: C = A · B on the host, six times, each with one more idea than the one before.
//!
//! Everything is row-major FP32 of any shape, and every `multiply` has the same arguments. Read them in the order
//! of the declarations below. There is no GPU in here; the tests hold each variant to its own error bound.

pub mod serial;

pub mod reordered;

pub mod blocked;

pub mod parallel;

pub mod strassen;

pub mod library;

mod threads;

use catalog::Shape;

/// One way to compute C = A · B: the shape, A, B, and C, which is overwritten.
pub type Multiply = fn(Shape, &[f32], &[f32], &mut [f32]);

/// All ways by their names in records, in the order in which the book explains them.
pub const VARIANTS: [(&str, Multiply); 6] = [
    ("cpu_serial", serial::multiply),
    ("cpu_reordered", reordered::multiply),
    ("cpu_blocked", blocked::multiply),
    ("cpu_parallel", parallel::multiply),
    ("cpu_strassen", strassen::multiply),
    ("cpu_library", library::multiply),
];

/// Half the distance from 1 to the next `f32`: the largest relative error of one rounding.
pub(crate) const UNIT: f64 = 1.0 / (1_u64 << 24) as f64;

#[cfg(test)]
mod tests;
