//! Tracks values that nothing has defined.
//!
//! A load of bytes that nothing wrote is not a mistake by itself: correct programs load, move and store padding of
//! structs, unset members and tails of vectors. So the loaded bits are tracked through registers and memory, and
//! reported where they matter: in an address, a condition, an atomic, printed text, and stored results.
//!
//! A warp without undefined registers runs in the ordinary checked loop. The load that brings the first ones ends it,
//! and the warp goes on in a loop of its own (`General`) until all its registers are defined again.

mod kept;
mod matrix;
mod transfer;
mod wgmma;

use crate::check::{AccessKind, Astray, BadAccess, CopiedBy, CopyInFlight, MAX_RANGES, MistakeDetails, Use, WrongMask};
use crate::lane_mask::LaneMask;
use arithmetic::lanes::{AluArgs, AluFn, Class, Dst};
use program::operands::{AluClasses, Operand, Purpose, Role, for_each_operand};
use program::{Access, Atomic, AtomicKind, MemSpace, Op, OpKind, VoteMode, window};

use crate::exec::block::shadow::{NOWHERE, Origin, Origins, ShadowIndex};
use crate::exec::{memory::access_spec::AccessSpec, memory::per_lane};
use crate::exec::{runs, worker::Worker};
pub(in crate::exec) use wgmma::Unwritten;

/// Returns the bytes of a value of which no bit is defined, one bit each.
fn holes(undefined: u64, bytes: u32) -> u32 {
    (0..bytes.min(8)).filter(|byte| undefined >> (8 * byte) & 0xFF == 0xFF).fold(0, |mask, byte| mask | 1 << byte)
}

/// Splits a generic address into the space and the address in it, as in [`BadAccess::address`].
fn place_of(address: u64) -> (MemSpace, u64) {
    match address >> window::BITS {
        w if w == window::SHARED >> window::BITS => (MemSpace::Shared, address - window::SHARED),
        w if w == window::LOCAL >> window::BITS => (MemSpace::Local, address - window::LOCAL),
        _ => (MemSpace::Global, address),
    }
}

fn low_bits(n: u32) -> u32 {
    if n >= 32 { u32::MAX } else { (1 << n) - 1 }
}

