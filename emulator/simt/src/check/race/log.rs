//! Log of the accesses of a block's warps since the last barrier, to identify the parties of a race.
//!
//! A loop repeats an access at a constant stride: such repeats share one entry. The log is bounded; past its end races
//! are still found, but some cannot be reported, since a party of theirs is missing.

use super::{AccessMark, Touch, bits};
use crate::lane_mask::LaneMask;

/// Maximum number of entries, and of lane patterns, in one interval.
const MAX_ENTRIES: usize = 1 << 15;
const MAX_PATTERNS: usize = 1 << 13;

/// An access, or several with the same lanes at a constant stride.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogEntry {
    pub(super) kind: AccessMark,
    pub(super) instr: u32,
    pub(super) mask: LaneMask,
    base: u64,
    stride: i64,
    pub(super) count: u32,
    pattern: u32,
    /// Time of the first repeat, in accesses since the barrier.
    pub(super) first: u32,
    /// Time of the last repeat.
    pub(super) last: u32,
    warp: u8,
    bytes: u8,
    /// Whether it is a write that changed what another warp had written since the last barrier.
    pub(super) changed: bool,
    /// Number of repeats that are in the owners of units; see [`super::interval`].
    pub(super) indexed: u32,
}

impl LogEntry {
    pub(super) fn warp(&self) -> u32 {
        u32::from(self.warp)
    }

    pub(super) fn bytes(&self) -> u32 {
        u32::from(self.bytes)
    }
}

/// Positions of lanes, relative to an access's base.
#[derive(Debug)]
struct Pattern {
    lanes: [i32; 32],
    /// Lowest byte, and the end.
    extent: (i32, i32),
}

#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) entries: Vec<LogEntry>,
    patterns: Vec<Pattern>,
    /// The last entry of each instruction.
    latest: Vec<Latest>,
    /// Number of the segment: only entries of this one are continued.
    segment: u32,
    /// Changes when patterns are forgotten.
    generation: u32,
    /// Number of accesses since the barrier.
    clock: u32,
    /// First entry since the running warp last reconverged.
    pub(super) first_since_sync: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Latest {
    segment: u32,
    generation: u32,
    pattern_id: u64,
    pattern: u32,
    entry: u32,
}

impl Log {
    pub(super) fn new(n_instrs: usize) -> Self {
        Self { latest: vec![Latest::default(); n_instrs], segment: 1, generation: 1, ..Self::default() }
    }

