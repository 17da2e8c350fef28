//! The checks of an access that was found: does it read what nothing wrote, and does it race?

use crate::check::Code;
use crate::check::race::{Touch, Values};
use crate::check::{AccessKind, BadAccess, Details};
use crate::lanes::{Lanes, WARP};
use crate::program::{Access, MemSpace, window};

use super::access::Spec;
use super::{Cx, bits};

impl Cx<'_> {
    #[inline(never)]
    pub(super) fn check_local(&mut self, spec: &Spec<'_>, base: u64) {
        let m = &self.memos[spec.memo];
        let first = self.local_offset(m.first as usize & 31) as i64 + (base - window::LOCAL) as i64;
        let n = spec.bytes as usize;
        let mut guilty = 0u32;
        for lane in bits(m.mask) {
            let start = (first + i64::from(m.local[lane])) as usize;
            if spec.kind == AccessKind::Write {
                self.block.local_written.set(start, n);
            } else if !self.block.local_written.all(start, n) {
                guilty |= 1 << lane;
            }
        }
        if guilty != 0 {
            let lane = guilty.trailing_zeros() as usize & 31;
            let at = base.wrapping_add(i64::from(self.memos[spec.memo].delta[lane]) as u64);
            self.report_unwritten_local(spec, guilty, at);
        }
    }

    /// As [`Cx::report_unwritten`], for local memory.
    #[cold]
    pub(crate) fn report_unwritten_local(&mut self, spec: &Spec<'_>, guilty: u32, at: u64) {
        let own = self.local_offset(guilty.trailing_zeros() as usize & 31);
        let end = own + self.job.kernel.local_bytes as usize;
        let ranges = self.block.local_written.ranges(own, end, 256);
        let written = ranges
            .iter()
            .map(|(s, e)| (s - own as u64, e - own as u64))
            .collect();
        let address = at - window::LOCAL;
        let access = BadAccess {
            kind: spec.kind,
            space: MemSpace::Local,
            address,
            bytes: spec.bytes,
        };
        self.report(
            spec.pc,
            Code::Uninitialised,
            guilty,
            Details::Uninitialised { access, written },
        );
    }

    #[inline(always)]
    pub(super) fn check_shared(&mut self, spec: &Spec<'_>, base: u64) {
        let m = &self.memos[spec.memo];
        let offset = base.wrapping_sub(window::SHARED) as i64;
        let written = &mut self.block.shared_written;
        let (cells, start) = (m.cells(), (offset + m.low) as usize);
        let mut unwritten = false;
        match (cells.bits.is_empty(), spec.kind == AccessKind::Write) {
            (false, true) => written.set_cells(start, cells.bits),
            (false, false) => unwritten = !written.all_cells(start, cells.bits),
            (true, writes) => {
                for run in m.runs() {
                    let (start, n) = ((offset + i64::from(run.start)) as usize, run.bytes as usize);
                    if writes {
                        written.set(start, n);
                    } else {
                        unwritten |= !written.all(start, n);
                    }
                }
            }
        }
        if unwritten {
            self.unwritten(spec, base);
        }
        if let Some(races) = &mut self.shared_races {
            let m = &self.memos[spec.memo];
            let host = m.host.wrapping_add(base as usize);
            let values = Stored {
                lanes: &self.lanes,
                store: spec.store,
                host,
                delta: &m.delta,
            };
            let touch = Touch {
                kind: spec.race_kind(),
                instr: self.job.kernel.ops[spec.pc as usize].instr,
                warp: self.warp,
                mask: m.mask,
                base: offset as u64,
                bytes: spec.bytes,
                runs: m.runs(),
                cells: m.cells(),
                lanes: &m.delta,
                pattern: m.serial,
                overlapping: m.overlapping,
                values: if spec.store.is_some() { Some(&values) } else { None },
            };
            races.access(&touch, &mut self.collector);
        }
    }

    #[inline(always)]
    pub(super) fn check_global(&mut self, spec: &Spec<'_>, base: u64, host: *mut u8) {
        let m = &self.memos[spec.memo];
        let Some(allocation) = m.allocation else { return };
        if !allocation.bytes.trusted() {
            self.check_written(spec, base);
        }
        if let Some(races) = &mut self.global_races {
            let m = &self.memos[spec.memo];
            let values = Stored {
                lanes: &self.lanes,
                store: spec.store,
                host,
                delta: &m.delta,
            };
            let touch = Touch {
                kind: spec.race_kind(),
                instr: self.job.kernel.ops[spec.pc as usize].instr,
                warp: self.warp,
                mask: m.mask,
                base,
                bytes: spec.bytes,
                runs: m.runs(),
                cells: m.cells(),
                lanes: &m.delta,
                pattern: m.serial,
                overlapping: m.overlapping,
                values: if spec.store.is_some() { Some(&values) } else { None },
            };
            races.access(&touch, &mut self.collector);
        }
    }

    #[inline(never)]
    fn check_written(&mut self, spec: &Spec<'_>, base: u64) {
        let m = &self.memos[spec.memo];
        let Some(allocation) = m.allocation else { return };
        let offset = base.wrapping_sub(allocation.base) as i64;
        let mut unwritten = false;
        for run in m.runs() {
            let (start, n) = ((offset + i64::from(run.start)) as usize, run.bytes as usize);
            if spec.kind == AccessKind::Write {
                allocation.bytes.mark(start, n);
            } else {
                unwritten |= !allocation.bytes.is_written(start, n);
            }
        }
        if unwritten {
            self.unwritten(spec, base);
        }
    }

    /// Some lane reads what nothing wrote.
    #[cold]
    #[inline(never)]
    fn unwritten(&mut self, spec: &Spec<'_>, base: u64) {
        let m = &self.memos[spec.memo];
        let (mask, delta) = (m.mask, m.delta);
        let mut guilty = 0;
        for lane in bits(mask) {
            let at = base.wrapping_add(i64::from(delta[lane]) as u64);
            let written = match m.allocation {
                Some(a) => a.bytes.is_written((at - a.base) as usize, spec.bytes as usize),
                None => self
                    .block
                    .shared_written
                    .all((at - window::SHARED) as usize, spec.bytes as usize),
            };
            guilty |= u32::from(!written) << lane;
        }
        if guilty == 0 {
            return;
        }
        let lane = guilty.trailing_zeros() as usize & 31;
        let at = base.wrapping_add(i64::from(delta[lane]) as u64);
        let is_global = m.allocation.is_some();
        self.report_unwritten(spec, guilty, at, is_global);
    }

    /// Tells of lanes that read what nothing wrote; `at` is the lowest lane's address in the one address space.
    #[cold]
    pub(crate) fn report_unwritten(&mut self, spec: &Spec<'_>, guilty: u32, at: u64, is_global: bool) {
        let job = self.job;
        let instr = job.kernel.ops[spec.pc as usize].instr;
        let place = match is_global {
            true => (MemSpace::Global, at),
            false => (MemSpace::Shared, at.wrapping_sub(window::SHARED)),
        };
        let new = self
            .collector
            .is_new_access(Code::Uninitialised, instr, self.block.index, place);
        let (space, address, ranges) = if is_global {
            let ranges = match job.table.live(at) {
                Some(a) if new => a
                    .bytes
                    .written_ranges(256)
                    .iter()
                    .map(|(s, e)| (a.base + s, a.base + e))
                    .collect(),
                _ => Vec::new(),
            };
            (MemSpace::Global, at, ranges)
        } else {
            let offset = at - window::SHARED;
            let ranges = match self.block.shared_range(job, offset) {
                Some((from, to)) if new => self.block.shared_written.ranges(from as usize, to as usize, 256),
                _ => Vec::new(),
            };
            (MemSpace::Shared, offset, ranges)
        };
        let access = BadAccess {
            kind: spec.kind,
            space,
            address,
            bytes: spec.bytes,
        };
        let written = ranges.into_boxed_slice();
        self.report(
            spec.pc,
            Code::Uninitialised,
            guilty,
            Details::Uninitialised { access, written },
        );
    }
}

/// The values of a store, for who wants to know whether racing writes are equal.
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
        let wide = if a.wide || a.element == 8 { 8 } else { 4 };
        let mut value = 0;
        for i in 0..bytes.min(8) {
            let (index, byte) = (((offset + i) / element) as usize & 7, (offset + i) % element);
            // SAFETY: sources of a store are in range, as `plan::validate` has established; `byte < wide`.
            let found = unsafe {
                let line = self.lanes.source(a.regs[index]).cast::<u8>();
                *line.add(lane as usize % WARP * wide + byte as usize)
            };
            value |= u64::from(found) << (8 * i);
        }
        value
    }

    fn present(&self, lane: u32, offset: u32, bytes: u32) -> u64 {
        let start = self
            .host
            .wrapping_offset(self.delta[lane as usize % WARP] as isize);
        let mut value = 0;
        for i in 0..bytes.min(8) {
            // SAFETY: the access was found to lie in bounds, and `offset + bytes` is inside it.
            let found = unsafe { start.wrapping_add((offset + i) as usize).read() };
            value |= u64::from(found) << (8 * i);
        }
        value
    }
}
