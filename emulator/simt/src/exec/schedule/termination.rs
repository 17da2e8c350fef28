//! Blocks that never end: deadlocks, and loops that use up the budget.

use std::collections::BTreeSet;

use crate::check::{BarrierGroup, BarrierProblem, KnownOfLoop, MistakeDetails, PolledElement};
use crate::lane_mask::LaneMask;
use arithmetic::lanes::{Class, Line};
use program::operands::{Operand, for_each_operand};
use program::{Access, MemSpace, OpKind, Order};

use crate::exec::block::{Warp, watch::Watch};
use crate::exec::fiber::{Fiber, FiberState, Frame, Pause};
use crate::exec::{launch_job::LaunchJob, worker::Worker};

/// Branches for which a warp is watched until its state comes back.
const MAX_BRANCHES: u64 = 3 << 12;
/// Turns for which a warp is watched before the budget is spent: this is slow.
const MAX_TURNS: u32 = 16;

/// The first branch after which its state is kept.
const FIRST_KEPT: u64 = 64;
/// Barriers at which it waits for others meanwhile.
const MAX_WAITS: u32 = 1 << 12;

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
            let instr = self.job.instr_at(at);
            let details = MistakeDetails::NotResident { resident: self.job.resident };
            self.record_mistake_of(warp as u32, instr, lanes, details);
        }
    }

    /// Stops the launch when blocks that wait for each other, of which this is one, have spent the budget.
    pub(crate) fn runaway_block(&mut self) {
        let warp = self.block.warps.iter().position(Warp::is_ready).unwrap_or(0) as u32;
        self.switch_to_warp(warp);
        self.activity.moved = false;
        self.runaway(warp);
    }

    /// Stops the launch when the budget is spent, with the loop that the warp is in.
    pub(crate) fn runaway(&mut self, w: u32) {
        let (watch, endless) = self.run_on(w);
        self.stop_in(&watch, endless);
    }

    /// Stops the launch if the warp about to run is watched and in an endless loop; watching changes nothing else.
    pub(super) fn begin_watched_turn(&mut self, w: u32) {
        let Some(mut watch) = self.block.watch.take_if(|watch| watch.warp == w) else { return };
        let Some(stack) = self.only_running(w) else { return };
        // The host may still change what the warp polls.
        let endless = self.comes_back(&watch, &stack, false);
        if endless.is_some() {
            return self.stop_in(&watch, endless);
        }
        watch.turns += 1;
        if watch.turns.is_power_of_two() {
            let (lines, preds) = self.registers();
            watch.keep((stack, lines, preds));
        }
        if watch.turns <= MAX_TURNS {
            self.executed_pcs = Some(std::mem::take(&mut watch.positions));
            self.block.watch = Some(watch);
        }
    }

    pub(super) fn end_watched_turn(&mut self) {
        if let (Some(positions), Some(watch)) = (self.executed_pcs.take(), &mut self.block.watch) {
            watch.positions = positions;
        }
    }

    /// Returns the frames of the lanes that run, if these are together. Lanes that wait change no register of theirs.
    fn only_running(&self, w: u32) -> Option<Vec<Frame>> {
        let mut running = self.block.warps[w as usize].fibers.iter().filter(|f| f.state == FiberState::Ready);
        let (Some(fiber), None) = (running.next(), running.next()) else { return None };
        Some(fiber.stack.clone())
    }

    /// Returns how a warp is known to run forever, if it is: the state that its branches depend on has returned to the
    /// kept one, and no other thread is left to change the memory that it reads, by strong loads too if `with_polls`.
    fn comes_back(&self, watch: &Watch, stack: &[Frame], with_polls: bool) -> Option<KnownOfLoop> {
        let (_, lines, preds) = watch.kept.as_ref().filter(|(frames, ..)| frames == stack)?;
        let is_alone = (0..).zip(&self.block.warps).all(|(other, warp)| other == watch.warp || !warp.is_ready())
            && self.job.grid.iter().product::<u32>() == 1;
        let deciding = Deciding::new(self.job, watch.positions.iter(), is_alone, with_polls)?;
        let (lines_now, preds_now) = self.registers();
        let same_lines = deciding.lines.iter().all(|at| lines[*at as usize].0 == lines_now[*at as usize].0);
        if !same_lines || deciding.preds.iter().any(|at| preds[*at as usize] != preds_now[*at as usize]) {
            return None;
        }
        Some(if deciding.reads { KnownOfLoop::EndlessAlone } else { KnownOfLoop::Endless })
    }

    fn stop_in(&mut self, watch: &Watch, endless: Option<KnownOfLoop>) {
        let (job, w) = (self.job, watch.warp);
        let ready = |f: &Fiber| f.state == FiberState::Ready;
        let mask = self.block.warps[w as usize].fibers.iter().find(|f| ready(f)).map_or(LaneMask::of(0), Fiber::lanes);
        self.warp.index = w;
        let low = watch.positions.first().copied().unwrap_or(0);
        let loop_of = smallest_loop(job, &watch.positions);
        let at = loop_of.map_or(low, |(first, _)| first);
        let span = loop_of.map(|(a, b)| (job.instr_at(a), job.instr_at(b)));
        let ended = self.others_wait.filter(|_| self.block.waits && !self.activity.moved);
        let known = match endless.filter(|_| loop_of.is_some()) {
            Some(endless) => endless,
            None => {
                ended.map_or(KnownOfLoop::Nothing, |ended| KnownOfLoop::OthersWait { ended, polled: self.polled() })
            }
        };
        let details = MistakeDetails::Runaway { budget: job.budget, known, span };
        self.stopped = false;
        if job.check_level.checks()
            && ended.is_some()
            && let Some((first, last)) = loop_of
            && polls(&job.kernel.ops[first as usize..=last as usize])
        {
            self.waited_for(job.instr_at(at));
        }
        self.fatal(at, mask, details);
    }

    /// Watches a warp for some branches, when the launch is about to stop: it runs alone, as far as its block lets it.
    fn run_on(&mut self, w: u32) -> (Watch, Option<KnownOfLoop>) {
        let mut watch = Watch::new(w);
        let (mut endless, mut n_waits) = (None, 0);
        self.block.poll_cache.clear();
        self.activity.caches_polls = true;
        for n in 1..=MAX_BRANCHES {
            self.executed_pcs = Some(std::mem::take(&mut watch.positions));
            // Each branch ends a turn here: a poll before it must not part the lanes there.
            self.activity.polled = false;
            let pause = self.in_turn(w, |worker| {
                worker.warp.left = 0;
                worker.run_fiber(w)
            });
            watch.positions = self.executed_pcs.take().unwrap_or_default();
            self.join_lanes(w as usize);
            self.block.spent = self.spent;
            if self.stopped {
                break;
            }
            if !self.block.warps[w as usize].is_ready() {
                // At a barrier, others have to arrive.
                let others =
                    (0..self.job.n_warps).filter(|other| *other != w && self.block.warps[*other as usize].is_ready());
                others.collect::<Vec<_>>().into_iter().for_each(|other| self.run_warp(other));
                n_waits += 1;
                if self.stopped || n_waits > MAX_WAITS || !self.block.warps[w as usize].is_ready() {
                    break;
                }
                continue;
            }
            let Some(stack) = self.only_running(w) else { break };
            if !matches!(pause, Some(Pause::EndOfTurn | Pause::Poll)) {
                continue;
            }
            endless = self.comes_back(&watch, &stack, true);
            if endless.is_some() {
                break;
            }
            // The state after branch 64, 128, 256, … is kept until it comes back.
            if n.is_power_of_two() && n >= FIRST_KEPT {
                let (lines, preds) = self.registers();
                watch.keep((stack, lines, preds));
            }
        }
        (watch, endless)
    }

    /// Returns the only element that the block polls, and its value.
    fn polled(&mut self) -> Option<PolledElement> {
        let &[(at, bytes, value)] = self.block.poll_cache.places() else { return None };
        let offset = (at as usize).wrapping_sub(self.block.shared_start() as usize);
        let (space, address) = match offset < self.job.shared_bytes as usize {
            true => (MemSpace::Shared, offset as u64),
            false => {
                let (allocation, offset) = self.job.table.holder(at)?;
                (MemSpace::Global, allocation.base + offset as u64)
            }
        };
        Some(PolledElement { space, address, bytes: bytes.into(), value })
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

    /// Reports a warp that polls without end while all other threads wait, some at a barrier, or have exited.
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

/// The registers on which the way of a warp through some operations depends.
#[derive(Default)]
struct Deciding {
    lines: BTreeSet<u32>,
    preds: BTreeSet<u32>,
    /// Whether they depend on memory that threads can change.
    reads: bool,
}

impl Deciding {
    /// Returns `None` if the path depends on more than registers, as on shared data. `is_alone` tells whether no other
    /// warp runs.
    fn new<'p>(
        job: &LaunchJob<'_>, positions: impl Iterator<Item = &'p u32> + Clone, is_alone: bool, with_polls: bool,
    ) -> Option<Self> {
        let ops = || positions.clone().map(|at| (*at as usize, &job.kernel.ops[*at as usize]));
        let is_stored = ops().any(|(_, op)| matches!(op.kind, OpKind::Store(_) | OpKind::Atomic(_)));
        let stays = |access: &Access| match access.space {
            MemSpace::Param | MemSpace::Const => true,
            MemSpace::Local => !is_stored,
            _ => !is_stored && is_alone && (with_polls || access.order != Order::Strong),
        };
        let mut found = Self::default();
        loop {
            let n = found.lines.len() + found.preds.len();
            for (at, op) in ops() {
                let mut registers = Vec::new();
                for_each_operand(&op.kind, job.kernel.shapes[at].classes(), &mut |operand| {
                    registers.extend((operand.src >= 0).then_some(operand))
                });
                let is_wanted = match op.kind {
                    OpKind::Branch { .. } | OpKind::BranchIndexed { .. } | OpKind::Leave { .. } | OpKind::Exit => true,
                    OpKind::Alu { .. }
                    | OpKind::Load(_)
                    | OpKind::Store(_)
                    | OpKind::Atomic(_)
                    | OpKind::Shuffle { .. }
                    | OpKind::Vote { .. }
                    | OpKind::Match { .. }
                    | OpKind::Redux { .. }
                    | OpKind::ActiveMask { .. }
                    | OpKind::Converge { .. }
                    | OpKind::Barrier { .. }
                    | OpKind::WarpSync { .. }
                    | OpKind::Nop
                    | OpKind::Yield
                    | OpKind::Fence
                    | OpKind::ProxyFence
                    | OpKind::InitFence => registers.iter().any(|operand| !operand.role.is_use() && found.has(operand)),
                    _ => return None,
                };
                match &op.kind {
                    _ if !is_wanted => continue,
                    OpKind::Load(access) if !stays(access) => return None,
                    OpKind::Load(access) => found.reads |= !matches!(access.space, MemSpace::Param | MemSpace::Const),
                    OpKind::Atomic(_) | OpKind::Barrier { .. } => return None,
                    _ => {}
                }
                found.preds.insert(op.guard.pred.into());
                registers.iter().filter(|operand| operand.role.is_use()).for_each(|operand| found.add(operand));
            }
            if found.lines.len() + found.preds.len() == n {
                return Some(found);
            }
        }
    }

    fn lines_of(operand: &Operand) -> std::ops::Range<u32> {
        let first = operand.src as u32;
        first..first + if operand.class == Class::Bits64 { 2 } else { 1 }
    }

    fn has(&self, operand: &Operand) -> bool {
        match operand.class {
            Class::Pred => self.preds.contains(&(operand.src as u32)),
            Class::Bits32 | Class::Bits64 => Self::lines_of(operand).any(|line| self.lines.contains(&line)),
        }
    }

    fn add(&mut self, operand: &Operand) {
        match operand.class {
            Class::Pred => self.preds.extend([operand.src as u32]),
            Class::Bits32 | Class::Bits64 => self.lines.extend(Self::lines_of(operand)),
        }
    }
}

