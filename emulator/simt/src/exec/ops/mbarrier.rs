//! `mbarrier` operations. A phase completes when all its arrivals and all expected bytes are in.
//!
//! The state of an mbarrier is kept beside shared memory, by address; its eight bytes themselves read as 0.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::check::{
    AccessKind, AccessProblem, BadAccess, BadBarrier, BarrierGroup, CopyInFlight, MistakeDetails, PhaseOfCopy,
    PhaseWaits, Waited,
};
use crate::lane_mask::LaneMask;
use crate::trace::Event;
use program::{Addr, Mbarrier, MbarrierKind, MemSpace, RANK_SHIFT, TOKEN_PENDING, window};

use crate::exec::block::mbarrier_state::{BYTES, MbarrierState};
use crate::exec::fiber::{AfterOp, FiberState, PhaseWait, phase_has_ended};
use crate::exec::{memory::access_spec::place, memory::cluster_memory::Holder, worker::Worker};
use program::limits::POLL_COST;

/// Turns for which a warp that tries to wait is suspended.
const SUSPENSIONS: u32 = 64;
/// Arrivals that a barrier can wait for.
const MAX_ARRIVALS: u32 = (1 << 20) - 1;

impl Worker<'_> {
    /// Performs the operation for the `active` lanes of a frame. A wait for a phase that has not ended polls it.
    pub(crate) fn mbarrier(
        &mut self, b: &Mbarrier, pc: u32, active: LaneMask, frame: LaneMask,
    ) -> ControlFlow<AfterOp> {
        let (waiting, refused) = self.mbarrier_of_lanes(b, pc, active);
        if self.stopped {
            return ControlFlow::Break(AfterOp::Stop);
        }
        if waiting.is_empty() {
            return ControlFlow::Continue(());
        }
        self.activity.polled = true;
        self.yield_to_other_lanes(frame);
        // The hardware suspends a warp that tries, for some time.
        let may_suspend = waiting == active && refused.is_empty() && !self.block.tries_fail;
        if b.kind == (MbarrierKind::Wait { tries: true }) && may_suspend && self.warp.fiber.polls < SUSPENSIONS {
            self.warp.fiber.polls += 1;
            self.spent += POLL_COST;
            return ControlFlow::Break(AfterOp::PollAgain);
        }
        self.warp.fiber.polls = 0;
        ControlFlow::Break(AfterOp::Poll)
    }

    /// Performs the operation for the `active` lanes. Returns those that wait for a phase that has not ended, and those
    /// that are not served here, or not at all.
    fn mbarrier_of_lanes(&mut self, b: &Mbarrier, pc: u32, active: LaneMask) -> (LaneMask, LaneMask) {
        let (mut done, mut elsewhere) = (LaneMask::EMPTY, LaneMask::EMPTY);
        for lane in active.iter() {
            let is_remote = self.job.cluster_blocks > 1 && self.remote_mbarrier(b, pc, lane);
            let own = if is_remote { None } else { self.mbarrier_at(&b.addr, b.space, pc, lane) };
            let Some(barrier) = own else {
                elsewhere |= LaneMask::of(lane);
                continue;
            };
            let operand = b.number.map_or(1, |src| self.u32_at(src, lane));
            if b.kind == MbarrierKind::Init {
                self.init_mbarrier(barrier, operand, pc, lane);
                self.observe(self.job.instr_at(pc), || Event::Init { barrier, arrivals: operand });
            } else {
                let ended = self.mbarrier_of_lane(b, barrier, operand, pc, lane);
                done |= if ended { LaneMask::of(lane) } else { LaneMask::EMPTY };
                self.observe_mbarrier(b.kind, barrier, operand, pc, ended);
            }
        }
        // Writes before an arrival are ordered before reads after the wait.
        if let Some(races) = &mut self.checks.shared_races {
            races.note_mbarrier();
        }
        if !matches!(b.kind, MbarrierKind::Wait { .. }) {
            return (LaneMask::EMPTY, elsewhere);
        }
        if let Some(pred) = b.done {
            self.set_pred(pred, done, active);
        }
        if !done.is_empty() {
            self.activity.progress = true;
            self.warp.fiber.polls = 0;
        }
        self.warp.fiber.phase = self.phase_wait(b, pc, active & !done);
        self.warp.fiber.sleeps = 0;
        (active & !done, elsewhere)
    }

    fn observe_mbarrier(&self, kind: MbarrierKind, barrier: u32, operand: u32, pc: u32, ended: bool) {
        let phases = || self.mbarrier_phase(barrier).filter(|_| ended);
        self.observe(self.job.instr_at(pc), || match kind {
            MbarrierKind::Wait { .. } => Event::Wait { barrier, ended: phases() },
            MbarrierKind::ArriveAfterCopies { counts } => Event::ArriveAfterCopies { barrier, counts },
            _ => arrival(kind, operand, barrier, false),
        });
    }

    fn init_mbarrier(&mut self, barrier: u32, arrivals: u32, pc: u32, lane: usize) {
        if !(1..=MAX_ARRIVALS).contains(&arrivals) {
            self.bad_barrier(pc, lane, barrier, BadBarrier::Arrivals(arrivals));
            return;
        }
        let init_warp = self.warp.index;
        let state = MbarrierState { arrivals, pending: arrivals, init_warp, ..MbarrierState::default() };
        self.block.mbarriers.states.insert(barrier, state);
        self.activity.progress = true;
    }

    /// Performs an operation except `init` for one lane; `operand` is a count, bytes or a parity. Returns whether a
    /// wait ends.
    fn mbarrier_of_lane(&mut self, b: &Mbarrier, barrier: u32, operand: u32, pc: u32, lane: usize) -> bool {
        self.check_synchronised(barrier, pc, lane);
        self.check_overwritten(barrier, pc);
        let Some(state) = self.block.mbarriers.states.get_mut(&barrier) else {
            self.not_initialised(pc, lane, barrier);
            return false;
        };
        let arrives = matches!(
            b.kind,
            MbarrierKind::Complete | MbarrierKind::Arrive { .. } | MbarrierKind::ArriveAfterCopies { .. }
        );
        if let Some(clocks) = self.checks.clocks().filter(|_| arrives) {
            clocks.set_mbarrier_phase(barrier, state.phase, None);
            clocks.arrive_at_mbarrier(barrier, self.warp.index);
        }
        let mut ended = false;
        let mut problem = None;
        match b.kind {
            MbarrierKind::Init | MbarrierKind::Invalidate => {
                self.block.mbarriers.states.remove(&barrier);
            }
            MbarrierKind::Expect => problem = state.expect_bytes(operand),
            MbarrierKind::Complete => {
                state.complete_bytes(operand.into());
                state.end_phase();
            }
            MbarrierKind::Arrive { expect, drop, completes } => {
                let token = state.phase << TOKEN_PENDING.count_ones() | u64::from(state.pending);
                let counts;
                (counts, problem) = state.arrive(operand, [expect, drop, completes]);
                if counts {
                    state.end_phase();
                    if self.job.check_level.checks() {
                        let arrived = self.block.mbarriers.arrived.entry(barrier).or_default();
                        arrived.insert(self.warp.thread_of(lane));
                    }
                }
                if let Some(dst) = b.dst {
                    self.out64(dst)[lane] = token;
                }
            }
            MbarrierKind::ArriveAfterCopies { counts } => self.arrive_after_copies(barrier, lane, counts),
            MbarrierKind::Wait { .. } => {
                ended = self.poll_mbarrier(b, barrier, operand, lane);
                problem = self.bad_token(b, barrier, lane);
                // No phase with such a number may ever end.
                ended |= problem.is_some();
            }
        }
        let phase = self.mbarrier_phase(barrier).unwrap_or(0);
        if let Some(clocks) = self.checks.clocks() {
            clocks.set_mbarrier_phase(barrier, phase, ended.then_some(self.warp.index));
        }
        if let Some(problem) = problem {
            self.bad_barrier(pc, lane, barrier, problem);
        }
        if !matches!(b.kind, MbarrierKind::Wait { .. }) {
            self.activity.progress = true;
        }
        ended
    }

    /// Returns the problem of a wait's token: arrivals return those of phases that have begun and awaited an arrival.
    fn bad_token(&self, b: &Mbarrier, barrier: u32, lane: usize) -> Option<BadBarrier> {
        let token = self.u64_at(b.phase.filter(|_| b.number.is_none())?, lane);
        let phase = self.mbarrier_phase(barrier)?;
        let fits = token >> TOKEN_PENDING.count_ones() <= phase && token & TOKEN_PENDING != 0;
        (!fits && self.job.check_level.checks()).then_some(BadBarrier::Token { token, phase })
    }

    /// Reports, at its first use after that, an mbarrier that something else wrote to.
    fn check_overwritten(&mut self, barrier: u32, pc: u32) {
        let state = self.block.mbarriers.states.get_mut(&barrier);
        let Some(by) = state.and_then(|state| state.overwritten.take()) else { return };
        // The thread that wrote is named.
        let problem = BadBarrier::Overwritten { used: self.job.instr_at(pc) };
        let details = MistakeDetails::MemoryBarrier { offset: barrier, problem };
        self.note_misuse();
        self.record_mistake_of(by.thread / 32, by.instr, LaneMask::of(by.thread as usize % 32), details);
    }

    /// Reports a use by another warp than the one that initialised the mbarrier, without a barrier in between.
    fn check_synchronised(&mut self, barrier: u32, pc: u32, lane: usize) {
        let Some(state) = self.block.mbarriers.states.get_mut(&barrier) else { return };
        if state.synced_since_init || state.init_warp == self.warp.index || !self.job.check_level.checks() {
            return;
        }
        state.synced_since_init = true;
        let init_warp = state.init_warp;
        // A wait for another mbarrier may have ordered the two.
        if !self.block.mbarriers.last.contains_key(&self.warp.thread_of(lane)) {
            self.bad_barrier(pc, lane, barrier, BadBarrier::NotSynchronised { init_warp });
        }
    }

    /// Executes `cp.async.mbarrier.arrive`: arrives when the lane's copies are done, `counts`: as one more arrival.
    fn arrive_after_copies(&mut self, barrier: u32, lane: usize, counts: bool) {
        if let Some(state) = self.block.mbarriers.states.get_mut(&barrier).filter(|_| counts) {
            state.pending = (state.pending + 1).min(MAX_ARRIVALS);
        }
        if let Some(due) = self.start_arrival(barrier, lane) {
            self.finish_arrival(due);
            if let Some(state) = self.block.mbarriers.states.get_mut(&due) {
                state.pending = state.pending.saturating_sub(1);
                state.end_phase();
            }
        }
    }

    /// Returns whether the phase that a lane waits for has ended, after completing the copies that can end it.
    fn poll_mbarrier(&mut self, b: &Mbarrier, barrier: u32, operand: u32, lane: usize) -> bool {
        let parity = b.number.is_some().then_some(operand as u8 & 1);
        let awaited = match parity {
            Some(_) => 0,
            None => b.phase.map_or(0, |src| self.u64_at(src, lane) >> TOKEN_PENDING.count_ones()),
        };
        let has_ended = |phase: u64| phase_has_ended(phase, parity, awaited);
        let ended = self.mbarrier_phase(barrier).is_some_and(has_ended)
            || self.receive(barrier) && self.mbarrier_phase(barrier).is_some_and(has_ended);
        if ended && self.job.check_level.checks() {
            self.note_wait(barrier, lane, parity);
        }
        ended
    }

    /// Records that a lane found a phase to have ended.
    fn note_wait(&mut self, barrier: u32, lane: usize, parity: Option<u8>) {
        let ended = self.mbarrier_phase(barrier).unwrap_or(0);
        let new = Waited { ended, times: 0, parity };
        let thread = self.warp.thread_of(lane);
        self.block.mbarriers.last.insert(thread, barrier);
        let waited = self.block.mbarriers.waited.entry((barrier, thread)).or_insert(new);
        if waited.ended != ended {
            *waited = new;
        }
        waited.times = waited.times.saturating_add(1);
        waited.parity = parity;
    }

    /// Returns a copy that has yet to write one of `bytes` bytes at `offset` in shared memory, which a lane reads.
    pub(crate) fn copy_in_flight(&self, offset: u32, bytes: u32, lane: usize) -> Option<CopyInFlight> {
        if let Some(copy) = self.block.copies.in_flight(offset, bytes) {
            return Some(copy);
        }
        let (barrier, copy) = self.block.bulk.in_flight(offset, bytes)?;
        let state = self.block.mbarriers.states.get(&barrier)?;
        Some(CopyInFlight {
            instr: copy.by.instr,
            thread: copy.by.thread,
            behind: None,
            left: None,
            behind_then: None,
            phase: Some(PhaseOfCopy {
                waited: self.block.mbarriers.waited.get(&(barrier, self.warp.thread_of(lane))).copied(),
                ..self.block.bulk.phase_of(copy, barrier, state)
            }),
        })
    }

    /// Records that a mistake was reported, from which later ones may follow. Returns whether there was one before.
    pub(crate) fn note_misuse(&mut self) -> bool {
        std::mem::replace(&mut self.block.mbarriers.misused, true)
    }

    /// Records that a bulk copy was skipped for its own mistake, from which missing bytes in all its blocks follow.
    pub(crate) fn note_skipped_copy(&mut self) {
        self.note_misuse();
        if let Some(cluster) = &mut self.block.cluster {
            cluster.others().for_each(|block| block.mbarriers.misused = true);
        }
    }

    /// Returns whether a mistake was reported in the block or in others of its cluster.
    fn is_cluster_misused(&self) -> bool {
        let misused = |block: &crate::exec::block::Block| block.mbarriers.misused;
        let ranks = 0..self.job.cluster_blocks;
        misused(&self.block) || ranks.filter_map(|rank| self.member(rank)).any(misused)
    }

    /// Returns an mbarrier that a thread passed before any of its phases had ended.
    pub(crate) fn passed_fresh(&self, thread: u32) -> Option<u32> {
        let fresh = |waited: &Waited| waited.ended == 0 && waited.parity.is_some();
        let mut waited = self.block.mbarriers.waited.iter();
        waited.find(|((_, by), waited)| *by == thread && fresh(waited)).map(|((at, _), _)| *at)
    }

    fn phase_wait(&mut self, b: &Mbarrier, pc: u32, active: LaneMask) -> Option<PhaseWait> {
        let lane = active.iter().next()?;
        Some(PhaseWait {
            barrier: self.mbarrier_at(&b.addr, b.space, pc, lane)?,
            instr: self.job.instr_at(pc),
            parity: b.number.map(|src| self.u32_at(src, lane) as u8 & 1),
            awaited: b.phase.map_or(0, |src| self.u64_at(src, lane) >> TOKEN_PENDING.count_ones()),
        })
    }

    /// Returns whether every thread that can run waits for a phase, and none of these phases can end.
    pub(crate) fn all_wait_for_phases(&mut self) -> bool {
        let mut waits = Vec::new();
        for f in self.block.warps.iter().flat_map(|w| &w.fibers) {
            match (f.state, f.phase) {
                (FiberState::Ready, Some(wait)) => waits.push(wait),
                (FiberState::Ready, None) => return false,
                _ => {}
            }
        }
        waits.iter().all(|wait| {
            self.receive(wait.barrier);
            self.mbarrier_phase(wait.barrier).is_none_or(|phase| !wait.has_ended(phase))
        })
    }

    /// Returns the phases for which the threads of the block wait, a cause before its consequences.
    fn phase_waits(&self) -> Vec<PhaseWaits> {
        let n_warps = self.block.warps.len();
        let mut waits: Vec<PhaseWaits> = Vec::new();
        for (w, warp) in self.block.warps.iter().enumerate() {
            for f in &warp.fibers {
                let (FiberState::Ready, Some(wait)) = (f.state, f.phase) else { continue };
                let same = |other: &&mut PhaseWaits| {
                    (other.group.instr, other.offset, other.parity) == (wait.instr, wait.barrier, wait.parity)
                };
                let thread = |lane: usize| (w * 32 + lane) as u32;
                let last = |lane| self.block.mbarriers.waited.get(&(wait.barrier, thread(lane)));
                let seen = f.lanes().iter().map(|lane| last(lane).map_or(0, |waited| waited.ended)).min();
                let seen = self.job.check_level.checks().then(|| seen.unwrap_or(0));
                let never = f.lanes().iter().all(|lane| last(lane).is_none());
                if let Some(known) = waits.iter_mut().find(same) {
                    known.never &= never;
                    known.group.threads[w] |= f.lanes();
                    known.seen = known.seen.min(seen);
                    continue;
                }
                let Some(state) = self.block.mbarriers.states.get(&wait.barrier) else { continue };
                let mut threads = vec![LaneMask::EMPTY; n_warps].into_boxed_slice();
                threads[w] = f.lanes();
                waits.push(PhaseWaits {
                    group: BarrierGroup { instr: wait.instr, at_barrier: false, threads },
                    offset: wait.barrier,
                    parity: wait.parity,
                    ended: state.phase,
                    arrivals: state.arrivals,
                    pending: state.pending,
                    bytes: state.bytes,
                    in_flight: self.block.bulk.bytes_to(wait.barrier),
                    seen,
                    arrivers: self.block.mbarriers.arrived.get(&wait.barrier).map_or(0, BTreeSet::len) as u32,
                    never,
                });
            }
        }
        waits.sort_by_key(rank_of_cause);
        waits
    }

    /// Reports a deadlock: no phase that threads wait for can end. In a cluster, the report names the causing block.
    #[cold]
    pub(crate) fn report_phase_deadlock(&mut self) {
        self.stopped = true;
        if self.is_cluster_misused() {
            // That has been reported, and this may follow from it.
            return;
        }
        if self.job.cluster_blocks > 1 {
            let causes = (0..self.job.cluster_blocks).filter_map(|rank| {
                self.switch_to(rank);
                let waits = self.phase_waits();
                Some((waits.first().map(rank_of_cause)?, rank))
            });
            let Some((_, rank)) = causes.min() else { return };
            self.switch_to(rank);
        }
        let waits = self.phase_waits();
        let others = self.groups(|state| state != FiberState::Ready);
        let Some(first) = waits.first() else { return };
        let instr = first.group.instr;
        let Some((warp, mask)) = first.group.first() else { return };
        self.record_mistake_of(warp, instr, mask, MistakeDetails::Phases { waits, others });
        self.stopped = true;
    }

    /// Performs the operation of a lane if its mbarrier is in another block of the cluster; returns whether it is.
    fn remote_mbarrier(&mut self, b: &Mbarrier, pc: u32, lane: usize) -> bool {
        let offset = self.address_of(&b.addr, b.space, lane).wrapping_sub(window::SHARED);
        let (Holder::Other(rank, _) | Holder::Nobody(rank)) = self.holder(offset) else { return false };
        self.activity.progress = true;
        if let Some(problem) = self.remote_problem(offset) {
            let access = BadAccess::at(AccessKind::Atomic, MemSpace::Shared, offset, BYTES);
            self.record_mistake(pc, LaneMask::of(lane), MistakeDetails::Remote { access, problem });
            return true;
        }
        let operand = b.number.map_or(1, |src| self.u32_at(src, lane));
        let barrier = offset as u32 & ((1 << RANK_SHIFT) - 1);
        self.observe(self.job.instr_at(pc), || arrival(b.kind, operand, barrier, true));
        let thread = ((self.block.rank + 1) << 16) | self.warp.thread_of(lane);
        self.in_block(rank, |worker| {
            let Some(barrier) = worker.mbarrier_at(&b.addr, b.space, pc, lane) else { return };
            let Some(state) = worker.block.mbarriers.states.get_mut(&barrier) else {
                worker.not_initialised(pc, lane, barrier);
                return;
            };
            let mut problem = None;
            match b.kind {
                MbarrierKind::Expect => problem = state.expect_bytes(operand),
                MbarrierKind::Complete => state.complete_bytes(operand.into()),
                MbarrierKind::Arrive { expect, drop, .. } if b.dst.is_none() => {
                    let counts;
                    (counts, problem) = state.arrive(operand, [expect, drop, true]);
                    if counts {
                        worker.block.mbarriers.arrived.entry(barrier).or_default().insert(thread);
                    }
                }
                _ => problem = Some(BadBarrier::OtherBlock),
            }
            let before = worker.mbarrier_phase(barrier).unwrap_or(0);
            worker.arrived_from_outside(barrier, before);
            if let Some(state) = worker.block.mbarriers.states.get_mut(&barrier) {
                state.end_phase();
            }
            let after = worker.mbarrier_phase(barrier).unwrap_or(0);
            if after != before {
                worker.arrived_from_outside(barrier, after);
            }
            if let Some(problem) = problem {
                worker.bad_barrier(pc, lane, barrier, problem);
            }
        });
        true
    }

    /// Returns the generic address that an operand of a lane names, seen from the block that runs.
    pub(crate) fn address_of(&self, addr: &Addr, space: MemSpace, lane: usize) -> u64 {
        self.seen_from_here(place(addr, space.window(), self.address_value(addr, lane)))
    }

    /// Reads the register or constant of an address operand.
    pub(crate) fn address_value(&self, addr: &Addr, lane: usize) -> u64 {
        if addr.wide { self.u64_at(addr.src, lane) } else { self.u32_at(addr.src, lane).into() }
    }

    /// Returns how many phases of an mbarrier have ended.
    pub(crate) fn mbarrier_phase(&self, barrier: u32) -> Option<u64> {
        self.block.mbarriers.states.get(&barrier).map(|state| state.phase)
    }

    /// Returns the offset of the mbarrier that a lane names; reports an address at which there can be none.
    pub(crate) fn mbarrier_at(&mut self, addr: &Addr, space: MemSpace, pc: u32, lane: usize) -> Option<u32> {
        let address = self.address_of(addr, space, lane);
        self.mbarrier_in(address, pc, lane)
    }

    /// Works as [`Self::mbarrier_at`], for a generic address.
    pub(crate) fn mbarrier_in(&mut self, address: u64, pc: u32, lane: usize) -> Option<u32> {
        if !window::holds(window::SHARED, address) {
            self.bad_barrier(pc, lane, 0, BadBarrier::NotShared(address));
            return None;
        }
        let offset = match self.holder(address.wrapping_sub(window::SHARED)) {
            Holder::Own(offset) => offset,
            Holder::Other(_, offset) => {
                self.bad_barrier(pc, lane, offset as u32, BadBarrier::OtherBlock);
                return None;
            }
            Holder::Nobody(_) => address.wrapping_sub(window::SHARED),
        };
        let inside = |(_, to): (u32, u32)| offset + u64::from(BYTES) <= u64::from(to);
        let problem = if !self.block.shared_range(self.job, offset).is_some_and(inside) {
            AccessProblem::OutOfBounds
        } else if !offset.is_multiple_of(BYTES.into()) {
            AccessProblem::Misaligned
        } else {
            return Some(offset as u32);
        };
        let access = BadAccess::at(AccessKind::Atomic, MemSpace::Shared, offset, BYTES);
        self.record_mistake(pc, LaneMask::of(lane), MistakeDetails::Access { problem, access });
        None
    }

    /// Returns whether there is an mbarrier for a copy; reports if not, and one that no fence has made visible to it.
    pub(crate) fn check_mbarrier(&mut self, barrier: u32, pc: u32, lane: usize) -> bool {
        let checks = self.job.check_level.checks();
        self.check_overwritten(barrier, pc);
        let Some(state) = self.block.mbarriers.states.get_mut(&barrier) else {
            self.not_initialised(pc, lane, barrier);
            return false;
        };
        if checks && !std::mem::replace(&mut state.fenced_to_async_proxy, true) {
            let details = MistakeDetails::MemoryBarrier { offset: barrier, problem: BadBarrier::NotFenced };
            self.record_mistake(pc, LaneMask::of(lane), details);
        }
        true
    }

    fn not_initialised(&mut self, pc: u32, lane: usize, barrier: u32) {
        let other = self.acting.map(|_| (self.block.index, self.block.rank));
        self.bad_barrier(pc, lane, barrier, BadBarrier::NotInitialised { other });
    }

    fn bad_barrier(&mut self, pc: u32, lane: usize, offset: u32, mut problem: BadBarrier) {
        let follows = self.note_misuse();
        if let BadBarrier::TooManyArrivals { again, .. } = &mut problem {
            if follows {
                return;
            }
            let barriers = &self.block.mbarriers;
            let thread = self.warp.thread_of(lane);
            *again = barriers.last.get(&thread).and_then(|&last| {
                let waited = barriers.waited.get(&(last, thread))?;
                let parity = waited.parity.filter(|_| waited.times > 1)?;
                (last != offset).then_some((last, parity))
            });
        }
        self.record_mistake(pc, LaneMask::of(lane), MistakeDetails::MemoryBarrier { offset, problem });
    }

    /// Completes copies that this mbarrier waits for, oldest first, until its phase ends. Returns whether it has ended.
    fn receive(&mut self, barrier: u32) -> bool {
        loop {
            let n_arrivals = || self.block.copies.arrivals.iter().filter(|arrival| arrival.barrier == barrier).count();
            match self.block.mbarriers.states.get_mut(&barrier) {
                // Bytes are of no use yet: as long as arrivals are missing, copies may come later.
                Some(state) if state.pending == 0 => {
                    if state.end_phase() {
                        return true;
                    }
                }
                // The arrival of an asynchronous copy is made as late as possible: when only such arrivals are missing.
                Some(state) if n_arrivals() >= state.pending as usize => {
                    state.pending -= 1;
                    self.finish_arrival(barrier);
                    self.activity.progress = true;
                    continue;
                }
                _ => return false,
            }
            let Some(bytes) = self.perform_next(barrier) else { return false };
            self.activity.progress = true;
            if let Some(state) = self.block.mbarriers.states.get_mut(&barrier) {
                state.complete_bytes(bytes);
            }
        }
    }

    /// Counts bytes of a copy at an mbarrier for which no thread waits.
    pub(crate) fn complete_bytes(&mut self, barrier: u32, bytes: u64) {
        if let Some(state) = self.block.mbarriers.states.get_mut(&barrier) {
            state.complete_bytes(bytes);
            state.end_phase();
        }
    }
}

/// Returns the event of an operation that is no wait.
fn arrival(kind: MbarrierKind, operand: u32, barrier: u32, is_remote: bool) -> Event {
    let (arrivals, bytes) = match kind {
        MbarrierKind::Arrive { expect: false, .. } => (operand, 0),
        MbarrierKind::Arrive { expect: true, .. } => (1, operand.into()),
        MbarrierKind::Expect => (0, operand.into()),
        MbarrierKind::Complete => (0, -i64::from(operand)),
        _ => (0, 0),
    };
    Event::Arrive { barrier, is_remote, arrivals, bytes }
}

/// Ranks a likely cause, smallest first: phases that passed a thread, bytes without a copy, unexpected bytes.
fn rank_of_cause(wait: &PhaseWaits) -> (bool, bool) {
    (!wait.has_missed(), wait.pending != 0)
}
