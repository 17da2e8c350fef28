//! Races on global memory: in a block between barriers, and between blocks over the whole launch.
//!
//! Between blocks nothing orders plain accesses, whichever block ran first here. So it is enough to know, for each
//! word, the lowest and the highest block that read it and that wrote it: minimum and maximum do not depend on the
//! order in which blocks end, and two different blocks with a write among them are a race.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::bits::{self, Bits, CHUNK, KINDS};
use super::block_clocks::{BlockClocks, Unordered};
use super::interval::{Interval, Space};
use super::shared::unit_shift;
use super::{AccessMark, Touch};
use crate::check::mistake::{AccessKind, MissingOrder, RaceFacts, RaceParty};
use crate::check::{Collector, collect::Sites};
use crate::lock::{into_inner, lock};
use crate::{hash::NumberMap, lane_mask::LaneMask};
use program::limits::RACE_CHUNKS;
use program::{DecodedKernel, MemSpace};

/// Memory that the tables of one chunk of a block take.
const BLOCK_CHUNK_BYTES: u64 = 20 << 10;
/// Memory that the tables of one chunk of a launch take.
const LAUNCH_CHUNK_BYTES: u64 = 60 << 10;
/// Maximum number of warps that are kept for one pair of sites.
const MAX_WARPS: usize = 1 << 16;
const SHARDS: usize = 64;

/// The accesses to global memory of one block at a time. One per worker thread.
#[derive(Debug, Default)]
pub struct BlockRaces {
    /// What happens between barriers of the block; the block itself tells it of warps and barriers.
    pub(crate) interval: Interval<Pages>,
    totals: Vec<Total>,
    block: u64,
    fenced: bool,
    strong: bool,
    clocks: Option<Arc<Mutex<BlockClocks>>>,
}

/// The accesses of all blocks of a launch to global memory. Shared by the workers.
#[derive(Debug)]
pub struct GlobalRaces {
    shards: Vec<Mutex<NumberMap<Page>>>,
    sites: Sites,
    shift: u32,
    /// Maximum number of chunks that are tracked in a shard.
    max_chunks: usize,
    /// Maximum number of chunks that are tracked in a block.
    max_block_chunks: usize,
    fenced: AtomicBool,
    strong: AtomicBool,
    /// Clocks of the blocks, where they hand data to each other and run in index order.
    clocks: Option<Arc<Mutex<BlockClocks>>>,
}

/// Chunks in the order of their first accesses, since global memory is large.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    table: NumberMap<u32>,
    numbers: Vec<u64>,
    /// The chunks looked up last, by the low bits of their number: number, index, and the block that it holds for.
    recent: Vec<(u64, u32, u32)>,
    /// Number of the block: entries of `recent` for an earlier one are stale.
    block: u32,
    /// Maximum number of chunks that are tracked: the first ones that the block accesses.
    max_chunks: usize,
}

const RECENT: u64 = 512;

impl Space for Pages {
    const SPACE: MemSpace = MemSpace::Global;

    #[inline]
    fn chunk(&mut self, chunk_number: u64) -> Option<u32> {
        if self.recent.is_empty() {
            self.recent = vec![(u64::MAX, 0, 0); RECENT as usize];
        }
        let slot = &mut self.recent[(chunk_number % RECENT) as usize];
        if (slot.0, slot.2) == (chunk_number, self.block) {
            return Some(slot.1);
        }
        let next = self.numbers.len();
        let index = match self.table.get(&chunk_number) {
            Some(&index) => index,
            None if next >= self.max_chunks => return None,
            None => {
                self.numbers.push(chunk_number);
                self.table.insert(chunk_number, next as u32);
                next as u32
            }
        };
        *slot = (chunk_number, index, self.block);
        Some(index)
    }

    fn number(&self, chunk: u32) -> u64 {
        self.numbers.get(chunk as usize).copied().unwrap_or(0)
    }

    fn clear(&mut self) {
        self.table.clear();
        self.numbers.clear();
        self.block = self.block.wrapping_add(1);
        if self.block == 0 {
            self.recent.clear();
        }
    }
}

/// Accesses of one block to one chunk, by kind.
#[derive(Debug, Default)]
struct Total {
    bits: [Bits; KINDS.len()],
    /// By kind: words that are not 0.
    words: [u16; KINDS.len()],
    /// By kind and unit: instruction and thread of the first access, packed.
    who: [Option<Box<[u32]>>; KINDS.len()],
    /// Values written last.
    values: Option<Box<[u32]>>,
    /// Whether the value of a write is not known.
    unknown: bool,
}

