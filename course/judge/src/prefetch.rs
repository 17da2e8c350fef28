//! Detects prefetching: loads from global memory that overlap with the multiply-adds of the tile before.
//!
//! The steps of a warp are followed in order. A loaded value is pending until an instruction needs it: a store, a
//! multiply-add, an address, a branch, an exchange between lanes. A move, a selection or a conversion needs it as well,
//! but the assembler places such instructions beside the use, so here they only pass it on. An asynchronous copy is
//! pending until the wait for its group. The load overlaps with the multiply-adds that the warp executes in between.
//!
//! In a kernel with loading and multiplying warps, a load delays the multiplying warps only at the next barrier of the
//! block after the use of its value. It overlaps with their multiply-adds from the barrier before the load up to that
//! one.

mod follow;
mod instruction;

use reference::inputs::Accumulator;
use simt::gpu::Value;

use crate::{emulated_module::EmulatedModule, trial::Trial};
use follow::{Program, WarpLoads};

/// Steps of a warp that are followed.
const MAX_STEPS: usize = 100_000;
/// Share of a tile's multiply-adds that a load must have time for.
const MIN_OVERLAP: f64 = 0.5;
/// Share of a tile's multiply-adds that may lie on the other side of a load.
const TOLERANCE: f64 = 0.05;
const WARP: u32 = 32;

/// Extent to which a kernel loads ahead of use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Prefetch {
    /// Share of the bytes loaded after the first multiply-add, and used, that are not needed until half of a tile's
    /// multiply-adds are done.
    Share(f64),
    /// No load after the first multiply-add.
    Nothing,
    /// Not detectable, with the reason.
    Unseen(&'static str),
}

/// Follows the first warp of the first block that both loads and multiplies, or all of its warps where none does both.
pub fn detect<T: Accumulator + Value>(module: &EmulatedModule<'_>, trial: &Trial<T>, bk: usize) -> Prefetch {
    let Some((report, first)) = module.trace(trial, 0, MAX_STEPS) else { return Prefetch::Nothing };
    let texts: Vec<&str> = report.instructions.iter().map(|i| i.text.as_str()).collect();
    let program = Program::new(&texts);
    let steps_of_k = trial.shape.k.div_ceil(bk.max(1)).max(1) as f64;
    let enough = |fmas: f64| MIN_OVERLAP * (1.0 - TOLERANCE) * fmas / steps_of_k;
    let n_warps = report.block.iter().product::<u32>().div_ceil(WARP);
    let mut warps: Vec<WarpLoads> = Vec::new();
    for warp in 0..n_warps {
        let followed = match warp {
            0 => Some(program.follow(&first)),
            _ => module.trace(trial, warp, MAX_STEPS).map(|(_, steps)| program.follow(&steps)),
        };
        let Some(followed) = followed else { continue };
        if let Some(share) = followed.share(enough(followed.fmas())) {
            return Prefetch::Share(share);
        }
        warps.push(followed);
    }
    follow::split_warps(&warps, enough)
}
