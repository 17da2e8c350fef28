//! Blocks that never end: deadlocks, and loops that use up the budget.

use crate::check::{BarrierGroup, BarrierProblem, KnownOfLoop, MistakeDetails};
use crate::lane_mask::LaneMask;

use crate::arithmetic::lanes::Line;

use crate::exec::fiber::{Fiber, FiberState, Pause};
use crate::exec::launch_job::Job;
use crate::exec::warp;
use crate::exec::worker::Worker;

/// Rounds of a loop in which its state may come back, to be known for one without end.
const MAX_ROUNDS: u32 = 1 << 10;
/// Turns for that, in all.
const MAX_TURNS: u32 = 1 << 14;

impl Worker<'_> {
    /// Reports that no thread can continue.
    pub(crate) fn deadlock(&mut self) {
        let groups = self.groups(|_| true);
        let Some(first) = groups.first() else { return };
        let instr = first.instr;
        let Some((warp, mask)) = first.first() else { return };
        let details = MistakeDetails::Barrier { groups, problem: BarrierProblem::Deadlock };
        self.record_mistake_of(warp, instr, mask, details);
        self.stopped = true;
    }

    /// Reports that all blocks which fit on the device wait, and none of them ends so that another can start.
    pub(crate) fn report_not_resident(&mut self) {
        let ready = |f: &Fiber| f.state == FiberState::Ready;
        let warps = self.block.warps.iter().enumerate();
        let polls = warps.flat_map(|(w, warp)| warp.fibers.iter().filter(|f| ready(f)).map(move |f| (w, f))).next();
        if let Some((warp, fiber)) = polls
            && let Some(top) = fiber.top()
        {
            let (at, lanes) = (top.pc.saturating_sub(1), fiber.lanes());
            let instr = self.job.kernel.ops.get(at as usize).map_or(0, |op| op.instr);
            let details = MistakeDetails::NotResident { resident: self.job.resident };
            self.record_mistake_of(warp as u32, instr, lanes, details);
        }
    }

    /// Stops the launch when blocks that wait for each other, of which this is one, have spent the budget.
    pub(crate) fn runaway_block(&mut self) {
        let ready = |w: &crate::exec::block::Warp| w.fibers.iter().any(|f| f.state == FiberState::Ready);
        let warp = self.block.warps.iter().position(ready).unwrap_or(0) as u32;
        self.switch_to_warp(warp);
        self.activity.moved = false;
        self.runaway(warp);
    }

    /// Stops the launch when the budget is spent, with the loop that the warp is in.
    pub(crate) fn runaway(&mut self, w: u32) {
        let job = self.job;
        let (mut low, mut high) = (u32::MAX, 0);
        let ready = |f: &Fiber| f.state == FiberState::Ready;
        let mask = self.block.warps[w as usize].fibers.iter().find(|f| ready(f)).map_or(LaneMask::of(0), Fiber::lanes);
        // The targets of the next branches show how far the loop reaches.
        for _ in 0..10_000 {
            let fibers = &mut self.block.warps[w as usize].fibers;
            let Some(i) = fibers.iter().position(ready) else { break };
            self.warp.fiber = fibers.remove(i);
            self.warp.left = 0;
            let start = self.warp.fiber.top().map_or(0, |t| t.pc);
            let pause = warp::run(self);
            let end = self.warp.fiber.top().map_or(0, |t| t.pc);
            (low, high) = (low.min(start).min(end), high.max(start).max(end));
            let fiber = std::mem::take(&mut self.warp.fiber);
            if pause != Pause::Ended {
                self.block.warps[w as usize].fibers.push(fiber);
            }
            if self.stopped {
                break;
            }
        }
        self.warp.index = w;
        let loop_of = smallest_loop(job, low, high);
        let at = loop_of.map_or_else(|| low.min(job.kernel.ops.len() as u32 - 1), |(first, _)| first);
        let instr = |pc: u32| job.kernel.ops.get(pc as usize).map_or(0, |op| op.instr);
        let span = loop_of.map(|(a, b)| (instr(a), instr(b)));
        let waits = self.others_wait && self.block.waits && !self.activity.moved;
        let known = match !self.stopped && loop_of.is_some_and(|(first, last)| self.repeats(w, first, last)) {
            true => KnownOfLoop::Endless,
            false if waits => KnownOfLoop::OthersWait,
            false => KnownOfLoop::Nothing,
        };
        let details = MistakeDetails::Runaway { budget: job.budget, known, span };
        self.stopped = false;
        if job.check_level.checks()
            && waits
            && let Some((first, last)) = loop_of
            && polls(&job.kernel.ops[first as usize..=last as usize])
        {
            self.waited_for(instr(at));
        }
        self.fatal(at, mask, details);
    }

    /// Returns whether a warp that runs the loop at `first ..= last` is bound to run it forever: its state comes back
    /// without a store, and no other thread is left to change what it reads.
    fn repeats(&mut self, w: u32, first: u32, last: u32) -> bool {
        let job = self.job;
        let ready = |f: &Fiber| f.state == FiberState::Ready;
        let mut others = self.block.warps.iter().enumerate();
        let alone = others.all(|(other, warp)| other == w as usize || !warp.fibers.iter().any(ready));
        let blocks: u64 = job.grid.iter().map(|&n| u64::from(n)).product();
        let ops = &job.kernel.ops[first as usize..=last as usize];
        let stay = ops.iter().all(|op| stays(op, alone && blocks == 1));
        // Lanes that wait change no register of those that run.
        let n_ready = self.block.warps[w as usize].fibers.iter().filter(|fiber| ready(fiber)).count();
        if !stay || n_ready != 1 {
            return false;
        }
        // The state at one place of the loop, kept at rounds 1, 2, 4, … until one comes back.
        let mut kept: Option<(Fiber, Vec<Line>, Vec<u32>)> = None;
        let (mut rounds, mut keep_at) = (0u32, 1u32);
        for _ in 0..MAX_TURNS {
            let fibers = &mut self.block.warps[w as usize].fibers;
            let Some(i) = fibers.iter().position(ready) else { return false };
            self.warp.fiber = fibers.remove(i);
            self.warp.left = 0;
            self.activity.progress = false;
            let pause = warp::run(self);
            let fiber = std::mem::take(&mut self.warp.fiber);
            if pause == Pause::Ended {
                return false;
            }
            let pc = fiber.top().map_or(0, |t| t.pc);
            let left = self.activity.progress || self.stopped || !(first..=last).contains(&pc);
            let mut same = false;
            if kept.as_ref().is_none_or(|(at, ..)| at.top().map(|t| t.pc) == Some(pc)) {
                rounds += 1;
                let (lines, preds) = self.registers();
                same = kept.as_ref().is_some_and(|(at, old, old_preds)| {
                    let same_lines = || old.iter().zip(&lines).all(|(a, b)| a.0 == b.0);
                    at.stack == fiber.stack && *old_preds == preds && same_lines()
                });
                if rounds == keep_at {
                    kept = Some((fiber.clone(), lines, preds));
                    keep_at *= 2;
                }
            }
            self.block.warps[w as usize].fibers.push(fiber);
            if left || same || rounds > MAX_ROUNDS {
                return same && !left;
            }
        }
        false
    }

    fn registers(&self) -> (Vec<Line>, Vec<u32>) {
        let kernel = self.job.kernel;
        let lines = (0..kernel.n_lines as usize).map(|i| {
            // SAFETY: a warp has `n_lines` lines of registers, and this worker owns them.
            unsafe { Line((*self.warp.lanes.regs.add(i)).0) }
        });
        let preds = (0..kernel.n_preds as usize).map(|i| {
            // SAFETY: a warp has `n_preds` predicates, and this worker owns them.
            unsafe { *self.warp.lanes.preds.add(i) }
        });
        (lines.collect(), preds.collect())
    }

    /// Reports a warp that polls memory without end, while all other threads wait or have exited and some of its block
    /// wait at a barrier.
    fn waited_for(&mut self, running: u32) {
        let mut groups = self.groups(|state| matches!(state, FiberState::Barrier(_)));
        let Some(first) = groups.first() else { return };
        let instr = first.instr;
        let Some((warp, mask)) = first.first() else { return };
        let others = self.groups(|state| state == FiberState::Ready);
        let mut threads = vec![LaneMask::EMPTY; self.block.warps.len()].into_boxed_slice();
        for group in &others {
            threads.iter_mut().zip(&group.threads).for_each(|(all, some)| *all |= *some);
        }
        groups.push(BarrierGroup { instr: running, at_barrier: false, threads });
        let details = MistakeDetails::Barrier { groups, problem: BarrierProblem::Deadlock };
        self.record_mistake_of(warp, instr, mask, details);
    }
}

