//! `cp.async.bulk.tensor`: what a copy of a box needs is looked at when it starts.

use crate::check::{AccessKind, AccessProblem, BadAccess, BadOperand, BadTensor, InstrThread, MistakeDetails};
use crate::{lane_mask::LaneMask, memory::relaxed, trace::Event};
use arithmetic::lanes::Src;
use program::tensor::{BYTES, NotATensorMap, RANKS, SHARED_ALIGN, TensorMap};
use program::{Addr, BulkBytes, MemSpace, RANK_SHIFT, TensorCopy, TensorWay, window};

use crate::exec::memory::per_lane::{AccessFault, find_global};
use crate::exec::worker::Worker;
use crate::exec::{block::bulk_copies::BulkCopy, memory::access_spec::place, memory::cluster_memory::Holder};

const MAP_ALIGN: u64 = 64;
const ROW_ALIGN: i64 = 16;
/// Alignment of the size and both addresses of a copy of bytes.
const BULK_ALIGN: u32 = 16;

/// A copy that a lane starts: of the box of a map at a position.
#[derive(Clone)]
struct BoxCopy {
    map: TensorMap,
    position: [i32; RANKS],
    pc: u32,
    lane: usize,
}

impl Worker<'_> {
    pub(crate) fn tensor_copy(&mut self, t: &TensorCopy, pc: u32, active: LaneMask) {
        for lane in active.iter() {
            if t.way == TensorWay::Prefetch {
                continue;
            }
            if let Err(problem) = self.start_tensor_copy(t, pc, lane) {
                self.record_mistake(pc, LaneMask::of(lane), MistakeDetails::TensorCopy { problem });
                if matches!(t.way, TensorWay::Load(_)) {
                    self.note_skipped_copy();
                }
            }
            if self.stopped {
                return;
            }
        }
    }

    fn start_tensor_copy(&mut self, t: &TensorCopy, pc: u32, lane: usize) -> Result<(), BadTensor> {
        let map = self.tensor_map(t, lane)?;
        refuse_if!(map.rank != usize::from(t.dims), BadTensor::Rank { map: map.rank as u8, given: t.dims });
        let mut position = [0; RANKS];
        for (place, &src) in position.iter_mut().zip(&t.at).take(map.rank) {
            *place = self.u32_at(src, lane) as i32;
        }
        let bytes = map.element.bytes() as u8;
        if i64::from(position[0]) * i64::from(bytes) % ROW_ALIGN != 0 {
            return Err(BadTensor::Column { at: position[0], bytes });
        }
        let before = position.iter().position(|position| *position < 0);
        if let (TensorWay::Store, Some(d)) = (t.way, before) {
            return Err(BadTensor::Negative { dimension: d as u8, at: position[d] });
        }
        let offset = self.offset_from_here(self.address_at(&t.shared, lane));
        refuse_if!(!offset.is_multiple_of(SHARED_ALIGN.into()), BadTensor::Shared(offset));
        self.begin(BoxCopy { map, position, pc, lane }, (offset, t.blocks), &t.way);
        Ok(())
    }

    /// Executes `cp.async.bulk` of neighbouring bytes.
    pub(crate) fn bulk_bytes(&mut self, copy: &BulkBytes, pc: u32, active: LaneMask) {
        for lane in active.iter() {
            let bytes = self.u32_at(copy.bytes, lane);
            if !bytes.is_multiple_of(BULK_ALIGN) {
                let problem = BadOperand::CopyBytes;
                let details = MistakeDetails::Operand { problem, value: bytes };
                self.record_mistake(pc, LaneMask::of(lane), details);
            }
            let bytes = bytes - bytes % BULK_ALIGN;
            let shared = self.offset_from_here(self.address_at(&copy.shared, lane));
            let mut global = self.address_at(&copy.global, lane);
            let loads = copy.way != TensorWay::Store;
            let mut aligned = true;
            let far = if copy.within_cluster { MemSpace::Shared } else { MemSpace::Global };
            for (space, address, reads) in [(MemSpace::Shared, shared, !loads), (far, global, loads)] {
                if !address.is_multiple_of(BULK_ALIGN.into()) {
                    let kind = if reads { AccessKind::Read } else { AccessKind::Write };
                    let access = BadAccess::at(kind, space, address, BULK_ALIGN);
                    let details = MistakeDetails::Access { problem: AccessProblem::Misaligned, access };
                    self.record_mistake(pc, LaneMask::of(lane), details);
                    aligned = false;
                }
            }
            if aligned && copy.within_cluster {
                match self.own_bytes(self.offset_from_here(global), bytes, pc, lane) {
                    Some(source) => global = source,
                    None => aligned = false,
                }
            }
            if loads && !aligned {
                self.note_skipped_copy();
            }
            if aligned && !self.stopped {
                let line = BoxCopy { map: TensorMap::line(global, bytes), position: [0; RANKS], pc, lane };
                self.begin(line, (shared, copy.blocks), &copy.way);
            }
            if self.stopped {
                return;
            }
        }
    }

    /// Returns the address that an operand of a lane names in its own space.
    fn address_at(&self, addr: &Addr, lane: usize) -> u64 {
        place(addr, 0, self.address_value(addr, lane))
    }

    /// Returns the source of a copy from the block's own shared memory, as an address valid in the whole cluster.
    fn own_bytes(&mut self, offset: u64, bytes: u32, pc: u32, lane: usize) -> Option<u64> {
        if let Holder::Own(own) = self.holder(offset)
            && let Some((_, to)) = self.block.shared_range(self.job, own)
            && own + u64::from(bytes) <= u64::from(to)
        {
            let tag = u64::from(self.block.rank + 1) << RANK_SHIFT;
            return Some(window::SHARED + tag + own);
        }
        let access = BadAccess::at(AccessKind::Read, MemSpace::Shared, offset, bytes);
        let details = MistakeDetails::Access { problem: AccessProblem::OutOfBounds, access };
        self.record_mistake(pc, LaneMask::of(lane), details);
        None
    }

    /// Starts a copy whose box lies in memory at both ends; a load to the blocks of a mask, or to the one of its place.
    fn begin(&mut self, copy: BoxCopy, (offset, blocks): (u64, Option<Src>), way: &TensorWay) {
        let (instr, bytes) = (self.job.instr_at(copy.pc), copy.map.box_bytes());
        let runs = || copy.map.runs(copy.position, offset as u32);
        let TensorWay::Load(barrier) = way else {
            self.observe(instr, || Event::Store { runs: runs() });
            return self.begin_in_block(copy, offset, None);
        };
        let barrier = self.address_of(barrier, MemSpace::Shared, copy.lane) - window::SHARED;
        let low = |offset: u64| offset & ((1 << RANK_SHIFT) - 1);
        let mask = blocks.map_or(1, |blocks| self.u32_at(blocks, copy.lane) & 0xffff);
        let load = || Event::Load { barrier: low(barrier) as u32, blocks: mask.count_ones(), bytes, runs: runs() };
        self.observe(instr, load);
        if blocks.is_none() {
            let rank = match self.holder(offset) {
                Holder::Own(_) => self.block.rank,
                Holder::Other(rank, _) | Holder::Nobody(rank) => rank,
            };
            return self.begin_load(copy, (offset, barrier), rank);
        }
        // In each block, place and barrier are where the instruction names them in its own.
        for rank in (0..16).filter(|rank| mask >> rank & 1 == 1) {
            let tag = (rank as u64 + 1) << RANK_SHIFT;
            let places = (tag | low(offset), tag | low(barrier));
            self.begin_load(copy.clone(), places, rank as u32);
        }
    }

    /// Starts a load to the shared memory of a block of the cluster.
    fn begin_load(&mut self, copy: BoxCopy, (offset, barrier): (u64, u64), rank: u32) {
        if let Some(problem) = self.remote_problem(offset) {
            let access = BadAccess::at(AccessKind::Write, MemSpace::Shared, offset, BULK_ALIGN);
            self.record_mistake(copy.pc, LaneMask::of(copy.lane), MistakeDetails::Remote { access, problem });
            self.note_skipped_copy();
            return;
        }
        self.in_block(rank, |worker| worker.begin_in_block(copy, offset, Some(barrier)));
    }

    /// Starts a copy to or from the shared memory of the current block.
    fn begin_in_block(&mut self, copy: BoxCopy, given: u64, barrier: Option<u64>) {
        let BoxCopy { map, position, pc, lane } = copy;
        let offset = if let Holder::Own(own) = self.holder(given) { own } else { given };
        let bytes = map.element.bytes() as u8;
        let (in_shared, in_global) = match barrier {
            None => (AccessKind::Read, AccessKind::Write),
            Some(_) => (AccessKind::Write, AccessKind::Read),
        };
        let to = self.block.shared_range(self.job, offset).map_or(offset, |(_, to)| u64::from(to));
        if map.shared_bytes() > to - offset {
            let access = BadAccess {
                kind: in_shared,
                space: MemSpace::Shared,
                address: to,
                high: offset.saturating_add(map.shared_bytes()).saturating_sub(bytes.into()),
                bytes: bytes.into(),
            };
            let details = MistakeDetails::Access { problem: AccessProblem::OutOfBounds, access };
            self.record_mistake(pc, LaneMask::of(lane), details);
            if barrier.is_some() {
                self.note_skipped_copy();
            }
            return;
        }
        let copy = BulkCopy {
            map: Box::new(map),
            at: position,
            shared: offset as u32,
            by: InstrThread { instr: self.job.instr_at(pc), thread: self.warp.thread_of(lane) },
            block: self.acting.map_or(self.block.index, |acting| acting.block),
            phase: 0,
        };
        if let Some(((problem, space, address), high)) = self.out_of_reach(&copy, in_global == AccessKind::Write) {
            let access = BadAccess { kind: in_global, space, address, high, bytes: bytes.into() };
            self.record_mistake(pc, LaneMask::of(lane), MistakeDetails::Access { problem, access });
            if self.stopped {
                return;
            }
        }
        match barrier {
            Some(barrier) => {
                if let Some(barrier) = self.mbarrier_in(window::SHARED + barrier, pc, lane)
                    && self.check_mbarrier(barrier, pc, lane)
                {
                    let phase = self.mbarrier_phase(barrier).unwrap_or(0);
                    self.start_load(BulkCopy { phase, ..copy }, barrier);
                }
            }
            None => {
                let map = Box::new(copy.map.for_stores());
                self.start_store(BulkCopy { map, ..copy }, lane);
            }
        }
    }

    fn tensor_map(&self, t: &TensorCopy, lane: usize) -> Result<TensorMap, BadTensor> {
        let address = place(&t.map, t.map_space.window(), self.address_value(&t.map, lane));
        let mut bytes = [0; BYTES];
        let window = address >> window::BITS;
        let is_parameter = window == window::PARAM >> window::BITS;
        let start = if is_parameter { self.job.kernel.param_start } else { 0 };
        refuse_if!(!(address + u64::from(start)).is_multiple_of(MAP_ALIGN), BadTensor::MapAlign(address));
        if is_parameter {
            let from = (address - window::PARAM) as usize;
            let found = self.job.params.get(from..).and_then(|rest| rest.first_chunk());
            bytes = *found.ok_or(BadTensor::MapPlace(address))?;
        } else if window < window::SHARED >> window::BITS
            && let Ok(from) = find_global(self.job, address, BYTES as u64, false)
        {
            // SAFETY: `find_global` has found `BYTES` bytes, which the launch holds.
            unsafe { relaxed::copy_out(from, &mut bytes) };
        } else {
            return Err(BadTensor::MapPlace(address));
        }
        TensorMap::decode(&bytes).map_err(|why| match why {
            NotATensorMap::Zeros => BadTensor::Zeros(address),
            NotATensorMap::Changed => BadTensor::Changed(address),
            NotATensorMap::Other => BadTensor::NoMap(address),
        })
    }

    /// Returns the part of the box inside of the tensor and in no memory: reason and first such element, and the last.
    fn out_of_reach(&self, copy: &BulkCopy, writes: bool) -> Option<(AccessFault, u64)> {
        let element_bytes = copy.map.element.bytes();
        let mut found: Option<(AccessFault, u64)> = None;
        for run in copy.runs() {
            let Some(start) = run.global.filter(|start| *start < window::SHARED) else { continue };
            let Err((problem, space, mut address)) = find_global(self.job, start, run.bytes.into(), writes) else {
                continue;
            };
            let last = start.saturating_add(u64::from(run.bytes) - element_bytes);
            // The first element of the run that cannot be reached.
            if problem == AccessProblem::OutOfBounds {
                let is_there = |at: &u64| find_global(self.job, *at, element_bytes, writes).is_ok();
                address = (start..=last).step_by(element_bytes as usize).find(|at| !is_there(at)).unwrap_or(start);
            }
            match &mut found {
                Some((_, high)) => *high = (*high).max(last),
                None => found = Some(((problem, space, address), last)),
            }
        }
        found
    }
}
