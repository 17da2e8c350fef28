//! Caches from which the least recently used entry goes first: the one that is L1 has lines of four sectors.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

const SECTORS_OF_LINE: u64 = 4;

/// The entries that were used last, by number.
#[derive(Debug)]
pub(crate) struct Recent<T> {
    max_entries: usize,
    /// Each with the date of its last use.
    entries: HashMap<u64, (T, u64), BuildLineHash>,
    /// Numbers and dates in the order of use, with outdated ones.
    order: VecDeque<(u64, u64)>,
    /// Number of uses so far, which dates them.
    uses: u64,
}

impl<T: Default> Recent<T> {
    pub(crate) fn new(max_entries: usize) -> Self {
        Self { max_entries: max_entries.max(1), entries: HashMap::default(), order: VecDeque::new(), uses: 0 }
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

/// A fully associative cache: the hash of a real one spreads lines evenly. A line has the time at which each sector
/// arrives or arrived; `None` for one that was never requested.
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

/// Hash of line numbers. They come from kernels, so it need not resist numbers chosen to collide.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LineHash(u64);

pub(crate) type BuildLineHash = BuildHasherDefault<LineHash>;

impl Hasher for LineHash {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(23) ^ n).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(n.into());
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_was_not_used_longest_goes() {
        let mut cache = Cache::new(2 * 128);
        cache.fill(0, 5);
        cache.fill(4, 6);
        assert_eq!(cache.find(0), Some(5));
        assert_eq!(cache.find(1), None);
        cache.fill(8, 7);
        assert_eq!([cache.find(0), cache.find(4), cache.find(8)], [Some(5), None, Some(7)]);
    }
}
