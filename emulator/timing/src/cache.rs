//! Caches from which the least recently used entry goes first: the one that is L1 has lines of four sectors.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::hash::BuildHasher;

use simt::hash::{BuildNumberHasher, NumberMap};

use crate::trace;

const SECTORS_OF_LINE: u64 = 4;

/// The entries that were used last, by number.
#[derive(Debug)]
pub(crate) struct Recent<T> {
    max_entries: usize,
    /// Each with the date of its last use.
    entries: NumberMap<(T, u64)>,
    /// Numbers and dates in the order of use, with outdated ones.
    order: VecDeque<(u64, u64)>,
    /// Number of uses so far, which dates them.
    uses: u64,
}

impl<T: Default> Recent<T> {
    pub(crate) fn new(max_entries: usize) -> Self {
        Self { max_entries: max_entries.max(1), entries: NumberMap::default(), order: VecDeque::new(), uses: 0 }
    }

    /// Uses an entry, which is made if it is not there; then removes those that were not used longest.
    pub(crate) fn touch<R>(&mut self, number: u64, with: impl FnOnce(&mut T) -> R) -> R {
        self.uses += 1;
        let (entry, used) = self.entries.entry(number).or_default();
        *used = self.uses;
        let result = with(entry);
        self.order.push_back((number, self.uses));
        while let Some(&(number, date)) = self.order.front() {
            let is_current = self.entries.get(&number).is_some_and(|(_, used)| *used == date);
            if is_current && self.entries.len() <= self.max_entries {
                break;
            }
            if is_current {
                self.entries.remove(&number);
            }
            self.order.pop_front();
        }
        result
    }
}

/// A fully associative cache of lines: for each sector the time of its arrival, `None` if never requested.
#[derive(Debug)]
pub(crate) struct Cache(Recent<[Option<u64>; SECTORS_OF_LINE as usize]>);

impl Cache {
    pub(crate) fn new(bytes: u64) -> Cache {
        Cache(Recent::new((bytes / (32 * SECTORS_OF_LINE)) as usize))
    }

    /// Returns the time at which the sector is present, if it is or is on its way. Marks its line as used.
    pub(crate) fn find(&mut self, sector: u64) -> Option<u64> {
        let (line, place) = (sector / SECTORS_OF_LINE, (sector % SECTORS_OF_LINE) as usize);
        let arrival = self.0.entries.get(&line)?.0[place]?;
        self.0.touch(line, |_| ());
        Some(arrival)
    }

    /// Records that the sector arrives at `when`.
    pub(crate) fn fill(&mut self, sector: u64, when: u64) {
        let place = (sector % SECTORS_OF_LINE) as usize;
        self.0.touch(sector / SECTORS_OF_LINE, |line| line[place] = Some(when));
    }
}

/// The lines of local memory in L1. Each belongs to one warp, and the warps of an SM are taken to go on at one pace:
/// for each line that a warp fills, all others fill one, and each fill replaces any line of the cache.
#[derive(Debug)]
pub(crate) struct Local {
    /// Lines of L1 for each warp.
    lines_of_warp: f64,
    /// By line: the number of fills of its warp when it was last used, and when its data arrived.
    lines: NumberMap<(u64, u64)>,
    /// Number of lines filled so far, by warp.
    fills: NumberMap<u64>,
}

impl Local {
    /// Creates an empty cache of so many bytes, which `warps` share.
    pub(crate) fn new(bytes: u64, warps: usize) -> Self {
        let lines_of_warp = (bytes / (32 * SECTORS_OF_LINE)) as f64 / warps.max(1) as f64;
        Self { lines_of_warp, lines: NumberMap::default(), fills: NumberMap::default() }
    }

    /// Returns the time at which the sector is present, if it is or is on its way.
    pub(crate) fn find(&mut self, sector: u64) -> Option<u64> {
        let line = sector / SECTORS_OF_LINE;
        let fills = self.fills.get(&trace::warp_of_local(sector)).copied().unwrap_or(0);
        let (used, arrival) = self.lines.get_mut(&line)?;
        let stays = (-((fills - *used) as f64) / self.lines_of_warp).exp();
        // Not at random: predictions are the same each time.
        let chance = (BuildNumberHasher::default().hash_one((line, fills)) % 1024) as f64 / 1024.0;
        if chance > stays {
            self.lines.remove(&line);
            return None;
        }
        *used = fills;
        Some(*arrival)
    }

    /// Records that the line of a sector, which [`Self::find`] did not find, arrives at `when`.
    pub(crate) fn fill(&mut self, sector: u64, when: u64) {
        let fills = self.fills.entry(trace::warp_of_local(sector)).or_default();
        self.lines.entry(sector / SECTORS_OF_LINE).or_insert_with(|| {
            *fills += 1;
            (*fills, when)
        });
    }
}
