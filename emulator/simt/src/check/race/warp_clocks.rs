//! Vector clocks of the warps of a block: the order that mbarriers make, and barriers of some threads of a block.
//!
//! A warp's own time advances with each release: an arrival, or a strong store. It learns the times of other warps
//! where it acquires: from a barrier at which they had arrived, or by a strong load. An access comes after one of
//! another warp if the warp knows the time of that. Bulk copies count as one more party, which arrives at an mbarrier
//! with its bytes.
//!
//! Used for kernels with mbarriers or barriers of some threads. Order is assumed rather than missed: a warp knows what
//! one of its lanes knows, and a strong load acquires from all strong stores, whatever their address.

use std::collections::BTreeMap;
use std::ops::Range;

use super::interval::changes;
use super::touch::{AccessMark, Touch};
use crate::check::Collector;
use crate::check::mistake::{AccessKind, InstrThread, MissingOrder, RaceFacts, RaceParty};
use crate::lane_mask::LaneMask;
use program::{BARRIERS, DecodedKernel, MemSpace, Op, OpKind};

const WARPS: usize = 32;
/// Index of the party that stands for bulk copies.
const COPIES: usize = WARPS;
/// Units of shared memory that are followed.
const MAX_UNITS: u64 = 1 << 18;
/// Maximum number of races, each between two sites, reported for a block.
const MAX_RACES: usize = 64;
/// Time after which the next block starts with new clocks.
const LAST: u32 = u32::MAX / 2;

/// Known times of all parties.
type Clock = [u32; WARPS + 1];

#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    /// The party that wrote the cell last, plus one; 0 where no party has written it.
    by: u32,
    /// Time of that party when it wrote.
    time: u32,
    /// Instruction of that write.
    instr: u32,
    /// Thread of that write.
    thread: u32,
    /// Instruction of the last read.
    read_instr: u32,
    /// Thread of the last read.
    read_thread: u32,
}

/// An mbarrier.
#[derive(Debug, Clone)]
struct Phase {
    /// What the threads that have arrived in the current phase know.
    pending: Clock,
    /// What those of the completed phases knew.
    ended: Clock,
    /// Number of completed phases.
    number: u64,
}

/// The state of one worker.
#[derive(Debug)]
pub(crate) struct WarpClocks {
    /// Bytes of a unit, as a power of two.
    shift: u32,
    block: u64,
    clocks: Box<[Clock; WARPS]>,
    /// Number of completed bulk copies: the time of their party.
    copies: u32,
    /// By offset.
    mbarriers: BTreeMap<u32, Phase>,
    /// By barrier: what the threads that have arrived know.
    barriers: Box<[Clock; BARRIERS as usize]>,
    /// What was known at any strong store or atomic.
    flags: Clock,
    cells: Vec<Cell>,
    /// By unit: the time at which each warp read it last.
    reads: Vec<[u32; WARPS]>,
    /// By the two instructions and the warp of the second, whose lanes stand beside it.
    races: BTreeMap<(u32, u32, u32), (RaceFacts, LaneMask)>,
}

impl WarpClocks {
    /// Creates the state; `None` for kernels in which each barrier is one of the whole block.
    pub(super) fn new(kernel: &DecodedKernel, shift: u32) -> Option<Box<Self>> {
        let used = |op: &Op| matches!(op.kind, OpKind::Mbarrier(_) | OpKind::Barrier { count: Some(_), .. });
        let new = || {
            Box::new(Self {
                shift,
                block: 0,
                clocks: Box::new([[0; WARPS + 1]; WARPS]),
                copies: 0,
                mbarriers: BTreeMap::new(),
                barriers: Box::new([[0; WARPS + 1]; BARRIERS as usize]),
                flags: [0; WARPS + 1],
                cells: Vec::new(),
                reads: Vec::new(),
                races: BTreeMap::new(),
            })
        };
        kernel.ops.iter().any(used).then(new)
    }

    /// Begins or resumes a block: all that was before is known to all warps.
    pub(super) fn begin_block(&mut self, block: u64) {
        self.block = block;
        self.synchronise_all();
        self.mbarriers.clear();
        *self.barriers = [[0; WARPS + 1]; BARRIERS as usize];
        if self.copies > LAST || self.clocks.iter().flatten().any(|time| *time > LAST) {
            self.cells.clear();
            self.reads.clear();
            self.copies = 0;
            self.flags = [0; WARPS + 1];
            *self.clocks = [[0; WARPS + 1]; WARPS];
        }
    }

