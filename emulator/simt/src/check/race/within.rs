//! Races between lanes of one warp: units get owners, the lanes that accessed them since the warp last reconverged.

use super::bits::{self, CHUNK, KINDS, bit, rivals};
use super::interval::{Interval, Owner, Partial, Space, changes};
use super::touch::{AccessMark, Touch};
use crate::check::Collector;
use crate::check::mistake::{AccessKind, MissingOrder, RaceFacts, RaceParty};
use crate::{lane_mask::LaneMask, memory::rules};

/// Maximum number of races inside warps that are reported for a block.
const MAX_WITHIN: u32 = 256;
/// Maximum number of chunks for which owners of units are kept.
const MAX_OWNED: usize = 1024;

/// Conflict of an access with another instruction of its warp.
struct Conflict {
    /// Log entry of the other access.
    entry: u32,
    mask: LaneMask,
    /// Address of the first unit.
    address: u64,
    /// End of the last unit.
    end: u64,
    /// Lane of the other access, for the lowest of `mask`.
    rival: u32,
}

impl<S: Space> Interval<S> {
    pub(super) fn check_within_warp(&mut self, touch: &Touch<'_>, out: &mut Collector) {
        if self.chunks.len() > MAX_OWNED || self.n_within >= MAX_WITHIN {
            return;
        }
        self.index_owners();
        let unit_bytes = 1u64 << self.shift;
        let mut found: Vec<Conflict> = Vec::new();
        for lane in touch.mask.numbers() {
            let start = touch.address(lane) >> self.shift;
            let end = (touch.address(lane) + u64::from(touch.bytes)).div_ceil(unit_bytes);
            for unit in start..end {
                let Some((entry, rival)) = self.rival_owner(touch.kind, unit, lane) else { continue };
                let address = unit << self.shift;
                let instr = self.log.entries[entry as usize].instr;
                let same = |found: &&mut Conflict| self.log.entries[found.entry as usize].instr == instr;
                match found.iter_mut().find(same) {
                    Some(found) => {
                        found.mask |= LaneMask::of(lane as usize);
                        found.address = found.address.min(address);
                        found.end = found.end.max(address + unit_bytes);
                    }
                    None => found.push(Conflict {
                        entry,
                        mask: LaneMask::of(lane as usize),
                        address,
                        end: address + unit_bytes,
                        rival,
                    }),
                }
            }
        }
        if self.fenced && self.strong {
            return;
        }
        for Conflict { entry, mask, address, end, rival } in found {
            self.n_within += 1;
            let other = self.log.entries[entry as usize];
            let write = AccessKind::Write;
            let both_write = touch.kind.kind() == write && other.kind.kind() == write;
            // One store reported lane by lane: not a race of two instructions, and its values are not known.
            if both_write && touch.values.is_none() && touch.instr == other.instr {
                continue;
            }
            let equal = both_write && !changes(touch, mask);
            let own = self.touching_party(touch, mask.first() as u32);
            let missing = match (other.kind.kind(), touch.kind.kind()) {
                (AccessKind::Write, AccessKind::Read) => MissingOrder::BeforeReading,
                (AccessKind::Read, AccessKind::Write) => MissingOrder::BeforeOverwriting,
                _ => MissingOrder::Unknown,
            };
            let race = RaceFacts {
                equal,
                same_warp: true,
                missing,
                left_out: self.left_out(mask.first() as u32, rival),
                ..RaceFacts::new(S::SPACE, [address, end], [self.party(&other, rival), own])
            };
            out.record(race.mistake(self.block, touch.warp, mask));
        }
    }

    /// Returns the instruction and mask of a warp sync that one of the two lanes took part in and the other did not.
    fn left_out(&self, lane: u32, rival: u32) -> Option<(u32, LaneMask)> {
        let last = |lane: u32| self.partial.as_ref()?.last[lane as usize & 31];
        let (instr, mask) = last(lane).or_else(|| last(rival))?;
        let both = LaneMask::of(lane as usize & 31) | LaneMask::of(rival as usize & 31);
        (mask & both != both).then_some((instr, mask))
    }