/// Accesses of all blocks to one chunk.
#[derive(Debug, Default)]
struct Page {
    /// By kind: for each unit the lowest and the highest block, packed with instruction and thread.
    spans: [Option<Span>; KINDS.len()],
    /// Lowest and highest value written.
    values: Option<Box<[(u32, u32)]>>,
}

/// The lowest and the highest block that accesses each unit.
type Span = Box<[(u64, u64)]>;

const NOBODY: (u64, u64) = (u64::MAX, 0);

/// Returns how many chunks may be followed with half of this memory.
fn max_chunks(bytes: u64, chunk_bytes: u64) -> usize {
    (bytes / 2 / chunk_bytes).min(RACE_CHUNKS as u64) as usize
}

/// Returns the shard of a chunk: neighbours, and rows of a matrix, are in different shards.
fn shard(chunk_number: u64) -> usize {
    (chunk_number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - SHARDS.ilog2())) as usize
}

/// Packs the thread in 10 bits, the instruction in 22.
fn pack(instr: u32, thread: u32) -> u32 {
    instr.min((1 << 22) - 1) << 10 | thread & 1023
}

impl BlockRaces {
    pub fn new(kernel: &DecodedKernel, all: &GlobalRaces) -> Self {
        let pages = Pages { max_chunks: all.max_block_chunks, ..Pages::default() };
        Self {
            interval: Interval::new(kernel, unit_shift(kernel, MemSpace::Global), pages),
            clocks: all.clocks.clone(),
            ..Self::default()
        }
    }

    pub fn begin_block(&mut self, block: u64) {
        self.forget();
        self.interval.begin_block(block);
        self.block = block;
    }

    pub fn access(&mut self, touch: &Touch<'_>, out: &mut Collector) {
        let kind = touch.kind as usize;
        let mut fresh = touch.kind == AccessMark::Write;
        self.strong |= touch.strong;
        if let Some(clocks) = &self.clocks {
            let mut clocks = lock(clocks);
            let access = |lane| pack(touch.instr, touch.warp * 32 + lane);
            clocks.access(self.block, touch, self.interval.shift, access);
        }
        let totals = &mut self.totals;
        self.interval.access(touch, out, |chunk, word, units| {
            if chunk as usize >= totals.len() {
                totals.resize_with(chunk as usize + 1, Total::default);
            }
            let seen = &totals[chunk as usize].bits[kind];
            fresh |= seen[word] & units != units;
        });
        if fresh {
            self.record_first(touch);
        }
    }

    /// Records the first access of each kind to a unit by this block, and the values that are written.
    fn record_first(&mut self, touch: &Touch<'_>) {
        let kind = touch.kind as usize;
        let shift = self.interval.shift;
        let unit_bytes = 1u64 << shift;
        let mut last = (u64::MAX, 0);
        // Of many lanes that read one element, the lowest is named.
        let lanes = if touch.kind == AccessMark::Read { touch.distinct } else { touch.mask };
        for lane in lanes.numbers() {
            let start = touch.address(lane);
            let access = pack(touch.instr, touch.warp * 32 + lane);
            for unit in start >> shift..(start.saturating_add(u64::from(touch.bytes))).div_ceil(unit_bytes) {
                let chunk_number = unit / CHUNK;
                if chunk_number != last.0 {
                    let Some(chunk) = self.interval.space.chunk(chunk_number) else { continue };
                    last = (chunk_number, chunk as usize);
                }
                let Some(total) = self.totals.get_mut(last.1) else { continue };
                let index = (unit % CHUNK) as usize;
                let word = &mut total.bits[kind][index / 64];
                if *word >> (index % 64) & 1 == 0 {
                    *word |= 1 << (index % 64);
                    total.words[kind] |= 1 << (index / 64);
                    let first_accesses = total.who[kind].get_or_insert_with(|| vec![0; CHUNK as usize].into());
                    first_accesses[index] = access;
                }
                if touch.kind == AccessMark::Write {
                    match touch.values {
                        Some(values) => {
                            let offset = ((unit << shift) - start) as u32;
                            let value = values.stored(lane, offset, unit_bytes as u32) as u32;
                            total.values.get_or_insert_with(|| vec![0; CHUNK as usize].into())[index] = value;
                        }
                        None => total.unknown = true,
                    }
                }
            }
        }
    }

