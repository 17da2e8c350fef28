//! The checks of an access that was found: does it read what nothing wrote, and does it race?

use crate::check::race::{Touch, Values};
use crate::check::{AccessKind, InstrThread};
use crate::{lane_mask::LaneMask, memory::relaxed};
use arithmetic::lanes::{Lanes, WARP};
use program::{Access, RANK_SHIFT, window};

use crate::exec::{memo::Memo, memory::access_spec::AccessSpec, worker::Worker};

impl Worker<'_> {
    #[inline(never)]
    pub(crate) fn check_local(&mut self, spec: AccessSpec<'_>, base: u64) {
        let memo = &self.access.memos[spec.memo];
        let first = self.local_offset(memo.first as usize & 31) as i64 + (base - window::LOCAL) as i64;
        let n = spec.bytes as usize;
        let mut guilty = LaneMask::EMPTY;
        for lane in memo.mask.iter() {
            let start = (first + i64::from(memo.local[lane])) as usize;
            if !self.block.local_written.access(start, n, spec.kind == AccessKind::Write) {
                guilty |= LaneMask::of(lane);
            }
        }
        if !guilty.is_empty() {
            self.unwritten(spec, base, guilty);
        }
    }

    #[inline(never)]
    pub(crate) fn check_shared(&mut self, spec: AccessSpec<'_>, base: u64) {
        let memo = &self.access.memos[spec.memo];
        let offset = (base & ((1 << RANK_SHIFT) - 1)) as i64;
        let written = &mut self.block.shared_written;
        let (cells, start) = (memo.cells(), (offset + memo.low) as usize);
        let mut unwritten = false;
        match (cells.bits.is_empty(), spec.kind == AccessKind::Write) {
            (false, true) => written.set_cells(start, cells.bits),
            (false, false) => unwritten = !written.all_cells(start, cells.bits),
            (true, writes) => {
                for run in memo.runs() {
                    let (start, n) = ((offset + i64::from(run.start)) as usize, run.bytes as usize);
                    unwritten |= !written.access(start, n, writes);
                }
            }
        }
        if unwritten {
            self.unwritten(spec, window::SHARED + offset as u64, memo.mask);
        }
        if spec.kind == AccessKind::Write && !self.block.mbarriers.states.is_empty() {
            self.overwrite_mbarriers(spec, offset);
        }
        if let Some(races) = &mut self.checks.shared_races {
            let memo = &self.access.memos[spec.memo];
            let host = memo.host.wrapping_add(base as usize);
            let instr = self.job.instr_at(spec.pc);
            let values = Stored { lanes: &self.warp.lanes, store: spec.store, host, delta: &memo.delta };
            let touch = spec.touch(memo, instr, self.warp.index, offset as u64, &values);
            races.access(&touch, &mut self.block.collector);
        }
    }

    #[inline(never)]
    fn overwrite_mbarriers(&mut self, spec: AccessSpec<'_>, offset: i64) {
        let memo = &self.access.memos[spec.memo];
        let barriers = &mut self.block.mbarriers;
        if !barriers.lies_in((offset + memo.low) as u32, memo.span as u32) {
            return;
        }
        for lane in memo.mask.iter() {
            let by = InstrThread { instr: self.job.instr_at(spec.pc), thread: self.warp.thread_of(lane) };
            barriers.overwrite((offset + i64::from(memo.delta[lane])) as u32, spec.bytes, by);
        }
    }

    #[inline(never)]
    pub(crate) fn check_global(&mut self, spec: AccessSpec<'_>, base: u64, host: *mut u8) {
        if spec.order.is_strong()
            && let Some(clocks) = self.checks.clocks()
        {
            clocks.strong_access(spec.mark(), self.warp.index);
        }
        let memo = &self.access.memos[spec.memo];
        let Some(allocation) = memo.allocation else { return };
        if !allocation.bytes.trusted() {
            self.check_written(spec, base);
        }
        if let Some(races) = &mut self.checks.global_races {
            let memo = &self.access.memos[spec.memo];
            let instr = self.job.instr_at(spec.pc);
            let values = Stored { lanes: &self.warp.lanes, store: spec.store, host, delta: &memo.delta };
            let touch = spec.touch(memo, instr, self.warp.index, base, &values);
            races.access(&touch, &mut self.block.collector);
        }
    }

    #[inline(never)]
    fn check_written(&mut self, spec: AccessSpec<'_>, base: u64) {
        let memo = &self.access.memos[spec.memo];
        let Some(allocation) = memo.allocation else { return };
        let offset = base.wrapping_sub(allocation.base) as i64;
        let mut unwritten = false;
        for run in memo.runs() {
            let (start, n) = ((offset + i64::from(run.start)) as usize, run.bytes as usize);
            if spec.kind == AccessKind::Write {
                allocation.bytes.mark(start, n);
            } else {
                unwritten |= !allocation.bytes.is_written(start, n);
            }
        }
        if unwritten {
            self.unwritten(spec, base, memo.mask);
        }
    }

    /// Notes the bytes that nothing wrote, of each of these lanes.
    #[cold]
    #[inline(never)]
    fn unwritten(&mut self, spec: AccessSpec<'_>, base: u64, lanes: LaneMask) {
        for lane in lanes.iter() {
            let at = base.wrapping_add(i64::from(self.access.memos[spec.memo].delta[lane]) as u64);
            self.note_unwritten(lane, at, spec.bytes);
        }
    }
}

