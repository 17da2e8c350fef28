//! Instructions that the schedulers of one SM issue, clock by clock, and the work that goes on beside them.

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
    pub work: Work,
}

/// A copy between global and shared memory that goes on by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// Index of the block among those that the SM runs.
    pub block: u32,
    /// Offset of the barrier in shared memory that counts its bytes.
    pub barrier: Option<u32>,
    /// Clocks for which it occupies the unit that copies boxes: none for copies by lanes.
    pub unit: Range<u64>,
    /// Clock at which the bytes are in shared memory, or of a store have been read there.
    pub end: u64,
    pub bytes: u64,
    pub is_store: bool,
}

/// A product on the tensor core of a scheduler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    pub scheduler: u32,
    pub clocks: Range<u64>,
}

/// Work of an SM within a window, in the order in which warps start it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Work {
    /// Clocks for which work is recorded; `None` records nothing.
    pub(crate) window: Option<Range<u64>>,
    pub transfers: Vec<Transfer>,
    pub products: Vec<Product>,
}

impl Work {
    pub(crate) fn transfer(&mut self, transfer: Transfer) {
        if self.records(&(transfer.unit.start..transfer.end)) {
            self.transfers.push(transfer);
        }
    }

    pub(crate) fn product(&mut self, scheduler: usize, clocks: Range<u64>) {
        if self.records(&clocks) {
            self.products.push(Product { scheduler: scheduler as u32, clocks });
        }
    }

    fn records(&self, clocks: &Range<u64>) -> bool {
        let window = self.window.as_ref();
        window.is_some_and(|window| clocks.start.max(window.start) < clocks.end.min(window.end))
    }
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