    /// Records a fence of the running warp.
    pub fn fence(&mut self) {
        self.interval.fence();
        self.fenced = true;
        if let Some(clocks) = &self.clocks {
            let mut clocks = lock(clocks);
            clocks.fence(self.block);
        }
    }

    /// Records that a barrier of the block, or of its cluster, has completed.
    pub(crate) fn barrier(&mut self, out: &mut Collector) {
        self.interval.barrier(out);
        if let Some(clocks) = &self.clocks {
            lock(clocks).barrier(self.block);
        }
    }

    /// Adds the accesses of the block to those of the launch. Called when it has ended.
    pub fn end_block(&mut self, all: &GlobalRaces, out: &mut Collector) {
        self.interval.barrier(out);
        if self.fenced {
            all.fenced.store(true, Ordering::Relaxed);
        }
        if self.strong {
            all.strong.store(true, Ordering::Relaxed);
        }
        for (total, &chunk_number) in self.totals.iter().zip(&self.interval.space.numbers) {
            all.join(chunk_number, self.block, total);
        }
        self.forget();
    }

    fn forget(&mut self) {
        let used = self.interval.space.numbers.len().min(self.totals.len());
        for total in &mut self.totals[..used] {
            for (bits, words) in total.bits.iter_mut().zip(&mut total.words) {
                let mut rest = std::mem::take(words);
                while rest != 0 {
                    bits[rest.trailing_zeros() as usize] = 0;
                    rest &= rest - 1;
                }
            }
            total.unknown = false;
        }
        self.fenced = false;
        self.strong = false;
    }
}

impl GlobalRaces {
    pub fn new(kernel: &DecodedKernel) -> Self {
        Self::with_memory(kernel, u64::MAX, 1)
    }

    /// Creates the state, with half of `bytes` bytes of memory at most, where `n_blocks` blocks run at the same time.
    pub fn with_memory(kernel: &DecodedKernel, bytes: u64, n_blocks: usize) -> Self {
        Self {
            max_chunks: max_chunks(bytes, LAUNCH_CHUNK_BYTES).div_ceil(SHARDS),
            max_block_chunks: max_chunks(bytes / n_blocks.max(1) as u64, BLOCK_CHUNK_BYTES),
            shards: std::iter::repeat_with(Mutex::default).take(SHARDS).collect(),
            sites: Sites::new(kernel),
            shift: unit_shift(kernel, MemSpace::Global),
            fenced: AtomicBool::new(false),
            strong: AtomicBool::new(false),
            clocks: None,
        }
    }

    /// Follows the order that fences and flags make, for blocks that run one after another.
    #[must_use]
    pub fn in_order(self, kernel: &DecodedKernel) -> Self {
        let clocks = kernel.ops.iter().any(|op| op.kind.is_fence()).then(Arc::default);
        Self { clocks, ..self }
    }

    fn join(&self, chunk_number: u64, block: u64, total: &Total) {
        if total.words == [0; KINDS.len()] {
            return;
        }
        let mut shard = lock(&self.shards[shard(chunk_number)]);
        if shard.len() >= self.max_chunks && !shard.contains_key(&chunk_number) {
            // The lowest ones stay, in whatever order blocks end.
            match shard.keys().max() {
                Some(&highest) if chunk_number < highest => shard.remove(&highest),
                _ => return,
            };
        }
        let page = shard.entry(chunk_number).or_default();
        for kind in KINDS {
            let Some(who) = &total.who[kind as usize] else { continue };
            let words = total.words[kind as usize];
            if words == 0 {
                continue;
            }
            let marked = || bits::ones(&total.bits[kind as usize], words);
            let span = page.spans[kind as usize].get_or_insert_with(|| vec![NOBODY; CHUNK as usize].into());
            for unit in marked() {
                let packed = block << 32 | u64::from(who[unit as usize]);
                let (low, high) = &mut span[unit as usize];
                *low = (*low).min(packed);
                *high = (*high).max(packed);
            }
            if kind == AccessMark::Write {
                let values = page.values.get_or_insert_with(|| vec![(u32::MAX, 0); CHUNK as usize].into());
                for unit in marked() {
                    let (low, high) = &mut values[unit as usize];
                    match &total.values {
                        Some(written) if !total.unknown => {
                            *low = (*low).min(written[unit as usize]);
                            *high = (*high).max(written[unit as usize]);
                        }
                        _ => (*low, *high) = (0, u32::MAX),
                    }
                }
            }
        }
    }

