//! The main loop of a GEMM as `ptxas` would not write it: machine code of sm_90 with other registers, in another order.
//!
//! A multiply-add reads three registers. They lie in two banks, even and odd, that deliver one register per clock each;
//! what an instruction keeps for the next one is not read again. The compiler chooses registers without regard to this,
//! and cannot be told. [`reschedule`] takes a cubin and writes the loop of one of its kernels again:
//!
//! - Sums lie in the bank that the factors of their column do not use (`allocate`), and stay in one register each.
//! - The factor of a row is kept along the row, and where rows turn, that of the column: two reads per multiply-add,
//!   always in both banks (`rewrite`).
//! - Loads stand where [`Options::places`] says: of B for the next k, of A for the next four.
//!
//! Nothing is moved but multiply-adds and their loads, so that no address changes. The sums are the same bits: each
//! adds its products in the same order. [`check()`] proves it of any new code, told only which registers correspond,
//! and that no register is read or replaced too early.
//!
//! Not done: loops of another form than `sums[i][j] += a[i][k] * b[k][j]` with loads of 16 bytes from shared memory,
//! which are refused; searching an order for general code.

#![forbid(unsafe_code)]

mod allocate;
mod check;
mod code;
mod flow;
mod rewrite;

use std::ops::Range;

use crate::allocate::Allocation;
use crate::code::Line;

/// The reason for which a loop cannot be written again, or for which the new one is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub(crate) &'static str);

/// The last registers of a thread, which the hardware keeps for itself: an instruction that names one is illegal.
/// `ptxas` counts them, so that its kernels have three more registers than the highest number.
const KEPT: u8 = 2;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Registers that a thread has in the loop.
    pub registers: u8,
    /// Multiply-adds of a k before each of its loads: of the columns' factors, then of the rows'.
    pub places: Vec<usize>,
}

/// Returns the cubin with the main loop of a kernel written again.
pub fn reschedule(cubin: &[u8], kernel: &str, options: &Options) -> Result<Vec<u8>, Refusal> {
    let (range, mut lines) = read(cubin, kernel)?;
    let new = Allocation::new(&lines, options)?;
    rewrite::rewrite(&mut lines, &new, options)?;
    let mut new = cubin.to_vec();
    for (bytes, line) in new[range].chunks_exact_mut(16).zip(&lines) {
        bytes.copy_from_slice(&line.word.to_le_bytes());
    }
    check(cubin, &new, kernel, options)?;
    Ok(new)
}

/// Proves that a new main loop, whose registers are those of [`reschedule`], computes what the old one does.
pub fn check(old: &[u8], new: &[u8], kernel: &str, options: &Options) -> Result<(), Refusal> {
    let ((_, old), (_, new)) = (read(old, kernel)?, read(new, kernel)?);
    let allocation = Allocation::new(&old, options)?;
    check::no_hazards([&old, &new], &allocation.regions, options.registers)?;
    check::same_results([&old, &new], &allocation.regions, &allocation.correspondence(), &allocation.scaled)
}

/// Returns the code of a kernel, and its place in the cubin.
fn read(cubin: &[u8], kernel: &str) -> Result<(Range<usize>, Vec<Line>), Refusal> {
    let range = sass::code_range(cubin, kernel).map_err(|_| Refusal("the cubin has no such kernel"))?;
    let (words, _) = cubin[range.clone()].as_chunks::<16>();
    let lines = words.iter().zip((0..).step_by(16)).map(|(word, at)| Line::decode(u128::from_le_bytes(*word), at));
    Ok((range, lines.collect::<Result<_, Refusal>>()?))
}
