//! A warp's steps in their order: what was loaded, and when it was waited for.

use std::collections::HashMap;

use simt::trace::Step;

use super::instruction::{Instruction, Kind};
use super::{Ahead, WARP};

/// Loads of which one value can be made; more are as old as these.
const MAX_PENDING: usize = 16;

/// The instructions of a kernel.
#[derive(Debug)]
pub(super) struct Program {
    instructions: Vec<Instruction>,
    n_registers: usize,
}

/// A load or a copy that was made.
#[derive(Debug, Clone, Copy)]
struct Made {
    /// Number of multiply-adds before it.
    at: f64,
    bytes: f64,
    /// Number of multiply-adds between it and the wait for it; `None` if nothing waited.
    had: Option<f64>,
    /// Barriers of the block before it, and before it was waited for.
    barriers: [usize; 2],
}

/// What following a warp gave.
#[derive(Debug)]
pub(super) struct Followed {
    made: Vec<Made>,
    /// Multiply-adds between barriers of the block.
    fmas: Vec<f64>,
    /// It meets other warps at something else, too.
    meets_elsewhere: bool,
}

impl Followed {
    /// Number of all multiply-adds, before and after barriers.
    pub(super) fn fmas(&self) -> f64 {
        self.fmas.iter().sum()
    }

    /// Whether it loads what it uses.
    fn loads(&self) -> bool {
        self.made.iter().any(|made| made.had.is_some())
    }

    /// Share of the bytes that had time for so many multiply-adds.
    pub(super) fn share(&self, enough: f64) -> Option<f64> {
        // Before the first multiply-add there is nothing that a load could be hidden behind.
        let made = self.made.iter().filter(|made| made.at > 0.0);
        share(made.filter_map(|made| Some((made.bytes, made.had?))), enough)
    }
}

/// Share of the bytes that had time for `enough` multiply-adds, of loads as pairs of the two.
fn share(loads: impl Iterator<Item = (f64, f64)>, enough: f64) -> Option<f64> {
    let (mut all, mut in_time) = (0.0, 0.0);
    for (bytes, had) in loads {
        all += bytes;
        if had >= enough {
            in_time += bytes;
        }
    }
    (all > 0.0 && enough > 0.0).then(|| in_time / all)
}

/// The same for the warps of a block of which none both loads and multiplies; `enough` is of a warp's multiply-adds.
pub(super) fn of_parts(warps: &[Followed], enough: impl Fn(f64) -> f64) -> Ahead {
    let multiplying: Vec<&Followed> = warps.iter().filter(|warp| warp.fmas() > 0.0).collect();
    let loading: Vec<&Followed> = warps.iter().filter(|warp| warp.loads()).collect();
    if multiplying.is_empty() || loading.iter().all(|warp| warp.fmas() > 0.0) {
        return Ahead::Nothing;
    }
    // Barriers that all of them reached; what a warp does after its last one may be cut off.
    let n_barriers = warps.iter().map(|warp| warp.fmas.len() - 1).min().unwrap_or(0);
    if n_barriers == 0 || warps.iter().any(|warp| warp.meets_elsewhere) {
        return Ahead::Unseen(
            "some warps load and others multiply, and it is not __syncthreads() alone that orders them",
        );
    }
    // Multiply-adds of a multiplying warp, on average, up to each barrier.
    let mut until = vec![0.0];
    for at in 0..n_barriers {
        let here: f64 = multiplying.iter().map(|warp| warp.fmas[at]).sum();
        until.push(until[at] + here / multiplying.len() as f64);
    }
    let all: f64 = multiplying.iter().map(|warp| warp.fmas()).sum();
    let made = loading.iter().flat_map(|warp| &warp.made);
    let loads = made.filter_map(|made| {
        made.had?;
        let [before, needed] = made.barriers;
        let end = *until.get(needed + 1)?;
        (end > 0.0).then_some((made.bytes, end - until[before]))
    });
    match share(loads, enough(all / multiplying.len() as f64)) {
        Some(share) => Ahead::Share(share),
        None => Ahead::Nothing,
    }
}

impl Program {
    pub(super) fn new(texts: &[&str]) -> Self {
        let mut names = HashMap::new();
        let instructions = texts
            .iter()
            .map(|text| Instruction::read(text, &mut names))
            .collect();
        Self {
            instructions,
            n_registers: names.len(),
        }
    }