    /// Reports the races between blocks. Called when every block has ended.
    pub fn finish(mut self, out: &mut Collector) {
        let shift = self.shift;
        if self.fenced.load(Ordering::Relaxed) && self.strong.load(Ordering::Relaxed) {
            let Some(clocks) = &self.clocks else { return };
            let clocks = lock(clocks);
            for missing in [MissingOrder::Flag, MissingOrder::Acquire, MissingOrder::Strength] {
                let mut groups = BTreeMap::new();
                for Unordered { unit, parties, .. } in clocks.found.iter().filter(|found| found.missing == missing) {
                    let parties = parties.map(|(kind, block, who)| (kind, block << 32 | u64::from(who)));
                    self.add(&mut groups, unit << shift, parties, false);
                }
                record(groups, missing, out);
            }
            return;
        }
        let mut pages: Vec<(u64, Page)> = Vec::new();
        for shard in std::mem::take(&mut self.shards) {
            pages.extend(into_inner(shard));
        }
        pages.sort_by_key(|(number, _)| *number);
        let mut groups = BTreeMap::new();
        for (chunk_number, page) in &pages {
            if !page.has_rivals() {
                continue;
            }
            for unit in 0..CHUNK {
                let address = (chunk_number * CHUNK + unit) << shift;
                page.races(unit as usize, |a, b, equal| self.add(&mut groups, address, [a, b], equal));
            }
        }
        if !self.fenced.load(Ordering::Relaxed) {
            self.explain_counters(&pages, &mut groups);
        }
        record(groups, MissingOrder::Unknown, out);
    }

    /// Replaces the race of a counter, which blocks count up by an atomic and a later one sets anew, by that of the
    /// data: what blocks write before the atomic, and others read after it. A fence would order both.
    fn explain_counters(&self, pages: &[(u64, Page)], groups: &mut BTreeMap<GroupKey, Group>) {
        let ordered = |[first, last]: [&RaceParty; 2]| first.instr < last.instr;
        let counters: Vec<(GroupKey, u32)> = groups
            .iter()
            .filter_map(|(key, Group { parties: [a, b], .. })| {
                let (atomic, set) = if a.kind == AccessKind::Atomic { (a, b) } else { (b, a) };
                let counts = (atomic.kind, set.kind) == (AccessKind::Atomic, AccessKind::Write);
                (counts && ordered([atomic, set])).then_some((*key, atomic.instr))
            })
            .collect();
        for (key, atomic) in counters {
            let hands_over = |write: u32, read: u32| write < atomic && atomic < read;
            let is_data = |group: &Group| {
                let [a, b] = group.parties;
                let (write, read) = if a.kind == AccessKind::Write { (a, b) } else { (b, a) };
                (write.kind, read.kind) == (AccessKind::Write, AccessKind::Read) && hands_over(write.instr, read.instr)
            };
            // Accesses that are volatile are no race by themselves.
            let is_known = groups.values().any(is_data);
            for (chunk_number, page) in pages.iter().filter(|_| !is_known) {
                for unit in 0..CHUNK {
                    page.strong_race(unit as usize, |write, read| {
                        if hands_over(instr_of(write), instr_of(read)) {
                            let address = (chunk_number * CHUNK + unit) << self.shift;
                            self.add(
                                groups,
                                address,
                                [(AccessMark::StrongWrite, write), (AccessMark::StrongRead, read)],
                                false,
                            );
                        }
                    });
                }
            }
            if groups.values().any(is_data) {
                groups.remove(&key);
            }
        }
    }

    /// Adds two accesses that race to those of their sites.
    fn add(&self, groups: &mut BTreeMap<GroupKey, Group>, address: u64, [a, b]: [(AccessMark, u64); 2], equal: bool) {
        let (x, y) = (self.sites.site(instr_of(a.1)), self.sites.site(instr_of(b.1)));
        let array = self.sites.array(MemSpace::Global, address);
        let bytes = 1 << self.shift;
        let (a, b) = (party(a, bytes), party(b, bytes));
        let group = groups.entry((x.min(y), x.max(y), array, equal)).or_insert_with(|| Group::new(address, a, b));
        group.add(address, u64::from(bytes), b);
    }
}

