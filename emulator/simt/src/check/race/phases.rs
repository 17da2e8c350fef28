//! The order that barriers in shared memory make, and that barriers of part of a block make.
//!
//! Each warp counts the times at which it handed something over, and knows such times of the others: it learns them from
//! a barrier that it passes, where they had arrived before. An access comes behind one of another warp if the time of that
//! is known. Bulk copies count as one more party, which arrives at a barrier with its bytes.
//!
//! Used for kernels with barriers in shared memory. Orders are taken for granted rather than missed: a warp knows what one
//! of its lanes knows, and whoever reads a flag knows all that was left at any flag.

use std::collections::BTreeMap;

use super::interval::changes;
use super::touch::{Mark, Touch};
use crate::check::Code;
use crate::check::Collector;
use crate::check::collect::lanes;
use crate::check::event::{AccessKind, Details, Event, MissingOrder, RaceFacts, RaceParty};
use crate::program::{BARRIERS, Kernel, MemSpace, OpKind};

const WARPS: usize = 32;
/// The party that bulk copies are.
const COPIES: usize = WARPS;
/// Units of shared memory that are watched.
const MAX_UNITS: u64 = 1 << 18;
/// Pairs of places that are reported of a block.
const MAX_FOUND: usize = 64;
/// Times after which all is forgotten.
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

/// A barrier in shared memory.
#[derive(Debug, Clone)]
struct Phase {
    /// Knowledge of the threads that have arrived in the current phase, and in those that have ended.
    pending: Clock,
    ended: Clock,
    number: u64,
}

#[derive(Debug)]
struct PhaseRace {
    address: u64,
    end: u64,
    mask: u32,
    parties: [RaceParty; 2],
}

/// The state of one worker.
#[derive(Debug)]
pub(super) struct Phases {
    shift: u32,
    block: u64,
    clocks: Box<[Clock; WARPS]>,
    /// Copies that were done.
    copies: u32,
    barriers: BTreeMap<u32, Phase>,
    met: Box<[Clock; BARRIERS as usize]>,
    flags: Clock,
    cells: Vec<Cell>,
    /// When each warp read a unit last.
    reads: Vec<[u32; WARPS]>,
    /// By the two instructions and the warp of the second.
    found: BTreeMap<(u32, u32, u32), PhaseRace>,
}

impl Phases {
    /// `None` for kernels without such barriers.
    pub(super) fn new(kernel: &Kernel, shift: u32) -> Option<Box<Self>> {
        let used = |op: &crate::program::Op| matches!(op.kind, OpKind::Mbarrier(_));
        let new = || {
            Box::new(Self {
                shift,
                block: 0,
                clocks: Box::new([[0; WARPS + 1]; WARPS]),
                copies: 0,
                barriers: BTreeMap::new(),
                met: Box::new([[0; WARPS + 1]; BARRIERS as usize]),
                flags: [0; WARPS + 1],
                cells: Vec::new(),
                reads: Vec::new(),
                found: BTreeMap::new(),
            })
        };
        kernel.ops.iter().any(used).then(new)
    }

    /// Another block, or one that goes on: all that was before is known to all.
    pub(super) fn begin_block(&mut self, block: u64) {
        self.block = block;
        self.meet_all();
        self.barriers.clear();
        *self.met = [[0; WARPS + 1]; BARRIERS as usize];
        if self.copies > LAST || self.clocks.iter().flatten().any(|time| *time > LAST) {
            self.cells.clear();
            self.reads.clear();
            self.copies = 0;
            self.flags = [0; WARPS + 1];
            *self.clocks = [[0; WARPS + 1]; WARPS];
        }
    }

