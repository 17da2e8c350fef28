//! The loop over operations: one fiber runs until it waits, ends, or has executed its quantum of instructions.

use crate::arithmetic::lanes::{CpuLevel, NONE};
use crate::check::Code;
use crate::check::{AccessKind, BadOperand, Details};
use crate::program::{Access, BARRIERS, BarrierKind, Clock, MemSpace, Op, OpKind, Order, window};

use super::fiber::{ANY_WARP_SYNC, AfterOp, DONE_WARP_SYNC, FiberState, Pause};
use super::run_mode::{Checked, Counted, General, Plain, RunMode};
use super::spec::AccessSpec;
use super::worker::Worker;
use super::{bits, data};

/// Number of polls in a row after which a fiber yields to other lanes and warps.
const POLLS: u32 = 64;

/// Number of `nanosleep` instructions after which a fiber no longer counts as waiting for the phase that it polled last.
const NAPS: u32 = 64;

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
        CpuLevel::Avx512 => unsafe { run_avx512::<M>(worker) },
        #[cfg(vectors = "avx2")]
        // SAFETY: `cpu_level` has found the features.
        CpuLevel::Avx2 => unsafe { run_avx2::<M>(worker) },
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
struct Position {
    pc: u32,
    meet: u32,
    active: u32,
    /// Start of the straight run that has not been counted yet.
    start: u32,
}

impl Position {
    #[inline(always)]
    fn of(worker: &Worker<'_>) -> Option<Self> {
        let top = worker.warp.fiber.top()?;
        Some(Self { pc: top.pc, meet: top.meet, active: top.mask, start: top.pc })
    }

