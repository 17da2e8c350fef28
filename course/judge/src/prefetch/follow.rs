//! Steps of a warp in order: its loads, and the first use of each loaded value.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use simt::trace::Step;

use super::instruction::{Instruction, InstructionKind};
use super::{Prefetch, WARP};

/// Loads of which one value can be made; more are as old as these.
const MAX_PENDING: usize = 16;

#[derive(Debug)]
pub(super) struct Program {
    instructions: Vec<Instruction>,
    n_registers: usize,
}

/// A load, or an asynchronous copy.
#[derive(Debug, Clone, Copy)]
struct PendingLoad {
    /// Multiply-adds before it.
    at: f64,
    bytes: f64,
    /// Multiply-adds between it and the first use; `None` without a use.
    overlap: Option<f64>,
    /// Barriers of the block before it, and before the first use.
    barriers: [usize; 2],
}

#[derive(Debug)]
pub(super) struct WarpLoads {
    loads: Vec<PendingLoad>,
    /// Multiply-adds between barriers of the block.
    fmas: Vec<f64>,
    /// Whether the warp also synchronises by other means.
    synchronises_otherwise: bool,
}

impl WarpLoads {
    /// Returns all multiply-adds, before and after barriers.
    pub(super) fn fmas(&self) -> f64 {
        self.fmas.iter().sum()
    }

    /// Returns whether the warp uses a value that it loads.
    fn loads(&self) -> bool {
        self.loads.iter().any(|made| made.overlap.is_some())
    }

    /// Returns the share of the bytes that overlapped with at least `enough` multiply-adds.
    pub(super) fn share(&self, enough: f64) -> Option<f64> {
        // A load before the first multiply-add has nothing to overlap with.
        let made = self.loads.iter().filter(|made| made.at > 0.0);
        share(made.filter_map(|made| Some((made.bytes, made.overlap?))), enough)
    }
}

/// Returns the share of the bytes in loads with at least `enough` multiply-adds. A load is a pair of bytes and
/// multiply-adds.
fn share(loads: impl Iterator<Item = (f64, f64)>, enough: f64) -> Option<f64> {
    let (mut all, mut in_time) = (0.0, 0.0);
    for (bytes, overlap) in loads {
        all += bytes;
        if overlap >= enough {
            in_time += bytes;
        }
    }
    (all > 0.0 && enough > 0.0).then(|| in_time / all)
}

/// Returns the share for a block in which no warp both loads and multiplies; `enough` takes the multiply-adds of one
/// warp.
pub(super) fn split_warps(warps: &[WarpLoads], enough: impl Fn(f64) -> f64) -> Prefetch {
    let multiplying: Vec<&WarpLoads> = warps.iter().filter(|warp| warp.fmas() > 0.0).collect();
    let loading: Vec<&WarpLoads> = warps.iter().filter(|warp| warp.loads()).collect();
    if multiplying.is_empty() || loading.iter().all(|warp| warp.fmas() > 0.0) {
        return Prefetch::Nothing;
    }
    // Barriers that all warps reached; the trace of a warp may be cut off after its last one.
    let n_barriers = warps.iter().map(|warp| warp.fmas.len() - 1).min().unwrap_or(0);
    if n_barriers == 0 || warps.iter().any(|warp| warp.synchronises_otherwise) {
        return Prefetch::Unseen(
            "some warps load and others multiply, and it is not __syncthreads() alone that orders them",
        );
    }
    // Mean multiply-adds of a multiplying warp up to each barrier.
    let mut until = vec![0.0];
    for at in 0..n_barriers {
        let here: f64 = multiplying.iter().map(|warp| warp.fmas[at]).sum();
        until.push(until[at] + here / multiplying.len() as f64);
    }
    let all: f64 = multiplying.iter().map(|warp| warp.fmas()).sum();
    let made = loading.iter().flat_map(|warp| &warp.loads);
    let loads = made.filter_map(|made| {
        made.overlap?;
        let [before, needed] = made.barriers;
        let end = *until.get(needed + 1)?;
        (end > 0.0).then_some((made.bytes, end - until[before]))
    });
    share(loads, enough(all / multiplying.len() as f64)).map_or(Prefetch::Nothing, Prefetch::Share)
}