    /// Forgets all accesses. Called at a barrier of the block.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.clock = 0;
        // Patterns come back after a barrier: they stay until there are many.
        if self.patterns.len() > MAX_PATTERNS / 2 {
            self.patterns.clear();
            self.generation = self.generation.wrapping_add(1);
        }
        self.sync();
    }

    /// Starts new entries. Called when another warp runs, and when the running one has reconverged.
    pub(super) fn sync(&mut self) {
        self.begin_segment();
        self.first_since_sync = self.entries.len();
    }

    /// Starts new entries, after a sync of some lanes of the running warp. Returns the number of the next one.
    pub(super) fn begin_segment(&mut self) -> u32 {
        self.segment = self.segment.wrapping_add(1);
        self.entries.len() as u32
    }

    /// Adds an access; `changed` tells whether it changes what another warp wrote.
    #[inline]
    pub(super) fn push(&mut self, touch: &Touch<'_>, changed: bool) {
        self.clock = self.clock.saturating_add(1);
        if let Some(latest) = self.latest.get(touch.instr as usize)
            && (latest.generation, latest.segment) == (self.generation, self.segment)
            && latest.pattern_id == touch.pattern
            && let Some(entry) = self.entries.get_mut(latest.entry as usize)
            && entry.mask == touch.mask
            && entry.kind == touch.kind
        {
            let step = touch.base.wrapping_sub(entry.base) as i64;
            if entry.count == 1 || step == entry.stride.wrapping_mul(i64::from(entry.count)) {
                if entry.count == 1 {
                    entry.stride = step;
                }
                entry.count = entry.count.saturating_add(1);
                entry.last = self.clock;
                entry.changed |= changed;
                return;
            }
        }
        self.push_entry(touch, changed);
    }

    /// Adds an entry for an access that continues none.
    #[inline(never)]
    fn push_entry(&mut self, touch: &Touch<'_>, changed: bool) {
        let Some(latest) = self.latest.get_mut(touch.instr as usize) else { return };
        let same_pattern = latest.generation == self.generation && latest.pattern_id == touch.pattern;
        if self.entries.len() >= MAX_ENTRIES {
            return;
        }
        let pattern = if same_pattern {
            latest.pattern
        } else if self.patterns.len() < MAX_PATTERNS
            && let (Some(first), Some(last)) = (touch.runs.first(), touch.runs.last())
        {
            let extent = (first.start, last.start.saturating_add_unsigned(last.bytes));
            let lanes = *touch.lanes;
            self.patterns.push(Pattern { lanes, extent });
            self.patterns.len() as u32 - 1
        } else {
            return;
        };
        *latest = Latest {
            segment: self.segment,
            generation: self.generation,
            pattern_id: touch.pattern,
            pattern,
            entry: self.entries.len() as u32,
        };
        self.entries.push(LogEntry {
            kind: touch.kind,
            instr: touch.instr,
            warp: touch.warp as u8,
            mask: touch.mask,
            bytes: touch.bytes as u8,
            base: touch.base,
            stride: 0,
            count: 1,
            pattern,
            first: self.clock,
            last: self.clock,
            changed,
            indexed: 0,
        });
    }

    /// Returns the lowest lane of `entry` that accesses any of `address .. address + bytes`.
    pub(super) fn accessing_lane(&self, entry: &LogEntry, address: u64, bytes: u64) -> Option<u32> {
        let offset = address.wrapping_sub(entry.base) as i64;
        let moved = entry.stride.saturating_mul(i64::from(entry.count) - 1);
        let pattern = self.patterns.get(entry.pattern as usize)?;
        let low = i64::from(pattern.extent.0).saturating_add(moved.min(0));
        let high = i64::from(pattern.extent.1).saturating_add(moved.max(0));
        if offset.saturating_add(bytes as i64) <= low || offset >= high {
            return None;
        }
        let lane_offsets = &pattern.lanes;
        entry.mask.numbers().find(|&lane| {
            let offset = offset.wrapping_sub(i64::from(lane_offsets[lane as usize]));
            let covers = |repeat: i64| {
                let start = repeat.wrapping_mul(entry.stride);
                (0..i64::from(entry.count)).contains(&repeat)
                    && start < offset.saturating_add(bytes as i64)
                    && offset < start.saturating_add(i64::from(entry.bytes))
            };
            match offset.checked_div(entry.stride) {
                None => covers(0),
                Some(repeat) => (repeat - 1..=repeat + 1).any(covers) || covers_any_repeat(entry, offset, covers),
            }
        })
    }

    pub(super) fn address(&self, entry: &LogEntry, repeat: u32, lane: u32) -> u64 {
        let pattern = self.patterns.get(entry.pattern as usize);
        let offset = pattern.map_or(0, |pattern| pattern.lanes[lane as usize & 31]);
        entry
            .base
            .wrapping_add_signed(entry.stride.wrapping_mul(i64::from(repeat)))
            .wrapping_add_signed(i64::from(offset))
    }

    /// Finds an access of another warp that races with `own`: one of another kind if there is one, since a write and a
    /// read explain more than two writes; else the first.
    pub(super) fn find_conflict(&self, own: &LogEntry, address: u64, bytes: u64) -> Option<LogEntry> {
        let rivals = bits::rivals(own.kind);
        let touches = |entry: &&LogEntry| {
            entry.warp != own.warp
                && rivals & bits::bit(entry.kind) != 0
                && self.accessing_lane(entry, address, bytes).is_some()
        };
        let found = self.entries.iter().filter(touches);
        found.min_by_key(|entry| entry.kind == own.kind).copied()
    }
}

/// Returns whether `covers` holds for any repeat of an entry near `offset`. A stride below the size of the access makes
/// repeats overlap, so that more than the nearest ones can cover a byte.
fn covers_any_repeat(entry: &LogEntry, offset: i64, covers: impl Fn(i64) -> bool) -> bool {
    let reach = i64::from(entry.bytes) / entry.stride.abs().max(1) + 2;
    reach > 3 && {
        let near = offset / entry.stride;
        (near - reach..=near + reach).any(covers)
    }
}
