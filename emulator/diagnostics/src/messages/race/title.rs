//! First line of a message about a race, and the sentences on how far the race extends.

use std::fmt::Write as _;

use super::RaceMessage;
use crate::words::list;
use program::MemSpace;
use simt::check::{AccessKind, MissingOrder, MistakeDetails};

impl RaceMessage<'_> {
    /// Returns the title; `name` is the element, quoted.
    pub(super) fn title(&self, name: &str) -> String {
        let Self { facts: race, first, second, update, .. } = *self;
        let between_blocks = self.between_blocks();
        let both_write = first.kind == AccessKind::Write && second.kind == AccessKind::Write;
        let atomic = first.kind == AccessKind::Atomic || second.kind == AccessKind::Atomic;
        let whom = if between_blocks { "blocks" } else { "threads" };
        let shared = race.space == MemSpace::Shared;
        let what = match (race.equal, update, both_write) {
            (true, ..) => format!("{whom} write the same value to {name}"),
            (_, true, _) => format!("{whom} update {name}"),
            (_, _, true) if race.same_instruction => format!("threads write different values to {name}"),
            (_, _, true) => format!("two {whom} write to {name}"),
            _ if atomic => format!("{name} is accessed with and without atomics,"),
            _ if between_blocks => format!("{name} is written by one block and read by another"),
            _ if race.same_warp => format!("{name} is written and read by lanes of one warp"),
            _ if shared && race.missing != MissingOrder::Phase => {
                return format!("{name} is written and read with no __syncthreads() between");
            }
            _ => format!("{name} is written and read by two threads"),
        };
        format!("{what} without synchronisation")
    }

    /// Sentences on how much of the array, and how many threads, take part in the race.
    pub(super) fn extent(&self) -> Option<String> {
        let Self { launch, mistake, facts: race, .. } = *self;
        let mut text = String::new();
        if let Some(target) = &self.target
            && target.element.n_elements > 1
        {
            let each = u64::from(target.element.element_bytes.max(1));
            let last = race.end.saturating_sub(1).saturating_sub(target.start) / each;
            if last as i64 > target.element.index {
                let _ = write!(
                    text,
                    "The same holds at least for elements between {} and {}. ",
                    target.element_at(target.element.index),
                    target.element_at(last as i64)
                );
            }
        }
        let [a, b] = race.parties;
        if mistake.n_threads > 1 && a.block == b.block {
            let n = mistake.n_threads;
            let blocks = match (launch.n_blocks(), mistake.n_blocks) {
                (1, _) => String::new(),
                (_, 1) => " of one block".into(),
                (_, blocks) => format!(" in {blocks} blocks"),
            };
            let all = n == launch.threads_per_block() * launch.n_blocks();
            let who = if all { format!("All {n} threads") } else { format!("At least {n} threads") };
            let _ = write!(text, "{who}{blocks} take part.");
        }
        (!text.is_empty()).then(|| text.trim_end().to_owned())
    }

    /// Returns a sentence that names other arrays with the same race.
    pub(super) fn others(&self) -> Option<String> {
        let Self { launch, main_instr, also, .. } = *self;
        let mut names: Vec<String> = Vec::new();
        for mistake in also {
            let MistakeDetails::Race(race) = &mistake.first.details else { continue };
            let write = race.parties.iter().find(|party| party.kind != AccessKind::Read)?;
            let target = launch.target(write.instr, race.space, race.address, 1, write.kind)?;
            let [_, line] = launch.lines_apart(main_instr, [self.first.instr, write.instr]);
            let name = format!("{} ({line})", target.element.name);
            if target.element.name != self.array && !names.contains(&name) {
                names.push(name);
            }
        }
        (!names.is_empty()).then(|| format!("The same happens to {}.", list(&names)))
    }
}
