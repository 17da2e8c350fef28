//! The time line of the busiest loop as letters.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use catalog::text::{Paint, wrapped};
use tasks::explain::machine_code::{MachineCodeExplanation, Reason, Slot, Timeline, Unit};

use super::window;

const WIDTH: usize = 100;
/// Columns of a time line of text.
const COLUMNS: u32 = 84;

/// Issues of the schedulers during one pass of the busiest loop: a letter for each clock, or for several.
pub(super) fn time_line(machine: &MachineCodeExplanation, timeline: &Timeline, all: bool, paint: Paint) -> String {
    // All of it in one row, or clock by clock.
    let each = if all { 1 } else { timeline.clocks.div_ceil(COLUMNS).max(1) };
    let line_of = |address: u32| {
        let found = machine.instructions.iter().find(|i| i.address == address);
        found.map_or(0, |i| i.line)
    };
    let shown = window(timeline);
    let title = format!(
        "one pass of the busiest loop, {:04x} to {:04x} (its branch is of line {}), while {} warps share the \
         multiprocessor: {shown}",
        timeline.first,
        timeline.last,
        line_of(timeline.last),
        timeline.warps
    );
    let mut out = format!("\n{}", wrapped(&title, "", WIDTH));
    let rows: Vec<Vec<char>> =
        timeline.schedulers.iter().map(|slots| letters(machine, slots, timeline.clocks, each)).collect();
    let n = rows.iter().map(Vec::len).max().unwrap_or(0);
    for first in (0..n).step_by(COLUMNS as usize) {
        let clock = first as u32 * each;
        if n > COLUMNS as usize {
            out.push_str(&format!("  {}\n", paint.dim(&format!("from clock {clock}"))));
        }
        for (number, row) in rows.iter().enumerate() {
            let part: String = row.iter().skip(first).take(COLUMNS as usize).collect();
            out.push_str(&format!("  sched {number} {part}\n"));
        }
    }
    let legend: Vec<String> =
        Unit::ALL.iter().map(|unit| format!("{} {}", unit.letter(), unit.description())).collect();
    let gaps: Vec<String> = Reason::ALL
        .iter()
        .filter(|reason| **reason != Reason::NotSelected)
        .map(|reason| format!("{} {}", reason.letter(), reason.description()))
        .collect();
    let letter = match each {
        1 => "each letter is a clock".to_owned(),
        each => {
            format!("each letter is {each} clocks: the unit or stall that took most of them; clock by clock with --all")
        }
    };
    let text = format!(
        "{letter}. Issued: {}. Nothing issued, because the next warp waits for: {}.",
        legend.join(", "),
        gaps.join(", ")
    );
    out.push_str(&wrapped(&text, "  ", WIDTH));
    out
}

/// Returns a letter for each so many clocks of a scheduler: what issued in half of them or more, or else why nothing
/// did.
fn letters(machine: &MachineCodeExplanation, slots: &[Slot], clocks: u32, each: u32) -> Vec<char> {
    let mut all = vec![Reason::Fixed.letter(); clocks as usize];
    let mut next = 0;
    for slot in slots {
        let waited = slot.waited.unwrap_or(Reason::Fixed).letter();
        for clock in next..slot.clock.min(clocks) {
            all[clock as usize] = waited;
        }
        let unit =
            machine.instructions.get(slot.instruction as usize).map_or(Unit::Other, |instruction| instruction.unit);
        if let Some(clock) = all.get_mut(slot.clock as usize) {
            *clock = unit.letter();
        }
        next = slot.clock + 1;
    }
    let commonest = |part: &[char]| {
        let issued = part.iter().filter(|c| c.is_ascii_uppercase()).count() * 2 >= part.len();
        let mut seen: BTreeMap<char, usize> = BTreeMap::new();
        for c in part.iter().filter(|c| c.is_ascii_uppercase() == issued) {
            *seen.entry(*c).or_default() += 1;
        }
        let most = seen.into_iter().max_by_key(|(_, n)| *n);
        most.map_or(Reason::Fixed.letter(), |(c, _)| c)
    };
    all.chunks(each.max(1) as usize).map(commonest).collect()
}
