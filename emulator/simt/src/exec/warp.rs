//! The loop over operations: one fiber runs until it waits, ends, or has executed its quantum of instructions.

use std::ops::ControlFlow;

use crate::check::{AccessKind, BadOperand, MistakeDetails};
use crate::{lane_mask::LaneMask, trace::Event};
use arithmetic::lanes::Src;
use program::limits::POLL_COST;
use program::{Access, BARRIERS, BarrierKind, Clock, MemSpace, Op, OpKind, Order, window};

use crate::exec::fiber::{AfterOp, FiberState, MeetingPlace, Pause};
use crate::exec::memory::access_spec::AccessSpec;
use crate::exec::memory::{load_store, local_pointers};
use crate::exec::run_mode::{Checked, Counted, General, Plain, RunMode};
use crate::exec::worker::Worker;

/// Polls in a row after which a fiber yields to other lanes and warps: one of them may store the awaited value.
const POLLS_BEFORE_YIELD: u32 = 64;

/// `nanosleep` instructions since the last poll of an mbarrier after which a fiber no longer waits for its phase.
const SLEEPS_BEFORE_PHASE_EXPIRES: u32 = 64;

/// A barrier that counts this many threads or more is an illegal instruction.
const BARRIER_THREADS_LIMIT: u32 = 2048;

/// Runs the fiber in `worker.warp.fiber`.
pub(crate) fn run(worker: &mut Worker<'_>) -> Pause {
    loop {
        let check_level = worker.job.check_level;
        let pause = if worker.needs_general_loop() {
            body::<General>(worker)
        } else if check_level.checks() {
            run_at_level::<Checked>(worker)
        } else if check_level.counts() {
            run_at_level::<Counted>(worker)
        } else {
            run_at_level::<Plain>(worker)
        };
        if pause != Pause::SwitchRunMode {
            return pause;
        }
    }
}

/// Runs a variant of the loop with the vector instructions of the CPU.
fn run_at_level<M: RunMode>(worker: &mut Worker<'_>) -> Pause {
    match worker.job.level {
        #[cfg(vectors = "avx512")]
        // SAFETY: `cpu_level` has found the features.
        arithmetic::lanes::CpuLevel::Avx512 => unsafe { run_avx512::<M>(worker) },
        #[cfg(vectors = "avx2")]
        // SAFETY: `cpu_level` has found the features.
        arithmetic::lanes::CpuLevel::Avx2 => unsafe { run_avx2::<M>(worker) },
        #[cfg(vectors = "base")]
        _ => body::<M>(worker),
        #[cfg(not(vectors = "base"))]
        _ => body::<General>(worker),
    }
}

#[cfg(vectors = "avx512")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
fn run_avx512<M: RunMode>(worker: &mut Worker<'_>) -> Pause {
    body::<M>(worker)
}

#[cfg(vectors = "avx2")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
fn run_avx2<M: RunMode>(worker: &mut Worker<'_>) -> Pause {
    body::<M>(worker)
}

/// Position of the running frame.
#[derive(Clone, Copy)]
struct Position {
    pc: u32,
    reconvergence_pc: u32,
    /// The lanes of the frame. Those for which the guard of an operation holds are active.
    lanes: LaneMask,
    /// Start of the straight run that has not been counted yet.
    start: u32,
}

impl Position {
    #[inline(always)]
    fn of(worker: &Worker<'_>) -> Option<Self> {
        let top = worker.warp.fiber.top()?;
        Some(Self { pc: top.pc, reconvergence_pc: top.reconvergence_pc, lanes: top.mask, start: top.pc })
    }

    /// Counts the operations `start .. end`, and starts again at `next`.
    #[inline(always)]
    fn count<M: RunMode>(&mut self, worker: &mut Worker<'_>, end: u32, next: u32) {
        let n = end.wrapping_sub(self.start);
        if n != 0 {
            let lanes = u64::from(self.lanes.count());
            worker.warp.left -= i64::from(n);
            // The budget is charged for all lanes: an instruction takes as long for one of them as for 32.
            worker.spent += u64::from(n) * 32;
            if M::counts(worker) {
                let (from, to) = (self.start as usize, end as usize);
                let c = &mut worker.counts;
                c.runs[from] = c.runs[from].wrapping_add(1);
                c.runs[to] = c.runs[to].wrapping_sub(1);
                c.lanes[from] = c.lanes[from].wrapping_add(lanes);
                c.lanes[to] = c.lanes[to].wrapping_sub(lanes);
            }
        }
        self.start = next;
    }
}

