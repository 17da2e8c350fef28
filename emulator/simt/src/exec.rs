//! Running blocks: warps in lockstep over a decoded kernel.
//!
//! A worker thread owns a [`worker::Worker`]: the block that it runs, the context of its running warp, the state of the
//! checks, and tallies. A type ([`run_mode::RunMode`]) says which checks and counters a run has, so that the others are
//! not compiled in.
//!
//! Imports go one way: state ([`fiber`], [`memo`], [`job`], [`block`], [`worker`]) ← memory ([`spec`],
//! [`cluster_memory`], [`per_lane`], [`access`], [`data`]) ← operations, a module per family ← [`warp`], the loop over
//! operations ← [`scheduler`], the warps of a block ← [`cluster`] ← [`grid`], which hands blocks to workers.

pub(crate) mod access;
pub(crate) mod access_checks;
pub(crate) mod atomic;
pub(crate) mod barrier;
pub(crate) mod block;
pub(crate) mod bulk;
pub(crate) mod call;
pub(crate) mod cluster;
pub(crate) mod cluster_memory;
pub(crate) mod copy;
pub(crate) mod counting;
pub(crate) mod data;
pub(crate) mod fiber;
pub(crate) mod grid;
pub(crate) mod job;
pub(crate) mod matrix;
pub(crate) mod mbarrier;
pub(crate) mod memo;
pub(crate) mod per_lane;
pub(crate) mod plan;
pub(crate) mod printf;
pub(crate) mod run_mode;
pub(crate) mod scheduler;
pub(crate) mod spec;
pub(crate) mod tensor;
pub(crate) mod termination;
pub(crate) mod texture;
pub(crate) mod traced;
pub(crate) mod undefined;
pub(crate) mod warp;
pub(crate) mod warpwide;
pub(crate) mod wgmma;
pub(crate) mod worker;

use crate::arithmetic::lanes::Line;

/// Each set bit, lowest first.
#[inline(always)]
pub(crate) fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}

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

/// A register line of zeros.
pub(crate) const ZERO_LINE: Line = Line([0; 32]);
