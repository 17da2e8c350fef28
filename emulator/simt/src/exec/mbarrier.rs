//! Barriers in shared memory: phases that end when all arrivals have come and all bytes that were expected.
//!
//! The state of a barrier is kept beside shared memory, by address; the eight bytes themselves read as 0.

use std::collections::BTreeSet;

use crate::arithmetic::lanes::NONE;
use crate::check::{
    AccessKind, BadAccess, BadBarrier, BarrierGroup, Code, CopyUnderWay, Details, PhaseOfCopy, PhaseWaits,
    Waited,
};
use crate::program::{Addr, Mbarrier, MbarrierKind, MemSpace, TOKEN_PENDING, window};

use super::bits;
use super::block::mbarriers::MbarrierState;
use super::cluster_memory::Holder;
use super::fiber::{FiberState, PhaseWait};
use super::spec::{bias, place};
use super::worker::Worker;

/// Arrivals that a barrier can wait for.
const MAX_ARRIVALS: u32 = (1 << 20) - 1;
/// Bytes that a phase can wait for.
const MAX_BYTES: i64 = (1 << 20) - 1;
const BYTES: u32 = 8;

impl Worker<'_> {
    /// Performs the operation for the lanes `on`. True if some of them wait for a phase that has not ended.
    pub(crate) fn mbarrier(&mut self, b: &Mbarrier, pc: u32, on: u32) -> bool {
        let mut done = 0;
        for lane in bits(on) {
            if self.job.cluster_blocks > 1 && self.remote_mbarrier(b, pc, lane) {
                continue;
            }
            let Some(at) = self.mbarrier_at(&b.addr, b.space, pc, lane) else { continue };
            let number = match b.number {
                NONE => 1,
                src => self.u32_at(src, lane),
            };
            if b.kind == MbarrierKind::Init {
                if !(1..=MAX_ARRIVALS).contains(&number) {
                    self.bad_barrier(pc, lane, at, BadBarrier::Arrivals(number));
                    continue;
                }
                let state = MbarrierState {
                    arrivals: number,
                    pending: number,
                    bytes: 0,
                    phase: 0,
                    came: 0,
                    brought: 0,
                    maker: self.warp.index,
                    settled: false,
                    published: false,
                };
                self.block.mbarriers.states.insert(at, state);
                self.activity.progress = true;
                continue;
            }
            let Some(state) = self.block.mbarriers.states.get_mut(&at) else {
                self.not_initialised(pc, lane, at);
                continue;
            };
            if !state.settled && state.maker != self.warp.index && self.job.check_level.checks() {
                state.settled = true;
                let maker = state.maker;
                // Somebody may have handed it over through another barrier.
                let thread = self.warp.index * 32 + lane as u32;
                if !self.block.mbarriers.last.contains_key(&thread) {
                    self.bad_barrier(pc, lane, at, BadBarrier::NotSettled { maker });
                }
            }
            let Some(state) = self.block.mbarriers.states.get_mut(&at) else { continue };
            let gives = matches!(
                b.kind,
                MbarrierKind::Complete
                    | MbarrierKind::Arrive { .. }
                    | MbarrierKind::ArriveBehindCopies { .. }
            );
            if let Some(races) = self.checks.shared_races.as_mut().filter(|_| gives) {
                races.phase(at, state.phase, None);
                races.arrive(at, self.warp.index);
            }
            let phase = state.phase;
            let token = phase << TOKEN_PENDING.count_ones() | u64::from(state.pending);
            let mut problem = None;
            match b.kind {
                MbarrierKind::Init | MbarrierKind::Invalidate => {
                    self.block.mbarriers.states.remove(&at);
                }
                MbarrierKind::Expect => problem = expect(state, number),
                MbarrierKind::Complete => {
                    state.bring(number.into());
                    state.end_phase();
                }
                MbarrierKind::Arrive { expect: bytes, drop, completes } => {
                    let missing = state.bytes;
                    if bytes {
                        problem = expect(state, number);
                    }
                    let n = if bytes { 1 } else { number };
                    if n == 0 || n > state.pending {
                        problem = Some(BadBarrier::TooManyArrivals {
                            arrivals: n,
                            pending: state.pending,
                            bytes: missing,
                            again: None,
                        });
                    } else if n == state.pending && !completes {
                        problem = Some(BadBarrier::Completes(n));
                    } else {
                        state.pending -= n;
                        if self.job.check_level.checks() {
                            let thread = self.warp.index * 32 + lane as u32;
                            self.block.mbarriers.arrived.entry(at).or_default().insert(thread);
                        }
                        let Some(state) = self.block.mbarriers.states.get_mut(&at) else { continue };
                        // Arrivals behind copies are not among those of each phase.
                        state.arrivals = state.arrivals.saturating_sub(if drop { n } else { 0 });
                        state.end_phase();
                    }
                    if b.dst != NONE {
                        self.out64(b.dst as u32)[lane] = token;
                    }
                }
                MbarrierKind::ArriveBehindCopies { counts } => {
                    if counts {
                        state.pending = (state.pending + 1).min(MAX_ARRIVALS);
                    }
                    if let Some(due) = self.start_arrival(at, lane) {
                        self.finish_arrival(due);
                        if let Some(state) = self.block.mbarriers.states.get_mut(&due) {
                            state.pending = state.pending.saturating_sub(1);
                            state.end_phase();
                        }
                    }
                }
                MbarrierKind::Wait => {
                    let parity = (b.number != NONE).then_some(u64::from(number & 1));
                    let asked = match parity {
                        Some(_) => 0,
                        None => self.u64_at(b.phase, lane) >> TOKEN_PENDING.count_ones(),
                    };
                    let has_ended = |phase: u64| match parity {
                        Some(parity) => phase & 1 != parity,
                        None => phase > asked,
                    };
                    let mut ended = has_ended(phase);
                    if !ended {
                        ended = self.receive(at) && self.mbarrier_phase(at).is_some_and(has_ended);
                    }
                    if ended && self.job.check_level.checks() {
                        self.note_wait(at, lane, parity.map(|parity| parity as u8));
                    }
                    done |= u32::from(ended) << lane;
                }
            }
            let number = self.mbarrier_phase(at).unwrap_or(0);
            if let Some(races) = &mut self.checks.shared_races {
                let waited = b.kind == MbarrierKind::Wait && done >> lane & 1 == 1;
                races.phase(at, number, waited.then_some(self.warp.index));
            }
            if let Some(problem) = problem {
                self.bad_barrier(pc, lane, at, problem);
            }
            if b.kind != MbarrierKind::Wait {
                self.activity.progress = true;
            }
        }
        // Writes before an arrival are ordered before reads behind the wait.
        if let Some(races) = &mut self.checks.shared_races {
            races.synchronised();
        }
        if b.kind != MbarrierKind::Wait {
            return false;
        }
        if b.done != NONE {
            self.set_pred(b.done as u32, done, on);
        }
        if done != 0 {
            self.activity.progress = true;
            self.warp.fiber.polls = 0;
        }
        self.warp.fiber.phase = self.phase_wait(b, pc, on & !done);
        self.warp.fiber.naps = 0;
        done != on
    }

    /// A lane found a phase to have ended.
    fn note_wait(&mut self, at: u32, lane: usize, parity: Option<u8>) {
        let ended = self.mbarrier_phase(at).unwrap_or(0);
        let new = Waited { ended, times: 0, parity };
        let thread = self.warp.index * 32 + lane as u32;
        self.block.mbarriers.last.insert(thread, at);
        let waited = self.block.mbarriers.waited.entry((at, thread)).or_insert(new);
        if waited.ended != ended {
            *waited = new;
        }
        waited.times = waited.times.saturating_add(1);
        waited.parity = parity;
    }

    /// A bulk copy that has yet to write one of `bytes` bytes at `offset` in shared memory, which a lane reads.
    pub(crate) fn bulk_under_way(&self, offset: u32, bytes: u32, lane: usize) -> Option<CopyUnderWay> {
        let (barrier, copy) = self.block.bulk.under_way(offset, bytes)?;
        let reader = self.warp.index * 32 + lane as u32;
        let state = self.block.mbarriers.states.get(&barrier)?;
        Some(CopyUnderWay {
            instr: copy.instr,
            thread: copy.thread,
            behind: None,
            left: None,
            behind_then: None,
            phase: Some(PhaseOfCopy {
                offset: barrier,
                number: copy.phase,
                ended: state.phase,
                brought: state.brought,
                started: self.block.bulk.bytes_in(barrier, copy.phase),
                waited: self.block.mbarriers.waited.get(&(barrier, reader)).copied(),
            }),
        })
    }

    /// Notes a reported mistake, from which later ones may follow. Returns true if there was one before.
    pub(crate) fn out_of_order(&mut self) -> bool {
        std::mem::replace(&mut self.block.mbarriers.misused, true)
    }

    /// True after a reported mistake with the barriers or copies of the block.
    pub(crate) fn has_gone_wrong(&self) -> bool {
        self.block.mbarriers.misused
    }

    /// A bulk copy was left out for a mistake of its own, from which follows what is missing in all its blocks.
    pub(crate) fn copy_left_out(&mut self) {
        self.out_of_order();
        if let Some(cluster) = &mut self.block.cluster {
            cluster.others().for_each(|block| block.mbarriers.misused = true);
        }
    }

    /// True after a misuse in the block or in others of its cluster.
    fn is_out_of_order(&self) -> bool {
        let misused = |block: &super::block::Block| block.mbarriers.misused;
        let ranks = 0..self.job.cluster_blocks;
        misused(&self.block) || ranks.filter_map(|rank| self.member(rank)).any(misused)
    }

    /// A barrier that a thread passed before any of its phases had ended.
    pub(crate) fn passed_fresh(&self, thread: u32) -> Option<u32> {
        let fresh = |waited: &Waited| waited.ended == 0 && waited.parity.is_some();
        let mut waited = self.block.mbarriers.waited.iter();
        waited.find(|((_, by), waited)| *by == thread && fresh(waited)).map(|((at, _), _)| *at)
    }

    /// Phase for which the lowest of the lanes `on` waits.
    fn phase_wait(&mut self, b: &Mbarrier, pc: u32, on: u32) -> Option<PhaseWait> {
        let lane = bits(on).next()?;
        Some(PhaseWait {
            at: self.mbarrier_at(&b.addr, b.space, pc, lane)?,
            instr: self.job.kernel.ops[pc as usize].instr,
            parity: (b.number != NONE).then(|| self.u32_at(b.number, lane) as u8 & 1),
            asked: match b.phase {
                NONE => 0,
                src => self.u64_at(src, lane) >> TOKEN_PENDING.count_ones(),
            },
        })
    }

    /// Every thread that can run waits for a phase, and none of these can end.
    pub(super) fn all_wait_for_phases(&mut self) -> bool {
        let mut waits = Vec::new();
        for f in self.block.warps.iter().flat_map(|w| &w.fibers) {
            match (f.state, f.phase) {
                (FiberState::Ready, Some(wait)) => waits.push(wait),
                (FiberState::Ready, None) => return false,
                _ => {}
            }
        }
        waits.iter().all(|wait| {
            self.receive(wait.at);
            self.mbarrier_phase(wait.at).is_none_or(|phase| !wait.has_ended(phase))
        })
    }

    /// Phases for which the threads of the block wait, a cause before its consequences.
    fn phase_waits(&self) -> Vec<PhaseWaits> {
        let n_warps = self.block.warps.len();
        let mut waits: Vec<PhaseWaits> = Vec::new();
        for (w, warp) in self.block.warps.iter().enumerate() {
            for f in &warp.fibers {
                let (FiberState::Ready, Some(wait)) = (f.state, f.phase) else { continue };
                let same = |other: &&mut PhaseWaits| {
                    (other.group.instr, other.offset, other.parity) == (wait.instr, wait.at, wait.parity)
                };
                let thread = |lane: usize| (w * 32 + lane) as u32;
                let last = |lane| self.block.mbarriers.waited.get(&(wait.at, thread(lane)));
                let seen = bits(f.lanes()).map(|lane| last(lane).map_or(0, |waited| waited.ended)).min();
                // Without checks, nothing is known of that.
                let seen = if self.job.check_level.checks() { seen.unwrap_or(0) } else { u64::MAX };
                let never = bits(f.lanes()).all(|lane| last(lane).is_none());
                if let Some(known) = waits.iter_mut().find(same) {
                    known.never &= never;
                    known.group.threads[w] |= f.lanes();
                    known.seen = known.seen.min(seen);
                    continue;
                }
                let Some(state) = self.block.mbarriers.states.get(&wait.at) else { continue };
                let mut threads = vec![0; n_warps].into_boxed_slice();
                threads[w] = f.lanes();
                waits.push(PhaseWaits {
                    group: BarrierGroup { instr: wait.instr, at_barrier: false, threads },
                    offset: wait.at,
                    parity: wait.parity,
                    ended: state.phase,
                    arrivals: state.arrivals,
                    pending: state.pending,
                    bytes: state.bytes,
                    under_way: self.block.bulk.bytes_to(wait.at),
                    seen,
                    arrivers: self.block.mbarriers.arrived.get(&wait.at).map_or(0, BTreeSet::len) as u32,
                    never,
                });
            }
        }
        waits.sort_by_key(rank_of_cause);
        waits
    }

    /// No thread can go on, as the phases that they wait for never end. In a cluster, the block with the cause is named.
    #[cold]
    pub(super) fn phase_deadlock(&mut self) {
        self.stopped = true;
        if self.is_out_of_order() {
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
        let Some(warp) = first.group.threads.iter().position(|m| *m != 0) else { return };
        let mask = first.group.threads[warp];
        self.warp.index = warp as u32;
        self.record_mistake_at(instr, Code::Barrier, mask, Details::Phases { waits, others });
        self.stopped = true;
    }

    /// Performs the operation of a lane if it names a barrier in another block of the cluster.
    fn remote_mbarrier(&mut self, b: &Mbarrier, pc: u32, lane: usize) -> bool {
        let offset = self.address_of(&b.addr, b.space, lane).wrapping_sub(window::SHARED);
        let rank = match self.holder(offset) {
            Holder::Other(rank, _) => rank,
            Holder::Nobody(rank) => rank,
            Holder::Own(_) => return false,
        };
        self.activity.progress = true;
        if let Some(problem) = self.remote_problem(offset) {
            let access = BadAccess::at(AccessKind::Atomic, MemSpace::Shared, offset, BYTES);
            self.record_mistake(pc, Code::Cluster, 1 << lane, Details::Remote { access, problem });
            return true;
        }
        let number = match b.number {
            NONE => 1,
            src => self.u32_at(src, lane),
        };
        let thread = ((self.block.rank + 1) << 16) | (self.warp.index * 32 + lane as u32);
        self.in_block(rank, |worker| {
            let Some(at) = worker.mbarrier_at(&b.addr, b.space, pc, lane) else { return };
            let Some(state) = worker.block.mbarriers.states.get_mut(&at) else {
                worker.not_initialised(pc, lane, at);
                return;
            };
            let mut problem = None;
            match b.kind {
                MbarrierKind::Expect => problem = expect(state, number),
                MbarrierKind::Complete => state.bring(number.into()),
                MbarrierKind::Arrive { expect: bytes, drop, .. } if b.dst == NONE => {
                    let missing = state.bytes;
                    if bytes {
                        problem = expect(state, number);
                    }
                    let n = if bytes { 1 } else { number };
                    if n == 0 || n > state.pending {
                        problem = Some(BadBarrier::TooManyArrivals {
                            arrivals: n,
                            pending: state.pending,
                            bytes: missing,
                            again: None,
                        });
                    } else {
                        state.pending -= n;
                        state.arrivals = state.arrivals.saturating_sub(if drop { n } else { 0 });
                        worker.block.mbarriers.arrived.entry(at).or_default().insert(thread);
                    }
                }
                _ => problem = Some(BadBarrier::OtherBlock),
            }
            let before = worker.mbarrier_phase(at).unwrap_or(0);
            worker.arrived_from_outside(at, before);
            if let Some(state) = worker.block.mbarriers.states.get_mut(&at) {
                state.end_phase();
            }
            let after = worker.mbarrier_phase(at).unwrap_or(0);
            if after != before {
                worker.arrived_from_outside(at, after);
            }
            if let Some(problem) = problem {
                worker.bad_barrier(pc, lane, at, problem);
            }
        });
        true
    }

    /// Address that an operand of a lane names in the one address space, seen from the block that runs.
    pub(crate) fn address_of(&self, addr: &Addr, space: MemSpace, lane: usize) -> u64 {
        self.seen_from_here(place(addr, bias(space), self.address_value(addr, lane)))
    }

    /// Register or constant of an address operand.
    pub(super) fn address_value(&self, addr: &Addr, lane: usize) -> u64 {
        if addr.wide { self.u64_at(addr.src, lane) } else { self.u32_at(addr.src, lane).into() }
    }

    pub(crate) fn mbarrier_phase(&self, at: u32) -> Option<u64> {
        self.block.mbarriers.states.get(&at).map(|state| state.phase)
    }

    /// Phases of a barrier that have ended, and the bytes that came in the last of them.
    pub(crate) fn mbarrier_counts(&self, at: u32) -> Option<(u64, u64)> {
        let state = self.block.mbarriers.states.get(&at);
        state.map(|state| (state.phase, state.brought))
    }

    /// Position of the barrier that a lane names, if there can be one.
    pub(crate) fn mbarrier_at(&mut self, addr: &Addr, space: MemSpace, pc: u32, lane: usize) -> Option<u32> {
        let address = self.address_of(addr, space, lane);
        self.mbarrier_in(address, pc, lane)
    }

    /// Like [`Self::mbarrier_at`], for an address in the one address space.
    pub(crate) fn mbarrier_in(&mut self, address: u64, pc: u32, lane: usize) -> Option<u32> {
        let offset = match self.holder(address.wrapping_sub(window::SHARED)) {
            Holder::Own(offset) => offset,
            Holder::Other(_, offset) => {
                self.bad_barrier(pc, lane, offset as u32, BadBarrier::OtherBlock);
                return None;
            }
            Holder::Nobody(_) => address.wrapping_sub(window::SHARED),
        };
        let inside = |(_, to): (u32, u32)| offset + u64::from(BYTES) <= u64::from(to);
        let code = if address >> window::BITS != window::SHARED >> window::BITS
            || !self.block.shared_range(self.job, offset).is_some_and(inside)
        {
            Code::OutOfBounds
        } else if !offset.is_multiple_of(BYTES.into()) {
            Code::Misaligned
        } else {
            return Some(offset as u32);
        };
        let (space, address) = match address >> window::BITS == window::SHARED >> window::BITS {
            true => (MemSpace::Shared, offset),
            false => (MemSpace::Generic, address),
        };
        let access = BadAccess::at(AccessKind::Atomic, space, address, BYTES);
        self.record_mistake(pc, code, 1 << lane, Details::Access(access));
        None
    }

    /// True where there is a barrier for a copy; otherwise reports that.
    pub(crate) fn has_mbarrier(&mut self, at: u32, pc: u32, lane: usize) -> bool {
        let checks = self.job.check_level.checks();
        let Some(state) = self.block.mbarriers.states.get_mut(&at) else {
            self.not_initialised(pc, lane, at);
            return false;
        };
        if checks && !std::mem::replace(&mut state.published, true) {
            let details = Details::MemoryBarrier { offset: at, problem: BadBarrier::NotPublished };
            self.record_mistake(pc, Code::Proxy, 1 << lane, details);
        }
        true
    }

    fn not_initialised(&mut self, pc: u32, lane: usize, at: u32) {
        let other = self.acting.map(|_| (self.block.index, self.block.rank));
        self.bad_barrier(pc, lane, at, BadBarrier::NotInitialised { other });
    }

    fn bad_barrier(&mut self, pc: u32, lane: usize, offset: u32, mut problem: BadBarrier) {
        let follows = std::mem::replace(&mut self.block.mbarriers.misused, true);
        if let BadBarrier::TooManyArrivals { again, .. } = &mut problem {
            if follows {
                return;
            }
            let barriers = &self.block.mbarriers;
            let thread = self.warp.index * 32 + lane as u32;
            *again = barriers.last.get(&thread).and_then(|&at| {
                let waited = barriers.waited.get(&(at, thread))?;
                let parity = waited.parity.filter(|_| waited.times > 1)?;
                (at != offset).then_some((at, parity))
            });
        }
        self.record_mistake(pc, Code::MemoryBarrier, 1 << lane, Details::MemoryBarrier { offset, problem });
    }

    /// Completes copies that this barrier waits for, oldest first, until its phase ends. Returns true when it has ended.
    fn receive(&mut self, at: u32) -> bool {
        loop {
            match self.block.mbarriers.states.get_mut(&at) {
                // Bytes are of no use yet: as long as arrivals are missing, copies may come later.
                Some(state) if state.pending == 0 => {
                    if state.end_phase() {
                        return true;
                    }
                }
                // The arrival of an asynchronous copy is made as late as possible: when only such arrivals are missing.
                Some(state) if self.block.copies.arrivals_at(at) >= state.pending as usize => {
                    state.pending -= 1;
                    self.finish_arrival(at);
                    self.activity.progress = true;
                    continue;
                }
                _ => return false,
            }
            let Some(bytes) = self.perform_next(at) else { return false };
            self.activity.progress = true;
            if let Some(state) = self.block.mbarriers.states.get_mut(&at) {
                state.bring(bytes);
            }
        }
    }

    /// Bytes arrive at a barrier that nobody waits for.
    pub(crate) fn complete_bytes(&mut self, at: u32, bytes: u64) {
        if let Some(state) = self.block.mbarriers.states.get_mut(&at) {
            state.bring(bytes);
            state.end_phase();
        }
    }
}

/// Rank of a likely cause, smallest first: phases that passed a thread, bytes that no copy brings, unexpected bytes.
fn rank_of_cause(wait: &PhaseWaits) -> (bool, bool) {
    (wait.ended.saturating_sub(wait.seen) < 2, wait.pending != 0)
}

/// Lets the current phase wait for more bytes.
fn expect(state: &mut MbarrierState, bytes: u32) -> Option<BadBarrier> {
    let sum = state.bytes + i64::from(bytes);
    if sum > MAX_BYTES {
        return Some(BadBarrier::TooManyBytes(sum as u64));
    }
    state.bytes = sum;
    None
}
