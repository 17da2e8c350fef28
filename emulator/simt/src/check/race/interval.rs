//! Races inside one block: the accesses between two barriers, warp by warp.
//!
//! The running warp marks what it accesses. When its turn ends, its marks are compared with those of the warps that ran
//! before it in this interval, then added to them. A warp that may run again before the barrier keeps its marks apart,
//! so that it never races with itself.
//!
//! Lanes of one warp can race, too. Only where a mark conflicts with one of the same warp are the lanes looked at: each
//! unit then gets owners, the lanes that accessed it since the warp last reconverged.

use std::collections::HashMap;
use std::sync::Arc;

use super::bits::{Bits, CHUNK, Chunk, KINDS, Marks, WORDS, bit};
use super::log::Log;
use super::touch::{AccessMark, Touch};
use crate::check::collect::Sites;
use crate::check::{AccessKind, Collector};
use crate::lane_mask::LaneMask;
use crate::memory::bits::{each_word, shifted};
use program::{DecodedKernel, MemSpace};

/// Mapping from addresses to chunks.
pub(crate) trait Space: Default {
    const SPACE: MemSpace;
    /// Returns the index of the chunk that starts at `number` chunks; `None` if it is not followed.
    fn chunk(&mut self, chunk_number: u64) -> Option<u32>;
    fn number(&self, chunk: u32) -> u64;
    /// Forgets all chunks. Called when a block begins.
    fn clear(&mut self);
}

#[derive(Debug, Default)]
pub(crate) struct Interval<S> {
    pub(super) space: S,
    /// Bytes of a unit, as a power of two.
    pub(super) shift: u32,
    pub(super) chunks: Vec<Chunk>,
    /// Chunks that the running warp accessed.
    pub(super) dirty: Vec<u32>,
    /// Chunks accessed since the barrier.
    pub(super) used: Vec<u32>,
    /// Warps that may run again before the barrier, with their marks.
    pub(super) parked: Vec<(u32, Vec<(u32, Marks)>)>,
    pub(super) log: Log,
    pub(super) owners: Vec<Option<Box<[[Owner; KINDS.len()]]>>>,
    /// Number of reconvergences of the running warp: owners of an earlier one are stale.
    pub(super) step: u32,
    /// Order that `__syncwarp` of some lanes made in this step.
    pub(super) partial: Option<Box<Partial>>,
    pub(super) sites: Arc<Sites>,
    pub(super) warp: u32,
    pub(super) running: bool,
    pub(super) block: u64,
    pub(super) resolved: u32,
    /// Races inside a warp that were found in this block.
    pub(super) n_within: u32,
    /// Lanes that were reported in this block, by warp, site and array.
    pub(super) reported: HashMap<(u32, u32, u64), LaneMask>,
    /// Whether a fence was executed since the barrier.
    pub(super) fenced: bool,
    /// Whether atomics or strong accesses were made since the barrier.
    pub(super) strong: bool,
    /// Whether the compiler has ordered the lanes of a warp already: races between them are not looked for.
    is_machine_code: bool,
}

/// Rivals that an access meets as it is marked.
struct Found {
    /// Whether the access races with another one of its warp.
    within: bool,
    /// Whether the access writes what another warp has written.
    overwrites: bool,
    /// The chunk that was looked up last, by number and index: neighbouring words mostly lie in one chunk.
    last: (u64, u32),
}

/// Lanes that accessed a unit since the warp last reconverged, up to two, and their log entries.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Owner {
    pub(super) step: u32,
    pub(super) entry: [u32; 2],
    /// Lane plus one; 0 for none.
    pub(super) lane: [u8; 2],
}

/// Warp syncs of some lanes only, since the warp last reconverged.
#[derive(Debug, Clone)]
pub(super) struct Partial {
    /// For each lane and each other one: log entries of the other below this number are ordered before its next access.
    pub(super) seen: [[u32; 32]; 32],
    /// By lane: instruction and mask of its last sync.
    pub(super) last: [Option<(u32, LaneMask)>; 32],
}

impl<S: Space> Interval<S> {
    pub(super) fn new(kernel: &DecodedKernel, shift: u32, space: S) -> Self {
        Self {
            space,
            shift,
            log: Log::new(kernel.instrs.len()),
            sites: Sites::new(kernel).into(),
            is_machine_code: kernel.machine_code,
            ..Self::default()
        }
    }

    pub(super) fn begin_block(&mut self, block: u64) {
        self.reset();
        self.space.clear();
        self.block = block;
        self.resolved = 0;
        self.reported.clear();
        self.n_within = 0;
        self.running = false;
    }