#[inline(always)]
fn body<M: RunMode>(worker: &mut Worker<'_>) -> Pause {
    let ops: &[Op] = &worker.job.kernel.ops;
    let Some(mut at) = Position::of(worker) else { return Pause::Ended };
    // Reloads `at` from the top frame, after an operation that changed the frames.
    macro_rules! reload {
        () => {
            match Position::of(worker) {
                Some(now) => at = now,
                None => return Pause::Ended,
            }
        };
    }
    // Goes on in the top frame, or ends the turn there.
    macro_rules! next_frame {
        () => {{
            if worker.warp.left < 0 {
                worker.end_turn();
                return Pause::EndOfTurn;
            }
            reload!();
            continue;
        }};
    }
    macro_rules! pause {
        ($next:expr, $why:expr) => {{
            at.count::<M>(worker, at.pc + 1, $next);
            worker.warp.fiber.set_pc($next);
            return $why;
        }};
    }
    loop {
        if at.pc == at.reconvergence_pc {
            at.count::<M>(worker, at.pc, at.pc);
            worker.warp.fiber.reconverge();
            reload!();
            continue;
        }
        if M::GENERAL && !worker.needs_general_loop() {
            at.count::<M>(worker, at.pc, at.pc);
            worker.warp.fiber.set_pc(at.pc);
            return Pause::SwitchRunMode;
        }
        let Some(op) = ops.get(at.pc as usize) else {
            // Unreachable: the decoder ends every path in an exit.
            return Pause::Stopped;
        };
        let active = worker.guard_lanes(op) & at.lanes;
        if M::GENERAL && (!active.is_empty() || op.first) && !worker.trace(op, active) {
            return Pause::Stopped;
        }
        if M::GENERAL
            && let Some(executed) = &mut worker.executed_pcs
        {
            executed.insert(at.pc);
        }
        if M::GENERAL && M::checks(worker) {
            worker.propagate_undefined(op, at.pc, active, at.lanes);
        }
        if M::GENERAL && !cfg!(feature = "scalar") && worker.warp.in_flight {
            worker.touch_in_flight(at.pc, active);
        }
        if M::GENERAL && !cfg!(feature = "scalar") && worker.checks.checks_fences && !active.is_empty() {
            worker.note_written(at.pc);
        }
        match &op.kind {
            OpKind::Alu { .. } => {
                at.pc = worker.compute::<M>(ops, at.pc, at.reconvergence_pc, at.lanes);
                continue;
            }
            OpKind::Load(a) => {
                if !active.is_empty() {
                    worker.load::<M>(a, at.pc, active);
                    if a.order == Order::Strong && a.space != MemSpace::Local {
                        if worker.stopped {
                            pause!(at.pc, Pause::Stopped);
                        }
                        if worker.poll(at.lanes).is_break() {
                            pause!(at.pc + 1, Pause::Poll);
                        }
                    }
                    if worker.stopped {
                        pause!(at.pc, Pause::Stopped);
                    }
                    if M::checks(worker) && !M::GENERAL && !worker.checks.shadow.is_clean() {
                        pause!(at.pc + 1, Pause::SwitchRunMode);
                    }
                }
            }
            OpKind::Store(a) => {
                if !active.is_empty() {
                    worker.store::<M>(a, at.pc, active);
                    if worker.stopped {
                        pause!(at.pc, Pause::Stopped);
                    }
                }
            }
            OpKind::Branch { target, reconverge } => {
                if active == at.lanes {
                    at.count::<M>(worker, at.pc + 1, *target);
                    at.pc = *target;
                    if worker.warp.left < 0 {
                        worker.warp.fiber.set_pc(at.pc);
                        worker.end_turn();
                        return Pause::EndOfTurn;
                    }
                    continue;
                }
                if !active.is_empty() {
                    at.count::<M>(worker, at.pc + 1, at.pc + 1);
                    if M::counts(worker) {
                        worker.counts.diverged[at.pc as usize] += 1;
                    }
                    let ways = [(at.lanes & !active, at.pc + 1), (active, *target)];
                    worker.warp.fiber.diverge(&ways, *reconverge);
                    next_frame!();
                }
            }
            OpKind::BranchIndexed { index, targets, reconverge } => {
                if !active.is_empty() {
                    at.count::<M>(worker, at.pc + 1, at.pc + 1);
                    if worker.check_index(*index, targets, active, at.pc).is_break() {
                        pause!(at.pc, Pause::Stopped);
                    }
                    let ways = worker.ways(*index, targets, active, at.lanes, at.pc);
                    if M::counts(worker) && ways.len() > 1 {
                        worker.counts.diverged[at.pc as usize] += 1;
                    }
                    match ways[..] {
                        [(_, pc)] => worker.warp.fiber.set_pc(pc),
                        _ => worker.warp.fiber.diverge(&ways, *reconverge),
                    }
                    next_frame!();
                }
            }
            OpKind::Exit => {
                if !active.is_empty() {
                    at.count::<M>(worker, at.pc + 1, at.pc + 1);
                    worker.warp.fiber.set_pc(at.pc + 1);
                    worker.warp.fiber.exit(active);
                    worker.exited(active, op.instr);
                    reload!();
                    continue;
                }
            }
            OpKind::Barrier { kind, id, count } => {
                if !active.is_empty() {
                    if let Some(why) = worker.barrier(*kind, *id, *count, at, active, op.instr) {
                        at.count::<M>(worker, at.pc + 1, at.pc + 1);
                        return why;
                    }
                    at.count::<M>(worker, at.pc + 1, at.pc + 1);
                    reload!();
                    continue;
                }
            }
            OpKind::Nop => {}
            kind => {
                if !active.is_empty() {
                    match worker.execute_uncommon(kind, at.pc, active, at) {
                        ControlFlow::Continue(())
                            if !M::GENERAL
                                && (worker.warp.in_flight || M::checks(worker) && !worker.checks.shadow.is_clean()) =>
                        {
                            pause!(at.pc + 1, Pause::SwitchRunMode)
                        }
                        ControlFlow::Continue(()) => {}
                        ControlFlow::Break(AfterOp::Wait) => {
                            // The operation is counted when it completes.
                            at.count::<M>(worker, at.pc, at.pc);
                            return Pause::Waits;
                        }
                        ControlFlow::Break(AfterOp::WaitAfter) => {
                            at.count::<M>(worker, at.pc + 1, at.pc + 1);
                            return Pause::Waits;
                        }
                        ControlFlow::Break(AfterOp::Frames) => {
                            at.count::<M>(worker, at.pc + 1, at.pc + 1);
                            next_frame!();
                        }
                        ControlFlow::Break(AfterOp::Poll) => pause!(at.pc + 1, Pause::Poll),
                        ControlFlow::Break(AfterOp::PollAgain) => {
                            at.count::<M>(worker, at.pc, at.pc);
                            worker.warp.fiber.set_pc(at.pc);
                            return Pause::Poll;
                        }
                        ControlFlow::Break(AfterOp::Stop) => pause!(at.pc, Pause::Stopped),
                    }
                }
            }
        }
        at.pc += 1;
    }
}