    /// Makes each warp know what any of them knows, and advances all times.
    pub(super) fn synchronise_all(&mut self) {
        let mut all = [0; WARPS + 1];
        for (w, clock) in self.clocks.iter_mut().enumerate() {
            clock[w] += 1;
            join(&mut all, clock);
        }
        all[COPIES] = self.copies;
        self.clocks.fill(all);
        for (w, clock) in self.clocks.iter_mut().enumerate() {
            clock[w] += 1;
        }
    }

    /// Returns the vector clock of a warp, and advances the warp's own time.
    fn release(&mut self, warp: u32) -> Clock {
        let w = warp as usize % WARPS;
        let released = self.clocks[w];
        self.clocks[w][w] += 1;
        released
    }

    fn acquire(&mut self, warp: u32, known: &Clock) {
        join(&mut self.clocks[warp as usize % WARPS], known);
    }

    /// Records an arrival of a warp at the mbarrier at this offset.
    pub(crate) fn arrive_at_mbarrier(&mut self, barrier: u32, warp: u32) {
        let released = self.release(warp);
        join(&mut self.phase(barrier).pending, &released);
    }

    fn phase(&mut self, barrier: u32) -> &mut Phase {
        let new = Phase { pending: [0; WARPS + 1], ended: [0; WARPS + 1], number: 0 };
        self.mbarriers.entry(barrier).or_insert(new)
    }

    /// Records how many phases of an mbarrier have ended; `waited` is the warp whose wait found one to have ended.
    pub(crate) fn set_mbarrier_phase(&mut self, barrier: u32, number: u64, waited: Option<u32>) {
        let phase = self.phase(barrier);
        if number != phase.number {
            phase.number = number;
            let pending = std::mem::replace(&mut phase.pending, [0; WARPS + 1]);
            join(&mut phase.ended, &pending);
        }
        let ended = phase.ended;
        if let Some(warp) = waited {
            self.acquire(warp, &ended);
        }
    }

    /// Records an arrival of a warp at a barrier of the block.
    pub(crate) fn arrive_at_barrier(&mut self, id: u32, warp: u32) {
        let released = self.release(warp);
        join(&mut self.barriers[(id % BARRIERS) as usize], &released);
    }

    /// Records that a barrier of the block has completed, at which these warps waited.
    pub(crate) fn complete_barrier(&mut self, id: u32, warps: impl Iterator<Item = u32>) {
        let arrived = std::mem::replace(&mut self.barriers[(id % BARRIERS) as usize], [0; WARPS + 1]);
        warps.for_each(|warp| self.acquire(warp, &arrived));
    }

    /// Records a strong access, to shared or global memory, as an acquire, a release, or both.
    pub(crate) fn strong_access(&mut self, kind: AccessMark, warp: u32) {
        if matches!(kind, AccessMark::Atomic | AccessMark::StrongRead) {
            let flags = self.flags;
            self.acquire(warp, &flags);
        }
        if matches!(kind, AccessMark::Atomic | AccessMark::StrongWrite) {
            let released = self.release(warp);
            join(&mut self.flags, &released);
        }
    }

    /// Returns the units of some bytes, as far as they are followed.
    fn units(&self, start: u64, bytes: u64) -> Range<u64> {
        start >> self.shift..(start + bytes).div_ceil(1 << self.shift).min(self.cells.len() as u64)
    }

    /// Follows the units of some bytes from now on, and returns them.
    fn reserve(&mut self, start: u64, bytes: u64) -> Range<u64> {
        let units = (start + bytes).div_ceil(1 << self.shift).min(MAX_UNITS) as usize;
        if self.cells.len() < units {
            self.cells.resize(units, Cell::default());
            self.reads.resize(units, [0; WARPS]);
        }
        self.units(start, bytes)
    }

    pub(super) fn access(&mut self, touch: &Touch<'_>) {
        if touch.strong {
            self.strong_access(touch.kind, touch.warp);
        }
        if !matches!(touch.kind, AccessMark::Read | AccessMark::Write) {
            return;
        }
        let differs = touch.kind == AccessMark::Write && changes(touch, touch.mask);
        let lanes = if touch.kind == AccessMark::Read { touch.distinct } else { touch.mask };
        for lane in lanes.numbers() {
            let thread = touch.warp * 32 + lane;
            self.touch(touch.address(lane), u64::from(touch.bytes), (touch.kind, differs), touch.instr, thread);
        }
    }

