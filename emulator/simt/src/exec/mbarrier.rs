//! Barriers in shared memory: phases that end when all arrivals have come and all bytes that were expected.
//!
//! The state of a barrier is kept beside shared memory, by its address. What a program finds in the eight bytes of a barrier
//! is not defined by PTX, and zero here.

use std::collections::BTreeMap;

use crate::check::{
    AccessKind, BadAccess, BadBarrier, BarrierGroup, Code, CopyUnderWay, Details, PhaseOfCopy, PhaseWaits,
    Waited,
};
use crate::lanes::NONE;
use crate::program::{Addr, Mbarrier, MbarrierKind, MemSpace, TOKEN_PENDING, window};

use super::access::{bias, place};
use super::fiber::State as FiberState;
use super::{Cx, bits};

/// Arrivals that a barrier can wait for.
const MOST_ARRIVALS: u32 = (1 << 20) - 1;
/// Bytes that a phase can wait for.
const MOST_BYTES: i64 = (1 << 20) - 1;
/// Bytes of a barrier.
const BYTES: u32 = 8;

#[derive(Debug, Clone, Copy)]
struct State {
    /// Arrivals of each phase, and those that the current one waits for.
    arrivals: u32,
    pending: u32,
    /// Bytes that the current phase waits for; negative when they came before they were expected.
    bytes: i64,
    /// Phases that have ended.
    phase: u64,
}

impl State {
    /// Ends the phase if nothing is missing.
    fn end_phase(&mut self) -> bool {
        let ends = self.pending == 0 && self.bytes == 0;
        if ends {
            self.phase += 1;
            self.pending = self.arrivals;
        }
        ends
    }
}

/// A phase that a fiber waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PhaseWait {
    /// Offset of the barrier in shared memory.
    at: u32,
    instr: u32,
    parity: Option<u8>,
    /// The phase itself, where no parity is given.
    asked: u64,
}

impl PhaseWait {
    fn has_ended(&self, phase: u64) -> bool {
        match self.parity {
            Some(parity) => phase & 1 != u64::from(parity),
            None => phase > self.asked,
        }
    }
}

/// The barriers of a block, by their offsets in shared memory.
#[derive(Debug, Default)]
pub(crate) struct Mbarriers {
    states: BTreeMap<u32, State>,
    /// The last successful waits, by barrier and thread; where mistakes are looked for.
    waited: BTreeMap<(u32, u32), Waited>,
    /// Something that is not defined was done to one of them.
    misused: bool,
}

impl Mbarriers {
    pub(crate) fn clear(&mut self) {
        self.states.clear();
        self.waited.clear();
        self.misused = false;
    }
}

