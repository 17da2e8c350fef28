//! Operations on other lanes' registers: shuffles, votes, matches, reductions.

use std::ops::ControlFlow;

use crate::check::{Astray, MistakeDetails, SyncMask, WrongMask};
use crate::lane_mask::LaneMask;
use program::text::{InstrText, registers};
use program::{InstrInfo, OpKind, ReduxKind, ShuffleMode, VoteMode};

use crate::exec::block::shadow::{Origin, Origins};
use crate::exec::fiber::{AfterOp, MeetingPlace};
use crate::exec::worker::Worker;

/// Returns the lane that `lane` reads from, and whether it is in range ("shfl.sync" in the PTX manual).
fn source_lane(mode: ShuffleMode, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let b = b & 31;
    let clamp = c & 31;
    let segment = c >> 8 & 31;
    let max = (lane & segment) | (clamp & !segment);
    let min = lane & segment;
    let (from, in_range) = match mode {
        ShuffleMode::Up => {
            let from = lane.wrapping_sub(b);
            (from, from as i32 >= max as i32)
        }
        ShuffleMode::Down => (lane + b, lane + b <= max),
        ShuffleMode::Bfly => (lane ^ b, lane ^ b <= max),
        ShuffleMode::Idx => {
            let from = min | (b & !segment);
            (from, from <= max)
        }
    };
    if in_range { (from & 31, true) } else { (lane, false) }
}

/// Returns whether the result of a shuffle is added to the value that it was given: moves lie in between.
fn adds_to_itself(instrs: &[InstrInfo], shuffle: usize) -> bool {
    const NEAR: usize = 8;
    let text = |at: usize| InstrText::new(&instrs[at].text);
    let moves = |at: &InstrText<'_>| at.family() == "mov" && at.guard.is_none();
    let parts = text(shuffle);
    let mut given: Vec<&str> = parts.operands.get(1).into_iter().flat_map(|value| registers(value)).collect();
    for at in (shuffle.saturating_sub(NEAR)..shuffle).rev().map(text).filter(moves) {
        if at.sets().any(|set| given.contains(&set)) {
            given.extend(at.set_and_read().1.iter().flat_map(|source| registers(source)));
        }
    }
    let mut got: Vec<&str> = parts.sets().take(1).collect();
    for at in (shuffle + 1..instrs.len().min(shuffle + 1 + NEAR)).map(text) {
        let (_, sources) = at.set_and_read();
        let reads = |of: &[&str]| sources.iter().flat_map(|source| registers(source)).any(|read| of.contains(&read));
        if at.family() == "add" && reads(&got) && reads(&given) {
            return true;
        }
        if moves(&at) && reads(&got) {
            got.extend(at.sets());
        }
    }
    false
}