impl Worker<'_> {
    /// Returns the lanes for which the guard of an operation holds.
    #[inline(always)]
    fn guard_lanes(&self, op: &Op) -> LaneMask {
        // SAFETY: guards are in range, as `decode::passes::validate` has established. Predicate 0 is constant true.
        let guard = unsafe { *self.warp.lanes.preds.add(usize::from(op.guard.pred)) };
        LaneMask::from_bits(guard ^ 0u32.wrapping_sub(u32::from(op.guard.negated)))
    }

    /// Runs arithmetic from `pc` on, as far as the position of reconvergence; in the general variant, one operation.
    /// Returns the position after it. A function of its own, so small that all it needs stays in registers.
    #[inline(never)]
    fn compute<M: RunMode>(&mut self, ops: &[Op], pc: u32, reconvergence_pc: u32, lanes: LaneMask) -> u32 {
        let (start, end) = match (pc as usize, reconvergence_pc as usize) {
            (start, _) if M::GENERAL => (start, start + 1),
            (start, end) if end > start => (start, end.min(ops.len())),
            (start, _) => (start, ops.len()),
        };
        let mut at = start;
        for op in &ops[start..end] {
            let OpKind::Alu { run, args } = &op.kind else { break };
            let active = self.guard_lanes(op) & lanes;
            if M::counts(self) && active != lanes {
                self.counts.predicated_off[at] += u64::from((lanes & !active).count());
            }
            // SAFETY: decode has validated the operands, and chose functions that this CPU can run.
            unsafe { run(&mut self.warp.lanes, args, active.bits()) };
            at += 1;
        }
        at as u32
    }

    #[inline(always)]
    fn load<M: RunMode>(&mut self, a: &Access, pc: u32, active: LaneMask) {
        let memo = self.job.plan.memo_of[pc as usize] as usize;
        let make_spec = || AccessSpec::of(a, AccessKind::Read, pc, memo);
        let memory = self.locate::<M>(make_spec, active);
        let good = memory.lanes;
        // SAFETY: `locate` has found readable memory for these lanes.
        unsafe { load_store::load(&self.warp.lanes, a, memory) };
        if a.order == Order::Strong && self.activity.caches_polls {
            // SAFETY: `locate` has found readable memory for these lanes.
            unsafe { self.cache_poll(memory.addresses, good, a.element, make_spec().bytes) };
        }
        if good != active {
            self.zero(a, active & !good);
        }
        if M::checks(self) && !self.block.local_pointers.is_empty() && local_pointers::may_move(a) {
            self.check_local_pointers(a, make_spec(), good);
        }
        if M::checks(self) && !self.checks.fresh.lanes.is_empty() {
            self.propagate_fresh_load(a, pc, active);
        } else if M::GENERAL && M::checks(self) {
            self.propagate_load(a, active);
        }
    }

    #[inline(always)]
    fn store<M: RunMode>(&mut self, a: &Access, pc: u32, active: LaneMask) {
        let memo = self.job.plan.memo_of[pc as usize] as usize;
        let make_spec = || AccessSpec::of(a, AccessKind::Write, pc, memo);
        let moved = M::GENERAL && M::checks(self) && self.check_stored(a, pc, active);
        let memory = self.locate::<M>(make_spec, active);
        if a.order == Order::Strong {
            std::sync::atomic::fence(std::sync::atomic::Ordering::Release);
        }
        // SAFETY: `locate` has found writable memory for these lanes.
        unsafe { load_store::store(&self.warp.lanes, a, memory) };
        if M::checks(self) && self.job.local_bytes > 0 && local_pointers::may_move(a) {
            self.note_local_pointers(a, make_spec(), memory.lanes);
        }
        if moved {
            self.leave_holes(a, make_spec(), memory.lanes);
        }
        self.activity.progress = true;
        self.warp.fiber.polls = 0;
    }

    /// Sets the registers of a load to 0 in lanes whose access failed.
    #[cold]
    fn zero(&mut self, a: &Access, lanes: LaneMask) {
        for dst in a.destinations() {
            lanes.iter().for_each(|lane| self.set_lane(dst, a.wide, lane, 0));
        }
    }

    /// Records that the fiber polled memory; after [`POLLS_BEFORE_YIELD`] in a row it lets other lanes run, and pauses.
    pub(crate) fn poll(&mut self, lanes: LaneMask) -> ControlFlow<AfterOp> {
        // Stores of other threads before that of the value just read become visible to later accesses.
        std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
        self.activity.polled = true;
        self.spent += POLL_COST;
        self.warp.fiber.phase = None;
        self.warp.fiber.polls += 1;
        if self.warp.fiber.polls < POLLS_BEFORE_YIELD {
            return ControlFlow::Continue(());
        }
        self.warp.fiber.polls = 0;
        self.yield_to_other_lanes(lanes);
        ControlFlow::Break(AfterOp::Poll)
    }

    /// Adds the values that the `active` lanes polled to the block's poll cache.
    ///
    /// # Safety
    /// `place` is readable for `bytes` bytes in elements of `element`, and aligned to these, for every lane in
    /// `active`.
    #[cold]
    pub(crate) unsafe fn cache_poll(
        &mut self, place: load_store::LaneAddresses, active: LaneMask, element: u8, bytes: u32,
    ) {
        for lane in active.iter() {
            for offset in (0..bytes).step_by(element.into()) {
                // SAFETY: `place` is readable for `bytes` bytes, in aligned elements, until the launch ends.
                unsafe {
                    let start = place.of(lane).add(offset as usize);
                    self.block.poll_cache.note(start, element);
                }
            }
        }
    }

    /// Moves all lanes but `lanes` to a fiber of their own, so that they can run while `lanes` poll.
    pub(crate) fn yield_to_other_lanes(&mut self, lanes: LaneMask) {
        if self.warp.fiber.lanes() != lanes {
            let others = self.warp.fiber.split(!lanes);
            self.block.warps[self.warp.index as usize].fibers.push(others);
        }
    }

    #[cold]
    fn end_turn(&mut self) {
        // A fiber that waits for a phase polls it again in its next turn.
        self.warp.fiber.phase = None;
        if self.activity.polled {
            let lanes = self.warp.fiber.top().map_or(LaneMask::EMPTY, |t| t.mask);
            self.yield_to_other_lanes(lanes);
        }
    }

    /// Groups the lanes of a `brx.idx` by target. Lanes with an index beyond the table fall through.
    #[cold]
    fn ways(&self, index: i32, targets: &[u32], active: LaneMask, lanes: LaneMask, pc: u32) -> Vec<(LaneMask, u32)> {
        let mut ways: Vec<(LaneMask, u32)> = Vec::new();
        let mut add = |mask: LaneMask, to: u32| match ways.iter_mut().find(|(_, pc)| *pc == to) {
            Some((m, _)) => *m |= mask,
            None => ways.push((mask, to)),
        };
        if lanes != active {
            add(lanes & !active, pc + 1);
        }
        for lane in active.iter() {
            if let Some(target) = targets.get(self.u32_at(index, lane) as usize) {
                add(LaneMask::of(lane), *target);
            }
        }
        ways
    }

    /// Ends the block if a lane's index is past the table.
    fn check_index(&mut self, index: i32, targets: &[u32], active: LaneMask, pc: u32) -> ControlFlow<AfterOp> {
        let lanes = active.filter(|lane| self.u32_at(index, lane) as usize >= targets.len());
        if lanes.is_empty() {
            return ControlFlow::Continue(());
        }
        let details = MistakeDetails::Operand {
            problem: BadOperand::BranchIndex { targets: targets.len() as u32 },
            value: self.u32_at(index, lanes.first()),
        };
        self.fatal(pc, lanes, details);
        ControlFlow::Break(AfterOp::Stop)
    }

    /// Arrives at a barrier of the block. Returns `None` where the fiber continues with its top frame.
    fn barrier(
        &mut self, kind: BarrierKind, id: i32, count: Option<Src>, position: Position, active: LaneMask, instr: u32,
    ) -> Option<Pause> {
        let lane = active.first();
        let id = self.u32_at(id, lane);
        let count = count.map_or(0, |count| self.u32_at(count, lane));
        if id >= BARRIERS && self.job.check_level.checks() {
            let problem = BadOperand::BarrierNumber;
            self.record_mistake(position.pc, active, MistakeDetails::Operand { problem, value: id });
        }
        // PTX has no barrier above these; the hardware uses the low four bits of the number.
        let id = id % BARRIERS;
        let none = kind == BarrierKind::Arrive && count == 0;
        if !count.is_multiple_of(32) || count >= BARRIER_THREADS_LIMIT || none {
            let problem = BadOperand::BarrierThreads;
            self.fatal(position.pc, active, MistakeDetails::Operand { problem, value: count });
            return Some(Pause::Stopped);
        }
        let waits = kind != BarrierKind::Arrive;
        self.observe(instr, || Event::Meet { id, threads: count, waits });
        self.warp.fiber.set_pc(position.pc + 1);
        if waits {
            // The other lanes do not wait here but continue in another fiber; those at this position skip the barrier.
            self.yield_to_other_lanes(active);
        }
        if !self.arrive(kind, id, count, active, instr) {
            Some(Pause::Waits)
        } else if !waits || self.job.n_warps == 1 {
            None
        } else {
            // The warp that arrives last does not run first: after a barrier, warps run in index order again.
            Some(Pause::EndOfTurn)
        }
    }

    /// Makes the fiber wait if named lanes are missing.
    pub(crate) fn wait_for_lanes(
        &mut self, need: LaneMask, place: MeetingPlace, pc: u32, active: LaneMask,
    ) -> ControlFlow<AfterOp> {
        if std::mem::take(&mut self.warp.fiber.forced) || (need & self.warp.live & !active).is_empty() {
            return ControlFlow::Continue(());
        }
        let others = self.warp.fiber.lanes() & !active;
        self.warp.fiber.set_pc(pc);
        if !others.is_empty() {
            let mut others = self.warp.fiber.split(others);
            // Lanes for which the guard is false are at this position, too, and have completed the operation.
            let op = &self.job.kernel.ops[pc as usize];
            if others.top().is_some_and(|top| top.pc == pc) && (self.guard_lanes(op) & others.lanes()).is_empty() {
                others.set_pc(pc + 1);
            }
            self.block.warps[self.warp.index as usize].fibers.push(others);
        }
        self.warp.fiber.wait_instr = self.job.instr_at(pc);
        self.warp.fiber.state = FiberState::Lanes { need: need | active, place };
        ControlFlow::Break(AfterOp::Wait)
    }

    /// Executes the operations that the loop does not handle itself.
    #[inline(never)]
    fn execute_uncommon(&mut self, kind: &OpKind, pc: u32, active: LaneMask, at: Position) -> ControlFlow<AfterOp> {
        match kind {
            // The decoder makes none of these.
            OpKind::CpAsync { .. }
            | OpKind::CpAsyncCommit
            | OpKind::CpAsyncWait { .. }
            | OpKind::Mma(_)
            | OpKind::MatrixLoad(_)
            | OpKind::MatrixStore(_)
            | OpKind::MatrixMove { .. }
            | OpKind::TensorCopy(_)
            | OpKind::BulkBytes(_)
            | OpKind::BulkCommit
            | OpKind::BulkWait { .. }
            | OpKind::Wgmma(_)
            | OpKind::WgmmaFence
            | OpKind::WgmmaCommit
            | OpKind::WgmmaWait { .. }
            | OpKind::Mbarrier(_)
            | OpKind::Texture(_)
            | OpKind::Printf { .. }
            | OpKind::AssertFail { .. }
            | OpKind::Call { .. }
            | OpKind::Resume { .. }
            | OpKind::Return
            | OpKind::Converge { .. }
            | OpKind::Leave { .. }
                if cfg!(feature = "scalar") => {}
            OpKind::Atomic(a) => {
                self.atomic(a, pc, active, at.lanes)?;
            }
            OpKind::WarpSync { members } => self.sync_warp(*members, pc, active)?,
            OpKind::Shuffle { .. } | OpKind::Vote { .. } | OpKind::Match { .. } | OpKind::Redux { .. } => {
                self.warp_wide(kind, pc, active)?;
            }
            OpKind::ActiveMask { dst } => {
                for lane in active.iter() {
                    self.out32(*dst)[lane] = active.bits();
                }
            }
            OpKind::ClusterBarrier { waits } => {
                let instr = self.job.instr_at(pc);
                if *waits {
                    return ControlFlow::Break(self.wait_for_cluster(pc, instr, active));
                }
                self.arrive_in_cluster(instr, active);
            }
            OpKind::InitFence => self.block.mbarriers.note_proxy_fence(),
            OpKind::Fence => self.fence(),
            OpKind::ProxyFence => {
                self.block.bulk.fenced = true;
                self.block.mbarriers.note_proxy_fence();
                self.fence();
            }
            OpKind::Yield => {
                // A thread that sleeps waits for something that the other lanes may do.
                self.activity.polled = true;
                self.warp.fiber.sleeps += 1;
                if self.warp.fiber.sleeps > SLEEPS_BEFORE_PHASE_EXPIRES {
                    self.warp.fiber.phase = None;
                }
                self.yield_to_other_lanes(at.lanes);
                return ControlFlow::Break(AfterOp::Poll);
            }
            OpKind::ReadClock { clock, dst } => self.read_clock(*clock, *dst, active, pc, at),
            OpKind::CpAsync { .. } | OpKind::CpAsyncCommit | OpKind::CpAsyncWait { .. } => {
                self.copy_op(kind, pc, active)
            }
            OpKind::Mma(_) | OpKind::MatrixLoad(_) | OpKind::MatrixStore(_) | OpKind::MatrixMove { .. } => {
                self.wait_for_all_lanes(pc, active)?;
                match kind {
                    OpKind::Mma(mma) => self.mma(mma, pc, active),
                    OpKind::MatrixLoad(access) => self.load_matrices(access, pc, active),
                    OpKind::MatrixStore(access) => self.store_matrices(access, pc, active),
                    OpKind::MatrixMove { dst, src } => self.move_matrix(*dst, *src, active),
                    _ => {}
                }
            }
            OpKind::WholeWarp => self.wait_for_all_lanes(pc, active)?,
            OpKind::TensorCopy(copy) => self.tensor_copy(copy, pc, active),
            OpKind::BulkBytes(copy) => self.bulk_bytes(copy, pc, active),
            OpKind::BulkCommit => {
                active.iter().for_each(|lane| *self.block.bulk.committed(self.warp.thread_of(lane)) += 1);
            }
            OpKind::BulkWait { pending } => self.wait_for_bulk(active, *pending),
            OpKind::Wgmma(wgmma) => self.wgmma(wgmma, pc, active)?,
            OpKind::WgmmaFence => self.wgmma_fence(),
            OpKind::WgmmaCommit => self.wgmma_commit(),
            OpKind::WgmmaWait { pending } => self.wgmma_wait(*pending, pc)?,
            OpKind::Mbarrier(barrier) => self.mbarrier(barrier, pc, active, at.lanes)?,
            OpKind::IsSpace { space, own, dst, src } => {
                let is_in = |address| self.is_in(*space, address) && !(*own && self.is_remote(*space, address));
                let holds = active.filter(|lane| is_in(self.u64_at(*src, lane)));
                self.set_pred(*dst, holds, active);
            }
            OpKind::Texture(t) => self.texture(t, pc, active),
            OpKind::Printf { format, arguments, dst } => self.printf(*format, *arguments, *dst, pc, active),
            OpKind::AssertFail { text, line } => {
                let lane = active.first();
                let text_at = |address| String::from_utf8_lossy(&self.bytes_at(address, 0)).into_owned();
                let [message, file, function] = text.map(|t| text_at(self.u64_at(t, lane)));
                let line = self.u32_at(*line, lane);
                self.fatal(pc, active, MistakeDetails::Assert { message, file, line, function });
                return ControlFlow::Break(AfterOp::Stop);
            }
            OpKind::Call { site, target } => self.call(*site, *target, pc, active)?,
            OpKind::Resume { site } => self.resume(*site, active),
            OpKind::Return => self.return_lanes(active)?,
            OpKind::Converge { position } => {
                self.warp.fiber.converge(pc + 1, *position);
                return ControlFlow::Break(AfterOp::Frames);
            }
            OpKind::Leave { position } => {
                self.warp.fiber.set_pc(pc + 1);
                self.warp.fiber.leave_reconvergence(active, *position);
                return ControlFlow::Break(AfterOp::Frames);
            }
            OpKind::Trap => {
                self.fatal(pc, active, MistakeDetails::Trap);
                return ControlFlow::Break(AfterOp::Stop);
            }
            OpKind::Alu { .. }
            | OpKind::Load(_)
            | OpKind::Store(_)
            | OpKind::Branch { .. }
            | OpKind::BranchIndexed { .. }
            | OpKind::Exit
            | OpKind::Barrier { .. }
            | OpKind::Nop => {}
        }
        if self.stopped { ControlFlow::Break(AfterOp::Stop) } else { ControlFlow::Continue(()) }
    }

    /// Performs `bar.warp.sync`, or waits until all named lanes are there.
    fn sync_warp(&mut self, members: i32, pc: u32, active: LaneMask) -> ControlFlow<AfterOp> {
        let named = active.iter().map(|lane| LaneMask::from_bits(self.u32_at(members, lane)));
        let need = named.fold(LaneMask::EMPTY, |all, named| all | named);
        if self.job.kernel.machine_code {
            if self.wait_for_lanes(need, MeetingPlace::AfterWarpSync, pc, active).is_break() {
                // Machine code issues a `WARPSYNC` once for each group of lanes, when the group arrives.
                self.warp.fiber.set_pc(pc + 1);
                return ControlFlow::Break(AfterOp::WaitAfter);
            }
        } else {
            self.wait_for_lanes(need, MeetingPlace::AnyWarpSync, pc, active)?;
        }
        if self.job.check_level.checks() {
            let groups = self.groups_of(members, active);
            self.check_masks(&groups, pc, active);
            self.record_warp_sync(pc, &groups);
        }
        ControlFlow::Continue(())
    }

    fn fence(&mut self) {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        crate::exec::worker::notify_races!(self.checks, fence());
    }

    /// Notifies the race checks of a `bar.warp.sync`, by groups of lanes that name the same mask.
    fn record_warp_sync(&mut self, pc: u32, groups: &[(LaneMask, LaneMask)]) {
        let instr = self.job.instr_at(pc);
        for (named, lanes) in groups {
            let mask = *named | *lanes;
            let all = (self.warp.live & !mask).is_empty();
            crate::exec::worker::notify_races!(self.checks, interval.warp_sync(instr, mask, all));
        }
    }

    fn is_in(&self, space: MemSpace, address: u64) -> bool {
        let w = address >> window::BITS;
        match space {
            MemSpace::Shared => w == window::SHARED >> window::BITS,
            MemSpace::Local => w == window::LOCAL >> window::BITS,
            MemSpace::Param => w == window::PARAM >> window::BITS,
            MemSpace::Const => self.job.table.live(address).is_some_and(|a| a.origin.read_only),
            MemSpace::Global => {
                w < window::SHARED >> window::BITS && !self.job.table.live(address).is_some_and(|a| a.origin.read_only)
            }
            MemSpace::Generic => true,
        }
    }

    fn read_clock(&mut self, clock: Clock, dst: u32, active: LaneMask, pc: u32, position: Position) {
        let warp = &self.block.warps[self.warp.index as usize];
        // Sums the operations of earlier turns, of this turn, and of the straight run that is not counted yet.
        let turn = (self.warp.turn_start - self.warp.left) as u64;
        let ahead = self.block.ahead;
        let issued = { warp.issued + turn + u64::from(pc.wrapping_sub(position.start)) }.wrapping_add(ahead);
        let time = || (self.job.environment.clock)().wrapping_add(ahead);
        let value = match clock {
            Clock::Clock | Clock::Clock64 => issued,
            Clock::ClockHi => issued >> 32,
            Clock::GlobalTimer | Clock::GlobalTimerLo => time(),
            Clock::GlobalTimerHi => time() >> 32,
        };
        self.activity.polled = true;
        self.block.poll_cache.more = true;
        for lane in active.iter() {
            let wide = matches!(clock, Clock::Clock64 | Clock::GlobalTimer);
            self.set_lane(Some(dst), wide, lane, value);
        }
    }
}
