//! Steps of a warp in order: its loads, and the first use of each loaded value.

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
    match share(loads, enough(all / multiplying.len() as f64)) {
        Some(share) => Prefetch::Share(share),
        None => Prefetch::Nothing,
    }
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
            let Some(instruction) = self.instructions.get(step.instr as usize) else {
                continue;
            };
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
                        step.access.as_ref().is_some_and(|access| access.space == simt::program::MemSpace::Global);
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

#[cfg(test)]
mod tests {
    use super::*;
    use simt::memory::rules::Addresses;
    use simt::program::MemSpace;
    use simt::trace::Access;

    /// Follows one warp through a text, each line executed once.
    fn followed(lines: &str) -> WarpLoads {
        let texts: Vec<&str> = lines.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let steps: Vec<Step> = (0..)
            .zip(&texts)
            .map(|(instr, text)| Step {
                instr,
                first: true,
                lanes: u32::MAX,
                access: text.contains("ld.global").then(|| Access {
                    space: MemSpace::Global,
                    load: true,
                    bytes: 4,
                    addresses: Addresses::default(),
                }),
            })
            .collect();
        Program::new(&texts).follow(&steps)
    }

    #[track_caller]
    fn share(lines: &str, enough: f64) -> Option<f64> {
        followed(lines).share(enough)
    }

    /// Follows two warps with different roles, each entry of `rounds` holding the text of both; a tile has two
    /// multiply-adds.
    fn parts(rounds: &[(&str, &str)], barrier: &str) -> Prefetch {
        let warp = |part: fn(&(&str, &str)) -> String| {
            let rounds: Vec<String> = rounds.iter().map(part).collect();
            followed(&rounds.join(barrier))
        };
        let warps = [warp(|(one, _)| (*one).to_owned()), warp(|(_, two)| (*two).to_owned())];
        split_warps(&warps, |_| 2.0)
    }

    const FMA: &str = "fma.rn.f32 %f9, %f8, %f8, %f9;\n";

    #[test]
    fn a_load_that_is_stored_at_once_had_no_time() {
        let text = format!("{FMA}ld.global.f32 %f1, [%rd1];\nst.shared.f32 [%r1], %f1;\n{FMA}{FMA}");
        assert_eq!(share(&text, 2.0), Some(0.0));
    }

    #[test]
    fn a_load_that_is_stored_after_the_products_had_it() {
        let text = format!(
            "{FMA}ld.global.f32 %f1, [%rd1];\nmov.f32 %f2, %f1;\n{FMA}{FMA}selp.f32 %f3, %f2, 0f00000000, %p1;\n\
             st.shared.f32 [%r1], %f3;\n"
        );
        assert_eq!(share(&text, 2.0), Some(1.0));
        assert_eq!(share(&text, 3.0), Some(0.0));
    }

    #[test]
    fn a_copy_is_pending_until_its_group_is_waited_for() {
        let copy = "cp.async.cg.shared.global [%r1], [%rd1], 16;\ncp.async.commit_group;\n";
        let late = format!("{FMA}{copy}{FMA}{FMA}{copy}cp.async.wait_group 1;\n{FMA}{FMA}cp.async.wait_all;\n");
        assert_eq!(share(&late, 2.0), Some(1.0));
        let at_once = format!("{FMA}{copy}cp.async.wait_group 0;\n{FMA}{FMA}{copy}cp.async.wait_group 0;\n");
        assert_eq!(share(&at_once, 2.0), Some(0.0));
    }

    #[test]
    fn what_is_loaded_before_any_product_or_never_used_does_not_count() {
        let text = format!("ld.global.f32 %f1, [%rd1];\nst.shared.f32 [%r1], %f1;\n{FMA}ld.global.f32 %f2, [%rd1];\n");
        assert_eq!(share(&text, 1.0), None);
    }

    #[test]
    fn an_overwritten_register_is_another_value() {
        let text = format!(
            "{FMA}ld.global.f32 %f1, [%rd1];\n{FMA}{FMA}st.shared.f32 [%r1], %f1;\nmov.f32 %f1, 0f00000000;\n\
             st.shared.f32 [%r1], %f1;\n"
        );
        assert_eq!(share(&text, 2.0), Some(1.0));
    }

    const LOAD: &str = "ld.global.f32 %f1, [%rd1];\nst.shared.f32 [%r1], %f1;\n";
    const TILE: &str = "fma.rn.f32 %f9, %f8, %f8, %f9;\nfma.rn.f32 %f9, %f8, %f8, %f9;\n";

    #[test]
    fn warps_that_load_while_others_multiply_are_ahead() {
        let ahead = [(LOAD, ""), (LOAD, TILE), ("", TILE), ("", "")];
        assert_eq!(parts(&ahead, "bar.sync 0;\n"), Prefetch::Share(1.0));
        let in_turn = [(LOAD, ""), ("", TILE), (LOAD, ""), ("", TILE), ("", "")];
        assert_eq!(parts(&in_turn, "bar.sync 0;\n"), Prefetch::Share(0.0));
        let half = [(LOAD, ""), (LOAD, TILE), (LOAD, ""), ("", TILE), ("", "")];
        assert_eq!(parts(&half, "bar.sync 0;\n"), Prefetch::Share(0.5));
    }

    #[test]
    fn parts_that_meet_at_something_else_are_not_judged() {
        let ahead = [(LOAD, ""), (LOAD, TILE), ("", TILE), ("", "")];
        for barrier in ["bar.sync 1, 64;\n", "bar.arrive 0, 64;\n", "bar.warp.sync -1;\n"] {
            assert!(matches!(parts(&ahead, barrier), Prefetch::Unseen(_)), "{barrier}");
        }
        assert_eq!(parts(&[("", TILE), ("", TILE)], "bar.sync 0;\n"), Prefetch::Nothing);
    }
}
