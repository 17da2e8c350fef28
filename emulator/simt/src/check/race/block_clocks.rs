//! Vector clocks of blocks that hand data to each other: a block that reads a flag may read what was written before the
//! fence that preceded it.
//!
//! A block's own time is the number of its fences. A strong store or an atomic releases: it leaves at its word the
//! times that the block knew at its last fence, its own and those of other blocks. A load of the word reads them, and
//! the block knows them from its next fence or barrier on. An access comes after one of another block if its block
//! knows the time of that. Two strong accesses need no order.
//!
//! Used where blocks run one after another on one thread, and kernels have fences. Order is assumed rather than missed:
//! what one thread of a block knows, all of them know.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::touch::{AccessMark, Touch};
use super::{bits::CHUNK, interval::changes};
use crate::{check::mistake::MissingOrder, hash::NumberMap};

const MAX_CHUNKS: usize = 1 << 13;
/// Maximum number of words at which times are recorded.
const MAX_WORDS: usize = 1 << 16;
/// Steps of joining times, after which no access is followed any more.
const MAX_STEPS: usize = 1 << 24;

/// Known times, by block.
type Known = Arc<BTreeMap<u64, u32>>;

/// An access of a block.
#[derive(Debug, Clone, Copy, Default)]
struct Made {
    kind: AccessMark,
    /// The block plus one; 0: there was no access.
    by: u32,
    time: u32,
    /// Instruction and thread, packed.
    who: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    /// The last access that may have written.
    write: Made,
    /// The last plain read since.
    read: Made,
}

#[derive(Debug, Default)]
struct Block {
    time: u32,
    known: Known,
    /// Times that it read at flags, and knows from its next fence or barrier on.
    read: Known,
    /// What it knew at its last fence, and its time then.
    released: Option<(Known, u32)>,
}

/// Two accesses of different blocks that nothing orders, the earlier one first: kind, block, and instruction and
/// thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unordered {
    pub(super) unit: u64,
    pub(super) missing: MissingOrder,
    pub(super) parties: [(AccessMark, u64, u32); 2],
}

#[derive(Debug, Default)]
pub(super) struct BlockClocks {
    blocks: NumberMap<Block>,
    words: NumberMap<Known>,
    cells: NumberMap<Box<[Cell]>>,
    steps: usize,
    pub(super) found: Vec<Unordered>,
}

/// Maximum number of pairs that are kept.
const MAX_FOUND: usize = 1 << 14;

impl BlockClocks {
    pub(super) fn fence(&mut self, block: u64) {
        let state = self.blocks.entry(block).or_default();
        join(&mut state.known, &state.read, &mut self.steps);
        state.released = Some((Arc::clone(&state.known), state.time));
        state.time += 1;
    }

    /// Records a barrier of a block, behind which compilers move no load, and L1 has no old value unless the block read
    /// it before: what was read at flags counts as known, as NVIDIA's samples have it.
    pub(super) fn barrier(&mut self, block: u64) {
        let Some(state) = self.blocks.get_mut(&block) else { return };
        join(&mut state.known, &state.read, &mut self.steps);
    }

    /// Records an access of a block, by units of `1 << shift` bytes. `who` packs instruction and thread of a lane.
    pub(super) fn access(&mut self, block: u64, touch: &Touch<'_>, shift: u32, packed: impl Fn(u32) -> u32) {
        let Ok(by) = u32::try_from(block + 1) else { return };
        if self.steps > MAX_STEPS {
            return;
        }
        let kind = touch.kind;
        let differs = kind != AccessMark::Write || changes(touch, touch.mask);
        let lanes = if kind == AccessMark::Write { touch.mask } else { touch.distinct };
        for lane in lanes.numbers() {
            let start = touch.address(lane);
            let end = start.saturating_add(u64::from(touch.bytes));
            for unit in start >> shift..end.div_ceil(1 << shift) {
                // Before it is recorded as the last access of the unit.
                if matches!(kind, AccessMark::Atomic | AccessMark::StrongRead) {
                    self.acquire(block, unit, true);
                }
                self.check(unit, Made { kind, by, time: 0, who: packed(lane) }, differs);
                if kind == AccessMark::Read {
                    self.acquire(block, unit, false);
                }
                if matches!(kind, AccessMark::Atomic | AccessMark::StrongWrite) {
                    self.release(block, unit);
                }
            }
        }
    }

