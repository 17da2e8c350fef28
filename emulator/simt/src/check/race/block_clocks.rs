//! Vector clocks of blocks that hand data to each other: a block that reads a flag may read what was written before the
//! fence that preceded it.
//!
//! A block's own time is the number of its fences. A strong store or an atomic releases: it leaves at its word the
//! times that the block knew at its last fence, its own and those of other blocks. A strong load of the word acquires
//! them. A plain access comes after one of another block if its block knows the time of that.
//!
//! Used where blocks run one after another on one thread, and kernels have fences. Order is assumed rather than missed:
//! what one thread of a block knows, all of them know, and a load acquires without a fence.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::bits::CHUNK;
use super::chunks::Chunks;
use super::interval::changes;
use super::touch::{AccessMark, Touch};

const MAX_CHUNKS: usize = 1 << 13;
/// Maximum number of words at which times are recorded.
const MAX_WORDS: usize = 1 << 16;
/// Steps of joining times, after which no access is followed any more.
const MAX_STEPS: usize = 1 << 24;

/// Known times, by block.
type Known = Arc<BTreeMap<u64, u32>>;

/// A plain access of a block.
#[derive(Debug, Clone, Copy, Default)]
struct Made {
    /// The block plus one; 0: there was no access.
    by: u32,
    time: u32,
    /// Instruction and thread, packed.
    who: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    write: Made,
    read: Made,
}

#[derive(Debug, Default)]
struct Block {
    time: u32,
    known: Known,
    /// What it knew at its last fence, and its time then.
    released: Option<(Known, u32)>,
}

/// Two accesses of different blocks that nothing orders, the earlier one first: kind, block, and instruction and
/// thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unordered {
    pub(super) unit: u64,
    pub(super) parties: [(AccessMark, u64, u32); 2],
}

#[derive(Debug, Default)]
pub(super) struct BlockClocks {
    blocks: Chunks<Block>,
    words: Chunks<Known>,
    cells: Chunks<Box<[Cell]>>,
    /// Units of the last strong store.
    last_stored: Vec<u64>,
    steps: usize,
    pub(super) found: Vec<Unordered>,
}

/// Maximum number of pairs that are kept.
const MAX_FOUND: usize = 1 << 14;

impl BlockClocks {
    /// Records a fence of a block, and releases its last strong store: of a store that releases, the fence is counted
    /// after it.
    pub(super) fn fence(&mut self, block: u64) {
        let state = self.blocks.entry(block).or_default();
        state.released = Some((Arc::clone(&state.known), state.time));
        state.time += 1;
        for unit in std::mem::take(&mut self.last_stored) {
            self.release(block, unit);
        }
    }

    /// Records an access of a block, by units of `1 << shift` bytes. `who` packs instruction and thread of a lane.
    pub(super) fn access(&mut self, block: u64, touch: &Touch<'_>, shift: u32, packed: impl Fn(u32) -> u32) {
        let Ok(by) = u32::try_from(block + 1) else { return };
        if self.steps > MAX_STEPS {
            return;
        }
        self.last_stored.clear();
        let strong = matches!(touch.kind, AccessMark::Atomic | AccessMark::StrongRead | AccessMark::StrongWrite);
        let differs = touch.kind == AccessMark::Write && changes(touch, touch.mask);
        let lanes = if touch.kind == AccessMark::Write { touch.mask } else { touch.distinct };
        for lane in lanes.numbers() {
            let start = touch.address(lane);
            let end = start.saturating_add(u64::from(touch.bytes));
            for unit in start >> shift..end.div_ceil(1 << shift) {
                if touch.kind != AccessMark::Write && touch.kind != AccessMark::StrongWrite {
                    if strong {
                        self.acquire_plain(block, unit);
                    }
                    self.acquire(block, unit);
                }
                if strong {
                    if touch.kind != AccessMark::StrongRead {
                        self.release(block, unit);
                        self.last_stored.push(unit);
                    }
                    continue;
                }
                self.plain_access(block, unit, (touch.kind, by, packed(lane)), differs);
            }
        }
    }

