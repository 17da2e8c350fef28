//! Stores. A group is a run of stores to different elements of one window, in any order; another access to shared
//! memory ends it, and so do a store to another window and the end of the block. Rules for a group's elements:
//!
//! - a full window makes one store;
//! - the first two make one, and the last two make one; others stay apart.
//!
//! A vector followed by single elements is not merged. Guarded stores stay apart.

use super::{Effect, GroupKey, Groups, Member, window};
use crate::{passes::distances::Distances, virtual_op::TRUE};

struct OpenGroup {
    key: GroupKey,
    start: i64,
    n_slots: usize,
    present: [bool; 4],
    members: Vec<Member>,
}

pub(super) fn merge(places: &[Vec<(u32, Effect)>], known: &Distances<'_>, groups: &mut Groups) {
    for places in places {
        let mut open: Option<OpenGroup> = None;
        for (_, place) in places {
            if let Effect::Store(key, member) = place {
                let grew = open.as_mut().is_some_and(|open| open.take(key, member));
                if !grew {
                    close(open.take(), groups);
                    open = OpenGroup::new(key, member, known);
                    if open.is_none() {
                        groups.put(member.instr, None);
                    }
                }
            } else {
                close(open.take(), groups);
            }
        }
        close(open, groups);
    }
}

impl OpenGroup {
    fn new(key: &GroupKey, member: &Member, known: &Distances<'_>) -> Option<Self> {
        let size = window(key, known)?;
        if key.guard != TRUE {
            return None;
        }
        let mut open = Self {
            key: *key,
            start: member.offset.div_euclid(size) * size,
            n_slots: (size / i64::from(key.bytes)) as usize,
            present: [false; 4],
            members: Vec::new(),
        };
        open.take(key, member).then_some(open)
    }

    /// Adds the store if it fits the group.
    fn take(&mut self, key: &GroupKey, member: &Member) -> bool {
        if *key != self.key || member.offset < self.start {
            return false;
        }
        let Some(slots) = member.slots(self.start, key.bytes) else { return false };
        if slots.end > self.n_slots || self.present[slots.clone()].contains(&true) {
            return false;
        }
        self.present[slots].fill(true);
        self.members.push(*member);
        true
    }
}

fn close(open: Option<OpenGroup>, groups: &mut Groups) {
    let Some(OpenGroup { key, start, n_slots, present, members }) = open else { return };
    let element = i64::from(key.bytes);
    let vector_first = members[0].n > 1 && members.iter().any(|member| member.n == 1);
    let mut left = members;
    if !vector_first {
        let mut sizes = vec![n_slots];
        if n_slots == 4 {
            sizes.push(2);
        }
        for n in sizes {
            for first in (0..n_slots).step_by(n) {
                if !present[first..first + n].iter().all(|&present| present) {
                    continue;
                }
                let (from, to) = (start + first as i64 * element, start + (first + n) as i64 * element);
                let (inside, others): (Vec<Member>, Vec<Member>) =
                    left.into_iter().partition(|member| (from..to).contains(&member.offset));
                groups.join(&inside, from, to - from);
                left = others;
            }
        }
    }
    left.iter().for_each(|member| groups.put(member.instr, None));
}