impl AccessSpec<'_> {
    /// Returns the access in the form that the race checks take, with the pattern in `memo`.
    #[inline(always)]
    fn touch<'a>(&self, memo: &'a Memo<'_>, instr: u32, warp: u32, base: u64, values: &'a Stored<'_>) -> Touch<'a> {
        Touch {
            kind: self.mark(),
            strong: self.order.is_strong(),
            instr,
            warp,
            mask: memo.mask,
            distinct: memo.distinct,
            base,
            bytes: self.bytes,
            runs: memo.runs(),
            cells: memo.cells(),
            lanes: &memo.delta,
            pattern: memo.serial,
            overlapping: memo.overlapping,
            values: if self.store.is_some() { Some(values) } else { None },
        }
    }
}

/// The values of a store, to decide whether racing writes are equal.
pub(crate) struct Stored<'a> {
    pub(crate) lanes: &'a Lanes,
    pub(crate) store: Option<&'a Access>,
    pub(crate) host: *mut u8,
    pub(crate) delta: &'a [i32; WARP],
}

impl Values for Stored<'_> {
    fn stored(&self, lane: u32, offset: u32, bytes: u32) -> u64 {
        let Some(a) = self.store else { return 0 };
        let element = u32::from(a.element).max(1);
        let wide = if a.wide { 8 } else { 4 };
        let mut value = 0;
        for i in 0..bytes.min(8) {
            let (index, byte) = (((offset + i) / element) as usize & 7, (offset + i) % element);
            // SAFETY: sources of a store are in range, as `decode::passes::validate` has established; `byte < wide`.
            let found = unsafe {
                let line = self.lanes.source(a.regs[index]).cast::<u8>();
                *line.add(lane as usize % WARP * wide + byte as usize)
            };
            value |= u64::from(found) << (8 * i);
        }
        value
    }

    fn present(&self, lane: u32, offset: u32, bytes: u32) -> u64 {
        let start = self.host.wrapping_offset(self.delta[lane as usize % WARP] as isize);
        let mut value = 0;
        for i in 0..bytes.min(8) {
            // SAFETY: the access was found to lie in bounds, and `offset + bytes` is inside it.
            let found = unsafe { relaxed::load(start.wrapping_add((offset + i) as usize), 1) };
            value |= found << (8 * i);
        }
        value
    }
}
