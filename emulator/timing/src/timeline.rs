//! Instructions that the schedulers of one SM issue, clock by clock.

use std::ops::Range;

use sass::operation::Operation;

use crate::issue::{Issue, SCHEDULERS};
use crate::stall::Stalls;

const INSTRUCTION_BYTES: i64 = 16;

/// An interval of one SM, in the middle of a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// Clocks from the start of the launch.
    pub clocks: Range<u64>,
    /// Instructions of the busiest loop, the branch at its end included. Empty without a loop.
    pub busiest_loop: Range<u32>,
    /// Instructions in the order of issue, by scheduler.
    pub schedulers: [Vec<Issue>; SCHEDULERS],
}

/// Finds the innermost loop that issues the most: from the target of a backward branch through the branch.
pub(crate) fn busiest_loop(code: &sass::CubinKernel, stalls: &[Stalls]) -> Range<u32> {
    let first = code.instructions.first().map_or(0, |first| first.address);
    let mut loops: Vec<Range<u32>> = Vec::new();
    for (i, instruction) in code.instructions.iter().enumerate() {
        let Some(label) = instruction.label() else { continue };
        let to = (label - i64::from(first)) / INSTRUCTION_BYTES;
        if instruction.operation == Operation::Bra && (0..=i as i64).contains(&to) {
            loops.push(to as u32..i as u32 + 1);
        }
    }
    // A branch to itself follows each kernel; nothing executes it.
    let issued = |r: &Range<u32>| -> u64 {
        let of = stalls.get(r.start as usize..r.end as usize).unwrap_or(&[]);
        of.iter().map(|stalls| stalls.issued).sum()
    };
    let is_innermost = |r: &&Range<u32>| {
        let within = |other: &Range<u32>| *other != **r && r.start <= other.start && other.end <= r.end;
        !loops.iter().any(|other| within(other) && 2 * issued(other) > issued(r))
    };
    let busiest = loops.iter().filter(is_innermost).max_by_key(|r| issued(r));
    busiest.filter(|r| issued(r) > 0).cloned().unwrap_or(0..0)
}
