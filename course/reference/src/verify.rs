//! Comparison of every element with the answer. A NaN is never right.

#[cfg(test)]
mod tests;

use crate::{answer::Answer, inputs::Real};

pub use crate::comparison::{Comparison, is_inside};

/// Compares every element, on all cores.
pub fn compare<T: Real>(answer: &Answer<'_>, got: &[T]) -> Comparison {
    T::compare(0, answer, got)
}

/// Compares every element on `threads` threads, each of which takes a band of rows; 0 for one per core.
pub fn compare_on_threads<T: Real>(threads: usize, answer: &Answer<'_>, got: &[T]) -> Comparison {
    T::compare(threads, answer, got)
}