/// Returns whether an operation does the same in every round with the same registers. `alone`: no other warp runs.
fn stays(op: &crate::program::Op, alone: bool) -> bool {
    use crate::program::{MemSpace, OpKind};
    match &op.kind {
        OpKind::Alu { .. }
        | OpKind::Branch { .. }
        | OpKind::BranchIndexed { .. }
        | OpKind::Nop
        | OpKind::Yield
        | OpKind::Fence
        | OpKind::ProxyFence
        | OpKind::InitFence => true,
        OpKind::Load(access) => alone || matches!(access.space, MemSpace::Param | MemSpace::Const | MemSpace::Local),
        _ => false,
    }
}

/// Returns whether one of these operations reads memory that others write while they run.
fn polls(ops: &[crate::program::Op]) -> bool {
    use crate::program::{OpKind, Order};
    ops.iter().any(|op| match &op.kind {
        OpKind::Load(access) => access.order == Order::Strong,
        OpKind::Atomic(atomic) => atomic.returns,
        _ => false,
    })
}

/// Returns the smallest backward branch that spans positions `low ..= high`.
fn smallest_loop(job: &Job<'_>, low: u32, high: u32) -> Option<(u32, u32)> {
    use crate::program::OpKind;
    let spans = job.kernel.ops.iter().enumerate().flat_map(|(i, op)| {
        let targets = match &op.kind {
            OpKind::Branch { target, .. } => std::slice::from_ref(target),
            OpKind::BranchIndexed { targets, .. } => targets,
            _ => &[],
        };
        targets.iter().map(move |t| (*t, i as u32))
    });
    spans.filter(|(t, i)| t <= i && *t <= low && high <= *i).min_by_key(|(t, i)| i - t)
}
