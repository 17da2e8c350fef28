//! When what a warp loads from global memory is waited for: whether the next tile is on its way while this one is
//! multiplied.
//!
//! A warp's steps are followed in their order. What a load brings is pending until something needs the value: a store, a
//! multiply-add, an address, a branch, an exchange between lanes. Moving, selecting or converting it needs it as well, but
//! the assembler places such instructions beside the use, so here they only pass it on. An asynchronous copy is pending
//! until its group is waited for. How many multiply-adds the warp did in between is what the load had time for.
//!
//! Where some warps load and others multiply, a load holds up the warps that multiply only at the next barrier of the
//! block after its value was needed. What it had time for are the multiply-adds that those warps do from the barrier
//! before the load up to that one.

mod follow;
mod instruction;

use harness::inputs::Sums;
use simt::gpu::Value;

use crate::machine::Machine;
use crate::trial::Trial;
use follow::{Followed, Program};

/// Steps of a warp that are followed.
const MAX_STEPS: usize = 100_000;
/// Share of a tile's multiply-adds that a load must have time for.
const ENOUGH: f64 = 0.5;
/// Multiply-adds at the edges of a tile may lie on the other side of a load.
const TOLERANCE: f64 = 0.05;
const WARP: u32 = 32;

/// How much a kernel loads ahead of its use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ahead {
    /// Share of the bytes that are loaded from global memory after the first multiply-add, and used, which nothing waits
    /// for until half of the multiply-adds of a tile are done.
    Share(f64),
    /// Nothing is loaded after the first multiply-add.
    Nothing,
    /// Cannot be seen here: why.
    Unseen(&'static str),
}

/// Follows the first warp of the first block that both loads and multiplies; all of its warps where none does.
pub fn of<T: Sums + Value>(machine: &Machine<'_>, trial: &Trial<T>, bk: usize) -> Ahead {
    let Some((report, first)) = machine.trace(trial, 0, MAX_STEPS) else {
        return Ahead::Nothing;
    };
    let texts: Vec<&str> = report.instructions.iter().map(|i| i.text.as_str()).collect();
    let program = Program::new(&texts);
    let steps_of_k = trial.shape.k.div_ceil(bk.max(1)).max(1) as f64;
    let enough = |fmas: f64| ENOUGH * (1.0 - TOLERANCE) * fmas / steps_of_k;
    let n_warps = report.block.iter().product::<u32>().div_ceil(WARP);
    let mut warps: Vec<Followed> = Vec::new();
    for warp in 0..n_warps {
        let followed = match warp {
            0 => Some(program.follow(&first)),
            _ => machine
                .trace(trial, warp, MAX_STEPS)
                .map(|(_, steps)| program.follow(&steps)),
        };
        let Some(followed) = followed else { continue };
        if let Some(share) = followed.share(enough(followed.fmas())) {
            return Ahead::Share(share);
        }
        warps.push(followed);
    }
    follow::of_parts(&warps, enough)
}
