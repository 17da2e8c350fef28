//! The L1 cache: lines of four sectors, the least recently used one goes first.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

const SECTORS_OF_LINE: u64 = 4;

/// A fully associative cache: the hash of a real one spreads lines evenly.
#[derive(Debug)]
pub(crate) struct Cache {
    max_lines: usize,
    lines: HashMap<u64, CacheLine, BuildLineHash>,
    /// Lines and dates in the order of use, with outdated entries.
    order: std::collections::VecDeque<(u64, u64)>,
    /// Number of uses so far, which dates them.
    uses: u64,
}

#[derive(Debug, Clone, Copy)]
struct CacheLine {
    /// Time at which each sector arrives or arrived; `None` for one that was never requested.
    arrivals: [Option<u64>; SECTORS_OF_LINE as usize],
    used: u64,
}

impl Cache {
    pub(crate) fn new(bytes: u64) -> Cache {
        Cache {
            max_lines: (bytes / (32 * SECTORS_OF_LINE)).max(1) as usize,
            lines: HashMap::default(),
            order: std::collections::VecDeque::new(),
            uses: 0,
        }
    }

    /// Returns the time at which the sector is present, if it is or is on its way. Marks its line as used.
    pub(crate) fn find(&mut self, sector: u64) -> Option<u64> {
        let line = self.lines.get_mut(&(sector / SECTORS_OF_LINE))?;
        let arrival = line.arrivals[(sector % SECTORS_OF_LINE) as usize]?;
        self.uses += 1;
        line.used = self.uses;
        self.order.push_back((sector / SECTORS_OF_LINE, self.uses));
        self.trim();
        Some(arrival)
    }

    /// Records that the sector arrives at `when`.
    pub(crate) fn fill(&mut self, sector: u64, when: u64) {
        self.uses += 1;
        let number = sector / SECTORS_OF_LINE;
        let line =
            self.lines.entry(number).or_insert(CacheLine { arrivals: [None; SECTORS_OF_LINE as usize], used: 0 });
        line.used = self.uses;
        line.arrivals[(sector % SECTORS_OF_LINE) as usize] = Some(when);
        self.order.push_back((number, self.uses));
        self.trim();
    }

    /// Removes the least recently used lines, and outdated entries of the order.
    fn trim(&mut self) {
        while let Some(&(number, used)) = self.order.front() {
            let is_current = self.lines.get(&number).is_some_and(|line| line.used == used);
            if is_current && self.lines.len() <= self.max_lines {
                break;
            }
            if is_current {
                self.lines.remove(&number);
            }
            self.order.pop_front();
        }
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