    fn touch(&mut self, start: u64, bytes: u64, (kind, differs): (AccessMark, bool), instr: u32, thread: u32) {
        let w = thread as usize / 32 % WARPS;
        for unit in self.reserve(start, bytes) {
            let (cell, clock) = (&mut self.cells[unit as usize], &self.clocks[w]);
            let by = cell.by.wrapping_sub(1) as usize;
            let unordered = cell.by != 0 && by != w && clock[by] < cell.time;
            let mut other = (unordered && (kind == AccessMark::Read || differs)).then_some((
                AccessKind::Write,
                cell.instr,
                cell.thread,
            ));
            let reads = &mut self.reads[unit as usize];
            if kind == AccessMark::Read {
                reads[w] = clock[w];
                (cell.read_instr, cell.read_thread) = (instr, thread);
            } else {
                let is_late = |v: &usize| *v != w && clock[*v] < reads[*v];
                if let Some(v) = (0..WARPS).find(is_late).filter(|_| other.is_none()) {
                    other = Some(reader(cell, v));
                }
                *cell = Cell { by: w as u32 + 1, time: clock[w], instr, thread, ..*cell };
            }
            if let Some(other) = other {
                self.add_race(unit, other, (kind.kind(), instr, thread));
            }
        }
    }

    /// Returns whether the reads of `reader` from these bytes are ordered before what `warp` does now.
    pub(crate) fn is_ordered_after_reads(&self, start: u32, bytes: u32, warp: u32, reader: u32) -> bool {
        let (w, v) = (warp as usize % WARPS, reader as usize % WARPS);
        let mut units = self.units(start.into(), bytes.into());
        w == v || units.all(|unit| self.clocks[w][v] >= self.reads[unit as usize][v])
    }

    /// Checks that what a bulk copy will write is not used by another warp at the same time.
    pub(crate) fn start_copy(&mut self, start: u32, bytes: u32, InstrThread { instr, thread }: InstrThread) {
        let w = thread as usize / 32 % WARPS;
        for unit in self.units(start.into(), bytes.into()) {
            let (cell, clock) = (&self.cells[unit as usize], &self.clocks[w]);
            let by = cell.by.wrapping_sub(1) as usize;
            let reads = &self.reads[unit as usize];
            let other = if cell.by != 0 && by != w && by != COPIES && clock[by] < cell.time {
                (AccessKind::Write, cell.instr, cell.thread)
            } else if let Some(v) = (0..WARPS).find(|&v| v != w && clock[v] < reads[v]) {
                reader(cell, v)
            } else {
                continue;
            };
            self.add_race(unit, other, (AccessKind::Write, instr, thread));
        }
    }

    /// Advances the time of bulk copies: one is done, and its bytes arrive at this mbarrier.
    pub(crate) fn finish_copy(&mut self, barrier: u32) {
        self.copies += 1;
        let time = self.copies;
        self.phase(barrier).pending[COPIES] = time;
    }

    /// Records that the bulk copy that has just finished wrote these bytes.
    pub(crate) fn wrote_by_copy(&mut self, start: u32, bytes: u32, InstrThread { instr, thread }: InstrThread) {
        for unit in self.reserve(start.into(), bytes.into()) {
            let cell = &mut self.cells[unit as usize];
            *cell = Cell { by: COPIES as u32 + 1, time: self.copies, instr, thread, ..*cell };
        }
    }

    fn add_race(&mut self, unit: u64, other: (AccessKind, u32, u32), own: (AccessKind, u32, u32)) {
        let address = unit << self.shift;
        let key = (other.1, own.1, own.2 / 32);
        if self.races.len() >= MAX_RACES && !self.races.contains_key(&key) {
            return;
        }
        let block = self.block;
        let party = |(kind, instr, thread)| RaceParty { kind, instr, block, thread, bytes: 4 };
        let (race, mask) = self.races.entry(key).or_insert_with(|| {
            let race = RaceFacts::new(MemSpace::Shared, [address; 2], [party(other), party(own)]);
            (RaceFacts { missing: MissingOrder::Phase, ..race }, LaneMask::EMPTY)
        });
        race.address = race.address.min(address);
        race.end = race.end.max(address + (1 << self.shift));
        *mask |= LaneMask::of(own.2 as usize % 32);
    }

    /// Reports the races of the block.
    pub(super) fn end_block(&mut self, out: &mut Collector) {
        for ((.., warp), (race, mask)) in std::mem::take(&mut self.races) {
            out.record(race.mistake(self.block, warp, mask));
        }
    }
}

fn reader(cell: &Cell, warp: usize) -> (AccessKind, u32, u32) {
    if cell.read_thread as usize / 32 == warp {
        (AccessKind::Read, cell.read_instr, cell.read_thread)
    } else {
        // Another warp has read it since: the lane is no longer known, and the first one stands for it.
        (AccessKind::Read, cell.read_instr, warp as u32 * 32)
    }
}

fn join(clock: &mut Clock, more: &Clock) {
    for (at, more) in clock.iter_mut().zip(more) {
        *at = (*at).max(*more);
    }
}
