//! Running blocks: warps in lockstep over a decoded kernel.
//!
//! A worker thread owns a [`worker::Worker`]: the block that it runs, the context of its running warp, the state of the
//! checks, and tallies. A type, [`run_mode::RunMode`], selects the checks and counters to compile in.
//!
//! Imports go one way: state ([`fiber`], [`launch_job`], [`block`], [`memo`], [`worker`]) ← [`memory`], the accesses of
//! a warp ← [`ops`], a module per family of operations ← [`warp`], the loop over operations ← [`schedule`], which gives
//! turns to warps and hands blocks to workers. [`counting`] sums what a launch has counted.

pub(crate) mod block;
pub(crate) mod counting;
pub(crate) mod fiber;
pub(crate) mod launch_job;
pub(crate) mod memo;
pub(crate) mod memory;
pub(crate) mod ops;
pub(crate) mod plan;
pub(crate) mod run_mode;
pub(crate) mod schedule;
pub(crate) mod warp;
pub(crate) mod worker;

use arithmetic::lanes::Line;

/// Runs of set bits: start and length.
pub(crate) fn runs(mut mask: u32) -> impl Iterator<Item = (usize, usize)> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let start = mask.trailing_zeros();
        let n = (!(mask >> start)).trailing_zeros().min(32 - start);
        let covered = if n == 32 { u32::MAX } else { ((1 << n) - 1) << start };
        mask &= !covered;
        Some((start as usize, n as usize))
    })
}

pub(crate) const ZERO_LINE: Line = Line([0; 32]);
