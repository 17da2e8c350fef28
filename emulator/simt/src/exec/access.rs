//! Finding the memory of a warp-wide access, with checks and counters on the way.

use crate::check::race::{Touch, Values};
use crate::check::{AccessKind, BadAccess, Details};
use crate::finding::Code;
use crate::lanes::{Lanes, WARP};
use crate::program::{Access, Addr, MemSpace, window};

use super::memo::Home;
use super::{Cx, Watch, bits, slow};

/// What is fixed about a memory operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spec<'a> {
    pub(crate) space: MemSpace,
    pub(crate) addr: &'a Addr,
    /// Bytes per lane.
    pub(crate) bytes: u32,
    pub(crate) kind: AccessKind,
    /// Seen by others while the kernel runs: does not race with its like.
    pub(crate) strong: bool,
    /// For a store: where its values are.
    pub(crate) store: Option<&'a Access>,
    /// Position of the operation, and its memo.
    pub(crate) pc: u32,
    pub(crate) memo: usize,
}

impl Spec<'_> {
    /// As the race checks take it.
    pub(crate) fn race_kind(&self) -> AccessKind {
        if self.strong {
            AccessKind::Atomic
        } else {
            self.kind
        }
    }

    /// What to add to an address operand's value.
    #[inline(always)]
    pub(crate) fn bias(&self) -> u64 {
        match self.space {
            MemSpace::Shared => window::SHARED,
            MemSpace::Local => window::LOCAL,
            MemSpace::Param => window::PARAM,
            MemSpace::Global | MemSpace::Const | MemSpace::Generic => 0,
        }
    }
}

/// Where the lanes' memory is on the host.
#[derive(Clone, Copy)]
pub(crate) enum Spot {
    /// The first active lane's; the others at the memo's distances.
    Near(*mut u8),
    /// In [`Cx::pointers`], for these lanes.
    Far(u32),
}

/// An address operand's value as an address in the one address space.
#[inline(always)]
pub(crate) fn place(addr: &Addr, bias: u64, value: u64) -> u64 {
    let sum = value.wrapping_add(addr.offset as u64);
    // 32-bit addresses wrap at 32 bits.
    if addr.wide {
        sum.wrapping_add(bias)
    } else {
        u64::from(sum as u32).wrapping_add(bias)
    }
}

/// All lanes' addresses.
pub(crate) fn addresses(lanes: &Lanes, addr: &Addr, bias: u64) -> [u64; WARP] {
    // SAFETY: operands are in range, as `plan::validate` has established.
    unsafe {
        let source = lanes.source(addr.src);
        if addr.wide {
            let values = &*source.cast::<[u64; WARP]>();
            std::array::from_fn(|lane| place(addr, bias, values[lane]))
        } else {
            std::array::from_fn(|lane| place(addr, bias, u64::from((*source).0[lane])))
        }
    }
}

impl<'j> Cx<'j> {
    /// Finds the memory of the lanes `on` (not none).
    #[inline(always)]
    pub(crate) fn locate<W: Watch>(&mut self, spec: &Spec<'_>, on: u32) -> Spot {
        let m = &mut self.memos[spec.memo];
        // SAFETY: operands are in range, as `plan::validate` has established.
        let source = unsafe { self.lanes.source(spec.addr.src) };
        // SAFETY: as above.
        if !unsafe { m.repeats(source, spec.addr.wide, on) } && !self.learn(spec, on) {
            return Spot::Far(slow::locate(self, spec, on));
        }
        let m = &mut self.memos[spec.memo];
        let first = m.first as usize & 31;
        // SAFETY: as above.
        let value = unsafe {
            match spec.addr.wide {
                true => *source.cast::<u64>().add(first),
                false => u64::from(*source.cast::<u32>().add(first)),
            }
        };
        let base = place(spec.addr, spec.bias(), value);
        if !m.reaches(base, spec.bytes) && !self.find(spec, base) {
            return Spot::Far(slow::locate(self, spec, on));
        }
        let m = &mut self.memos[spec.memo];
        let host = match m.home {
            Home::Local => self.local_place(spec, base),
            _ => m.host.wrapping_add(base as usize),
        };
        if W::CHECKED {
            match self.memos[spec.memo].home {
                Home::Shared => self.check_shared(spec, base),
                Home::Global => self.check_global(spec, base, host),
                Home::Local => self.check_local(spec, base),
                Home::Param | Home::Nowhere => {}
            }
        }
        if W::COUNTED {
            let m = &mut self.memos[spec.memo];
            match m.home {
                Home::Shared => m.count_shared(base),
                Home::Global => m.count_global(base),
                Home::Local => {
                    m.tally.local_requests += 1;
                    m.tally.local_lanes += u64::from(on.count_ones());
                }
                Home::Param | Home::Nowhere => m.tally.constant_requests += 1,
            }
        }
        Spot::Near(host)
    }