    /// Reports where lanes store different values to one address in one instruction.
    pub(super) fn check_within_instruction(&mut self, touch: &Touch<'_>, out: &mut Collector) {
        let Some(values) = touch.values else { return };
        let unit_bytes = 1u32 << self.shift;
        let mut stores: Vec<(u64, u32, u64)> = Vec::new();
        for lane in touch.mask.numbers() {
            for offset in (0..touch.bytes).step_by(unit_bytes as usize) {
                let address = touch.address(lane) + u64::from(offset);
                let size = unit_bytes.min(touch.bytes - offset);
                stores.push((address, lane, values.stored(lane, offset, size)));
            }
        }
        rules::sort(&mut stores);
        let mut mask = LaneMask::EMPTY;
        let mut first = None;
        for pair in stores.windows(2) {
            if pair[0].0 == pair[1].0 && pair[0].2 != pair[1].2 {
                mask |= LaneMask::of(pair[0].1 as usize) | LaneMask::of(pair[1].1 as usize);
                first.get_or_insert((pair[0].0, pair[0].1, pair[1].1));
            }
        }
        let Some((address, a, b)) = first else { return };
        let parties = [a, b].map(|lane| self.touching_party(touch, lane));
        let race = RaceFacts {
            same_warp: true,
            same_instruction: true,
            ..RaceFacts::new(S::SPACE, [address, address + u64::from(unit_bytes)], parties)
        };
        out.record(race.mistake(self.block, touch.warp, mask));
    }

    /// Returns a lane of an access that is being made.
    fn touching_party(&self, touch: &Touch<'_>, lane: u32) -> RaceParty {
        RaceParty {
            kind: touch.kind.kind(),
            instr: touch.instr,
            block: self.block,
            thread: touch.warp * 32 + lane,
            bytes: touch.bytes,
        }
    }

    /// Adds the log entries since the warp last reconverged to the owners.
    fn index_owners(&mut self) {
        for index in self.log.first_since_sync..self.log.entries.len() {
            let entry = self.log.entries[index];
            for repeat in entry.indexed..entry.count {
                for lane in entry.mask.numbers() {
                    let address = self.log.address(&entry, repeat, lane);
                    let end = address.saturating_add(u64::from(entry.bytes())).div_ceil(1 << self.shift);
                    for unit in address >> self.shift..end {
                        self.set_owner(unit, entry.kind, index as u32, lane);
                    }
                }
            }
            self.log.entries[index].indexed = entry.count;
        }
    }

    fn set_owner(&mut self, unit: u64, kind: AccessMark, entry: u32, lane: u32) {
        let Some(chunk) = self.space.chunk(unit / CHUNK) else { return };
        let chunk = chunk as usize;
        let partial = self.partial.is_some();
        if chunk >= self.owners.len() {
            self.owners.resize_with(chunk + 1, || None);
        }
        let owners = self.owners[chunk]
            .get_or_insert_with(|| vec![[Owner::default(); KINDS.len()]; CHUNK as usize].into_boxed_slice());
        let owner = &mut owners[(unit % CHUNK) as usize][kind as usize];
        let name = lane as u8 + 1;
        if owner.step != self.step {
            *owner = Owner { step: self.step, entry: [entry, 0], lane: [name, 0] };
        } else if let Some(at) = (0..2).find(|&at| owner.lane[at] == name) {
            owner.entry[at] = if partial { entry } else { owner.entry[at] };
        } else if owner.lane[1] == 0 || partial {
            // After a sync of some lanes the latest owner is kept: earlier ones may be ordered.
            owner.entry[1] = entry;
            owner.lane[1] = name;
        }
    }

    /// Returns the number below which log entries of `other` are ordered before what `lane` does now.
    fn seen(&self, lane: u32, other: u32) -> u32 {
        let accesses = |partial: &Partial| partial.seen[lane as usize & 31][other as usize & 31];
        self.partial.as_deref().map_or(0, accesses)
    }

    /// Returns the log entry and the lane of a conflicting access to a unit, since the warp last reconverged.
    fn rival_owner(&mut self, kind: AccessMark, unit: u64, lane: u32) -> Option<(u32, u32)> {
        let chunk = self.space.chunk(unit / CHUNK)?;
        let owners = self.owners.get(chunk as usize)?.as_ref()?;
        let owners = &owners[(unit % CHUNK) as usize];
        let name = lane as u8 + 1;
        bits::KINDS.into_iter().filter(|&other| rivals(kind) & bit(other) != 0).find_map(|other| {
            let owner = owners[other as usize];
            (0..2)
                .filter(|_| owner.step == self.step)
                .find(|&at| {
                    owner.lane[at] != 0
                        && owner.lane[at] != name
                        && owner.entry[at] >= self.seen(lane, u32::from(owner.lane[at]) - 1)
                })
                .map(|at| (owner.entry[at], u32::from(owner.lane[at]) - 1))
        })
    }
}
