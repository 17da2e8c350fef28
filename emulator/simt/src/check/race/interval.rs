//! Races inside one block: the accesses between two barriers, warp by warp.
//!
//! The running warp marks what it touches. When it leaves, its marks are set against those of the warps that
//! ran before it in this interval, then added to them. A warp that may come back before the barrier keeps its
//! marks apart, so that it never races with itself.
//!
//! Lanes of one warp can race too. A mark that meets a rival mark of the same warp is the rare case that is
//! looked at closely: each unit then gets owners, the lanes that touched it since the warp was last in step.

use std::collections::HashMap;
use std::sync::Arc;

use super::bits::{self, Bits, CHUNK, Chunk, Marks, WORDS, bit, rivals};
use super::log::{Entry, Log};
use super::touch::Touch;
use crate::check::Collector;
use crate::check::collect::{Sites, lanes};
use crate::check::event::{AccessKind, Details, Event, MissingOrder, RaceFacts, RaceParty};
use crate::finding::Code;
use crate::program::{Kernel, MemSpace};

/// Accesses for which the other party is looked up in one block.
const MAX_RESOLVED: u32 = 1024;
/// Repeats of one access that are looked at for a conflict.
const MAX_REPEATS: u32 = 1 << 12;
/// Races inside warps after which a block is not searched for more of them.
const MAX_WITHIN: u32 = 256;
/// Chunks for which owners of units are kept.
const MAX_OWNED: usize = 1024;

/// How addresses become chunks.
pub(super) trait Space {
    /// Where it lies.
    const SPACE: MemSpace;
    /// The index of the chunk that starts at `number` chunks; `None`: not watched.
    fn chunk(&mut self, number: u64) -> Option<u32>;
    /// The inverse: the number of a chunk.
    fn number(&self, chunk: u32) -> u64;
    /// A block begins.
    fn clear(&mut self);
}

/// The state of one block.
#[derive(Debug)]
pub(super) struct Interval<S> {
    pub(super) space: S,
    /// Bytes of a unit, as a power of two.
    pub(super) shift: u32,
    chunks: Vec<Chunk>,
    /// Chunks that the running warp touched.
    dirty: Vec<u32>,
    /// Chunks touched since the barrier.
    used: Vec<u32>,
    /// Warps that may come back before the barrier, with their marks.
    parked: Vec<(u32, Vec<(u32, Marks)>)>,
    log: Log,
    owners: Vec<Option<Box<[[Owner; 3]]>>>,
    /// Tells owners of this step from older ones.
    step: u32,
    sites: Arc<Sites>,
    warp: u32,
    running: bool,
    block: u64,
    resolved: u32,
    /// Races inside a warp that were found in this block.
    within: u32,
    /// Lanes that were told in this block, by warp, place and array.
    told: HashMap<(u32, u32, u64), u32>,
    /// A fence was passed, and atomics or strong accesses made, since the barrier.
    fenced: bool,
    strong: bool,
}

/// Who touched a unit since the warp was last in step: up to two lanes, and the log entry of the first.
#[derive(Debug, Clone, Copy, Default)]
struct Owner {
    step: u32,
    entry: [u32; 2],
    /// Lane plus one; 0 for none.
    lane: [u8; 2],
}

impl<S: Space> Interval<S> {
    pub(super) fn new(kernel: &Kernel, shift: u32, space: S) -> Self {
        Self {
            space,
            shift,
            chunks: Vec::new(),
            dirty: Vec::new(),
            used: Vec::new(),
            parked: Vec::new(),
            log: Log::new(kernel.instrs.len()),
            owners: Vec::new(),
            step: 0,
            sites: Sites::new(kernel).into(),
            warp: 0,
            running: false,
            block: 0,
            resolved: 0,
            within: 0,
            told: HashMap::new(),
            fenced: false,
            strong: false,
        }
    }

    pub(super) fn begin_block(&mut self, block: u64) {
        self.reset();
        self.space.clear();
        self.block = block;
        self.resolved = 0;
        self.told.clear();
        self.within = 0;
        self.running = false;
    }

    pub(super) fn enter(&mut self, warp: u32) {
        self.warp = warp;
        self.running = true;
        self.in_step();
        if let Some(at) = self.parked.iter().position(|(parked, _)| *parked == warp) {
            for (index, marks) in self.parked.swap_remove(at).1 {
                self.chunks[index as usize].own = marks;
                self.dirty.push(index);
            }
        }
    }

