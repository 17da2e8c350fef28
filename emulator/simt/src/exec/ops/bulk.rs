//! Copies of boxes that are in flight.
//!
//! They are performed as late as the program allows, so that a forgotten wait shows: a load when a thread waits for the
//! barrier that receives its bytes, a store when its thread waits for its group or when the block ends.

use crate::check::race::{AccessMark, ByteRun, Touch};
use crate::check::{InstrThread, MistakeDetails, PhaseId};
use crate::{lane_mask::LaneMask, memory::relaxed};
use program::{RANK_SHIFT, window};
use program::{limits::COPIES, tensor::Run};

use crate::exec::block::Block;
use crate::exec::block::bulk_copies::{BulkCopy, Store};
use crate::exec::{memory::per_lane::find_global, worker::Worker};

/// Bytes that the race checks take as one access of a thread.
const TOUCH: u32 = 128;

impl Worker<'_> {
    /// Starts a load whose bytes the barrier at `barrier` receives.
    pub(crate) fn start_load(&mut self, copy: BulkCopy, barrier: u32) {
        if self.job.check_level.checks() {
            self.check_overlap(&copy);
            // Races after a reported mistake may follow from it.
            let reported = self.block.mbarriers.misused || self.check_wgmma_reads(&copy);
            if let Some(clocks) = self.checks.clocks().filter(|_| !reported) {
                copy.runs().into_iter().for_each(|run| clocks.start_copy(run.shared, run.bytes, copy.by));
            }
            for run in copy.runs() {
                self.block.shared_written.unset(run.shared as usize, run.bytes as usize);
                self.block.mbarriers.overwrite(run.shared, run.bytes, copy.by);
            }
        }
        let started = self.block.bulk.started.entry(barrier).or_default();
        if started.0 != copy.phase {
            *started = (copy.phase, 0);
        }
        started.1 += copy.map.box_bytes();
        self.block.bulk.loads.push_back((barrier, copy));
        if self.block.bulk.loads.len() > COPIES {
            // More than hardware has room for: the oldest arrives.
            if let Some((barrier, copy)) = self.block.bulk.loads.pop_front() {
                self.perform_load(&copy, barrier);
                self.complete_bytes(barrier, copy.map.box_bytes());
            }
        }
        self.activity.progress = true;
    }

    /// Reports that another load to the same place is in flight.
    fn check_overlap(&mut self, copy: &BulkCopy) {
        let bulk = &self.block.bulk;
        let end = |copy: &BulkCopy| u64::from(copy.shared) + copy.map.shared_bytes();
        let near = |other: &BulkCopy| u64::from(copy.shared) < end(other) && u64::from(other.shared) < end(copy);
        if bulk.overlapped || !bulk.loads.iter().any(|(_, other)| near(other)) {
            return;
        }
        let found = copy.runs().into_iter().find_map(|run| Some((run.shared, bulk.in_flight(run.shared, run.bytes)?)));
        let Some((start, (barrier, other))) = found else { return };
        let state = self.block.mbarriers.states.get(&barrier);
        let late = state.filter(|state| state.phase > other.phase);
        let details = MistakeDetails::TwoCopies {
            address: start.max(other.shared).into(),
            other: other.by,
            phase: PhaseId { barrier, number: other.phase },
            blocks: (self.job.cluster_blocks > 1).then_some([self.block.index, other.block]),
            late: late.map(|state| bulk.phase_of(other, barrier, state)),
        };
        self.block.bulk.overlapped = true;
        // An earlier mistake, such as a copy that was started too early, may be the cause.
        if self.note_misuse() {
            return;
        }
        self.record_mistake_at(copy.by.instr, LaneMask::of(copy.by.thread as usize % 32), details);
    }

    pub(crate) fn start_store(&mut self, copy: BulkCopy, lane: usize) {
        let thread = self.warp.thread_of(lane);
        if self.job.check_level.checks() && !self.block.bulk.fenced {
            self.check_fence(&copy, lane);
        }
        let group = *self.block.bulk.committed(thread);
        let mut seen = Vec::new();
        if self.job.check_level.checks() {
            self.touch_source(&copy, lane as u32);
            seen = self.bytes_of(&copy);
        }
        self.block.bulk.stores.push_back(Store { copy, group, seen });
        if self.block.bulk.stores.len() > COPIES
            && let Some(store) = self.block.bulk.stores.pop_front()
        {
            self.perform_store(&store);
        }
        self.activity.progress = true;
    }

    /// Records in the race checks that the thread of a store reads its source.
    fn touch_source(&mut self, copy: &BulkCopy, lane: u32) {
        let Some(races) = &mut self.checks.shared_races else { return };
        let (warp, serial, collector) = (self.warp.index, &mut self.access.serial, &mut self.block.collector);
        for run in copy.runs() {
            for at in (0..run.bytes).step_by(TOUCH as usize).filter(|_| run.global.is_some()) {
                let bytes = (run.bytes - at).min(TOUCH);
                *serial += 1;
                let by = (copy.by.instr, warp, LaneMask::of(lane as usize));
                let runs = [ByteRun { start: 0, bytes }];
                let touch = Touch::of_lanes(AccessMark::Read, by, u64::from(run.shared + at), &runs, *serial);
                races.access(&touch, collector);
            }
        }
    }

    /// Returns the bytes that a store would copy now.
    fn bytes_of(&mut self, copy: &BulkCopy) -> Vec<u8> {
        let shared = self.block.shared_start();
        let mut bytes = Vec::new();
        for run in copy.runs().into_iter().filter(|run| run.global.is_some()) {
            // SAFETY: the box was found to lie in the block's shared memory when the copy started.
            let from =
                unsafe { std::slice::from_raw_parts(shared.wrapping_add(run.shared as usize), run.bytes as usize) };
            bytes.extend_from_slice(from);
        }
        bytes
    }

    /// Reports a store whose source has changed since it started.
    fn check_store(&mut self, Store { copy, seen, .. }: &Store) {
        let now = self.bytes_of(copy);
        let Some(mut at) = now.iter().zip(seen).position(|(now, then)| now != then) else { return };
        let mut changed = copy.shared;
        for run in copy.runs().into_iter().filter(|run| run.global.is_some()) {
            if at < run.bytes as usize {
                changed = run.shared + at as u32;
                break;
            }
            at -= run.bytes as usize;
        }
        let address = u64::from(changed) & !3;
        // Whichever warp is running: the thread that started the copy is named.
        let details = MistakeDetails::ChangedUnderCopy { address };
        let InstrThread { instr, thread } = copy.by;
        self.record_mistake_of(thread / 32, instr, LaneMask::of(thread as usize % 32), details);
    }

    /// Reports a copy that reads what ordinary stores wrote, without a fence of the async proxy in the block.
    #[cold]
    fn check_fence(&mut self, copy: &BulkCopy, lane: usize) {
        let inside = copy.runs().into_iter().filter(|run| run.global.is_some());
        let mut words = inside.flat_map(|run| run.shared / 4..run.shared.saturating_add(run.bytes) / 4);
        let written = &self.block.shared_written;
        if let Some(word) = words.find(|&word| written.all(word as usize * 4, 4) && !self.block.bulk.is_loaded(word)) {
            let address = (word * 4).into();
            self.record_mistake_at(copy.by.instr, LaneMask::of(lane), MistakeDetails::Proxy { address });
        }
    }

    /// Performs the stores of the `active` lanes, except for their last `pending` groups.
    pub(crate) fn wait_for_bulk(&mut self, active: LaneMask, pending: u32) {
        let first = self.warp.index * 32;
        let mut stores = std::mem::take(&mut self.block.bulk.stores);
        stores.retain(|store| {
            let thread = store.copy.by.thread;
            let lane = thread.wrapping_sub(first);
            let committed = self.block.bulk.committed(thread);
            let is_due = u64::from(store.group) + u64::from(pending) < u64::from(*committed);
            if lane >= 32 || !active.contains(lane as usize) || !is_due {
                return true;
            }
            self.perform_store(store);
            self.activity.progress = true;
            false
        });
        self.block.bulk.stores = stores;
    }

    /// Performs the remaining stores when the block ends. Loads that no thread waited for have no visible effect.
    pub(crate) fn finish_bulk(&mut self) {
        for store in std::mem::take(&mut self.block.bulk.stores) {
            self.perform_store(&store);
        }
    }

    /// Performs the oldest load that a barrier receives, and returns its bytes.
    pub(crate) fn perform_next(&mut self, barrier: u32) -> Option<u64> {
        let loads = &mut self.block.bulk.loads;
        let oldest = loads.iter().position(|(to, _)| *to == barrier)?;
        let (_, copy) = loads.remove(oldest)?;
        self.perform_load(&copy, barrier);
        Some(copy.map.box_bytes())
    }

    fn perform_load(&mut self, copy: &BulkCopy, barrier: u32) {
        let (job, shared) = (self.job, self.block.shared_start());
        let sources = self.shared_of_cluster(copy);
        let (outside, convert) = (copy.map.outside().to_le_bytes(), copy.map.converted());
        for Run { shared: to, global, bytes } in copy.runs() {
            let n = bytes as usize;
            let to = shared.wrapping_add(to as usize);
            let from = global.and_then(|at| match at.checked_sub(window::SHARED) {
                // The start of the copy has checked that the address is in shared memory.
                Some(at) => sources.map(|from| from.wrapping_add(at as usize & ((1 << RANK_SHIFT) - 1))),
                None => find_global(job, at, bytes.into(), false).ok(),
            });
            // SAFETY: the box is in the block's shared memory, checked at the start; `find_global` has found `n` bytes.
            unsafe {
                match (global, from) {
                    (_, Some(from)) => {
                        relaxed::copy_out(from, std::slice::from_raw_parts_mut(to, n));
                        if let Some(convert) = convert {
                            for word in (0..n / 4).map(|i| to.cast::<u32>().add(i)) {
                                word.write_unaligned(convert(word.read_unaligned()));
                            }
                        }
                    }
                    // Past the end of an allocation: reported when the copy started.
                    (Some(_), None) => std::ptr::write_bytes(to, 0, n),
                    (None, None) => {
                        for i in 0..n {
                            to.add(i).write(outside[i % 8]);
                        }
                    }
                }
            }
        }
        if job.check_level.checks() {
            self.block.bulk.note_loaded(copy);
            if job.kernel.in_flight.is_some() {
                self.block.bulk.note_swizzle(copy, shared);
            }
            if let Some(clocks) = self.checks.clocks() {
                clocks.finish_copy(barrier);
                copy.runs().into_iter().for_each(|run| clocks.wrote_by_copy(run.shared, run.bytes, copy.by));
            }
            let written = &mut self.block.shared_written;
            copy.runs().into_iter().for_each(|run| written.set(run.shared as usize, run.bytes as usize));
            self.propagate_bulk(copy);
        }
    }

    /// Returns the shared memory that a copy reads, if it is that of a block of the cluster.
    fn shared_of_cluster(&mut self, copy: &BulkCopy) -> Option<*mut u8> {
        let first = copy.runs().into_iter().find_map(|run| run.global);
        let rank = ((first?.checked_sub(window::SHARED)? >> RANK_SHIFT) as u32).checked_sub(1)?;
        if rank == self.block.rank {
            return Some(self.block.shared_start());
        }
        self.member_mut(rank).map(Block::shared_start)
    }

    /// Marks bytes as unwritten that nothing had written at the source.
    fn propagate_bulk(&mut self, copy: &BulkCopy) {
        let job = self.job;
        for run in copy.runs() {
            self.forget_copied(run.shared, run.bytes);
            let Some(start) = run.global else { continue };
            let Some((allocation, offset)) = job.table.find(start, run.bytes.into()) else { continue };
            if allocation.bytes.is_written(offset, run.bytes as usize) {
                continue;
            }
            for i in (0..run.bytes).step_by(4) {
                let n = (run.bytes - i).min(4) as usize;
                if (0..n).any(|byte| allocation.bytes.is_written(offset + i as usize + byte, 1)) {
                    continue;
                }
                let to = run.shared + i;
                self.block.shared_written.unset_whole(to as usize, n);
                self.note_copied(to, start + u64::from(i), copy.by.instr);
            }
        }
    }

    fn perform_store(&mut self, store: &Store) {
        let (job, shared, copy) = (self.job, self.block.shared_start(), &store.copy);
        if !store.seen.is_empty() {
            self.check_store(store);
        }
        for run in copy.runs() {
            let Some(start) = run.global else { continue };
            // A run that is not in memory as a whole was reported when the copy started, or lies past the last row.
            let whole = find_global(job, start, run.bytes.into(), true).is_ok();
            let step = if whole { run.bytes } else { 1 };
            for i in (0..run.bytes).step_by(step as usize) {
                let address = start.saturating_add(i.into());
                let Ok(to) = find_global(job, address, step.into(), true) else { continue };
                // SAFETY: the copy's bytes lie in shared memory, and `find_global` has found `each` bytes at `to`.
                unsafe {
                    let from = shared.wrapping_add((run.shared + i) as usize);
                    relaxed::copy_in(to, std::slice::from_raw_parts(from, step as usize));
                }
                if job.check_level.checks()
                    && let Some((allocation, offset)) = job.table.find(address, step.into())
                {
                    allocation.bytes.mark(offset, step as usize);
                }
            }
        }
        if job.check_level.checks() {
            self.propagate_bulk_store(copy);
        }
    }

    /// Leaves bytes undefined at the destination that nothing wrote in shared memory, for reads by the host.
    fn propagate_bulk_store(&mut self, copy: &BulkCopy) {
        let job = self.job;
        let mut holes: Vec<(u32, u32, u64)> = Vec::new();
        let written = &self.block.shared_written;
        for run in copy.runs() {
            let Some(start) = run.global else { continue };
            if written.all(run.shared as usize, run.bytes as usize) {
                continue;
            }
            for i in (0..run.bytes).step_by(4) {
                let n = (run.bytes - i).min(4);
                if written.mask((run.shared + i) as usize, n as usize) == 0 {
                    holes.push((run.shared + i, n, start.saturating_add(i.into())));
                }
            }
        }
        if holes.is_empty() {
            return;
        }
        // Whichever warp is running: the thread that started the copy is named.
        let InstrThread { instr, thread } = copy.by;
        let running = std::mem::replace(&mut self.warp.index, thread / 32);
        self.leave_bulk_holes(&holes, instr, thread % 32);
        self.warp.index = running;
        for (_, n, address) in holes {
            if let Some((allocation, offset)) = job.table.find(address, n.into()) {
                allocation.bytes.unmark(offset, n as usize);
            }
        }
    }
}