    /// Makes `warp` the running warp; a barrier does not change that.
    pub(crate) fn enter(&mut self, warp: u32) {
        self.warp = warp;
        self.running = true;
        self.begin_step();
        if let Some(at) = self.parked.iter().position(|(parked, _)| *parked == warp) {
            for (index, marks) in self.parked.swap_remove(at).1 {
                self.chunks[index as usize].own = marks;
                self.dirty.push(index);
            }
        }
    }

    /// Records that lanes of the running warp passed `bar.warp.sync` together; `all` means that no lane was left out.
    pub(crate) fn warp_sync(&mut self, instr: u32, mask: LaneMask, all: bool) {
        if all {
            self.begin_step();
            return;
        }
        let next = self.log.begin_segment();
        let partial = self.partial.get_or_insert_with(|| Box::new(Partial { seen: [[0; 32]; 32], last: [None; 32] }));
        let mut joined = [0u32; 32];
        for lane in mask.numbers() {
            for (all, seen) in joined.iter_mut().zip(partial.seen[lane as usize]) {
                *all = (*all).max(seen);
            }
        }
        for lane in mask.numbers() {
            joined[lane as usize] = next;
        }
        for lane in mask.numbers() {
            partial.seen[lane as usize] = joined;
            partial.last[lane as usize] = Some((instr, mask));
        }
    }

    /// Forgets the owners of units. Called when all lanes of the running warp have reconverged.
    pub(super) fn begin_step(&mut self) {
        self.partial = None;
        self.log.sync();
        self.step = self.step.wrapping_add(1);
        if self.step == 0 {
            self.owners.clear();
            self.step = 1;
        }
    }

    pub(super) fn fence(&mut self) {
        self.fenced = true;
    }

    /// Records a use of an mbarrier, whose order is not followed here: until the next barrier nothing is reported.
    pub(super) fn note_mbarrier(&mut self) {
        self.fenced = true;
        self.strong = true;
    }

    /// Marks an access. Calls `seen` for each word of units with the chunk, the word in it, and the units of the word.
    #[inline]
    pub(super) fn access(&mut self, touch: &Touch<'_>, out: &mut Collector, mut seen: impl FnMut(u32, usize, u64)) {
        self.strong |= touch.strong;
        let mut found = Found { within: false, overwrites: false, last: (u64::MAX, 0) };
        match touch.only_word(self.shift) {
            Some((word, units)) => self.mark(touch.kind, word, units, &mut found, &mut seen),
            None => self.mark_words(touch, &mut found, &mut seen),
        }
        if found.within && !self.is_machine_code {
            self.check_within_warp(touch, out);
        }
        if touch.overlapping && touch.kind == AccessMark::Write {
            self.check_within_instruction(touch, out);
        }
        let changed = found.overwrites && changes(touch, touch.mask) && changes(touch, self.overwriting(touch));
        self.log.push(touch, changed);
    }

    /// Returns the lanes of a write that write what another warp has written since the last barrier.
    #[inline(never)]
    fn overwriting(&mut self, touch: &Touch<'_>) -> LaneMask {
        let writes = bit(AccessMark::Write) | bit(AccessMark::StrongWrite);
        let mut lanes = LaneMask::EMPTY;
        for lane in touch.mask.numbers() {
            let start = touch.address(lane);
            for unit in start >> self.shift..(start + u64::from(touch.bytes)).div_ceil(1 << self.shift) {
                let Some(index) = self.space.chunk(unit / CHUNK) else { continue };
                let (word, units) = ((unit % CHUNK / 64) as usize, 1 << (unit % 64));
                let parked = self.parked.iter().flat_map(|(_, marks)| marks);
                let parked = parked.filter(|(at, _)| *at == index).map(|(_, marks)| marks);
                let mut marks = self.chunks.get(index as usize).map(|chunk| &chunk.past).into_iter().chain(parked);
                if marks.any(|marks| marks.any(writes, word, units)) {
                    lanes |= LaneMask::of(lane as usize);
                }
            }
        }
        lanes
    }

    #[inline(never)]
    fn mark_words(&mut self, touch: &Touch<'_>, found: &mut Found, seen: &mut impl FnMut(u32, usize, u64)) {
        let shift = self.shift;
        if let Some(unit) = touch.first_unit(shift) {
            let mark = |word: usize, units| self.mark(touch.kind, unit / 64 + word as u64, units, found, seen);
            shifted((unit % 64) as usize, touch.cells.bits, mark);
            return;
        }
        for run in touch.runs {
            let start = touch.base.wrapping_add_signed(i64::from(run.start));
            let end = (start.saturating_add(u64::from(run.bytes) + (1 << shift) - 1)) >> shift;
            let (start, n) = (start >> shift, (end - (start >> shift)) as usize);
            let mark = |word: usize, units| self.mark(touch.kind, start / 64 + word as u64, units, found, seen);
            each_word((start % 64) as usize, n, mark);
        }
    }