    /// The steps of a warp, in their order.
    pub(super) fn follow(&self, steps: &[Step]) -> Followed {
        let mut values: Vec<Vec<usize>> = vec![Vec::new(); self.n_registers];
        let mut followed = Followed {
            made: Vec::new(),
            fmas: vec![0.0],
            meets_elsewhere: false,
        };
        let mut fmas = 0.0;
        let everybody = steps.iter().fold(0, |lanes, step| lanes | step.lanes);
        // Copies that are not in a group yet, and groups that nobody has waited for.
        let mut open: Vec<usize> = Vec::new();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for step in steps {
            let Some(instruction) = self.instructions.get(step.instr as usize) else {
                continue;
            };
            let now = fmas;
            let barrier = followed.fmas.len() - 1;
            let lanes = f64::from(step.lanes.count_ones());
            let wait = |made: &mut Vec<Made>, which: &[usize]| {
                for load in which {
                    let made = &mut made[*load];
                    if made.had.is_none() {
                        made.had = Some(now - made.at);
                        made.barriers[1] = barrier;
                    }
                }
            };
            match instruction.kind {
                Kind::Load => {
                    for register in &instruction.read {
                        wait(&mut followed.made, &std::mem::take(&mut values[*register]));
                    }
                    let each = step.access.as_ref().map_or(0, |access| access.bytes);
                    // Loads of other spaces by generic addresses bring nothing from afar.
                    let is_global = step
                        .access
                        .as_ref()
                        .is_some_and(|access| access.space == simt::program::MemSpace::Global);
                    let load = followed.made.len();
                    if is_global {
                        followed.made.push(Made {
                            at: now,
                            bytes: f64::from(each) * lanes,
                            had: None,
                            barriers: [barrier; 2],
                        });
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
                Kind::Copy(bytes) => {
                    open.push(followed.made.len());
                    followed.made.push(Made {
                        at: now,
                        bytes: f64::from(bytes) * lanes,
                        had: None,
                        barriers: [barrier; 2],
                    });
                }
                Kind::Commit => groups.push(std::mem::take(&mut open)),
                Kind::WaitGroups(but) => {
                    let n = groups.len().saturating_sub(but);
                    for group in groups.drain(..n) {
                        wait(&mut followed.made, &group);
                    }
                }
                Kind::WaitAll => {
                    for group in groups.drain(..).chain([std::mem::take(&mut open)]) {
                        wait(&mut followed.made, &group);
                    }
                }
                Kind::Pass => {
                    let mut passed: Vec<usize> = Vec::new();
                    for register in &instruction.read {
                        passed.extend(
                            values[*register]
                                .iter()
                                .filter(|load| followed.made[**load].had.is_none()),
                        );
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
                Kind::Use | Kind::MultiplyAdd | Kind::Barrier | Kind::OtherBarrier => {
                    for register in &instruction.read {
                        wait(&mut followed.made, &std::mem::take(&mut values[*register]));
                    }
                    for register in &instruction.written {
                        values[*register].clear();
                    }
                    match instruction.kind {
                        Kind::MultiplyAdd => {
                            let done = lanes / f64::from(WARP);
                            fmas += done;
                            followed.fmas[barrier] += done;
                        }
                        Kind::Barrier => followed.fmas.push(0.0),
                        Kind::OtherBarrier => followed.meets_elsewhere = true,
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

    /// Follows one warp through a text in which each line is done once.
    fn followed(lines: &str) -> Followed {
        let texts: Vec<&str> = lines
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
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

    /// Two warps with parts of their own, whose rounds are `rounds` of both; a tile has two multiply-adds.
    fn parts(rounds: &[(&str, &str)], barrier: &str) -> Ahead {
        let warp = |part: fn(&(&str, &str)) -> String| {
            let rounds: Vec<String> = rounds.iter().map(part).collect();
            followed(&rounds.join(barrier))
        };
        let warps = [
            warp(|(one, _)| (*one).to_owned()),
            warp(|(_, two)| (*two).to_owned()),
        ];
        of_parts(&warps, |_| 2.0)
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
        let late =
            format!("{FMA}{copy}{FMA}{FMA}{copy}cp.async.wait_group 1;\n{FMA}{FMA}cp.async.wait_all;\n");
        assert_eq!(share(&late, 2.0), Some(1.0));
        let at_once = format!("{FMA}{copy}cp.async.wait_group 0;\n{FMA}{FMA}{copy}cp.async.wait_group 0;\n");
        assert_eq!(share(&at_once, 2.0), Some(0.0));
    }

    #[test]
    fn what_is_loaded_before_any_product_or_never_used_does_not_count() {
        let text = format!(
            "ld.global.f32 %f1, [%rd1];\nst.shared.f32 [%r1], %f1;\n{FMA}ld.global.f32 %f2, [%rd1];\n"
        );
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
        assert_eq!(parts(&ahead, "bar.sync 0;\n"), Ahead::Share(1.0));
        let in_turn = [(LOAD, ""), ("", TILE), (LOAD, ""), ("", TILE), ("", "")];
        assert_eq!(parts(&in_turn, "bar.sync 0;\n"), Ahead::Share(0.0));
        let half = [(LOAD, ""), (LOAD, TILE), (LOAD, ""), ("", TILE), ("", "")];
        assert_eq!(parts(&half, "bar.sync 0;\n"), Ahead::Share(0.5));
    }

    #[test]
    fn parts_that_meet_at_something_else_are_not_judged() {
        let ahead = [(LOAD, ""), (LOAD, TILE), ("", TILE), ("", "")];
        for barrier in ["bar.sync 1, 64;\n", "bar.arrive 0, 64;\n", "bar.warp.sync -1;\n"] {
            assert!(matches!(parts(&ahead, barrier), Ahead::Unseen(_)), "{barrier}");
        }
        assert_eq!(parts(&[("", TILE), ("", TILE)], "bar.sync 0;\n"), Ahead::Nothing);
    }
}
