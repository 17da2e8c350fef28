//! Loads. Rules for the elements of a window:
//!
//! - three or four make one load of the window, even where one is not needed;
//! - the first two or the last two make one load of half the window; other pairs stay apart;
//! - a repeated load counts once.
//!
//! Loads in different blocks are merged if the earlier block dominates the later one and no store, atomic or barrier
//! between them may change shared memory. Guarded loads are merged within a block, in windows of two elements.

use std::collections::HashMap;

use super::{Effect, GroupKey, Groups, Member, largest_window, window};
use crate::passes::cfg::{Cfg, Dominators};
use crate::{passes::distances::Distances, virtual_op::TRUE};

/// Version of shared memory: 0 on entry, an op's position + 1 after it, or a block with the top bit where some meet.
type MemoryVersion = u32;
const MEETING: MemoryVersion = 1 << 31;

pub(super) fn merge(places: &[Vec<(u32, Effect)>], cfg: &Cfg, known: &Distances<'_>, groups: &mut Groups) {
    let states = states(places, cfg);
    let mut loads: HashMap<(GroupKey, MemoryVersion), Vec<Member>> = HashMap::new();
    for (block, places) in places.iter().enumerate() {
        let mut state = states[block];
        for (at, place) in places {
            match place {
                Effect::Load(key, member) => loads.entry((*key, state)).or_default().push(*member),
                Effect::Store(..) | Effect::EndsAll => state = at + 1,
                Effect::EndsStores => {}
            }
        }
    }
    let dominators = Dominators::new(cfg);
    for ((key, _), mut members) in loads {
        // In this order, dominated blocks follow their dominator without a gap.
        members.sort_by_key(|member| dominators.number(member.block));
        let led = |a: &Member, b: &Member| dominators.dominates(a.block, b.block);
        let mut rest = members.as_slice();
        while let Some(leader) = rest.first() {
            let n = rest.iter().take_while(|member| led(leader, member)).count();
            let (family, others) = rest.split_at(n.max(1));
            by_windows(&key, family, known, groups);
            rest = others;
        }
    }
}

/// Computes the version of shared memory on entry to each block.
fn states(places: &[Vec<(u32, Effect)>], cfg: &Cfg) -> Vec<MemoryVersion> {
    let changed = |places: &Vec<(u32, Effect)>| {
        let last = places.iter().rev();
        let mut last = last.filter(|(_, place)| matches!(place, Effect::Store(..) | Effect::EndsAll));
        last.next().map(|(at, _)| at + 1)
    };
    let after: Vec<Option<MemoryVersion>> = places.iter().map(changed).collect();
    let mut entry: Vec<Option<MemoryVersion>> = vec![None; places.len()];
    entry[0] = Some(0);
    let mut waiting: Vec<u32> = vec![0];
    while let Some(block) = waiting.pop() {
        let Some(out) = after[block as usize].or(entry[block as usize]) else { continue };
        for &next in cfg.successors.of(block) {
            let known = &mut entry[next as usize];
            let met = match *known {
                None => out,
                Some(same) if same == out => continue,
                Some(other) if other == MEETING | next => continue,
                Some(_) => MEETING | next,
            };
            *known = Some(met);
            waiting.push(next);
        }
    }
    // Unreachable blocks have a state of their own.
    let own = |(block, state): (usize, Option<MemoryVersion>)| state.unwrap_or(MEETING | block as u32);
    entry.into_iter().enumerate().map(own).collect()
}

fn by_windows(key: &GroupKey, members: &[Member], known: &Distances<'_>, groups: &mut Groups) {
    let most = largest_window(key);
    let mut windows: HashMap<i64, Vec<Member>> = HashMap::new();
    for member in members {
        let start = member.offset.div_euclid(most) * most;
        windows.entry(start).or_default().push(*member);
    }
    let size = match window(key, known) {
        Some(size) if key.guard == TRUE => size,
        Some(size) => size.min(2 * i64::from(key.bytes)),
        None => i64::from(key.bytes),
    };
    for members in windows.into_values() {
        // An access wider than the window stays, and loads of parts of it disappear.
        let wide: Vec<Member> = members.iter().filter(|m| m.end(key) > m.part(size) + size).copied().collect();
        let mut rest = members;
        for wide in wide {
            let covered = |m: &Member| m.offset >= wide.offset && m.end(key) <= wide.end(key);
            let (inside, others): (Vec<Member>, Vec<Member>) = rest.into_iter().partition(covered);
            groups.join(&inside, wide.offset, wide.end(key) - wide.offset);
            rest = others;
        }
        let mut parts: HashMap<i64, Vec<Member>> = HashMap::new();
        for member in rest {
            parts.entry(member.part(size)).or_default().push(member);
        }
        for (start, members) in parts {
            one_window(key, start, size, members, groups);
        }
    }
}

impl Member {
    fn end(&self, key: &GroupKey) -> i64 {
        self.offset + self.n as i64 * i64::from(key.bytes)
    }

    /// Returns the start of the window of this size.
    fn part(&self, size: i64) -> i64 {
        self.offset.div_euclid(size) * size
    }
}

fn one_window(key: &GroupKey, start: i64, size: i64, members: Vec<Member>, groups: &mut Groups) {
    let element = i64::from(key.bytes);
    let mut present = [false; 4];
    for member in &members {
        match member.slots(start, key.bytes) {
            Some(slots) => present[slots].fill(true),
            None => return alike(key, members, groups),
        }
    }
    let n = present.iter().filter(|&&p| p).count();
    let half = 2 * element;
    let (first, bytes) = match size / element {
        2 if n == 2 => (start, half),
        4 if n >= 3 => (start, 2 * half),
        4 if n == 2 && present[0] && present[1] => (start, half),
        4 if n == 2 && present[2] && present[3] => (start + half, half),
        _ => return alike(key, members, groups),
    };
    groups.join(&members, first, bytes);
}

/// Records loads that stay apart, repeated ones once.
fn alike(key: &GroupKey, members: Vec<Member>, groups: &mut Groups) {
    let mut rest = members;
    while let Some(first) = rest.first().copied() {
        let same = |m: &Member| (m.offset, m.n) == (first.offset, first.n);
        let (family, others): (Vec<Member>, Vec<Member>) = rest.into_iter().partition(same);
        groups.join(&family, first.offset, first.end(key) - first.offset);
        rest = others;
    }
}