/// Returns whether one of these operations reads memory that others write while they run.
fn polls(ops: &[program::Op]) -> bool {
    ops.iter().any(|op| match &op.kind {
        OpKind::Load(access) => access.order == Order::Strong,
        OpKind::Atomic(atomic) => atomic.returns,
        _ => false,
    })
}

/// Returns the smallest backward branch that spans all `positions`. Where there is none, these are of functions too,
/// which follow the code of a kernel that calls them: returns the largest that was executed, to the first position.
fn smallest_loop(job: &LaunchJob<'_>, positions: &BTreeSet<u32>) -> Option<(u32, u32)> {
    let (low, high) = (*positions.first()?, *positions.last()?);
    let spans = job.kernel.ops.iter().enumerate().flat_map(|(i, op)| {
        let targets = match &op.kind {
            OpKind::Branch { target, .. } => std::slice::from_ref(target),
            OpKind::BranchIndexed { targets, .. } => targets,
            _ => &[],
        };
        targets.iter().map(move |t| (*t, i as u32))
    });
    let spanning = spans.clone().filter(|(t, i)| t <= i && *t <= low && high <= *i).min_by_key(|(t, i)| i - t);
    spanning.or_else(|| spans.filter(|(t, i)| *t == low && positions.contains(i)).max())
}