impl Worker<'_> {
    /// Groups the `active` lanes by the members that they name.
    pub(crate) fn groups_of(&self, members: i32, active: LaneMask) -> Vec<(LaneMask, LaneMask)> {
        let mut groups: Vec<(LaneMask, LaneMask)> = Vec::with_capacity(1);
        for lane in active.iter() {
            let named = LaneMask::from_bits(self.u32_at(members, lane));
            match groups.iter_mut().find(|(n, _)| *n == named) {
                Some((_, lanes)) => *lanes |= LaneMask::of(lane),
                None => groups.push((named, LaneMask::of(lane))),
            }
        }
        groups
    }

    /// Reports lanes whose mask leaves out the lane itself, or is not the one of a lane that it names.
    #[inline]
    pub(crate) fn check_masks(&mut self, groups: &[(LaneMask, LaneMask)], pc: u32, active: LaneMask) {
        for &(named, lanes) in groups {
            if !(lanes & !named).is_empty() {
                self.wrong_mask(pc, lanes & !named, named, active, WrongMask::CallerNotNamed);
                continue;
            }
            let differs = groups.iter().find(|(other, theirs)| *other != named && !(*theirs & named).is_empty());
            if let Some(&(other, _)) = differs {
                self.wrong_mask(pc, lanes, named, active, WrongMask::Differs(other));
            }
        }
    }

    /// Reports shuffles from named lanes that went another way; values of lanes that do not exist become undefined.
    #[inline]
    fn check_sources(&mut self, groups: &[(LaneMask, LaneMask)], sources: &[u32; 32], pc: u32, active: LaneMask) {
        for &(named, lanes) in groups {
            let all = self.block.warps[self.warp.index as usize].all;
            let astray = lanes.filter(|lane| !(active & named).contains(sources[lane] as usize));
            let missing = astray.filter(|lane| (named & all).contains(sources[lane] as usize));
            if !missing.is_empty() {
                let used = self.job.instr_at(pc);
                let wrong = WrongMask::SourceMissing(Astray { from: sources[missing.first() & 31], used });
                self.wrong_mask(pc, missing, named, active, wrong);
            }
            if astray != missing && !self.block.warps[self.warp.index as usize].undefined_mask {
                self.shuffle_astray([named, active], sources, pc, astray & !missing);
            }
        }
    }

    #[cold]
    fn shuffle_astray(&mut self, masks: [LaneMask; 2], sources: &[u32; 32], pc: u32, lanes: LaneMask) {
        let op = &self.job.kernel.ops[pc as usize];
        let OpKind::Shuffle { dst, .. } = op.kind else { return };
        let dst = self.checks.shadow.line(dst);
        for lane in lanes.iter() {
            let origin = Origin::shuffled(op.instr, masks, lane, sources[lane]);
            self.checks.shadow.undefine(dst, lane, u32::MAX.into(), Origins::one(origin));
        }
    }

    /// Reports a shuffle that gives each lane its own value, where that is added to itself.
    #[cold]
    fn check_distance(&mut self, named: LaneMask, active: LaneMask, pc: u32, distance: u32) {
        let kernel = self.job.kernel;
        if adds_to_itself(&kernel.instrs, kernel.ops[pc as usize].instr as usize) {
            self.wrong_mask(pc, active, named, active, WrongMask::OwnValue { distance });
        }
    }

    #[cold]
    pub(crate) fn wrong_mask(
        &mut self, pc: u32, lanes: LaneMask, named: LaneMask, present: LaneMask, wrong: WrongMask,
    ) {
        if self.block.warps[self.warp.index as usize].undefined_mask {
            return;
        }
        let details = self.sync_mask(named, present, wrong);
        self.record_mistake(pc, lanes, details);
    }

    /// Returns the facts about a mask, of the warp that runs.
    pub(crate) fn sync_mask(&self, named: LaneMask, present: LaneMask, wrong: WrongMask) -> MistakeDetails {
        let warp = &self.block.warps[self.warp.index as usize];
        let elsewhere = warp
            .fibers
            .iter()
            .map(|f| (f.wait_instr, f.lanes() & !present, f.state))
            .filter(|(_, lanes, state)| !lanes.is_empty() && *state != crate::exec::fiber::FiberState::Ready)
            .map(|(at, lanes, _)| (at, lanes))
            .collect();
        MistakeDetails::SyncMask(SyncMask { named, present, exited: warp.all & !self.warp.live, wrong, elsewhere })
    }

    pub(crate) fn warp_wide(&mut self, kind: &OpKind, pc: u32, active: LaneMask) -> ControlFlow<AfterOp> {
        let members = match kind {
            OpKind::Shuffle { src, .. } => src[3],
            OpKind::Vote { members, .. } => *members,
            OpKind::Match { src, .. } | OpKind::Redux { src, .. } => src[1],
            _ => return ControlFlow::Continue(()),
        };
        let groups = self.groups_of(members, active);
        let need = groups.iter().fold(LaneMask::EMPTY, |all, (named, _)| all | *named);
        self.wait_for_lanes(need, MeetingPlace::At(pc), pc, active)?;
        if self.job.check_level.checks() {
            self.check_masks(&groups, pc, active);
        }
        match kind {
            OpKind::Shuffle { mode, dst, dst_pred, src, .. } => {
                let (a, b, c) = (self.u32s(src[0]), self.u32s(src[1]), self.u32s(src[2]));
                let mut in_range = LaneMask::EMPTY;
                let mut sources = [0; 32];
                let out = self.out32(*dst);
                for lane in active.iter() {
                    let (from, ok) = source_lane(*mode, lane as u32, b[lane], c[lane]);
                    out[lane] = a[from as usize];
                    sources[lane] = from;
                    if ok {
                        in_range |= LaneMask::of(lane);
                    }
                }
                if !self.checks.shadow.is_clean() {
                    self.propagate_shuffle(src[0], *dst, *dst_pred, &sources, active);
                }
                if self.job.check_level.checks() {
                    self.check_sources(&groups, &sources, pc, active);
                    let distance = b[active.first() & 31];
                    if *mode != ShuffleMode::Idx && distance >= 32 && distance.is_multiple_of(32) {
                        self.check_distance(groups[0].0, active, pc, distance);
                    }
                }
                if let Some(dst_pred) = *dst_pred {
                    self.set_pred(dst_pred, in_range, active);
                }
            }
            OpKind::Vote { mode, dst, pred, negated, .. } => {
                let p = self.pred(*pred);
                let p = if *negated { !p } else { p };
                for (_, lanes) in groups {
                    let yes = p & lanes;
                    if !self.checks.shadow.is_clean() {
                        self.propagate_vote(*mode, *dst, (*pred, *negated), lanes, pc);
                    }
                    match mode {
                        VoteMode::Ballot => lanes.iter().for_each(|lane| self.out32(*dst)[lane] = yes.bits()),
                        VoteMode::All => self.set_pred(*dst, all_if(yes == lanes), lanes),
                        VoteMode::Any => self.set_pred(*dst, all_if(!yes.is_empty()), lanes),
                        VoteMode::Uni => self.set_pred(*dst, all_if(yes.is_empty() || yes == lanes), lanes),
                    }
                }
            }
            OpKind::Match { all, wide, dst, dst_pred, src } => {
                let values: [u64; 32] = std::array::from_fn(|lane| {
                    if *wide { self.u64_at(src[0], lane) } else { u64::from(self.u32_at(src[0], lane)) }
                });
                for (_, lanes) in groups {
                    if !self.checks.shadow.is_clean() {
                        self.propagate_gathered(src[0], self.checks.shadow.line(*dst), lanes, u32::MAX.into(), pc);
                        if let Some(dst_pred) = *dst_pred {
                            let dst_pred = self.checks.shadow.pred(dst_pred);
                            self.propagate_gathered(src[0], dst_pred, lanes, 1, pc);
                        }
                    }
                    let like = |v: u64| lanes.filter(|lane| values[lane] == v);
                    for lane in lanes.iter() {
                        let same = like(values[lane]);
                        let result = if *all && same != lanes { 0 } else { same.bits() };
                        self.out32(*dst)[lane] = result;
                        if let Some(dst_pred) = *dst_pred
                            && *all
                        {
                            self.set_pred(dst_pred, all_if(same == lanes), LaneMask::of(lane));
                        }
                    }
                }
            }
            OpKind::Redux { kind, dst, src } => {
                let values = self.u32s(src[0]);
                for (_, lanes) in groups {
                    if !self.checks.shadow.is_clean() {
                        self.propagate_gathered(src[0], self.checks.shadow.line(*dst), lanes, u32::MAX.into(), pc);
                    }
                    let of_lanes = lanes.iter().map(|l| values[l]);
                    let result = of_lanes.reduce(|a, b| match kind {
                        ReduxKind::Add => a.wrapping_add(b),
                        ReduxKind::MinS => (a as i32).min(b as i32) as u32,
                        ReduxKind::MaxS => (a as i32).max(b as i32) as u32,
                        ReduxKind::MinU => a.min(b),
                        ReduxKind::MaxU => a.max(b),
                        ReduxKind::And => a & b,
                        ReduxKind::Or => a | b,
                        ReduxKind::Xor => a ^ b,
                    });
                    let result = result.unwrap_or(0);
                    lanes.iter().for_each(|lane| self.out32(*dst)[lane] = result);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn all_if(yes: bool) -> LaneMask {
    if yes { LaneMask::ALL } else { LaneMask::EMPTY }
}
