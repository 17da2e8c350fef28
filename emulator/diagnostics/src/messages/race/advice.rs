//! Advice on where to put, or to move, the barrier that orders a race.

use super::RaceMessage;
use crate::locate::spot::{self, Spot};
use crate::{messages::choose::names_its_array, messages::sync, source::statements::Control};
use simt::check::{MissingOrder, MistakeDetails};

pub(super) const READ_FIRST: &str = "read into a variable first, then execute BARRIER in all threads, then write.";

impl RaceMessage<'_> {
    /// Returns the barrier that would order the accesses.
    pub(super) fn barrier(&self) -> &'static str {
        if self.facts.same_warp { "__syncwarp()" } else { "__syncthreads()" }
    }

    /// Places for barriers that order a race and those that are reported with it.
    pub(super) fn spots(&self) -> Vec<Spot> {
        let Self { launch, facts: race, also, .. } = *self;
        let Some(mut spots) = spot::spots(launch, race) else { return Vec::new() };
        for mistake in also {
            let MistakeDetails::Race(other) = &mistake.first.details else { continue };
            let fits = other.missing == race.missing && names_its_array(launch, other);
            let more = spot::spots(launch, other).filter(|_| fits);
            for (spot, more) in spots.iter_mut().zip(more.unwrap_or_default()) {
                *spot = spot.and(more).unwrap_or(*spot);
            }
        }
        spots
    }

    /// Returns advice on where to put a barrier: `put __syncthreads() after line 29, …`.
    pub(super) fn place_barrier(&self, barrier: &str, spot: &Spot, missing: MissingOrder) -> String {
        let Self { launch, main_instr, ref array, .. } = *self;
        let (done, next) = match missing {
            MissingOrder::BeforeOverwriting => ("all reads done", "writes may start"),
            _ => ("all writes done", "reads may start"),
        };
        let outside = match spot.in_branch && barrier == "__syncthreads()" {
            true => ", outside any `if` that not all threads enter",
            false => "",
        };
        let after = launch.numbered(main_instr, spot.file, spot.after);
        match (spot.before, missing) {
            (Some(before), _) => {
                let before = launch.numbered(main_instr, spot.file, before);
                format!("add {barrier} between {after} ({done}) and {before} ({next}){outside}.")
            }
            (None, MissingOrder::BeforeOverwriting) if spot.ends_loop => format!(
                "add {barrier} after {after}, where the loop that reads ends, before the next round writes \
                 to {array}{outside}."
            ),
            (None, MissingOrder::BeforeOverwriting) => {
                format!("add {barrier} after {after}, before the next round writes to {array}{outside}.")
            }
            (None, _) => {
                format!("add {barrier} after {after}, before the next round reads {array}{outside}.")
            }
        }
    }

    /// Returns advice to move a barrier out of its branch, when it stands in the right place but not all threads reach
    /// it.
    pub(super) fn move_out(&self, barrier: u32) -> Option<String> {
        let mut around = self.launch.around(barrier);
        let branch = around.pop().filter(|one| one.enclosure.control == Control::If)?;
        Some(sync::advice(self.launch, self.main_instr, &[Some(branch)]))
    }
}
