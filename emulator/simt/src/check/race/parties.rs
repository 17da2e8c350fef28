//! Finds the parties of a race: from conflicting marks of warps to accesses, threads and the order that is missing.

use super::bits::{self, Bits, CHUNK};
use super::interval::{Interval, Space};
use super::log::LogEntry;
use crate::check::Collector;
use crate::check::mistake::{AccessKind, MissingOrder, RaceFacts, RaceParty};
use crate::lane_mask::LaneMask;

/// Maximum number of accesses of a block for which the other party is looked up.
const MAX_RESOLVED: u32 = 1024;
/// Maximum number of repeats of an access that are searched for a conflict.
const MAX_REPEATS: u32 = 1 << 12;

impl<S: Space> Interval<S> {
    /// Reports the conflicts between the warp that just ran and others. Each lane is reported once per site and array
    /// in a block, which bounds the cost of a block with many races.
    pub(super) fn resolve(&mut self, conflicts: &mut [(u32, Bits)], out: &mut Collector) {
        conflicts.sort_unstable_by_key(|(chunk, _)| *chunk);
        for at in 0..self.log.entries.len() {
            let own = self.log.entries[at];
            if own.warp() != self.warp || self.resolved >= MAX_RESOLVED {
                continue;
            }
            let array = self.sites.array(S::SPACE, self.log.address(&own, 0, own.mask.first() as u32 & 31));
            let key = (self.warp, self.site_of(own.instr), array);
            let new = own.mask & !self.reported.get(&key).copied().unwrap_or_default();
            if new.is_empty() {
                continue;
            }
            let Some((hits, address)) = self.hits(&own, new, conflicts) else { continue };
            self.resolved += 1;
            let bytes = 1 << self.shift;
            let Some(other) = self.log.find_conflict(&own, address, bytes) else { continue };
            let Some(rival) = self.log.accessing_lane(&other, address, bytes) else { continue };
            *self.reported.entry(key).or_default() |= hits;
            let lane = hits.first() as u32;
            let end = self.end_of(array, conflicts).max(address + bytes);
            let parties = [self.party(&other, rival), self.party(&own, lane)];
            let race = RaceFacts {
                equal: [&own, &other].iter().all(|entry| entry.kind.kind() == AccessKind::Write) && !own.changed,
                missing: self.missing(&own, &other),
                ..RaceFacts::new(S::SPACE, [address, end], parties)
            };
            out.record(race.mistake(self.block, self.warp, hits));
        }
    }

    /// Returns the lanes of `of` that access conflicting units in `entry`, and the first unit of the lowest of them.
    pub(super) fn hits(
        &mut self, entry: &LogEntry, of: LaneMask, conflicts: &[(u32, Bits)],
    ) -> Option<(LaneMask, u64)> {
        let (mut hits, mut first) = (LaneMask::EMPTY, None);
        for lane in of.numbers() {
            'lane: for repeat in 0..entry.count.min(MAX_REPEATS) {
                let start = self.log.address(entry, repeat, lane);
                let end = start.saturating_add(u64::from(entry.bytes())).div_ceil(1 << self.shift);
                for unit in start >> self.shift..end {
                    let Some(chunk) = self.space.chunk(unit / CHUNK) else { continue };
                    let found = conflicts.binary_search_by_key(&chunk, |(chunk, _)| *chunk);
                    let at = (unit % CHUNK) as usize;
                    if found.is_ok_and(|found| conflicts[found].1[at / 64] >> (at % 64) & 1 != 0) {
                        hits |= LaneMask::of(lane as usize);
                        first.get_or_insert(unit << self.shift);
                        break 'lane;
                    }
                }
            }
        }
        first.map(|first| (hits, first))
    }

    /// Returns the end of the last conflicting unit of an array.
    pub(super) fn end_of(&self, array: u64, conflicts: &[(u32, Bits)]) -> u64 {
        let ends = conflicts.iter().filter_map(|(chunk, bits)| {
            let of_array = |unit: &u64| self.sites.array(S::SPACE, self.unit_address(*chunk, *unit)) == array;
            bits::ones(bits, u16::MAX)
                .filter(of_array)
                .last()
                .map(|unit| self.unit_address(*chunk, unit) + (1 << self.shift))
        });
        ends.max().unwrap_or(0)
    }

    pub(super) fn site_of(&self, instr: u32) -> u32 {
        self.sites.site(instr)
    }

    pub(super) fn party(&self, entry: &LogEntry, lane: u32) -> RaceParty {
        RaceParty {
            kind: entry.kind.kind(),
            instr: entry.instr,
            block: self.block,
            thread: entry.warp() * 32 + lane,
            bytes: entry.bytes(),
        }
    }

    /// Returns which order a barrier would have to make. Shown by a warp that makes both accesses in this interval.
    pub(super) fn missing(&self, own: &LogEntry, other: &LogEntry) -> MissingOrder {
        let (write, read) = match (own.kind.kind(), other.kind.kind()) {
            (AccessKind::Read, _) => (other, own),
            (_, AccessKind::Read) => (own, other),
            _ => return MissingOrder::Unknown,
        };
        let (write, read) = (self.site_of(write.instr), self.site_of(read.instr));
        let (mut before_reading, mut before_overwriting) = (false, false);
        for warp in [own.warp(), other.warp()] {
            let span = |site: u32| {
                let of = |entry: &&LogEntry| entry.warp() == warp && self.site_of(entry.instr) == site;
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
}