impl Worker<'_> {
    /// Records which bytes of a lane's access nothing has written.
    pub(crate) fn note_unwritten(&mut self, lane: usize, address: u64, bytes: u32) {
        let undefined = self.unwritten_bytes(address, bytes, lane);
        if undefined != 0 {
            self.checks.fresh.lanes |= LaneMask::of(lane);
            self.checks.fresh.bytes[lane] = undefined;
            self.checks.fresh.address[lane] = address;
        }
    }

    /// Returns the bytes of an access that nothing has written.
    fn unwritten_bytes(&self, address: u64, bytes: u32, lane: usize) -> u32 {
        let offset = (address & ((1 << window::BITS) - 1)) as usize;
        let n = bytes as usize;
        let written = match address & !((1 << window::BITS) - 1) {
            window::SHARED => {
                let (written, offset) = self.shared_written(offset as u64);
                written.mask(offset, n)
            }
            window::LOCAL => self.block.local_written.mask(self.local_offset(lane) + offset, n),
            window::PARAM => u32::MAX,
            _ => match self.job.table.find(address, u64::from(bytes)) {
                Some((allocation, offset)) => allocation.bytes.written_mask(offset, n),
                None => u32::MAX,
            },
        };
        !written & low_bits(bytes)
    }

    /// Marks the defined bytes of a lane's memory, after a store whose undefined bytes are `undefined`.
    fn set_written(&mut self, address: u64, bytes: u32, undefined: u32, lane: usize) {
        let offset = (address & ((1 << window::BITS) - 1)) as usize;
        let defined = !undefined & low_bits(bytes);
        match address & !((1 << window::BITS) - 1) {
            window::SHARED => {
                let (written, offset) = self.shared_written_mut(offset as u64);
                runs(undefined).for_each(|(start, n)| written.unset_whole(offset + start, n));
                runs(defined).for_each(|(start, n)| written.set(offset + start, n));
            }
            window::LOCAL => {
                let offset = self.local_offset(lane) + offset;
                let written = &mut self.block.local_written;
                runs(undefined).for_each(|(start, n)| written.unset(offset + start, n));
                runs(defined).for_each(|(start, n)| written.set(offset + start, n));
            }
            window::PARAM => {}
            _ => {
                if let Some((allocation, offset)) = self.job.table.find(address, u64::from(bytes)) {
                    runs(undefined).for_each(|(start, n)| allocation.bytes.unmark(offset + start, n));
                    runs(defined).for_each(|(start, n)| allocation.bytes.mark(offset + start, n));
                }
            }
        }
    }

    /// Returns a lane's byte as a place of `Carried`: local memory is each lane's own.
    fn carried_place(&self, address: u64, lane: usize) -> u64 {
        let in_local = window::holds(window::LOCAL, address);
        if in_local { address + self.local_offset(lane) as u64 } else { address }
    }

    /// Returns the origin of the undefined bytes that a lane has just read at `at`, the first of them at `first`.
    fn origin_of(&self, at: u64, first: u64, bytes: u32, load: u32, lane: usize) -> Origin {
        if let Some(origin) = self.block.carried.origins.get(&(self.carried_place(first, lane) / 4)) {
            return *origin;
        }
        let copied_earlier = match first >> window::BITS {
            w if w >= window::SHARED >> window::BITS => false,
            _ => match self.job.table.find(first, 1) {
                Some((allocation, offset)) => allocation.bytes.was_unmarked(offset),
                None => false,
            },
        };
        let unknown = copied_earlier || self.block.carried.full;
        let (space, address) = place_of(at);
        Origin {
            load,
            bytes: bytes.saturating_sub((first - at) as u32).max(1),
            address: first,
            computed: NOWHERE,
            copied: unknown.then_some(CopiedBy::Unknown),
            cause: self.block.collector.cause(load, space, address),
        }
    }

    /// Makes the registers of a load undefined that has read what nothing wrote.
    #[cold]
    #[inline(never)]
    pub(crate) fn propagate_fresh_load(&mut self, a: &Access, pc: u32, active: LaneMask) {
        self.propagate_load(a, active);
        let lanes = std::mem::take(&mut self.checks.fresh.lanes);
        let instr = self.job.instr_at(pc);
        let lanes = lanes & !self.report_in_flight(lanes, a.bytes(), instr);
        let element = u32::from(a.element);
        let wide = a.wide;
        for (e, dst) in a.destinations().enumerate() {
            let Some(dst) = dst else { continue };
            let spot = self.checks.shadow.line(dst);
            for lane in lanes.iter() {
                let skip = e as u32 * element;
                let bytes = self.checks.fresh.bytes[lane] >> skip & low_bits(element);
                if bytes == 0 {
                    continue;
                }
                let mut undefined = (0..element)
                    .filter(|byte| bytes >> byte & 1 == 1)
                    .fold(0u64, |mask, byte| mask | 0xFF << (8 * byte));
                if a.signed && element < 8 && bytes >> (element - 1) & 1 == 1 {
                    undefined |= u64::MAX << (8 * element);
                }
                if !wide {
                    undefined &= u64::from(u32::MAX);
                }
                let at = self.checks.fresh.address[lane];
                let first = at + u64::from(skip + bytes.trailing_zeros());
                let origin = self.origin_of(at, first, a.bytes(), instr, lane);
                self.checks.shadow.undefine(spot, lane, undefined, Origins::one(origin));
            }
        }
    }

    /// Reports lanes that read what an asynchronous copy is still to write: a mistake whatever becomes of the value.
    fn report_in_flight(&mut self, lanes: LaneMask, bytes: u32, load: u32) -> LaneMask {
        let copy = |worker: &Self, lane: usize| {
            let offset = worker.checks.fresh.address[lane].checked_sub(window::SHARED)?;
            worker.copy_in_flight(offset.try_into().ok()?, bytes, lane)
        };
        let guilty = lanes.filter(|lane| copy(self, lane).is_some());
        let first = lanes.iter().find_map(|lane| Some((self.checks.fresh.address[lane], copy(self, lane)?)));
        if let Some((address, copy)) = first {
            let access = BadAccess::at(AccessKind::Read, MemSpace::Shared, address - window::SHARED, bytes);
            self.report_early_read(load, guilty, access, copy);
        }
        guilty
    }

    pub(crate) fn report_early_read(&mut self, load: u32, lanes: LaneMask, access: BadAccess, copy: CopyInFlight) {
        if copy.phase.is_some() {
            self.note_misuse();
        }
        // Two copies to one place were reported already.
        if !self.block.bulk.overlapped {
            let details = MistakeDetails::Uninitialised {
                access,
                load,
                used: Use::Stored { by: load },
                copied: None,
                written: None,
                copy: Some(copy),
                fresh: None,
            };
            self.record_mistake_at(load, lanes, details);
        }
    }

    /// Makes the registers of a load defined.
    pub(crate) fn propagate_load(&mut self, a: &Access, active: LaneMask) {
        for dst in a.destinations() {
            self.define_line(dst, active);
        }
    }

    /// Reports undefined values that were computed, before a store. Returns whether others are undefined.
    pub(crate) fn check_stored(&mut self, a: &Access, pc: u32, active: LaneMask) -> bool {
        let element = u32::from(a.element);
        let mut moved = LaneMask::EMPTY;
        for &src in &a.regs[..usize::from(a.n)] {
            let Some(spot) = self.checks.shadow.source(src) else { continue };
            let instr = self.job.instr_at(pc);
            let lanes = self.checks.shadow.lanes(spot) & active;
            let stored = if element >= 8 { u64::MAX } else { (1 << (8 * element)) - 1 };
            let shadow = &self.checks.shadow;
            let is_stored = |lane| shadow.bits(spot, lane) & stored != 0;
            let computed = lanes.filter(|lane| shadow.origins(spot, lane).is_computed() && is_stored(lane));
            self.undefined_use(spot, computed, Use::Stored { by: instr }, instr);
            moved |= lanes & !computed;
        }
        !moved.is_empty()
    }

    /// Keeps undefined bytes that were only moved undefined in memory, which counts as written by now.
    #[cold]
    pub(crate) fn leave_holes(&mut self, a: &Access, spec: AccessSpec<'_>, good: LaneMask) {
        let addresses = per_lane::addresses(self, &spec);
        let instr = self.job.instr_at(spec.pc);
        let element = u32::from(a.element);
        // Lanes that stored nothing but undefined bytes where the host can read them, by origin.
        let mut whole: Vec<(Origin, LaneMask)> = Vec::new();
        // In index order: where lanes meet, the highest one's value stays.
        for lane in good.iter() {
            let at = addresses[lane];
            let mut undefined = 0;
            let mut from = None;
            for (e, &src) in a.regs[..usize::from(a.n)].iter().enumerate() {
                let Some(spot) = self.checks.shadow.source(src) else { continue };
                let skip = e as u32 * element;
                let holes = holes(self.checks.shadow.bits(spot, lane), element);
                if holes == 0 {
                    continue;
                }
                undefined |= holes << skip;
                let first = self.checks.shadow.origins(spot, lane).first();
                from.get_or_insert(first);
                let origin = Origin { copied: Some(CopiedBy::Instr(instr)), ..first };
                if window::holds(window::SHARED, origin.address) {
                    self.report_exited();
                }
                for byte in (0..element).filter(|byte| holes >> byte & 1 == 1) {
                    let place = self.carried_place(at + u64::from(skip + byte), lane);
                    self.block.carried.put(place, origin);
                }
            }
            self.set_written(at, spec.bytes, undefined, lane);
            if let Some(origin) = from
                && undefined == low_bits(spec.bytes)
                && place_of(at).0 == MemSpace::Global
            {
                match whole.iter_mut().find(|(known, _)| known.cause == origin.cause) {
                    Some((_, lanes)) => *lanes |= LaneMask::of(lane),
                    None => whole.push((origin, LaneMask::of(lane))),
                }
            }
        }
        for (origin, lanes) in whole {
            let starts = || lanes.iter().map(|lane| addresses[lane]);
            let from = starts().min().unwrap_or(0);
            let to = starts().max().unwrap_or(0).saturating_add(spec.bytes.into());
            self.report_undefined(origin, lanes, Use::Output { range: (from, to) }, instr);
        }
    }

    /// Reports the use of an undefined value, and marks it as defined, so that it is reported once.
    fn undefined_use(&mut self, spot: ShadowIndex, lanes: LaneMask, used: Use, instr: u32) {
        let lanes = self.checks.shadow.lanes(spot) & lanes;
        if used == Use::Control {
            self.block.warps[self.warp.index as usize].undefined_mask = true;
        }
        // Lanes by origin; the lowest lane's stands for all.
        let mut groups: Vec<(Origin, LaneMask)> = Vec::new();
        for lane in lanes.iter() {
            for origin in self.checks.shadow.origins(spot, lane).iter() {
                let alike = |known: &Origin| {
                    (known.load, known.computed, known.copied) == (origin.load, origin.computed, origin.copied)
                };
                match groups.iter_mut().find(|(known, _)| alike(known)) {
                    Some((_, lanes)) => *lanes |= LaneMask::of(lane),
                    None => groups.push((*origin, LaneMask::of(lane))),
                }
            }
        }
        for (origin, lanes) in groups {
            self.report_undefined(origin, lanes, used, instr);
        }
        self.checks.shadow.define(spot, lanes);
    }

    /// Reports lanes that use an undefined value; `origin` is that of the lowest lane.
    #[cold]
    fn report_undefined(&mut self, origin: Origin, lanes: LaneMask, used: Use, instr: u32) {
        let kernel = self.job.kernel;
        let line = |instr: u32| {
            let source = kernel.instrs.get(instr as usize)?.source?;
            Some((source.file, source.line))
        };
        // Arithmetic is where the value was put to use. A condition's comparison is closer to it than its branch.
        let use_instr = match used {
            Use::Stored { .. } if origin.computed != NOWHERE => origin.computed,
            Use::Condition if origin.computed != NOWHERE && line(origin.computed) == line(instr) => origin.computed,
            _ => instr,
        };
        let copied = origin.copied;
        if let Some((lane, from)) = origin.shuffle() {
            let [named, present] = [origin.address, origin.address >> 32].map(|bits| LaneMask::from_bits(bits as u32));
            let astray = Astray { from, used: use_instr };
            let wrong = match named.contains(from as usize) {
                true => WrongMask::SourceMissing(astray),
                false => WrongMask::SourceNotNamed(astray),
            };
            let details = self.sync_mask(named, present, wrong);
            return self.record_mistake_at(origin.load, LaneMask::of(lane), details);
        }
        if origin.is_register() {
            let use_instr = match used {
                Use::Atomic | Use::Printed if origin.computed != NOWHERE => origin.computed,
                _ => use_instr,
            };
            return self.record_mistake_at(use_instr, lanes, MistakeDetails::Unset { used, by: instr, copied });
        }
        let (space, address) = place_of(origin.address);
        let new = self.block.collector.is_new_access(used.code(), origin.load, self.block.index, (space, address));
        let written = new.then(|| self.written_around(space, address, lanes.first() & 31));
        let access = BadAccess::at(AccessKind::Read, space, address, origin.bytes);
        let thread = self.warp.thread_of(lanes.first());
        let fresh = match space {
            MemSpace::Shared => self.passed_fresh(thread),
            _ => None,
        };
        if fresh.is_some() {
            self.note_misuse();
        }
        let details =
            MistakeDetails::Uninitialised { access, load: origin.load, used, copied, written, copy: None, fresh };
        self.record_mistake_at(use_instr, lanes, details);
        if space == MemSpace::Shared {
            self.report_exited();
        }
    }

    /// Returns the written ranges of the array at an address in memory of the block, as addresses like
    /// [`BadAccess::address`]. Those of global memory are known when the launch ends.
    fn written_around(&self, space: MemSpace, address: u64, lane: usize) -> Box<[(u64, u64)]> {
        let ranges = match space {
            MemSpace::Shared => match self.block.shared_range(self.job, address) {
                Some((from, to)) => self.block.shared_written.ranges(from as usize, to as usize, MAX_RANGES),
                None => Vec::new(),
            },
            MemSpace::Local => {
                let own = self.local_offset(lane);
                let end = own + self.job.local_bytes as usize;
                let ranges = self.block.local_written.ranges(own, end, MAX_RANGES);
                ranges.iter().map(|(s, e)| (s - own as u64, e - own as u64)).collect()
            }
            _ => Vec::new(),
        };
        ranges.into_boxed_slice()
    }

    /// Computes undefined registers after an operation, except loads, stores, atomics and operations across lanes.
    pub(crate) fn propagate_undefined(&mut self, op: &Op, pc: u32, active: LaneMask, frame: LaneMask) {
        let guard = self.checks.shadow.pred(op.guard.pred.into());
        if !(self.checks.shadow.lanes(guard) & frame).is_empty() {
            self.undefined_use(guard, frame, Use::Condition, op.instr);
        }
        if active.is_empty() {
            return;
        }
        let instr = op.instr;
        let active = match &op.kind {
            OpKind::Alu { run, args } => return self.propagate_alu(*run, args, pc, active, instr),
            OpKind::MatrixLoad(m) | OpKind::MatrixStore(m) => active & LaneMask::from_bits(m.lanes()),
            _ => active,
        };
        for_each_operand(&op.kind, AluClasses::NONE, &mut |Operand { src, class, role, .. }| {
            let spot = match class {
                Class::Pred => Some(self.checks.shadow.pred(src as u32)),
                Class::Bits32 | Class::Bits64 => self.checks.shadow.source(src),
            };
            let Some(spot) = spot else { return };
            let used = match role {
                Role::Use(Purpose::Address) => Use::Address,
                Role::Use(Purpose::Condition) => Use::Condition,
                Role::Use(Purpose::Control) => Use::Control,
                Role::Use(Purpose::Atomic) => Use::Atomic,
                Role::Use(Purpose::Printed) => Use::Printed,
                Role::EarlyDef => return self.checks.shadow.define(spot, active),
                // Propagated where the operation runs: undefined bits move to memory or between lanes.
                Role::Use(Purpose::Value) | Role::Def => return,
            };
            if !(self.checks.shadow.lanes(spot) & active).is_empty() {
                self.undefined_use(spot, active, used, instr);
            }
        });
    }

    pub(crate) fn define_line(&mut self, dst: Option<Dst>, active: LaneMask) {
        if let Some(dst) = dst {
            self.checks.shadow.define(self.checks.shadow.line(dst), active);
        }
    }

    fn propagate_alu(&mut self, run: AluFn, args: &AluArgs, pc: u32, active: LaneMask, instr: u32) {
        let Some(shape) = self.job.kernel.shapes.get(pc as usize).copied() else { return };
        let dst = match shape.dst {
            Class::Pred => self.checks.shadow.pred(args.dst),
            Class::Bits32 | Class::Bits64 => self.checks.shadow.line(args.dst),
        };
        let mut spots = [None; 4];
        let mut lanes = LaneMask::EMPTY;
        for ((spot, &src), &class) in spots.iter_mut().zip(&args.src).zip(shape.srcs) {
            *spot = match class {
                Class::Pred => Some(self.checks.shadow.pred(src as u32)),
                Class::Bits32 | Class::Bits64 => self.checks.shadow.source(src),
            };
            lanes |= spot.map_or(LaneMask::EMPTY, |spot| self.checks.shadow.lanes(spot));
        }
        if (lanes & active).is_empty() {
            return self.checks.shadow.define(dst, active);
        }
        let mut sources = transfer::Sources { values: [[0; 32]; 4], undefined: [[0; 32]; 4], same: [0; 4] };
        for (i, &class) in shape.srcs.iter().enumerate().take(4) {
            let src = args.src[i];
            for lane in active.iter() {
                sources.values[i][lane] = match class {
                    Class::Pred => self.pred(src as u32).contains(lane).into(),
                    Class::Bits32 => self.u32_at(src, lane).into(),
                    Class::Bits64 => self.u64_at(src, lane),
                };
                sources.undefined[i][lane] = spots[i].map_or(0, |spot| self.checks.shadow.bits(spot, lane));
            }
            sources.same[i] = (0..i).find(|&j| spots[j].is_some() && spots[j] == spots[i]).unwrap_or(i);
        }
        let result = transfer::alu(run, args, shape, &sources, active);
        self.checks.shadow.define(dst, active & !lanes);
        // A lane's origins are read before its result is marked, which may be in the same register.
        for lane in (active & lanes).iter() {
            let mut origins = Origins::NONE;
            for (spot, from) in spots.iter().zip(result.from) {
                if let Some(spot) = spot.filter(|_| from.contains(lane)) {
                    origins.join(&self.checks.shadow.origins(spot, lane));
                }
            }
            if result.computed.contains(lane) {
                origins.compute(instr);
            }
            self.checks.shadow.undefine(dst, lane, result.undefined[lane], origins);
        }
    }

    /// Reports an atomic that works on what nothing wrote.
    #[cold]
    pub(crate) fn propagate_fresh_atomic(&mut self, a: &Atomic, pc: u32) {
        let lanes = std::mem::take(&mut self.checks.fresh.lanes);
        let instr = self.job.instr_at(pc);
        let bytes = a.ty.bytes();
        let exchange = a.kind == AtomicKind::Exch;
        let all = if bytes == 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 };
        for lane in lanes.iter() {
            let at = self.checks.fresh.address[lane];
            let origin = self.origin_of(at, at, bytes, instr, lane);
            if !exchange {
                self.report_undefined(origin, LaneMask::of(lane), Use::Atomic, instr);
            } else if let Some(dst) = a.dst {
                let dst = self.checks.shadow.line(dst);
                self.checks.shadow.undefine(dst, lane, all, Origins::one(origin));
            }
            // Global memory keeps the state unless it is overwritten: other blocks find the same mistake.
            if exchange || at >> window::BITS >= window::SHARED >> window::BITS {
                self.set_written(at, bytes, 0, lane);
            }
        }
    }

    /// Returns a mask of the unwritten bytes that a copy by `cp.async` has just read for a lane.
    pub(crate) fn propagate_fresh_copy(&mut self, lane: usize, to: u64, bytes: u32, pc: u32) -> u32 {
        let instr = self.job.instr_at(pc);
        let first = self.carried_place(to, lane);
        for word in 0..u64::from(bytes.div_ceil(4)) {
            self.block.carried.origins.remove(&(first / 4 + word));
        }
        if !self.checks.fresh.lanes.contains(lane) {
            return 0;
        }
        let (undefined, at) = (self.checks.fresh.bytes[lane], self.checks.fresh.address[lane]);
        for (start, n) in runs(undefined) {
            let origin = self.origin_of(at, at + start as u64, bytes, instr, lane);
            for word in start / 4..(start + n).div_ceil(4) {
                let origin = Origin { copied: Some(CopiedBy::Instr(instr)), ..origin };
                self.block.carried.put(first + 4 * word as u64, origin);
            }
        }
        undefined
    }

    /// Keeps words undefined that a bulk copy has stored and nothing wrote: shared offset, bytes, new address.
    pub(crate) fn leave_bulk_holes(&mut self, holes: &[(u32, u32, u64)], instr: u32, lane: u32) {
        let mut first = None;
        let (mut low, mut high) = (u64::MAX, 0);
        for &(offset, bytes, to) in holes {
            let at = window::SHARED + u64::from(offset);
            let origin = self.origin_of(at, at, bytes, instr, lane as usize);
            first.get_or_insert(origin);
            (low, high) = (low.min(to), high.max(to.saturating_add(bytes.into())));
            let copied = Origin { copied: Some(CopiedBy::Instr(instr)), ..origin };
            self.block.carried.put(to, copied);
        }
        if let Some(origin) = first {
            let used = Use::Output { range: (low, high) };
            self.report_undefined(origin, LaneMask::of(lane as usize), used, instr);
        }
    }

    /// Drops the origins of bytes of shared memory that a bulk copy overwrites.
    pub(crate) fn forget_copied(&mut self, to: u32, bytes: u32) {
        if self.block.carried.origins.is_empty() {
            return;
        }
        let first = window::SHARED + u64::from(to);
        for word in first / 4..(first + u64::from(bytes)).div_ceil(4) {
            self.block.carried.origins.remove(&word);
        }
    }

    /// Records the origin of a word that a bulk copy brought and that nothing had written at its source.
    pub(crate) fn note_copied(&mut self, to: u32, from: u64, instr: u32) {
        let (space, address) = place_of(from);
        let origin = Origin {
            load: instr,
            bytes: 4,
            address: from,
            computed: NOWHERE,
            copied: Some(CopiedBy::Instr(instr)),
            cause: self.block.collector.cause(instr, space, address),
        };
        self.block.carried.put(window::SHARED + u64::from(to), origin);
    }

    /// Propagates a shuffle: each `active` lane takes what the lane `from` of it has.
    pub(crate) fn propagate_shuffle(
        &mut self, src: i32, dst: u32, dst_pred: Option<Dst>, from: &[u32; 32], active: LaneMask,
    ) {
        let dst = self.checks.shadow.line(dst);
        if let Some(dst_pred) = dst_pred {
            self.checks.shadow.define(self.checks.shadow.pred(dst_pred), active);
        }
        self.checks.shadow.define(dst, active);
        let Some(src) = self.checks.shadow.source(src) else { return };
        for lane in active.iter() {
            let from = from[lane] as usize & 31;
            let undefined = self.checks.shadow.bits(src, from);
            if undefined != 0 {
                self.checks.shadow.undefine(dst, lane, undefined, self.checks.shadow.origins(src, from));
            }
        }
    }

    pub(crate) fn propagate_vote(&mut self, mode: VoteMode, dst: u32, pred: (u32, bool), group: LaneMask, pc: u32) {
        let dst = match mode {
            VoteMode::Ballot => self.checks.shadow.line(dst),
            _ => self.checks.shadow.pred(dst),
        };
        let source = self.checks.shadow.pred(pred.0);
        let undefined = self.checks.shadow.lanes(source) & group;
        let yes = self.pred(pred.0);
        let yes = if pred.1 { !yes } else { yes };
        let known = group & !undefined;
        // True where the lanes with defined values decide the vote.
        let decided = match mode {
            VoteMode::Ballot => false,
            VoteMode::All => !(!yes & known).is_empty(),
            VoteMode::Any => !(yes & known).is_empty(),
            VoteMode::Uni => !(yes & known).is_empty() && !(!yes & known).is_empty(),
        };
        if undefined.is_empty() || decided {
            return self.checks.shadow.define(dst, group);
        }
        let open = if mode == VoteMode::Ballot { undefined.bits().into() } else { 1 };
        let origins = self.checks.shadow.origins(source, undefined.first());
        self.spread(dst, group, open, origins, pc);
    }

    /// Propagates a result for the lanes of a group that depends on all bits of their sources.
    pub(crate) fn propagate_gathered(&mut self, src: i32, dst: ShadowIndex, group: LaneMask, open: u64, pc: u32) {
        let source = self.checks.shadow.source(src);
        let undefined = source.map_or(LaneMask::EMPTY, |source| self.checks.shadow.lanes(source) & group);
        match source {
            Some(source) if !undefined.is_empty() => {
                let origins = self.checks.shadow.origins(source, undefined.first());
                self.spread(dst, group, open, origins, pc);
            }
            _ => self.checks.shadow.define(dst, group),
        }
    }

    fn spread(&mut self, dst: ShadowIndex, group: LaneMask, open: u64, mut origins: Origins, pc: u32) {
        origins.compute(self.job.instr_at(pc));
        group.iter().for_each(|lane| self.checks.shadow.undefine(dst, lane, open, origins));
    }

    /// Reports undefined arguments that `printf` has read from here.
    pub(crate) fn check_printed(&mut self, address: u64, bytes: u32, lane: usize, instr: u32) {
        let undefined = self.unwritten_bytes(address, bytes, lane);
        if undefined == 0 {
            return;
        }
        let first = address + u64::from(undefined.trailing_zeros());
        let origin = self.origin_of(address, first, bytes, instr, lane);
        self.report_undefined(origin, LaneMask::of(lane), Use::Printed, instr);
        self.set_written(address, bytes, 0, lane);
    }
}
