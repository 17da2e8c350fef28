//! Barriers of a block: who has arrived, who may go on, and what a barrier shows to be wrong.
//!
//! As since Volta, a barrier counts threads, and does not wait for those that have exited.

use crate::check::Code;
use crate::check::{BarrierGroup, Details};
use crate::program::{BARRIERS, BarrierKind};

use super::fiber::{Fiber, State};
use super::turns::join_ready;
use super::{Cx, bits};

/// A barrier of the block.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Barrier {
    /// Threads that have arrived.
    pub(crate) arrived: u32,
    /// Threads that it waits for; 0: all of the block.
    pub(crate) count: u32,
    /// Threads whose predicate holds, and threads that brought one.
    trues: u32,
    voters: u32,
}
impl Cx<'_> {
    /// Lanes arrive at barrier `id`, below [`BARRIERS`]; true when it is complete and they need not wait.
    pub(crate) fn arrive(&mut self, kind: BarrierKind, id: u32, count: u32, on: u32, instr: u32) -> bool {
        let warp = self.warp as usize;
        let all_of_warp = on == self.live;
        let barrier = &mut self.block.barriers[id as usize];
        // A barrier with a count is told in whole warps: lanes that never were or have exited count with theirs.
        let threads = if count != 0 && all_of_warp {
            32
        } else {
            on.count_ones()
        };
        barrier.arrived += threads;
        barrier.count = barrier.count.max(count);
        if let BarrierKind::RedPopc(_, p, negated)
        | BarrierKind::RedAnd(_, p, negated)
        | BarrierKind::RedOr(_, p, negated) = kind
        {
            // SAFETY: predicates are in range, as `decode::validate` has established.
            let p = unsafe { *self.lanes.preds.add(p as usize) };
            let p = if negated { !p } else { p };
            barrier.trues += (p & on).count_ones();
            barrier.voters += on.count_ones();
        }
        if kind == BarrierKind::Arrive {
            self.try_complete(id);
            return true;
        }
        self.fiber.state = State::Barrier(id as u8);
        self.fiber.at = instr;
        self.fiber.reduction = Some(kind);
        // The running fiber must be among those that wait.
        let fiber = std::mem::replace(&mut self.fiber, Fiber::new(0));
        self.block.warps[warp].fibers.push(fiber);
        self.block.warps[warp].live = self.live;
        self.try_complete(id);
        let fibers = &mut self.block.warps[warp].fibers;
        if let Some(i) = fibers.iter().position(|f| f.lanes() & on != 0) {
            self.fiber = fibers.remove(i);
        }
        self.fiber.state == State::Ready
    }

    /// Lets the waiting go, if all have come.
    pub(super) fn try_complete(&mut self, id: u32) {
        let job = self.job;
        let b = self.block.barriers[id as usize];
        let enough = if b.count == 0 {
            b.arrived >= self.block.live
        } else {
            b.arrived >= b.count
        };
        if b.arrived == 0 || !enough {
            return;
        }
        if job.watch.checks() && b.count == 0 {
            self.check_barrier(id);
        }
        self.block.barriers[id as usize] = Barrier::default();
        for w in 0..self.block.warps.len() {
            let regs = self.block.regs_of(job, w);
            let preds = self.block.preds_of(job, w);
            for f in &mut self.block.warps[w].fibers {
                if f.state != State::Barrier(id as u8) {
                    continue;
                }
                f.state = State::Ready;
                let lanes = f.top().map_or(0, |t| t.mask);
                // SAFETY: destinations are in range, as `decode::validate` has established.
                unsafe {
                    let set = |dst: u32, value: bool| {
                        let p = preds.add(dst as usize);
                        *p = if value { *p | lanes } else { *p & !lanes };
                    };
                    match f.reduction.take() {
                        Some(BarrierKind::RedPopc(dst, ..)) => {
                            let out = regs.add(dst as usize).cast::<u32>();
                            bits(lanes).for_each(|lane| *out.add(lane) = b.trues);
                        }
                        Some(BarrierKind::RedAnd(dst, ..)) => set(dst, b.trues == b.voters),
                        Some(BarrierKind::RedOr(dst, ..)) => set(dst, b.trues > 0),
                        _ => {}
                    }
                }
            }
            if self.block.warps[w].fibers.len() > 1 {
                join_ready(&mut self.block.warps[w].fibers);
            }
        }
        self.progress = true;
        if let Some(races) = &mut self.shared_races {
            races.barrier(&mut self.collector);
        }
        if let Some(races) = &mut self.global_races {
            races.barrier(&mut self.collector);
        }
    }

    /// Lanes of the running fiber have exited: barriers no longer wait for them.
    pub(crate) fn exited(&mut self, lanes: u32, instr: u32) {
        self.live &= !lanes;
        self.block.live -= lanes.count_ones();
        self.progress = true;
        let warp = &mut self.block.warps[self.warp as usize];
        if warp.all & !self.live & (lanes.wrapping_neg() & lanes).wrapping_sub(1) == 0 {
            warp.exit = Some(instr);
        }
        warp.live = self.live;
        for id in 0..BARRIERS {
            if self.block.barriers[id as usize].arrived > 0 {
                self.try_complete(id);
            }
        }
    }

    /// What a complete barrier shows to be wrong.
    fn check_barrier(&mut self, id: u32) {
        let groups = self.groups(|s| s == State::Barrier(id as u8));
        let kernel = self.job.kernel;
        let place = |g: &BarrierGroup| {
            let source = kernel.instrs.get(g.instr as usize).and_then(|i| i.source);
            source.map_or((u32::MAX, g.instr, 0), |s| (s.file, s.line, s.column))
        };
        let Some(first) = groups.first() else { return };
        let (instr, place_of_first) = (first.instr, place(first));
        let Some(warp) = first.threads.iter().position(|m| *m != 0) else {
            return;
        };
        let mask = first.threads[warp];
        let running = std::mem::replace(&mut self.warp, warp as u32);
        let apart = groups.iter().any(|g| place(g) != place_of_first);
        if apart {
            self.report_at(
                instr,
                Code::Barrier,
                mask,
                Details::Barrier {
                    groups,
                    deadlock: false,
                },
            );
        }
        let returned = self.job.n_threads - self.block.live;
        if returned > 0
            && self
                .collector
                .is_new(Code::ExitedBeforeBarrier, instr, self.block.index)
        {
            let exited = self.block.warps.iter().enumerate().find(|(_, w)| w.all != w.live);
            if let Some((w, warp)) = exited {
                let first = w as u32 * 32 + (warp.all & !warp.live).trailing_zeros();
                let details = Details::Exited {
                    returned,
                    first,
                    exit: warp.exit,
                };
                self.report_at(instr, Code::ExitedBeforeBarrier, mask, details);
            }
        }
        self.warp = running;
    }

    /// Fibers in some state, by the instruction they are at.
    pub(super) fn groups(&self, wanted: impl Fn(State) -> bool) -> Vec<BarrierGroup> {
        let n_warps = self.block.warps.len();
        let mut groups: Vec<BarrierGroup> = Vec::new();
        for (w, warp) in self.block.warps.iter().enumerate() {
            for f in warp.fibers.iter().filter(|f| wanted(f.state)) {
                let at_barrier = matches!(f.state, State::Barrier(_));
                let known = groups
                    .iter()
                    .position(|g| g.instr == f.at && g.at_barrier == at_barrier);
                let i = known.unwrap_or_else(|| {
                    let threads = vec![0; n_warps].into_boxed_slice();
                    groups.push(BarrierGroup {
                        instr: f.at,
                        at_barrier,
                        threads,
                    });
                    groups.len() - 1
                });
                groups[i].threads[w] |= f.lanes();
            }
        }
        groups
    }
}