    /// Checks and records a plain access to a unit; `differs` marks a write that changes what memory holds.
    fn plain_access(&mut self, block: u64, unit: u64, (kind, by, who): (AccessMark, u32, u32), differs: bool) {
        let has_room = self.cells.len() < MAX_CHUNKS;
        let chunk_number = unit / CHUNK;
        if !has_room && !self.cells.contains_key(&chunk_number) {
            return;
        }
        let state = self.blocks.entry(block).or_default();
        let chunk = self.cells.entry(chunk_number);
        let chunk = chunk.or_insert_with(|| vec![Cell::default(); CHUNK as usize].into());
        let cell = &mut chunk[(unit % CHUNK) as usize];
        let unordered = |made: Made| {
            let other = u64::from(made.by.wrapping_sub(1));
            made.by != 0 && made.by != by && state.known.get(&other).is_none_or(|known| *known < made.time)
        };
        let now = Made { by, time: state.time, who };
        let mut found = None;
        if kind == AccessMark::Write {
            if unordered(cell.write) && differs {
                found = Some((AccessMark::Write, cell.write));
            } else if unordered(cell.read) {
                found = Some((AccessMark::Read, cell.read));
            }
            *cell = Cell { write: now, read: Made::default() };
        } else {
            if unordered(cell.write) {
                found = Some((AccessMark::Write, cell.write));
            }
            cell.read = now;
        }
        if let Some((other, made)) = found
            && self.found.len() < MAX_FOUND
        {
            let other = (other, u64::from(made.by - 1), made.who);
            self.found.push(Unordered { unit, parties: [other, (kind, block, who)] });
        }
    }

    /// Acquires from the block that stored a unit plainly: a flag may be set by a plain store, too.
    fn acquire_plain(&mut self, block: u64, unit: u64) {
        let chunk = self.cells.get(&(unit / CHUNK));
        let by = chunk.map_or(0, |chunk| chunk[(unit % CHUNK) as usize].write.by);
        let Some(other) = by.checked_sub(1).map(u64::from).filter(|other| *other != block) else { return };
        let Some((known, time)) = self.blocks.get(&other).map(|other| (Arc::clone(&other.known), other.time)) else {
            return;
        };
        let state = self.blocks.entry(block).or_default();
        join(&mut state.known, &known, &mut self.steps);
        let latest = Arc::make_mut(&mut state.known).entry(other).or_insert(time);
        *latest = (*latest).max(time);
    }

    /// Makes a block know the times that were left at a word.
    fn acquire(&mut self, block: u64, unit: u64) {
        let Some(left) = self.words.get(&unit).map(Arc::clone) else { return };
        let state = self.blocks.entry(block).or_default();
        join(&mut state.known, &left, &mut self.steps);
    }

    /// Stores at a word the vector clock that the block had at its last fence.
    fn release(&mut self, block: u64, unit: u64) {
        let state = self.blocks.entry(block).or_default();
        let Some((known, time)) = state.released.clone() else { return };
        if self.words.len() >= MAX_WORDS && !self.words.contains_key(&unit) {
            self.steps = usize::MAX;
            return;
        }
        let word = self.words.entry(unit).or_default();
        join(word, &known, &mut self.steps);
        self.steps = self.steps.saturating_add(1);
        Arc::make_mut(word).insert(block, time);
    }
}

/// Adds the times of `more`, where they are later.
fn join(known: &mut Known, more: &Known, steps: &mut usize) {
    if Arc::ptr_eq(known, more) {
        return;
    }
    *steps = steps.saturating_add(known.len() + more.len());
    let is_new = |(block, time): (&u64, &u32)| known.get(block).is_none_or(|at| at < time);
    if !more.iter().any(is_new) {
        return;
    }
    let known = Arc::make_mut(known);
    for (&block, &time) in more.iter() {
        let latest = known.entry(block).or_insert(time);
        *latest = (*latest).max(time);
    }
}