    pub(super) fn meet_all(&mut self) {
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

    /// A warp hands over what it did.
    fn give(&mut self, warp: u32) -> Clock {
        let w = warp as usize % WARPS;
        let given = self.clocks[w];
        self.clocks[w][w] += 1;
        given
    }

    /// A warp arrives at a barrier in shared memory.
    pub(super) fn arrive(&mut self, at: u32, warp: u32) {
        let given = self.give(warp);
        join(&mut self.phase(at).pending, &given);
    }

    fn phase(&mut self, at: u32) -> &mut Phase {
        self.barriers.entry(at).or_insert(Phase { pending: [0; WARPS + 1], ended: [0; WARPS + 1], number: 0 })
    }

    /// Records how many phases of a barrier have ended.
    pub(super) fn ended(&mut self, at: u32, number: u64) {
        let phase = self.phase(at);
        if number != phase.number {
            phase.number = number;
            let pending = std::mem::replace(&mut phase.pending, [0; WARPS + 1]);
            join(&mut phase.ended, &pending);
        }
    }

    /// A warp finds that a phase has ended.
    pub(super) fn waited(&mut self, at: u32, warp: u32) {
        let ended = self.phase(at).ended;
        join(&mut self.clocks[warp as usize % WARPS], &ended);
    }

    /// A warp arrives at a barrier of the block, and one that waited goes on.
    pub(super) fn meet(&mut self, id: u32, warp: u32) {
        let given = self.give(warp);
        join(&mut self.met[(id % BARRIERS) as usize], &given);
    }

    pub(super) fn met(&mut self, id: u32, warp: u32) {
        let met = self.met[(id % BARRIERS) as usize];
        join(&mut self.clocks[warp as usize % WARPS], &met);
    }

    pub(super) fn parted(&mut self, id: u32) {
        self.met[(id % BARRIERS) as usize] = [0; WARPS + 1];
    }

    /// A strong access of a warp: it may hand something over, or take it.
    pub(super) fn flag(&mut self, kind: Mark, warp: u32) {
        if matches!(kind, Mark::Atomic | Mark::StrongRead) {
            let flags = self.flags;
            join(&mut self.clocks[warp as usize % WARPS], &flags);
        }
        if matches!(kind, Mark::Atomic | Mark::StrongWrite) {
            let given = self.give(warp);
            join(&mut self.flags, &given);
        }
    }

    fn reserve(&mut self, units: u64) {
        let units = units.min(MAX_UNITS) as usize;
        if self.cells.len() < units {
            self.cells.resize(units, Cell::default());
            self.reads.resize(units, [0; WARPS]);
        }
    }

    pub(super) fn access(&mut self, touch: &Touch<'_>) {
        if touch.strong {
            self.flag(touch.kind, touch.warp);
        }
        if !matches!(touch.kind, Mark::Read | Mark::Write) {
            return;
        }
        let differs = touch.kind == Mark::Write && changes(touch, touch.mask);
        let mut before = None;
        for lane in lanes(touch.mask) {
            let start = touch.address(lane);
            // Many lanes read one element.
            if before == Some(start) && touch.kind == Mark::Read {
                continue;
            }
            before = Some(start);
            let thread = touch.warp * 32 + lane;
            self.touch(start, u64::from(touch.bytes), (touch.kind, differs), touch.instr, thread);
        }
    }

    fn touch(&mut self, start: u64, bytes: u64, (kind, differs): (Mark, bool), instr: u32, thread: u32) {
        let (first, end) = (start >> self.shift, (start + bytes).div_ceil(1 << self.shift));
        self.reserve(end);
        let w = thread as usize / 32 % WARPS;
        for unit in first..end.min(self.cells.len() as u64) {
            let (cell, clock) = (&mut self.cells[unit as usize], &self.clocks[w]);
            let by = cell.by.wrapping_sub(1) as usize;
            let unordered = cell.by != 0 && by != w && clock[by] < cell.time;
            let mut other = (unordered && (kind == Mark::Read || differs)).then_some((
                AccessKind::Write,
                cell.instr,
                cell.thread,
            ));
            let reads = &mut self.reads[unit as usize];
            if kind == Mark::Read {
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
                self.find(unit, other, (kind.kind(), instr, thread));
            }
        }
    }

    /// A warp knows that another one has read all these bytes.
    pub(super) fn knows_of_read(&self, start: u64, bytes: u64, warp: u32, reader: u32) -> bool {
        let (first, end) = (start >> self.shift, (start + bytes).div_ceil(1 << self.shift));
        let (w, v) = (warp as usize % WARPS, reader as usize % WARPS);
        w == v || { first..end.min(self.reads.len() as u64) }
            .all(|unit| self.clocks[w][v] >= self.reads[unit as usize][v])
    }

    /// A bulk copy starts that writes these bytes.
    pub(super) fn copy_starts(&mut self, start: u64, bytes: u64, instr: u32, thread: u32) {
        let (first, end) = (start >> self.shift, (start + bytes).div_ceil(1 << self.shift));
        let w = thread as usize / 32 % WARPS;
        for unit in first..end.min(self.cells.len() as u64) {
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
            self.find(unit, other, (AccessKind::Write, instr, thread));
        }
    }

    /// A bulk copy is done, whose bytes a barrier receives: which bytes it wrote, `copied` says for each piece.
    pub(super) fn copy_ends(&mut self, at: u32) {
        self.copies += 1;
        let time = self.copies;
        self.phase(at).pending[COPIES] = time;
    }

    pub(super) fn copied(&mut self, start: u64, bytes: u64, instr: u32, thread: u32) {
        let (first, end) = (start >> self.shift, (start + bytes).div_ceil(1 << self.shift));
        self.reserve(end);
        for unit in first..end.min(self.cells.len() as u64) {
            let cell = &mut self.cells[unit as usize];
            *cell = Cell { by: COPIES as u32 + 1, time: self.copies, instr, thread, ..*cell };
        }
    }

    fn find(&mut self, unit: u64, other: (AccessKind, u32, u32), own: (AccessKind, u32, u32)) {
        let address = unit << self.shift;
        let key = (other.1, own.1, own.2 / 32);
        if self.found.len() >= MAX_FOUND && !self.found.contains_key(&key) {
            return;
        }
        let block = self.block;
        let party = |(kind, instr, thread)| RaceParty { kind, instr, block, thread, bytes: 4 };
        let found = self.found.entry(key).or_insert_with(|| PhaseRace {
            address,
            end: address,
            mask: 0,
            parties: [party(other), party(own)],
        });
        found.address = found.address.min(address);
        found.end = found.end.max(address + (1 << self.shift));
        found.mask |= 1 << (own.2 % 32);
    }

    /// Reports the races of the block.
    pub(super) fn end_block(&mut self, out: &mut Collector) {
        for ((.., warp), found) in std::mem::take(&mut self.found) {
            out.record(Event {
                code: Code::Race,
                instr: found.parties[1].instr,
                block: self.block,
                warp,
                mask: found.mask,
                details: Details::Race(Box::new(RaceFacts {
                    space: MemSpace::Shared,
                    address: found.address,
                    end: found.end,
                    parties: found.parties,
                    equal: false,
                    same_warp: false,
                    same_instruction: false,
                    missing: MissingOrder::Phase,
                    left_out: None,
                })),
            });
        }
    }
}

/// The warp's lane that read a unit.
fn reader(cell: &Cell, warp: usize) -> (AccessKind, u32, u32) {
    match cell.read_thread as usize / 32 == warp {
        true => (AccessKind::Read, cell.read_instr, cell.read_thread),
        // By which lane is not known any more.
        false => (AccessKind::Read, cell.read_instr, warp as u32 * 32),
    }
}

fn join(clock: &mut Clock, more: &Clock) {
    for (at, more) in clock.iter_mut().zip(more) {
        *at = (*at).max(*more);
    }
}