    /// Checks and records an access to a unit; `differs` tells whether it may change what memory holds.
    fn check(&mut self, unit: u64, now: Made, differs: bool) {
        let has_room = self.cells.len() < MAX_CHUNKS;
        let chunk_number = unit / CHUNK;
        if !has_room && !self.cells.contains_key(&chunk_number) {
            return;
        }
        let block = u64::from(now.by - 1);
        let state = self.blocks.entry(block).or_default();
        // What a fence releases by a flag includes the store of the flag.
        let is_flag = matches!(now.kind, AccessMark::Atomic | AccessMark::StrongWrite);
        let now = Made { time: state.time.saturating_sub(u32::from(is_flag)), ..now };
        let chunk = self.cells.entry(chunk_number);
        let chunk = chunk.or_insert_with(|| vec![Cell::default(); CHUNK as usize].into());
        let cell = &mut chunk[(unit % CHUNK) as usize];
        let has = |known: &Known, made: Made| known.get(&u64::from(made.by - 1)).is_some_and(|time| *time >= made.time);
        let unordered = |made: &Made| {
            let apart = made.by != 0 && made.by != now.by && !(now.kind.is_strong() && made.kind.is_strong());
            apart && !has(&state.known, *made)
        };
        let Cell { write, read } = *cell;
        let other = if matches!(now.kind, AccessMark::Read | AccessMark::StrongRead) {
            if now.kind == AccessMark::Read {
                cell.read = now;
            }
            Some(write).filter(unordered)
        } else {
            // A block's own atomic hides no plain store of it from others.
            let is_hidden = is_flag && write.kind == AccessMark::Write && write.by == now.by;
            *cell = Cell { write: if is_hidden { write } else { now }, read: Made::default() };
            Some(write).filter(|write| differs && unordered(write)).or(Some(read).filter(unordered))
        };
        if let Some(made) = other
            && self.found.len() < MAX_FOUND
        {
            let missing = match has(&state.read, made) {
                _ if now.kind.is_strong() != made.kind.is_strong() => MissingOrder::Strength,
                true => MissingOrder::Acquire,
                false => MissingOrder::Flag,
            };
            let parties = [made, now].map(|one| (one.kind, u64::from(one.by - 1), one.who));
            self.found.push(Unordered { unit, missing, parties });
        }
    }

    /// Reads the times that were left at a word. A flag that a strong load reads may be set by a plain store, too: it
    /// leaves those of now.
    fn acquire(&mut self, block: u64, unit: u64, is_strong: bool) {
        let write = self.cells.get(&(unit / CHUNK)).map(|chunk| chunk[(unit % CHUNK) as usize].write);
        let plain = write.filter(|write| is_strong && write.kind == AccessMark::Write && write.by != 0);
        let other = plain.map(|write| u64::from(write.by - 1)).filter(|other| *other != block);
        let set = other.and_then(|other| Some((other, self.blocks.get(&other)?)));
        let set = set.map(|(other, state)| (other, Arc::clone(&state.known), state.time));
        let left = self.words.get(&unit).map(Arc::clone);
        let read = &mut self.blocks.entry(block).or_default().read;
        if let Some((other, known, time)) = set {
            join(read, &known, &mut self.steps);
            let latest = Arc::make_mut(read).entry(other).or_insert(time);
            *latest = (*latest).max(time);
        }
        if let Some(left) = left {
            join(read, &left, &mut self.steps);
        }
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
