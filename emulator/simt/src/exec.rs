//! Running blocks: warps in lockstep over a decoded kernel.
//!
//! A worker thread owns a [`worker::Worker`]: the block that runs, the context of its running warp, the state of the
//! checks, and tallies. [`grid`] hands blocks to workers; [`scheduler`] runs the warps of one block; [`warp`] is the
//! loop over operations; [`access`] finds memory, and checks and counts on the way. A type ([`run_mode::RunMode`])
//! says which checks and counters a run has, so that the others are not compiled in.

pub(crate) mod access;
pub(crate) mod access_checks;
pub(crate) mod atomic;
pub(crate) mod barrier;
pub(crate) mod block;
pub(crate) mod bulk;
pub(crate) mod call;
pub(crate) mod cluster;
pub(crate) mod copy;
pub(crate) mod data;
pub(crate) mod fiber;
pub(crate) mod grid;
pub(crate) mod job;
pub(crate) mod matrix;
pub(crate) mod mbarrier;
pub(crate) mod memo;
pub(crate) mod per_lane;
pub(crate) mod plan;
pub(crate) mod poll_cache;
pub(crate) mod printf;
pub(crate) mod report;
pub(crate) mod run_mode;
pub(crate) mod scheduler;
pub(crate) mod tensor;
pub(crate) mod termination;
pub(crate) mod texture;
pub(crate) mod traced;
pub(crate) mod undefined;
pub(crate) mod warp;
pub(crate) mod warpwide;
pub(crate) mod wgmma;
pub(crate) mod worker;

use crate::lanes::Line;

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

/// A register line of zeros.
pub(crate) const ZERO_LINE: Line = Line([0; 32]);