    /// The lanes of the running warp are in step.
    pub(super) fn in_step(&mut self) {
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

    /// Marks an access. `seen` is told each word of units: chunk, word in it, units of the word.
    #[inline]
    pub(super) fn access(
        &mut self,
        touch: &Touch<'_>,
        out: &mut Collector,
        mut seen: impl FnMut(u32, usize, u64),
    ) {
        let mut within = false;
        let mut overwrites = false;
        self.strong |= touch.kind == AccessKind::Atomic;
        let shift = self.shift;
        // Neighbouring words mostly lie in one chunk.
        let mut last = (u64::MAX, 0);
        let mut mark = |word: u64, units: u64| {
            let (number, word) = (word / WORDS, (word % WORDS) as usize);
            if number != last.0 {
                let Some(index) = self.space.chunk(number) else {
                    return;
                };
                if index as usize >= self.chunks.len() {
                    self.chunks.resize(index as usize + 1, Chunk::default());
                }
                last = (number, index);
            }
            let index = last.1;
            let chunk = &mut self.chunks[index as usize];
            if chunk.own.kinds == 0 {
                self.dirty.push(index);
                if chunk.past.kinds == 0 {
                    self.used.push(index);
                }
            }
            within |= chunk.own.mark(touch.kind, word, units);
            if touch.kind == AccessKind::Write {
                let writes = bit(AccessKind::Write);
                overwrites |= chunk.past.any(writes, word, units);
                for (_, marks) in &self.parked {
                    let here = marks.iter().find(|(at, _)| *at == index);
                    overwrites |= here.is_some_and(|(_, marks)| marks.any(writes, word, units));
                }
            }
            seen(index, word, units);
        };
        match touch.runs.first() {
            Some(first) if touch.cells.shift == shift && !touch.cells.bits.is_empty() => {
                let unit = touch.base.wrapping_add_signed(i64::from(first.start)) >> shift;
                bits::shifted(unit, touch.cells.bits, mark);
            }
            _ => {
                for run in touch.runs {
                    let start = touch.base.wrapping_add_signed(i64::from(run.start));
                    let end = (start.saturating_add(u64::from(run.bytes) + (1 << shift) - 1)) >> shift;
                    bits::words(start >> shift, end).for_each(|(word, units)| mark(word, units));
                }
            }
        }
        if within {
            self.within_warp(touch, out);
        }
        if touch.overlapping && touch.kind == AccessKind::Write {
            self.within_instruction(touch, out);
        }
        let changed = overwrites && changes(touch, touch.mask);
        self.log.push(touch, changed);
    }

    /// The running warp stops; `done`: until the next barrier.
    pub(super) fn leave(&mut self, done: bool, out: &mut Collector) {
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
                    found
                        .iter_mut()
                        .zip(more)
                        .for_each(|(found, more)| *found |= more);
                }
            }
            if let Some(mut found) = found {
                let mut any = 0;
                for (found, told) in found.iter_mut().zip(&mut chunk.told) {
                    *found &= !*told;
                    *told |= *found;
                    any |= *found;
                }
                if any != 0 {
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
            let marks = dirty
                .iter()
                .map(|&index| (index, self.chunks[index as usize].own))
                .collect();
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

    /// A barrier completed, or the block ended.
    pub(super) fn barrier(&mut self, out: &mut Collector) {
        let (warp, running) = (self.warp, self.running);
        self.leave(true, out);
        self.reset();
        if running {
            self.enter(warp);
        }
    }

    fn reset(&mut self) {
        for index in self.used.drain(..).chain(self.dirty.drain(..)) {
            if let Some(chunk) = self.chunks.get_mut(index as usize) {
                chunk.own.clear();
                chunk.past.clear();
                chunk.told = Bits::default();
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
        self.in_step();
        self.fenced = false;
        self.strong = false;
    }

    fn unit_address(&self, chunk: u32, unit: u64) -> u64 {
        (self.space.number(chunk) * CHUNK + unit) << self.shift
    }

    /// Finds the parties of conflicts between the warp that just ran and others. Each lane is told once per place
    /// and array in a block: a block that races all the time stays affordable.
    fn resolve(&mut self, conflicts: &mut [(u32, Bits)], out: &mut Collector) {
        conflicts.sort_unstable_by_key(|(chunk, _)| *chunk);
        for at in 0..self.log.entries.len() {
            let own = self.log.entries[at];
            if own.warp() != self.warp || self.resolved >= MAX_RESOLVED {
                continue;
            }
            let array = self.sites.array(
                S::SPACE,
                self.log.address(&own, 0, own.mask.trailing_zeros() & 31),
            );
            let key = (self.warp, self.site_of(own.instr), array);
            let new = own.mask & !self.told.get(&key).copied().unwrap_or(0);
            if new == 0 {
                continue;
            }
            let Some((hits, address)) = self.hits(&own, new, conflicts) else {
                continue;
            };
            self.resolved += 1;
            let bytes = 1 << self.shift;
            let Some(other) = self.log.rival(&own, address, bytes) else {
                continue;
            };
            let Some(rival) = self.log.toucher(&other, address, bytes) else {
                continue;
            };
            *self.told.entry(key).or_insert(0) |= hits;
            let lane = hits.trailing_zeros();
            let equal = !self.unequal(&own, &other);
            let race = RaceFacts {
                space: S::SPACE,
                address,
                end: self.end_of(array, conflicts).max(address + bytes),
                parties: [self.party(&other, rival), self.party(&own, lane)],
                equal,
                same_warp: false,
                same_instruction: false,
                missing: self.missing(&own, &other),
            };
            out.record(Event {
                code: if equal { Code::RaceEqual } else { Code::Race },
                instr: own.instr,
                block: self.block,
                warp: self.warp,
                mask: hits,
                details: Details::Race(Box::new(race)),
            });
        }
    }

    /// Which of `lanes` touch conflicting units in `entry`, and the first unit of the lowest of them.
    fn hits(&mut self, entry: &Entry, of: u32, conflicts: &[(u32, Bits)]) -> Option<(u32, u64)> {
        let (mut hits, mut first) = (0, None);
        for lane in lanes(of) {
            'lane: for repeat in 0..entry.count.min(MAX_REPEATS) {
                let start = self.log.address(entry, repeat, lane);
                let end = start
                    .saturating_add(u64::from(entry.bytes()))
                    .div_ceil(1 << self.shift);
                for unit in start >> self.shift..end {
                    let Some(chunk) = self.space.chunk(unit / CHUNK) else {
                        continue;
                    };
                    let found = conflicts.binary_search_by_key(&chunk, |(chunk, _)| *chunk);
                    let at = (unit % CHUNK) as usize;
                    if found.is_ok_and(|found| conflicts[found].1[at / 64] >> (at % 64) & 1 != 0) {
                        hits |= 1 << lane;
                        first.get_or_insert(unit << self.shift);
                        break 'lane;
                    }
                }
            }
        }
        first.map(|first| (hits, first))
    }

    /// The end of the last conflicting unit of an array.
    fn end_of(&self, array: u64, conflicts: &[(u32, Bits)]) -> u64 {
        let ends = conflicts.iter().filter_map(|(chunk, bits)| {
            let of_array = |unit: &u64| self.sites.array(S::SPACE, self.unit_address(*chunk, *unit)) == array;
            bits::ones(bits)
                .filter(of_array)
                .last()
                .map(|unit| self.unit_address(*chunk, unit) + (1 << self.shift))
        });
        ends.max().unwrap_or(0)
    }

    /// Two writes of different values, or a write and something else.
    fn unequal(&self, own: &Entry, other: &Entry) -> bool {
        own.kind != AccessKind::Write || other.kind != AccessKind::Write || own.changed
    }

    fn site_of(&self, instr: u32) -> u32 {
        self.sites.site(instr)
    }

    fn party(&self, entry: &Entry, lane: u32) -> RaceParty {
        RaceParty {
            kind: entry.kind,
            instr: entry.instr,
            block: self.block,
            thread: entry.warp() * 32 + lane,
            bytes: entry.bytes(),
        }
    }

    /// In which order warps do the two things: what one warp did in this interval shows it.
    fn missing(&self, own: &Entry, other: &Entry) -> MissingOrder {
        let (write, read) = match (own.kind, other.kind) {
            (AccessKind::Read, _) => (other, own),
            (_, AccessKind::Read) => (own, other),
            _ => return MissingOrder::Unknown,
        };
        let (write, read) = (self.site_of(write.instr), self.site_of(read.instr));
        let (mut before_reading, mut before_overwriting) = (false, false);
        for warp in [own.warp(), other.warp()] {
            let span = |site: u32| {
                let of = |entry: &&Entry| entry.warp() == warp && self.site_of(entry.instr) == site;
                let entries = || self.log.entries.iter().filter(of);
                let first = entries().map(|entry| entry.first).min()?;
                Some((first, entries().map(|entry| entry.last).max().unwrap_or(first)))
            };
            if let (Some(write), Some(read)) = (span(write), span(read)) {
                before_reading |= write.0 < read.1;
                before_overwriting |= read.0 < write.1;
            }
        }
        match (before_reading, before_overwriting) {
            (true, true) => MissingOrder::Both,
            (true, false) => MissingOrder::BeforeReading,
            (false, true) => MissingOrder::BeforeOverwriting,
            (false, false) => MissingOrder::Unknown,
        }
    }

    /// An access met a rival mark of its own warp: another lane's?
    fn within_warp(&mut self, touch: &Touch<'_>, out: &mut Collector) {
        if self.chunks.len() > MAX_OWNED || self.within >= MAX_WITHIN {
            return;
        }
        self.index_owners();
        let unit_bytes = 1u64 << self.shift;
        // The other's log entry, the lanes of this access, the first unit, its other lane.
        let mut found: Vec<(u32, u32, u64, u64, u32)> = Vec::new();
        for lane in lanes(touch.mask) {
            let start = touch.address(lane) >> self.shift;
            let end = (touch.address(lane) + u64::from(touch.bytes)).div_ceil(unit_bytes);
            for unit in start..end {
                let Some((entry, rival)) = self.rival_owner(touch.kind, unit, lane) else {
                    continue;
                };
                let address = unit << self.shift;
                let instr = self.log.entries[entry as usize].instr;
                let same = |found: &&mut (u32, u32, u64, u64, u32)| {
                    self.log.entries[found.0 as usize].instr == instr
                };
                match found.iter_mut().find(same) {
                    Some(found) => {
                        found.1 |= 1 << lane;
                        found.2 = found.2.min(address);
                        found.3 = found.3.max(address + unit_bytes);
                    }
                    None => found.push((entry, 1 << lane, address, address + unit_bytes, rival)),
                }
            }
        }
        if self.fenced && self.strong {
            return;
        }
        for (entry, mask, address, end, rival) in found {
            self.within += 1;
            let other = self.log.entries[entry as usize];
            let both_write = touch.kind == AccessKind::Write && other.kind == AccessKind::Write;
            // One store told lane by lane: not a race of two instructions, and its values are not known.
            if both_write && touch.values.is_none() && touch.instr == other.instr {
                continue;
            }
            let equal = both_write && !changes(touch, mask);
            let own = RaceParty {
                kind: touch.kind,
                instr: touch.instr,
                block: self.block,
                thread: touch.warp * 32 + mask.trailing_zeros(),
                bytes: touch.bytes,
            };
            let missing = match (other.kind, touch.kind) {
                (AccessKind::Write, AccessKind::Read) => MissingOrder::BeforeReading,
                (AccessKind::Read, AccessKind::Write) => MissingOrder::BeforeOverwriting,
                _ => MissingOrder::Unknown,
            };
            let race = RaceFacts {
                space: S::SPACE,
                address,
                end,
                parties: [self.party(&other, rival), own],
                equal,
                same_warp: true,
                same_instruction: false,
                missing,
            };
            self.tell(touch, mask, race, out);
        }
    }

    /// Several lanes store to one place in one instruction.
    fn within_instruction(&mut self, touch: &Touch<'_>, out: &mut Collector) {
        let Some(values) = touch.values else { return };
        let unit_bytes = 1u32 << self.shift;
        let mut stores: Vec<(u64, u32, u64)> = Vec::new();
        for lane in lanes(touch.mask) {
            for offset in (0..touch.bytes).step_by(unit_bytes as usize) {
                let address = touch.address(lane) + u64::from(offset);
                let size = unit_bytes.min(touch.bytes - offset);
                stores.push((address, lane, values.stored(lane, offset, size)));
            }
        }
        stores.sort_unstable();
        let mut mask = 0;
        let mut first = None;
        for pair in stores.windows(2) {
            if pair[0].0 == pair[1].0 && pair[0].2 != pair[1].2 {
                mask |= 1 << pair[0].1 | 1 << pair[1].1;
                first.get_or_insert((pair[0].0, pair[0].1, pair[1].1));
            }
        }
        let Some((address, a, b)) = first else { return };
        let party = |lane: u32| RaceParty {
            kind: AccessKind::Write,
            instr: touch.instr,
            block: self.block,
            thread: touch.warp * 32 + lane,
            bytes: touch.bytes,
        };
        let race = RaceFacts {
            space: S::SPACE,
            address,
            end: address + u64::from(unit_bytes),
            parties: [party(a), party(b)],
            equal: false,
            same_warp: true,
            same_instruction: true,
            missing: MissingOrder::Unknown,
        };
        self.tell(touch, mask, race, out);
    }

    fn tell(&self, touch: &Touch<'_>, mask: u32, race: RaceFacts, out: &mut Collector) {
        out.record(Event {
            code: if race.equal { Code::RaceEqual } else { Code::Race },
            instr: touch.instr,
            block: self.block,
            warp: touch.warp,
            mask,
            details: Details::Race(Box::new(race)),
        });
    }

    /// Brings the owners up to date with the log since the warp was last in step.
    fn index_owners(&mut self) {
        for at in self.log.since_sync..self.log.entries.len() {
            let entry = self.log.entries[at];
            for repeat in entry.indexed..entry.count {
                for lane in lanes(entry.mask) {
                    let address = self.log.address(&entry, repeat, lane);
                    let end = address
                        .saturating_add(u64::from(entry.bytes()))
                        .div_ceil(1 << self.shift);
                    for unit in address >> self.shift..end {
                        self.own(unit, entry.kind, at as u32, lane);
                    }
                }
            }
            self.log.entries[at].indexed = entry.count;
        }
    }

    fn own(&mut self, unit: u64, kind: AccessKind, entry: u32, lane: u32) {
        let Some(chunk) = self.space.chunk(unit / CHUNK) else {
            return;
        };
        let chunk = chunk as usize;
        if chunk >= self.owners.len() {
            self.owners.resize_with(chunk + 1, || None);
        }
        let owners = self.owners[chunk]
            .get_or_insert_with(|| vec![[Owner::default(); 3]; CHUNK as usize].into_boxed_slice());
        let owner = &mut owners[(unit % CHUNK) as usize][kind as usize];
        let name = lane as u8 + 1;
        if owner.step != self.step {
            *owner = Owner {
                step: self.step,
                entry: [entry, 0],
                lane: [name, 0],
            };
        } else if owner.lane[0] != name && owner.lane[1] == 0 {
            owner.entry[1] = entry;
            owner.lane[1] = name;
        }
    }

    /// A lane other than `lane` that did something rival to a unit since the warp was in step.
    fn rival_owner(&mut self, kind: AccessKind, unit: u64, lane: u32) -> Option<(u32, u32)> {
        let chunk = self.space.chunk(unit / CHUNK)?;
        let owners = self.owners.get(chunk as usize)?.as_ref()?;
        let owners = &owners[(unit % CHUNK) as usize];
        let name = lane as u8 + 1;
        bits::KINDS
            .into_iter()
            .filter(|&other| rivals(kind) & bit(other) != 0)
            .find_map(|other| {
                let owner = owners[other as usize];
                (0..2)
                    .filter(|_| owner.step == self.step)
                    .find(|&at| owner.lane[at] != 0 && owner.lane[at] != name)
                    .map(|at| (owner.entry[at], u32::from(owner.lane[at]) - 1))
            })
    }
}

/// Some lane of `mask` is about to store something else than memory holds.
fn changes(touch: &Touch<'_>, mask: u32) -> bool {
    let Some(values) = touch.values else { return true };
    lanes(mask).any(|lane| {
        (0..touch.bytes).step_by(8).any(|offset| {
            let size = (touch.bytes - offset).min(8);
            values.stored(lane, offset, size) != values.present(lane, offset, size)
        })
    })
}
