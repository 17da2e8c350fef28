//! The two parties of a race: which threads they are, and their source lines.

use super::{RaceMessage, is_copy};
use crate::launch_context::{LaunchContext, marks};
use simt::check::{AccessKind, RaceParty};

impl RaceMessage<'_> {
    /// Returns the lines on both parties, together when one line of the source is both.
    pub(super) fn parties(&self) -> Vec<String> {
        let Self { launch, facts: race, first, second, update, .. } = *self;
        let same_line = launch.line(first.instr) == launch.line(second.instr)
            && (race.same_instruction || update || first.kind == second.kind);
        if !same_line {
            return [first, second].into_iter().flat_map(|one| self.party(one, &self.done_by(one))).collect();
        }
        let key = |party: &RaceParty| (party.block, party.thread);
        let (first, second) = if key(&second) < key(&first) { (second, first) } else { (first, second) };
        let verb = if update { "update" } else { "write" };
        let both = format!("{} and {} both {verb} it", self.thread_with_group(first), self.thread_with_group(second));
        self.party(first, &both)
    }

    /// Returns an access and its thread: `written by thread (5,0)`.
    fn done_by(&self, party: RaceParty) -> String {
        let does = match party.kind {
            AccessKind::Read => "read",
            AccessKind::Write => "written",
            AccessKind::Atomic => "updated",
        };
        let copy = if is_copy(self.launch, party.instr) { "a bulk copy of " } else { "" };
        format!("{does} by {copy}{}", self.thread_with_group(party))
    }

    /// Returns a thread by its place in the block, with its block or warp.
    fn thread_with_group(&self, party: RaceParty) -> String {
        let launch = self.launch;
        let thread = format!("thread {}", launch.thread_position(u64::from(party.thread)));
        if self.between_blocks() {
            return format!("{thread} of block {}", launch.block_position(party.block));
        }
        if launch.threads_per_block() > 32 { format!("{thread} (warp {})", party.thread / 32) } else { thread }
    }

    /// Returns the lines on a party: `written by thread (5,0):`, its source line and the marks under it.
    fn party(&self, party: RaceParty, intro: &str) -> Vec<String> {
        let Self { launch, main_instr, .. } = *self;
        let elsewhere = launch.elsewhere(main_instr, party.instr);
        let mut lines = vec![format!("{intro}{elsewhere}:")];
        let place = launch.place(party.instr);
        // The compiler names no line for what it reads before the loop.
        let is_unnamed = place.text.is_none() && party.kind == AccessKind::Read;
        let before_loop = is_unnamed.then(|| self.loop_of_nothing()).flatten();
        let of_loop = before_loop.and_then(|one| Some((one.line, launch.source_of_file(one.file)?.line(one.line)?)));
        lines.push(of_loop.map_or_else(|| place.listed(), |(line, text)| format!("{line:>4} | {text}")));
        let Some(text) = &place.text else { return lines };
        let marks = marks(text, &self.underlined(party));
        if !marks.is_empty() {
            lines.push(format!("     | {marks}"));
        }
        lines.extend(launch.calls(main_instr, party.instr));
        lines
    }

    /// Returns the byte columns of a party's line that name the array: the use that gives the element, or all uses.
    pub(super) fn underlined(&self, party: RaceParty) -> Vec<(usize, usize)> {
        let launch = self.launch;
        let Some(target) = &self.target else { return Vec::new() };
        let explained = launch.explain(party.instr, target, party.kind, party.thread_id());
        launch.underlined(party.instr, target, party.kind, explained.as_ref())
    }
}

/// Returns whether both parties are one read-modify-write of one element: `bins[i] += 1`.
pub(super) fn is_update(launch: &LaunchContext<'_>, first: RaceParty, second: RaceParty, array: &str) -> bool {
    let (a, b) = (launch.loc(first.instr), launch.loc(second.instr));
    let same = a.is_some() && a.map(|loc| (loc.file, loc.line)) == b.map(|loc| (loc.file, loc.line));
    if !same || first.kind == AccessKind::Atomic || second.kind == AccessKind::Atomic {
        return false;
    }
    if launch.source_of(first.instr).is_none() {
        // Without the text: a load and a store through one register.
        let operand = |instr: u32| {
            launch.info(instr)?.text.split_once('[')?.1.split_once(']').map(|(inside, _)| inside.to_owned())
        };
        let (a, b) = (operand(first.instr), operand(second.instr));
        return a.is_some() && a == b && first.instr != second.instr;
    }
    let uses = launch.uses(first.instr, array, AccessKind::Write);
    let line = a.map_or(0, |loc| loc.line);
    let all = launch.source_of(first.instr).map(|source| source.uses(line, array)).unwrap_or_default();
    all.len() == 1 && uses.iter().any(|found| found.stored && found.loaded)
}