    #[cold]
    #[inline(never)]
    fn learn(&mut self, spec: &Spec<'_>, on: u32) -> bool {
        let addresses = addresses(&self.lanes, spec.addr, spec.bias());
        self.serial += 1;
        self.memos[spec.memo].learn(&addresses, on, self.serial, self.job.checked)
    }

    /// Looks up where an access lies; false when it is not all in one place, or not allowed.
    #[cold]
    #[inline(never)]
    fn find(&mut self, spec: &Spec<'_>, base: u64) -> bool {
        let job = self.job;
        let m = &mut self.memos[spec.memo];
        let start = base.wrapping_add(m.low as u64);
        let space = match spec.space {
            MemSpace::Generic if start >= window::SHARED => match start >> window::BITS {
                w if w == window::SHARED >> window::BITS => MemSpace::Shared,
                w if w == window::PARAM >> window::BITS => MemSpace::Param,
                w if w == window::LOCAL >> window::BITS => MemSpace::Local,
                _ => return false,
            },
            MemSpace::Generic | MemSpace::Const => MemSpace::Global,
            other => other,
        };
        let writes = spec.kind != AccessKind::Read;
        match space {
            MemSpace::Shared => {
                let Some((from, to)) = start
                    .checked_sub(window::SHARED)
                    .and_then(|o| self.block.shared_range(job, o))
                else {
                    return false;
                };
                m.from = window::SHARED + u64::from(from);
                m.len = u64::from(to - from);
                m.host = self.block.shared_start().wrapping_sub(window::SHARED as usize);
                m.home = Home::Shared;
                m.allocation = None;
            }
            MemSpace::Global => {
                let Some(allocation) = job.table.live(start) else {
                    return false;
                };
                if writes && allocation.origin.read_only {
                    return false;
                }
                if writes && !job.checked {
                    // Nobody marks what an unchecked launch writes: a later check must not complain of it.
                    allocation.bytes.trust();
                }
                m.from = allocation.base;
                m.len = allocation.bytes.len() as u64;
                m.host = allocation.bytes.start().wrapping_sub(allocation.base as usize);
                m.home = if spec.space == MemSpace::Const {
                    Home::Param
                } else {
                    Home::Global
                };
                m.allocation = Some(allocation);
            }
            MemSpace::Local => {
                let each = super::block::local_stride(job) as i32;
                let first = m.first as usize & 31;
                let ways = m.local.iter_mut().zip(&m.delta).enumerate();
                ways.for_each(|(lane, (way, delta))| {
                    *way = delta.wrapping_add((lane as i32 - first as i32).wrapping_mul(each))
                });
                m.from = window::LOCAL;
                m.len = job.kernel.local_bytes.into();
                m.home = Home::Local;
                m.allocation = None;
            }
            MemSpace::Param if !writes => {
                m.from = window::PARAM;
                m.len = job.params.len() as u64;
                m.host = job
                    .params
                    .as_ptr()
                    .cast_mut()
                    .wrapping_sub(window::PARAM as usize);
                m.home = Home::Param;
                m.allocation = None;
            }
            _ => return false,
        }
        m.reaches(base, spec.bytes)
    }

    /// Where the first active lane's local memory is.
    #[inline(never)]
    fn local_place(&mut self, spec: &Spec<'_>, base: u64) -> *mut u8 {
        let first = self.memos[spec.memo].first as usize & 31;
        let offset = self.local_offset(first) + (base - window::LOCAL) as usize;
        self.block.local_start().wrapping_add(offset)
    }

    #[inline(never)]
    fn check_local(&mut self, spec: &Spec<'_>, base: u64) {
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
    fn check_shared(&mut self, spec: &Spec<'_>, base: u64) {
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
    fn check_global(&mut self, spec: &Spec<'_>, base: u64, host: *mut u8) {
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
        let new = self
            .collector
            .is_new(Code::Uninitialised, instr, self.block.index);
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

impl super::memo::Memo<'_> {
    /// Whether an access at `base` is aligned and lies where the last one was found.
    #[inline(always)]
    fn reaches(&self, base: u64, bytes: u32) -> bool {
        let offset = base.wrapping_add(self.low as u64).wrapping_sub(self.from);
        let aligned = (base | self.align) & (u64::from(bytes) - 1) == 0;
        offset <= self.len && self.span <= self.len - offset && aligned
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