impl Program {
    pub(super) fn new(texts: &[&str]) -> Self {
        let mut names = HashMap::new();
        let instructions = texts.iter().map(|text| Instruction::read(text, &mut names)).collect();
        Self { instructions, n_registers: names.len() }
    }

    pub(super) fn follow(&self, steps: &[Step]) -> WarpLoads {
        let mut values: Vec<Vec<usize>> = vec![Vec::new(); self.n_registers];
        let mut followed = WarpLoads { loads: Vec::new(), fmas: vec![0.0], synchronises_otherwise: false };
        let mut fmas = 0.0;
        let everybody = steps.iter().fold(0, |lanes, step| lanes | step.lanes);
        // Copies without a group, and groups that are still pending.
        let mut open: Vec<usize> = Vec::new();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for step in steps {
            let Some(instruction) = self.instructions.get(step.instr as usize) else { continue };
            let now = fmas;
            let barrier = followed.fmas.len() - 1;
            let lanes = f64::from(step.lanes.count_ones());
            let pending = |bytes: u32| PendingLoad {
                at: now,
                bytes: f64::from(bytes) * lanes,
                overlap: None,
                barriers: [barrier; 2],
            };
            let wait = |made: &mut Vec<PendingLoad>, which: &[usize]| {
                for load in which {
                    let made = &mut made[*load];
                    if made.overlap.is_none() {
                        made.overlap = Some(now - made.at);
                        made.barriers[1] = barrier;
                    }
                }
            };
            match instruction.kind {
                InstructionKind::Load => {
                    for register in &instruction.read {
                        wait(&mut followed.loads, &std::mem::take(&mut values[*register]));
                    }
                    let each = step.access.as_ref().map_or(0, |access| access.bytes);
                    // A generic load may read another space, where there is no latency to hide.
                    let is_global =
                        step.access.as_ref().is_some_and(|access| access.space == program::MemSpace::Global);
                    let load = followed.loads.len();
                    if is_global {
                        followed.loads.push(pending(each));
                    }
                    for register in &instruction.written {
                        let value = &mut values[*register];
                        if step.lanes == everybody {
                            value.clear();
                        }
                        if is_global && value.len() < MAX_PENDING {
                            value.push(load);
                        }
                    }
                }
                InstructionKind::Copy(bytes) => {
                    open.push(followed.loads.len());
                    followed.loads.push(pending(bytes));
                }
                InstructionKind::Commit => groups.push(std::mem::take(&mut open)),
                InstructionKind::WaitGroups(but) => {
                    let n = groups.len().saturating_sub(but);
                    for group in groups.drain(..n) {
                        wait(&mut followed.loads, &group);
                    }
                }
                InstructionKind::WaitAll => {
                    for group in groups.drain(..).chain([std::mem::take(&mut open)]) {
                        wait(&mut followed.loads, &group);
                    }
                }
                InstructionKind::Pass => {
                    let mut passed: Vec<usize> = Vec::new();
                    for register in &instruction.read {
                        passed.extend(values[*register].iter().filter(|load| followed.loads[**load].overlap.is_none()));
                    }
                    passed.sort_unstable();
                    passed.dedup();
                    passed.truncate(MAX_PENDING);
                    let whole = step.lanes == everybody && !instruction.guarded;
                    for register in &instruction.written {
                        let value = &mut values[*register];
                        if whole {
                            value.clone_from(&passed);
                        } else {
                            value.extend(&passed);
                            value.sort_unstable();
                            value.dedup();
                            value.truncate(MAX_PENDING);
                        }
                    }
                }
                InstructionKind::Use
                | InstructionKind::MultiplyAdd
                | InstructionKind::Barrier
                | InstructionKind::OtherBarrier => {
                    for register in &instruction.read {
                        wait(&mut followed.loads, &std::mem::take(&mut values[*register]));
                    }
                    for register in &instruction.written {
                        values[*register].clear();
                    }
                    match instruction.kind {
                        InstructionKind::MultiplyAdd => {
                            let done = lanes / f64::from(WARP);
                            fmas += done;
                            followed.fmas[barrier] += done;
                        }
                        InstructionKind::Barrier => followed.fmas.push(0.0),
                        InstructionKind::OtherBarrier => followed.synchronises_otherwise = true,
                        _ => {}
                    }
                }
            }
        }
        followed
    }
}