/// The sites of a race, the array, and whether equal values are written.
type GroupKey = (u32, u32, u64, bool);

/// Reports a race of each pair of sites.
fn record(groups: BTreeMap<GroupKey, Group>, missing: MissingOrder, out: &mut Collector) {
    for ((.., equal), group) in groups {
        for ((block, warp), mask) in group.warps {
            let race = RaceFacts::new(MemSpace::Global, [group.address, group.end], group.parties);
            out.record(RaceFacts { equal, missing, ..race }.mistake(block, warp, mask));
        }
    }
}

/// A pair of sites that race, and the threads found at the second.
#[derive(Debug)]
struct Group {
    address: u64,
    end: u64,
    parties: [RaceParty; 2],
    warps: BTreeMap<(u64, u32), LaneMask>,
}

impl Group {
    fn new(address: u64, a: RaceParty, b: RaceParty) -> Self {
        Self { address, end: address, parties: [a, b], warps: BTreeMap::new() }
    }

    fn add(&mut self, address: u64, bytes: u64, b: RaceParty) {
        self.end = self.end.max(address + bytes);
        let warp = (b.block, b.thread / 32);
        if self.warps.len() < MAX_WARPS || self.warps.contains_key(&warp) {
            *self.warps.entry(warp).or_default() |= LaneMask::of(b.thread as usize % 32);
        }
    }
}

fn instr_of(packed: u64) -> u32 {
    packed as u32 >> 10
}

fn party((kind, packed): (AccessMark, u64), bytes: u32) -> RaceParty {
    RaceParty { kind: kind.kind(), instr: instr_of(packed), block: packed >> 32, thread: packed as u32 & 1023, bytes }
}

impl Page {
    /// Returns whether two kinds of access race.
    fn has_rivals(&self) -> bool {
        let seen = |kind: &AccessMark| self.spans[*kind as usize].is_some();
        let all = KINDS.iter().filter(|kind| seen(kind)).fold(0, |all, kind| all | bits::bit(*kind));
        KINDS.iter().any(|kind| seen(kind) && bits::rivals(*kind) & all != 0)
    }

    /// Calls `found` with a volatile write and a volatile read of a unit by different blocks.
    fn strong_race(&self, unit: usize, found: impl FnOnce(u64, u64)) {
        let span = |kind: AccessMark| self.spans[kind as usize].as_ref().map_or(NOBODY, |span| span[unit]);
        let (write, read) = (span(AccessMark::StrongWrite), span(AccessMark::StrongRead));
        let choices = [(write.0, read.1), (write.1, read.0)];
        let apart = |(write, read): &(u64, u64)| write >> 32 != read >> 32;
        if let Some((write, read)) = choices.into_iter().find(apart).filter(|_| write != NOBODY && read != NOBODY) {
            found(write, read);
        }
    }

    /// Calls `found` with the pairs of different blocks that race on a unit, the lower block first.
    fn races(&self, unit: usize, mut found: impl FnMut((AccessMark, u64), (AccessMark, u64), bool)) {
        use AccessMark::{Atomic, Read, StrongRead, StrongWrite, Write};
        let span = |kind: AccessMark| self.spans[kind as usize].as_ref().map_or(NOBODY, |span| span[unit]);
        let [read, write, atomic, strong_read, strong_write] = KINDS.map(span);
        let mut pair = |a: (AccessMark, (u64, u64)), b: (AccessMark, (u64, u64)), equal| {
            if a.1 == NOBODY || b.1 == NOBODY {
                return;
            }
            let choices = [(a.1.0, b.1.1), (a.1.0, b.1.0), (a.1.1, b.1.0), (a.1.1, b.1.1)];
            if let Some((x, y)) = choices.into_iter().find(|(x, y)| x >> 32 != y >> 32) {
                if x <= y { found((a.0, x), (b.0, y), equal) } else { found((b.0, y), (a.0, x), equal) }
            }
        };
        pair((Write, write), (Read, read), false);
        pair((Write, write), (Atomic, atomic), false);
        pair((Atomic, atomic), (Read, read), false);
        pair((Write, write), (StrongRead, strong_read), false);
        pair((Write, write), (StrongWrite, strong_write), false);
        pair((StrongWrite, strong_write), (Read, read), false);
        let equal = self.values.as_ref().is_some_and(|values| values[unit].0 == values[unit].1);
        pair((Write, write), (Write, write), equal);
    }
}