    /// Marks units of a word, whose number has 64 bits on every machine.
    #[inline(always)]
    fn mark(
        &mut self, kind: AccessMark, word: u64, units: u64, found: &mut Found, seen: &mut impl FnMut(u32, usize, u64),
    ) {
        let (number, word) = (word / WORDS, (word % WORDS) as usize);
        if units == 0 {
            return;
        }
        if number != found.last.0 {
            let Some(index) = self.space.chunk(number) else { return };
            if index as usize >= self.chunks.len() {
                self.chunks.resize(index as usize + 1, Chunk::default());
            }
            found.last = (number, index);
        }
        let index = found.last.1;
        let chunk = &mut self.chunks[index as usize];
        if chunk.own.kinds == 0 {
            self.dirty.push(index);
            if chunk.past.kinds == 0 {
                self.used.push(index);
            }
        }
        found.within |= chunk.own.mark(kind, word, units);
        if kind.kind() == AccessKind::Write {
            let writes = bit(AccessMark::Write) | bit(AccessMark::StrongWrite);
            found.overwrites |= chunk.past.any(writes, word, units);
            for (_, marks) in &self.parked {
                let here = marks.iter().find(|(at, _)| *at == index);
                found.overwrites |= here.is_some_and(|(_, marks)| marks.any(writes, word, units));
            }
        }
        seen(index, word, units);
    }

    /// Ends the turn of the running warp. `done`: none of its lanes runs again before the next barrier of the block
    /// completes (they wait there or have exited).
    pub(crate) fn leave(&mut self, done: bool, out: &mut Collector) {
        if !self.running {
            return;
        }
        self.running = false;
        let mut conflicts: Vec<(u32, Bits)> = Vec::new();
        let dirty = std::mem::take(&mut self.dirty);
        for &index in &dirty {
            let chunk = &mut self.chunks[index as usize];
            let mut found = chunk.own.conflicts(&chunk.past);
            for (_, parked) in &self.parked {
                if let Some((_, marks)) = parked.iter().find(|(at, _)| *at == index)
                    && let Some(more) = chunk.own.conflicts(marks)
                {
                    let found = found.get_or_insert_default();
                    found.iter_mut().zip(more).for_each(|(found, more)| *found |= more);
                }
            }
            if let Some(mut found) = found {
                let mut any = 0;
                for (found, reported) in found.iter_mut().zip(&mut chunk.reported) {
                    *found &= !*reported;
                    *reported |= *found;
                    any |= *found;
                }
                if any != 0 {
                    chunk.any_reported = true;
                    conflicts.push((index, found));
                }
            }
        }
        if done {
            for &index in &dirty {
                let chunk = &mut self.chunks[index as usize];
                chunk.past.merge(&chunk.own);
                chunk.own.clear();
            }
        } else if !dirty.is_empty() {
            let marks = dirty.iter().map(|&index| (index, self.chunks[index as usize].own)).collect();
            self.parked.push((self.warp, marks));
            for &index in &dirty {
                self.chunks[index as usize].own.clear();
            }
        }
        self.dirty = dirty;
        self.dirty.clear();
        let handed_over = self.fenced && self.strong;
        if !conflicts.is_empty() && !handed_over {
            self.resolve(&mut conflicts, out);
        }
    }

    /// Starts a new interval. Called when a barrier completes, and when the block has ended.
    pub(crate) fn barrier(&mut self, out: &mut Collector) {
        let (warp, running) = (self.warp, self.running);
        self.leave(true, out);
        self.reset();
        if running {
            self.enter(warp);
        }
    }

    pub(super) fn reset(&mut self) {
        for index in self.used.drain(..).chain(self.dirty.drain(..)) {
            if let Some(chunk) = self.chunks.get_mut(index as usize) {
                chunk.own.clear();
                chunk.past.clear();
                if std::mem::take(&mut chunk.any_reported) {
                    chunk.reported = Bits::default();
                }
            }
        }
        for (_, parked) in self.parked.drain(..) {
            for (index, _) in parked {
                if let Some(chunk) = self.chunks.get_mut(index as usize) {
                    *chunk = Chunk::default();
                }
            }
        }
        self.log.clear();
        self.begin_step();
        self.fenced = false;
        self.strong = false;
    }

    pub(super) fn unit_address(&self, chunk: u32, unit: u64) -> u64 {
        (self.space.number(chunk) * CHUNK + unit) << self.shift
    }
}

/// Returns whether a lane of `mask` is about to store a value that differs from the one in memory.
pub(super) fn changes(touch: &Touch<'_>, mask: LaneMask) -> bool {
    let Some(values) = touch.values else { return true };
    mask.numbers().any(|lane| {
        (0..touch.bytes).step_by(8).any(|offset| {
            let size = (touch.bytes - offset).min(8);
            values.stored(lane, offset, size) != values.present(lane, offset, size)
        })
    })
}