impl Cx<'_> {
    /// Performs the operation for the lanes `on`. True if some of them wait for a phase that has not ended.
    pub(crate) fn mbarrier(&mut self, b: &Mbarrier, pc: u32, on: u32) -> bool {
        let mut done = 0;
        for lane in bits(on) {
            let Some(at) = self.mbarrier_at(&b.addr, b.space, pc, lane) else {
                continue;
            };
            let number = match b.number {
                NONE => 1,
                src => self.u32_at(src, lane),
            };
            if b.kind == MbarrierKind::Init {
                if !(1..=MOST_ARRIVALS).contains(&number) {
                    self.bad_barrier(pc, lane, at, BadBarrier::Arrivals(number));
                    continue;
                }
                let state = State {
                    arrivals: number,
                    pending: number,
                    bytes: 0,
                    phase: 0,
                };
                self.block.mbarriers.states.insert(at, state);
                self.progress = true;
                continue;
            }
            let Some(state) = self.block.mbarriers.states.get_mut(&at) else {
                self.bad_barrier(pc, lane, at, BadBarrier::NotInitialised);
                continue;
            };
            let phase = state.phase;
            let token = phase << TOKEN_PENDING.count_ones() | u64::from(state.pending);
            let mut problem = None;
            match b.kind {
                MbarrierKind::Init | MbarrierKind::Invalidate => {
                    self.block.mbarriers.states.remove(&at);
                }
                MbarrierKind::Expect => problem = expect(state, number),
                MbarrierKind::Complete => {
                    state.bytes -= i64::from(number);
                    state.end_phase();
                }
                MbarrierKind::Arrive {
                    expect: bytes,
                    drop,
                    completes,
                } => {
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
                        });
                    } else if n == state.pending && !completes {
                        problem = Some(BadBarrier::Completes(n));
                    } else {
                        state.pending -= n;
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
                        state.pending = (state.pending + 1).min(MOST_ARRIVALS);
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
                    if ended && self.job.watch.checks() {
                        self.note_wait(at, lane, parity.map(|parity| parity as u8));
                    }
                    done |= u32::from(ended) << lane;
                }
            }
            if let Some(problem) = problem {
                self.bad_barrier(pc, lane, at, problem);
            }
            if b.kind != MbarrierKind::Wait {
                self.progress = true;
            }
        }
        // What one thread wrote before it arrived, others read behind their wait.
        if let Some(races) = &mut self.shared_races {
            races.synchronised();
        }
        if b.kind != MbarrierKind::Wait {
            return false;
        }
        if b.done != NONE {
            self.set_pred(b.done as u32, done, on);
        }
        if done != 0 {
            self.progress = true;
            self.fiber.polls = 0;
        }
        self.fiber.phase = self.phase_wait(b, pc, on & !done);
        done != on
    }

    /// A lane found a phase to have ended.
    fn note_wait(&mut self, at: u32, lane: usize, parity: Option<u8>) {
        let ended = self.mbarrier_phase(at).unwrap_or(0);
        let new = Waited {
            ended,
            times: 0,
            parity,
        };
        let thread = self.warp * 32 + lane as u32;
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
        let reader = self.warp * 32 + lane as u32;
        Some(CopyUnderWay {
            instr: copy.instr,
            thread: copy.thread,
            behind: None,
            left: None,
            phase: Some(PhaseOfCopy {
                offset: barrier,
                number: self.mbarrier_phase(barrier)?,
                waited: self.block.mbarriers.waited.get(&(barrier, reader)).copied(),
            }),
        })
    }

    /// What the lowest of the lanes `on` waits for.
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
            self.mbarrier_phase(wait.at)
                .is_none_or(|phase| !wait.has_ended(phase))
        })
    }

    /// No thread can go on, as the phases that they wait for never end.
    #[cold]
    pub(super) fn phase_deadlock(&mut self) {
        let n_warps = self.block.warps.len();
        let mut waits: Vec<PhaseWaits> = Vec::new();
        for (w, warp) in self.block.warps.iter().enumerate() {
            for f in &warp.fibers {
                let (FiberState::Ready, Some(wait)) = (f.state, f.phase) else {
                    continue;
                };
                let same = |other: &&mut PhaseWaits| {
                    (other.group.instr, other.offset, other.parity) == (wait.instr, wait.at, wait.parity)
                };
                let thread = |lane: usize| (w * 32 + lane) as u32;
                let last = |lane| self.block.mbarriers.waited.get(&(wait.at, thread(lane)));
                let seen = bits(f.lanes())
                    .map(|lane| last(lane).map_or(0, |waited| waited.ended))
                    .min();
                // Without checks, nothing is known of that.
                let seen = match self.job.watch.checks() {
                    true => seen.unwrap_or(0),
                    false => u64::MAX,
                };
                if let Some(known) = waits.iter_mut().find(same) {
                    known.group.threads[w] |= f.lanes();
                    known.seen = known.seen.min(seen);
                    continue;
                }
                let Some(state) = self.block.mbarriers.states.get(&wait.at) else {
                    continue;
                };
                let mut threads = vec![0; n_warps].into_boxed_slice();
                threads[w] = f.lanes();
                waits.push(PhaseWaits {
                    group: BarrierGroup {
                        instr: wait.instr,
                        at_barrier: false,
                        threads,
                    },
                    offset: wait.at,
                    parity: wait.parity,
                    ended: state.phase,
                    arrivals: state.arrivals,
                    pending: state.pending,
                    bytes: state.bytes,
                    under_way: self.block.bulk.bytes_to(wait.at),
                    seen,
                });
            }
        }
        // A cause before what follows from it: phases that passed a thread, then bytes that no copy brings.
        waits.sort_by_key(|wait| (wait.ended.saturating_sub(wait.seen) < 2, wait.pending != 0));
        let others = self.groups(|state| state != FiberState::Ready);
        self.stopped = true;
        if self.block.mbarriers.misused {
            // That has been reported, and this may follow from it.
            return;
        }
        let Some(first) = waits.first() else { return };
        let instr = first.group.instr;
        let Some(warp) = first.group.threads.iter().position(|m| *m != 0) else {
            return;
        };
        let mask = first.group.threads[warp];
        self.warp = warp as u32;
        self.report_at(instr, Code::Barrier, mask, Details::Phases { waits, others });
        self.stopped = true;
    }

    fn mbarrier_phase(&self, at: u32) -> Option<u64> {
        self.block.mbarriers.states.get(&at).map(|state| state.phase)
    }

    /// Where the barrier is that a lane names, if there can be one.
    pub(crate) fn mbarrier_at(&mut self, addr: &Addr, space: MemSpace, pc: u32, lane: usize) -> Option<u32> {
        let value = match addr.wide {
            true => self.u64_at(addr.src, lane),
            false => u64::from(self.u32_at(addr.src, lane)),
        };
        let address = place(addr, bias(space), value);
        let offset = address.wrapping_sub(window::SHARED);
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
        let access = BadAccess {
            kind: AccessKind::Atomic,
            space,
            address,
            high: address,
            bytes: BYTES,
        };
        self.report(pc, code, 1 << lane, Details::Access(access));
        None
    }

    /// Whether there is a barrier; otherwise that is reported.
    pub(crate) fn has_mbarrier(&mut self, at: u32, pc: u32, lane: usize) -> bool {
        let has = self.block.mbarriers.states.contains_key(&at);
        if !has {
            self.bad_barrier(pc, lane, at, BadBarrier::NotInitialised);
        }
        has
    }

    fn bad_barrier(&mut self, pc: u32, lane: usize, offset: u32, problem: BadBarrier) {
        self.block.mbarriers.misused = true;
        self.report(
            pc,
            Code::MemoryBarrier,
            1 << lane,
            Details::MemoryBarrier { offset, problem },
        );
    }

    /// Lets copies arrive that this barrier waits for, oldest first, until its phase ends. Whether it has.
    fn receive(&mut self, at: u32) -> bool {
        loop {
            match self.block.mbarriers.states.get_mut(&at) {
                // Bytes are of no use yet: as long as arrivals are missing, copies may come later.
                Some(state) if state.pending == 0 => {
                    if state.end_phase() {
                        return true;
                    }
                }
                // As late as the others let it.
                Some(state) if self.block.copies.arrivals_at(at) >= state.pending as usize => {
                    state.pending -= 1;
                    self.finish_arrival(at);
                    self.progress = true;
                    continue;
                }
                _ => return false,
            }
            let Some(bytes) = self.perform_next(at) else {
                return false;
            };
            self.progress = true;
            if let Some(state) = self.block.mbarriers.states.get_mut(&at) {
                state.bytes -= bytes as i64;
            }
        }
    }

    /// Bytes arrive at a barrier that nobody waits for.
    pub(crate) fn complete_bytes(&mut self, at: u32, bytes: u64) {
        if let Some(state) = self.block.mbarriers.states.get_mut(&at) {
            state.bytes -= bytes as i64;
            state.end_phase();
        }
    }
}

/// Lets the current phase wait for more bytes.
fn expect(state: &mut State, bytes: u32) -> Option<BadBarrier> {
    let sum = state.bytes + i64::from(bytes);
    if sum > MOST_BYTES {
        return Some(BadBarrier::TooManyBytes(sum as u64));
    }
    state.bytes = sum;
    None
}
