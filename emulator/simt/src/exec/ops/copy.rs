//! `cp.async`: copies that are performed when a thread waits for them.
//!
//! This is as late as possible, so that a forgotten wait shows: until then the destination counts as never written.

use crate::{check::AccessKind, lane_mask::LaneMask};
use program::limits::COPIES;
use program::{MemSpace, OpKind, PendingCopies, window};

use crate::exec::block::async_copies::{Arrival, Copy};
use crate::exec::memory::{access_spec::AccessSpec, load_store::Located};
use crate::exec::worker::Worker;

/// Arrivals that wait for copies.
const MAX_ARRIVALS: usize = 1 << 16;

impl Worker<'_> {
    pub(crate) fn copy_op(&mut self, kind: &OpKind, pc: u32, active: LaneMask) {
        self.block.copies.reserve(self.job.n_warps as usize);
        let first = self.warp.index as usize * 32;
        match kind {
            OpKind::CpAsync { dst, src, bytes, src_bytes } => {
                let memo = self.job.plan.memo_of[pc as usize] as usize;
                let spec = |space, addr, kind, memo| AccessSpec::weak(space, addr, (*bytes).into(), kind, pc, memo);
                // Each lane has its own number of source bytes; a lane with none needs no source.
                let mut n = [*bytes; 32];
                if let Some(src_bytes) = *src_bytes {
                    let asked = self.u32s(src_bytes);
                    n = std::array::from_fn(|lane| asked[lane].min(u32::from(*bytes)) as u8);
                }
                let readers = active.filter(|lane| n[lane] > 0);
                let mut from = [std::ptr::null::<u8>(); 32];
                let mut good = active & !readers;
                if !readers.is_empty() {
                    let source = spec(MemSpace::Global, src, AccessKind::Read, memo + 1);
                    let Located { lanes: found, addresses: place, .. } = self.locate_any(source, readers);
                    // SAFETY: `locate` has found memory for these lanes.
                    found.iter().for_each(|l| from[l] = unsafe { place.of(l) });
                    good |= found;
                }
                if good.is_empty() || self.stopped {
                    self.checks.fresh.lanes = LaneMask::EMPTY;
                    return;
                }
                let target = spec(MemSpace::Shared, dst, AccessKind::Write, memo);
                let Located { lanes: found, addresses: place, .. } = self.locate_any(target, good);
                let shared = self.block.shared_start() as usize;
                for lane in found.iter() {
                    // SAFETY: `locate` has found memory for these lanes.
                    let to = unsafe { place.of(lane) } as usize - shared;
                    let mut undefined = 0;
                    if self.job.check_level.checks() {
                        self.block.shared_written.unset(to, usize::from(*bytes));
                        let at = window::SHARED + to as u64;
                        undefined = self.propagate_fresh_copy(lane, at, (*bytes).into(), pc);
                        // Bytes beyond the source's size are filled with zeros.
                        undefined &= (1 << n[lane]) - 1;
                    }
                    let group = self.block.copies.committed[first + lane];
                    let copy = Copy {
                        lane: lane as u8,
                        instr: self.job.instr_at(pc),
                        bytes: *bytes,
                        n: n[lane],
                        undefined: undefined as u16,
                        group,
                        arrival: self.block.copies.arrived.get(first + lane).copied().unwrap_or(0),
                        to: to as u32,
                        from: from[lane],
                    };
                    self.block.copies.pending[self.warp.index as usize].push(copy);
                }
                self.checks.fresh.lanes = LaneMask::EMPTY;
                if self.block.copies.pending[self.warp.index as usize].len() > COPIES {
                    self.finish_oldest();
                }
                self.activity.progress = true;
            }
            OpKind::CpAsyncCommit => active.iter().for_each(|l| self.block.copies.committed[first + l] += 1),
            OpKind::CpAsyncWait { allowed } => self.finish_copies(active, *allowed),
            _ => {}
        }
    }

    /// Makes a lane arrive at a barrier when its copies so far are done.
    ///
    /// Returns the barrier whose oldest arrival must be performed now, when there are too many.
    pub(crate) fn start_arrival(&mut self, barrier: u32, lane: usize) -> Option<u32> {
        self.block.copies.reserve(self.job.n_warps as usize);
        let copies = &mut self.block.copies;
        copies.arrived.resize(copies.committed.len(), 0);
        let thread = self.warp.thread_of(lane) as usize;
        copies.arrivals.push_back(Arrival { barrier, thread: thread as u32, number: copies.arrived[thread] });
        copies.arrived[thread] += 1;
        let oldest = copies.arrivals.front().map(|a| a.barrier);
        oldest.filter(|_| copies.arrivals.len() > MAX_ARRIVALS)
    }

    /// Performs the copies that the oldest arrival at a barrier waits for.
    pub(crate) fn finish_arrival(&mut self, barrier: u32) {
        let copies = &mut self.block.copies;
        let Some(oldest) = copies.arrivals.iter().position(|a| a.barrier == barrier) else { return };
        let Some(arrival) = copies.arrivals.remove(oldest) else { return };
        let is_due = |c: &Copy| u32::from(c.lane) == arrival.thread % 32 && c.arrival <= arrival.number;
        self.finish(arrival.thread as usize / 32, is_due);
    }

    /// Performs the copies of the `active` lanes, except those that may be pending.
    fn finish_copies(&mut self, active: LaneMask, allowed: PendingCopies) {
        let first = self.warp.index as usize * 32;
        let mut committed = [0; 32];
        for lane in active.iter() {
            let (copies, thread) = (&mut self.block.copies, first + lane);
            copies.left[thread] = match allowed {
                PendingCopies::Groups(n) => n.saturating_add(1),
                PendingCopies::None => u32::MAX,
            };
            committed[lane] = copies.committed[thread];
            copies.committed_then[thread] = committed[lane];
        }
        self.finish(self.warp.index as usize, |c| {
            let lane = usize::from(c.lane);
            let is_due = match allowed {
                PendingCopies::Groups(n) => u64::from(c.group) + u64::from(n) < u64::from(committed[lane]),
                PendingCopies::None => true,
            };
            active.contains(lane) && is_due
        });
    }

    /// Performs the older half of the running warp's copies, because the list of pending ones is full.
    #[cold]
    fn finish_oldest(&mut self) {
        let mut n = 0;
        self.finish(self.warp.index as usize, |_| {
            n += 1;
            n <= COPIES / 2
        });
    }

    /// Performs the pending copies of a warp that pass a test.
    fn finish(&mut self, warp: usize, mut is_due: impl FnMut(&Copy) -> bool) {
        let shared = self.block.shared.as_mut_ptr().cast::<u8>();
        let mut written = self.job.check_level.checks().then_some(&mut self.block.shared_written);
        self.block.copies.pending[warp].retain(|copy| {
            let is_due = is_due(copy);
            if is_due {
                // SAFETY: this block started the copy, so `shared` is the memory that it was checked against.
                unsafe { copy.finish(shared, written.as_deref_mut()) };
            }
            !is_due
        });
    }
}