    /// Counts the operations `start .. end`, and starts again at `next`.
    #[inline(always)]
    fn count<M: RunMode>(&mut self, worker: &mut Worker<'_>, end: u32, next: u32) {
        let n = end.wrapping_sub(self.start);
        if n != 0 {
            let lanes = u64::from(self.active.count_ones());
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
    macro_rules! pause {
        ($next:expr, $why:expr) => {{
            at.count::<M>(worker, at.pc + 1, $next);
            worker.warp.fiber.set_pc($next);
            return $why;
        }};
    }
    loop {
        if at.pc == at.meet {
            at.count::<M>(worker, at.pc, at.pc);
            worker.warp.fiber.meet();
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
        // SAFETY: guards are in range, as `decode::passes::validate` has established. Predicate 0 is constant true.
        let guard = unsafe { *worker.warp.lanes.preds.add(usize::from(op.guard.pred)) };
        let on = (guard ^ 0u32.wrapping_sub(u32::from(op.guard.negated))) & at.active;
        if M::GENERAL && (on != 0 || op.first) {
            worker.trace(op, on);
        }
        if M::GENERAL && M::checks(worker) {
            worker.follow(op, at.pc, on, at.active);
        }
        if M::GENERAL && worker.warp.in_flight {
            worker.touch_in_flight(at.pc, on);
        }
        if M::GENERAL && worker.checks.follows_fences && on != 0 {
            worker.note_written(at.pc);
        }
        match &op.kind {
            OpKind::Alu { run, args } => {
                // SAFETY: decode has validated the operands, and chose functions that this CPU can run.
                unsafe { run(&mut worker.warp.lanes, args, on) };
                if M::counts(worker) && on != at.active {
                    worker.counts.predicated_off[at.pc as usize] += u64::from((at.active & !on).count_ones());
                }
            }
            OpKind::Load(a) => {
                if on != 0 {
                    worker.load::<M>(a, at.pc, on);
                    if a.order == Order::Strong && a.space != MemSpace::Local {
                        if worker.stopped {
                            pause!(at.pc, Pause::Stopped);
                        }
                        if worker.poll(at.active, false) {
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
                if on != 0 {
                    worker.store::<M>(a, at.pc, on);
                    if worker.stopped {
                        pause!(at.pc, Pause::Stopped);
                    }
                }
            }
            OpKind::Branch { target, reconverge } => {
                if on == at.active {
                    at.count::<M>(worker, at.pc + 1, *target);
                    at.pc = *target;
                    if worker.warp.left < 0 {
                        worker.warp.fiber.set_pc(at.pc);
                        worker.end_turn();
                        return Pause::EndOfTurn;
                    }
                    continue;
                }
                if on != 0 {
                    at.count::<M>(worker, at.pc + 1, at.pc + 1);
                    if M::counts(worker) {
                        worker.counts.diverged[at.pc as usize] += 1;
                    }
                    let ways = [(at.active & !on, at.pc + 1), (on, *target)];
                    worker.warp.fiber.part(&ways, *reconverge);
                    if worker.warp.left < 0 {
                        worker.end_turn();
                        return Pause::EndOfTurn;
                    }
                    reload!();
                    continue;
                }
            }
            OpKind::BranchIndexed { index, targets, reconverge } => {
                if on != 0 {
                    at.count::<M>(worker, at.pc + 1, at.pc + 1);
                    if worker.is_past_the_table(*index, targets, on, at.pc) {
                        pause!(at.pc, Pause::Stopped);
                    }
                    let ways = worker.ways(*index, targets, on, at.active, at.pc);
                    if M::counts(worker) && ways.len() > 1 {
                        worker.counts.diverged[at.pc as usize] += 1;
                    }
                    match ways[..] {
                        [(_, pc)] => worker.warp.fiber.set_pc(pc),
                        _ => worker.warp.fiber.part(&ways, *reconverge),
                    }
                    if worker.warp.left < 0 {
                        worker.end_turn();
                        return Pause::EndOfTurn;
                    }
                    reload!();
                    continue;
                }
            }
            OpKind::Exit => {
                if on != 0 {
                    at.count::<M>(worker, at.pc + 1, at.pc + 1);
                    worker.warp.fiber.set_pc(at.pc + 1);
                    worker.warp.fiber.exit(on);
                    worker.exited(on, op.instr);
                    reload!();
                    continue;
                }
            }
            OpKind::Barrier { kind, id, count } => {
                if on != 0 {
                    if let Some(why) = worker.barrier(*kind, *id, *count, &at, on, op.instr) {
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
                if on != 0 {
                    match worker.execute_uncommon(kind, at.pc, on, &at) {
                        AfterOp::Go
                            if !M::GENERAL
                                && (worker.warp.in_flight
                                    || M::checks(worker) && !worker.checks.shadow.is_clean()) =>
                        {
                            pause!(at.pc + 1, Pause::SwitchRunMode)
                        }
                        AfterOp::Go => {}
                        AfterOp::Wait => {
                            // The operation is counted when it completes.
                            at.count::<M>(worker, at.pc, at.pc);
                            return Pause::Waits;
                        }
                        AfterOp::WaitBehind => {
                            at.count::<M>(worker, at.pc + 1, at.pc + 1);
                            return Pause::Waits;
                        }
                        AfterOp::Frames => {
                            at.count::<M>(worker, at.pc + 1, at.pc + 1);
                            if worker.warp.left < 0 {
                                worker.end_turn();
                                return Pause::EndOfTurn;
                            }
                            reload!();
                            continue;
                        }
                        AfterOp::Poll => pause!(at.pc + 1, Pause::Poll),
                        AfterOp::Stop => pause!(at.pc, Pause::Stopped),
                    }
                }
            }
        }
        at.pc += 1;
    }
}

impl Worker<'_> {
    #[inline(always)]
    fn load<M: RunMode>(&mut self, a: &Access, pc: u32, on: u32) {
        let memo = self.job.plan.memo_of[pc as usize] as usize;
        let spec = AccessSpec::of(a, AccessKind::Read, pc, memo);
        let spot = self.locate::<M>(&spec, on);
        let (good, place, class) = self.place(spot, spec.memo, on);
        // SAFETY: `locate` has found readable memory for the lanes in `good`.
        unsafe { data::load(&self.warp.lanes, a, good, place, class) };
        if a.order == Order::Strong && self.activity.caches_polls {
            // SAFETY: `locate` has found readable memory for the lanes in `good`.
            unsafe { self.cache_poll(place, good, a.element, spec.bytes) };
        }
        if good != on {
            self.zero(a, on & !good);
        }
        if M::checks(self) && self.checks.fresh.lanes != 0 {
            self.follow_fresh_load(a, pc, on);
        } else if M::GENERAL && M::checks(self) {
            self.follow_load(a, on);
        }
    }

    #[inline(always)]
    fn store<M: RunMode>(&mut self, a: &Access, pc: u32, on: u32) {
        let memo = self.job.plan.memo_of[pc as usize] as usize;
        let spec = AccessSpec::of(a, AccessKind::Write, pc, memo);
        let moved = M::GENERAL && M::checks(self) && self.follow_store(a, pc, on);
        let spot = self.locate::<M>(&spec, on);
        let (good, place, class) = self.place(spot, spec.memo, on);
        if a.order == Order::Strong {
            std::sync::atomic::fence(std::sync::atomic::Ordering::Release);
        }
        // SAFETY: `locate` has found writable memory for the lanes in `good`.
        unsafe { data::store(&self.warp.lanes, a, good, place, class) };
        if moved {
            self.leave_holes(a, &spec, good);
        }
        self.activity.progress = true;
        self.warp.fiber.polls = 0;
    }

    /// Sets the registers of a load to 0 in lanes whose access failed.
    #[cold]
    fn zero(&mut self, a: &Access, lanes: u32) {
        for &dst in a.regs.iter().take(usize::from(a.n)) {
            bits(lanes).for_each(|lane| self.set_lane(dst, a.wide || a.element == 8, lane, 0));
        }
    }

    /// Records that the fiber polled memory. Returns true when it has yielded to the other lanes and must pause.
    pub(crate) fn poll(&mut self, active: u32, changed: bool) -> bool {
        // Later accesses see what other threads stored before the value that was just read.
        std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
        if changed {
            self.activity.progress = true;
            self.warp.fiber.polls = 0;
            return false;
        }
        self.activity.polled = true;
        self.warp.fiber.phase = None;
        self.warp.fiber.polls += 1;
        if self.warp.fiber.polls < POLLS {
            return false;
        }
        self.warp.fiber.polls = 0;
        self.yield_to_other_lanes(active);
        true
    }

    /// Adds the values that the lanes `on` polled to the block's poll cache.
    ///
    /// # Safety
    /// `place` is readable for `bytes` bytes in elements of `element`, and aligned to these, for every lane in `on`.
    #[cold]
    pub(crate) unsafe fn cache_poll(&mut self, place: data::LaneAddresses, on: u32, element: u8, bytes: u32) {
        for lane in bits(on) {
            for at in (0..bytes).step_by(element.into()) {
                // SAFETY: as the caller vouches; allocations stay in place until the launch ends.
                unsafe {
                    let start = place.of(lane).add(at as usize);
                    self.block.poll_cache.note(start, element);
                }
            }
        }
    }

    /// Moves all lanes but `active` to a fiber of their own, so that they can run while `active` polls.
    fn yield_to_other_lanes(&mut self, active: u32) {
        if self.warp.fiber.lanes() != active {
            let others = self.warp.fiber.split(!active);
            self.block.warps[self.warp.index as usize].fibers.push(others);
        }
    }

    #[cold]
    fn end_turn(&mut self) {
        // A fiber that waits for a phase polls it again in its next turn.
        self.warp.fiber.phase = None;
        if self.activity.polled {
            let active = self.warp.fiber.top().map_or(0, |t| t.mask);
            self.yield_to_other_lanes(active);
        }
    }

    /// Groups the lanes of a `brx.idx` by target. Lanes with an index beyond the table fall through.
    #[cold]
    fn ways(&self, index: i32, targets: &[u32], on: u32, active: u32, pc: u32) -> Vec<(u32, u32)> {
        let mut ways: Vec<(u32, u32)> = Vec::new();
        let mut add = |mask: u32, to: u32| match ways.iter_mut().find(|(_, pc)| *pc == to) {
            Some((m, _)) => *m |= mask,
            None => ways.push((mask, to)),
        };
        if active != on {
            add(active & !on, pc + 1);
        }
        for lane in bits(on) {
            if let Some(target) = targets.get(self.u32_at(index, lane) as usize) {
                add(1 << lane, *target);
            }
        }
        ways
    }

    /// Ends the block where a lane's index is past the table; returns true then.
    fn is_past_the_table(&mut self, index: i32, targets: &[u32], on: u32, pc: u32) -> bool {
        let past = |lane: &usize| self.u32_at(index, *lane) as usize >= targets.len();
        let Some(lane) = bits(on).find(past) else { return false };
        let lanes = bits(on).filter(past).fold(0, |mask, lane| mask | 1 << lane);
        let details = Details::Operand {
            problem: BadOperand::BranchIndex { targets: targets.len() as u32 },
            value: self.u32_at(index, lane),
        };
        self.fatal(pc, Code::Operand, lanes, details);
        true
    }

    /// Arrives at a barrier of the block. Returns `None` where the fiber continues with its top frame.
    fn barrier(
        &mut self,
        kind: BarrierKind,
        id: i32,
        count: i32,
        at: &Position,
        on: u32,
        instr: u32,
    ) -> Option<Pause> {
        let lane = on.trailing_zeros() as usize;
        let id = self.u32_at(id, lane);
        let count = if count == NONE { 0 } else { self.u32_at(count, lane) };
        if id >= BARRIERS && self.job.check_level.checks() {
            let problem = BadOperand::BarrierNumber;
            self.record_mistake(at.pc, Code::Operand, on, Details::Operand { problem, value: id });
        }
        // PTX has no barrier above these; the hardware uses the low four bits of the number.
        let id = id % BARRIERS;
        let none = kind == BarrierKind::Arrive && count == 0;
        if !count.is_multiple_of(32) || count >= BARRIER_THREADS_LIMIT || none {
            let problem = BadOperand::BarrierThreads;
            self.fatal(at.pc, Code::Operand, on, Details::Operand { problem, value: count });
            return Some(Pause::Stopped);
        }
        self.warp.fiber.set_pc(at.pc + 1);
        if kind != BarrierKind::Arrive && self.warp.fiber.lanes() != on {
            // The other lanes do not wait here: they continue in a fiber of their own. Those at this position skip the barrier.
            let others = self.warp.fiber.split(!on);
            self.block.warps[self.warp.index as usize].fibers.push(others);
        }
        if !self.arrive(kind, id, count, on, instr) {
            Some(Pause::Waits)
        } else if kind == BarrierKind::Arrive || self.job.n_warps == 1 {
            None
        } else {
            // The warp that arrives last does not run first: after a barrier, warps run in index order again.
            Some(Pause::EndOfTurn)
        }
    }

    /// Makes the fiber wait where named lanes are missing; returns true then.
    pub(crate) fn waits_for(&mut self, need: u32, place: u32, at_pc: u32, on: u32) -> bool {
        if std::mem::take(&mut self.warp.fiber.forced) || need & self.warp.live & !on == 0 {
            return false;
        }
        let others = self.warp.fiber.lanes() & !on;
        self.warp.fiber.set_pc(at_pc);
        if others != 0 {
            let mut others = self.warp.fiber.split(others);
            // Lanes for which the guard is false are at this position, too, and have completed the operation.
            if others.top().is_some_and(|t| t.pc == at_pc) && self.guard_holds_back(at_pc, others.lanes()) {
                others.set_pc(at_pc + 1);
            }
            self.block.warps[self.warp.index as usize].fibers.push(others);
        }
        self.warp.fiber.at = self.job.kernel.ops.get(at_pc as usize).map_or(0, |op| op.instr);
        self.warp.fiber.state = FiberState::Lanes { need: need | on, place };
        true
    }

    fn guard_holds_back(&self, pc: u32, lanes: u32) -> bool {
        let Some(op) = self.job.kernel.ops.get(pc as usize) else { return false };
        let guard = self.pred(u32::from(op.guard.pred)) ^ 0u32.wrapping_sub(u32::from(op.guard.negated));
        guard & lanes == 0
    }

    /// Executes the operations that the loop does not handle itself.
    #[inline(never)]
    fn execute_uncommon(&mut self, kind: &OpKind, pc: u32, on: u32, at: &Position) -> AfterOp {
        match kind {
            OpKind::Atomic(a) => {
                let changed = self.atomic(a, pc, on);
                if self.stopped {
                    return AfterOp::Stop;
                }
                if a.dst != NONE && self.poll(at.active, changed) {
                    return AfterOp::Poll;
                }
                if a.dst == NONE {
                    self.activity.progress = true;
                }
            }
            OpKind::WarpSync { members } => {
                let need = bits(on).fold(0, |m, lane| m | self.u32_at(*members, lane));
                if self.job.kernel.machine_code {
                    if self.waits_for(need, DONE_WARP_SYNC, pc, on) {
                        // Machine code issues a `WARPSYNC` once for each group of lanes, when the group arrives.
                        self.warp.fiber.set_pc(pc + 1);
                        return AfterOp::WaitBehind;
                    }
                } else if self.waits_for(need, ANY_WARP_SYNC, pc, on) {
                    return AfterOp::Wait;
                }
                if self.job.check_level.checks() {
                    let groups = self.groups_of(*members, on);
                    self.check_masks(&groups, pc, on);
                    self.warp_synced(pc, &groups);
                }
            }
            OpKind::Shuffle { .. } | OpKind::Vote { .. } | OpKind::Match { .. } | OpKind::Redux { .. } => {
                return self.warp_wide(kind, pc, on);
            }
            OpKind::ActiveMask { dst } => {
                for lane in bits(on) {
                    self.out32(*dst)[lane] = on;
                }
            }
            OpKind::ClusterBarrier { waits } => {
                let instr = self.job.kernel.ops[pc as usize].instr;
                if !waits {
                    self.arrive_in_cluster(instr, on);
                } else if self.wait_for_cluster(pc, instr, on) {
                    return AfterOp::WaitBehind;
                } else {
                    return AfterOp::Frames;
                }
            }
            OpKind::InitFence => self.block.mbarriers.publish(),
            OpKind::Fence | OpKind::ProxyFence => {
                if matches!(kind, OpKind::ProxyFence) {
                    self.block.bulk.fence();
                    self.block.mbarriers.publish();
                }
                std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
                if let Some(races) = &mut self.checks.shared_races {
                    races.fence();
                }
                if let Some(races) = &mut self.checks.global_races {
                    races.fence();
                }
            }
            OpKind::Yield => {
                // A thread that sleeps waits for something that the other lanes may do.
                self.activity.polled = true;
                self.warp.fiber.naps += 1;
                if self.warp.fiber.naps > NAPS {
                    self.warp.fiber.phase = None;
                }
                self.yield_to_other_lanes(at.active);
                return AfterOp::Poll;
            }
            OpKind::ReadClock { clock, dst } => self.read_clock(*clock, *dst, on, pc, at),
            OpKind::CpAsync { .. } | OpKind::CpAsyncCommit | OpKind::CpAsyncWait { .. } => {
                self.copy_op(kind, pc, on)
            }
            OpKind::Mma(_) | OpKind::MatrixLoad(_) | OpKind::MatrixStore(_) | OpKind::MatrixMove { .. } => {
                if self.wants_all_lanes(pc, on) {
                    return AfterOp::Wait;
                }
                match kind {
                    OpKind::Mma(mma) => self.mma(mma, pc, on),
                    OpKind::MatrixLoad(access) => self.load_matrices(access, pc, on),
                    OpKind::MatrixStore(access) => self.store_matrices(access, pc, on),
                    OpKind::MatrixMove { dst, src } => self.move_matrix(*dst, *src, on),
                    _ => {}
                }
            }
            OpKind::WholeWarp => {
                if self.wants_all_lanes(pc, on) {
                    return AfterOp::Wait;
                }
            }
            OpKind::TensorCopy(copy) => self.tensor_copy(copy, pc, on),
            OpKind::BulkBytes(copy) => self.bulk_bytes(copy, pc, on),
            OpKind::BulkCommit => self.commit_bulk(on),
            OpKind::BulkWait { pending } => self.wait_for_bulk(on, *pending),
            OpKind::Wgmma(wgmma) => {
                if !self.wgmma(wgmma, pc, on) {
                    return AfterOp::Wait;
                }
            }
            OpKind::WgmmaFence => self.wgmma_fence(),
            OpKind::WgmmaCommit => self.wgmma_commit(),
            OpKind::WgmmaWait { pending } => {
                if !self.wgmma_wait(*pending, pc) {
                    return AfterOp::Wait;
                }
            }
            OpKind::Mbarrier(barrier) => {
                let waits = self.mbarrier(barrier, pc, on);
                if self.stopped {
                    return AfterOp::Stop;
                }
                if waits {
                    self.activity.polled = true;
                    self.yield_to_other_lanes(at.active);
                    return AfterOp::Poll;
                }
            }
            OpKind::IsSpace { space, own, dst, src } => {
                let mut holds = 0;
                for lane in bits(on) {
                    let address = self.u64_at(*src, lane);
                    let is_in = self.is_in(*space, address) && !(*own && self.is_remote(*space, address));
                    holds |= u32::from(is_in) << lane;
                }
                self.set_pred(*dst, holds, on);
            }
            OpKind::Texture(t) => self.texture(t, pc, on),
            OpKind::Printf { format, arguments, dst } => self.printf(*format, *arguments, *dst, pc, on),
            OpKind::AssertFail { text, line } => {
                let lane = on.trailing_zeros() as usize;
                let [message, file, function] = text.map(|t| self.text_at(self.u64_at(t, lane)));
                let line = self.u32_at(*line, lane);
                self.fatal(pc, Code::Assert, on, Details::Assert { message, file, line, function });
                return AfterOp::Stop;
            }
            OpKind::Call { site, target } => return self.call(*site, *target, pc, on),
            OpKind::Resume { site } => self.resume(*site, on),
            OpKind::Return => return self.return_lanes(on),
            OpKind::Converge { meet } => {
                self.warp.fiber.converge(pc + 1, *meet);
                return AfterOp::Frames;
            }
            OpKind::Leave { meet } => {
                self.warp.fiber.set_pc(pc + 1);
                self.warp.fiber.leave(on, *meet);
                return AfterOp::Frames;
            }
            OpKind::Trap => {
                self.fatal(pc, Code::Trap, on, Details::None);
                return AfterOp::Stop;
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
        if self.stopped { AfterOp::Stop } else { AfterOp::Go }
    }

    /// Tells the race checks of a `bar.warp.sync` by groups of lanes that name the same mask.
    fn warp_synced(&mut self, pc: u32, groups: &[(u32, u32)]) {
        let instr = self.job.kernel.ops[pc as usize].instr;
        for (named, lanes) in groups {
            let mask = named | lanes;
            let all = self.warp.live & !mask == 0;
            if let Some(races) = &mut self.checks.shared_races {
                races.warp_sync(instr, mask, all);
            }
            if let Some(races) = &mut self.checks.global_races {
                races.warp_sync(instr, mask, all);
            }
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
                w < window::SHARED >> window::BITS
                    && !self.job.table.live(address).is_some_and(|a| a.origin.read_only)
            }
            MemSpace::Generic => true,
        }
    }

    fn read_clock(&mut self, clock: Clock, dst: u32, on: u32, pc: u32, at: &Position) {
        let warp = &self.block.warps[self.warp.index as usize];
        // Sums the operations of earlier turns, of this turn, and of the straight run that is not counted yet.
        let turn = (self.warp.turn_start - self.warp.left) as u64;
        let ahead = self.block.ahead;
        let issued = { warp.issued + turn + u64::from(pc.wrapping_sub(at.start)) }.wrapping_add(ahead);
        let time = || (self.job.environment.clock)().wrapping_add(ahead);
        let value = match clock {
            Clock::Clock | Clock::Clock64 => issued,
            Clock::ClockHi => issued >> 32,
            Clock::GlobalTimer | Clock::GlobalTimerLo => time(),
            Clock::GlobalTimerHi => time() >> 32,
        };
        self.activity.polled = true;
        self.block.poll_cache.note_other();
        for lane in bits(on) {
            let wide = matches!(clock, Clock::Clock64 | Clock::GlobalTimer);
            self.set_lane(dst as i32, wide, lane, value);
        }
    }
}
