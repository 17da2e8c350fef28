//! The code with new registers, in a new order, with new control bits.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use sass::instruction::{Control, Instruction};
use sass::operation::Operation;

use crate::allocate::{Allocation, is_zero};
use crate::code::{Line, set_register};
use crate::flow::{QUAD, Regions};
use crate::{Options, Refusal};

/// The code of a kernel while its loop is written again.
struct Rewrite<'a> {
    lines: &'a mut [Line],
    new: &'a Allocation,
    /// Scoreboards of loads that are issued in an even k, and in an odd one.
    loads: [u8; 2],
    /// Scoreboard of loads whose address registers change.
    addresses: u8,
    /// Scoreboard of other instructions.
    others: u8,
    /// Scoreboards of instructions that are left as they are.
    kept: u8,
}

/// Writes entry, body and exit again.
pub(crate) fn rewrite(lines: &mut [Line], new: &Allocation, options: &Options) -> Result<(), Refusal> {
    let events = lines[new.regions.body.clone()].iter().filter(|line| line.is(Operation::Syncs));
    let kept =
        events.filter_map(|line| line.instruction.control.write_barrier).fold(0, |mask, barrier| mask | 1 << barrier);
    let free: Vec<u8> = (0..6).filter(|barrier| kept >> barrier & 1 == 0).collect();
    let [even, odd, addresses, others, ..] = free[..] else { return Err(Refusal("too few scoreboards")) };
    let mut rewrite = Rewrite { lines, new, loads: [even, odd], addresses, others, kept };
    let sequence = rewrite.sequence(&options.places)?;
    rewrite.body(sequence)?;
    rewrite.entry()?;
    rewrite.exit();
    Ok(())
}

impl Rewrite<'_> {
    fn entry(&mut self) -> Result<(), Refusal> {
        let Allocation { regions: Regions { entry, body, .. }, flow, .. } = self.new;
        let is_zero = |at: &usize| is_zero(&self.lines[*at], flow);
        let (mut zeros, rest): (Vec<usize>, Vec<usize>) = entry.clone().partition(is_zero);
        // Pairs first.
        zeros.sort_by_key(|&at| Reverse(self.lines[at].written().len()));
        // The loop may be skipped.
        let skips = |at: &usize| self.lines[*at].target() == Some(body.end);
        let last = entry.clone().rev().find(skips).unwrap_or(body.start);
        let mut left: BTreeSet<u8> = self.new.sums.iter().flatten().copied().collect();
        let mut again = [None; 3];
        for at in zeros {
            let n = self.lines[at].written().len();
            let is_there = |first: &u8| n == 1 || first.is_multiple_of(2) && left.contains(&(first + 1));
            // There may be more instructions than registers.
            again[n] = left.iter().copied().find(is_there).filter(|_| at < last).or(again[n]);
            let first = again[n].ok_or(Refusal("nothing is left to be zeroed"))?;
            self.lines[at].set(|instruction| set_register(instruction, 0, first));
            left.retain(|register| !self.lines[at].written().contains(register));
        }
        if !left.is_empty() {
            return Err(Refusal("too few instructions zero the sums"));
        }
        for at in rest {
            let line = &mut self.lines[at];
            let Some(old) = line.register(0).filter(|_| line.is(Operation::Lds)) else {
                line.rename(|register| self.new.name(register));
                continue;
            };
            let load = flow.first.iter().find(|&(_, &first)| first == old);
            let (&load, _) = load.ok_or(Refusal("a load before the loop brings no factor"))?;
            line.set(|instruction| set_register(instruction, 0, self.new.loads[load]));
        }
        Ok(())
    }

    fn exit(&mut self) {
        let exit = &mut self.lines[self.new.regions.exit.clone()];
        let registers = self.new.scaled.iter().zip(self.new.sums.iter().flatten());
        for (line, (&to, &from)) in exit.iter_mut().filter(|line| line.is(Operation::Fmul)).zip(registers) {
            line.set(|instruction| {
                set_register(instruction, 0, to);
                set_register(instruction, 1, from);
            });
        }
        // Registers of loads that no pass uses have other values from here on.
        exit[0].set(|instruction| instruction.control.wait |= 0x3f & !self.kept);
    }

    fn body(&mut self, sequence: Vec<Instruction>) -> Result<(), Refusal> {
        let moves = |&at: &usize| self.lines[at].is(Operation::Ffma) || self.lines[at].is(Operation::Lds);
        let (places, rest): (Vec<usize>, Vec<usize>) = self.new.regions.body.clone().partition(moves);
        if places.len() != sequence.len() {
            return Err(Refusal("the loop has multiply-adds or loads that are not of the product"));
        }
        for (at, instruction) in places.into_iter().zip(sequence) {
            self.lines[at].set(|old| *old = Instruction { address: old.address, ..instruction });
        }
        // All others stay where they are: attributes of the kernel have the addresses of some.
        let mut slow = BTreeSet::new();
        for at in rest {
            let line = &mut self.lines[at];
            line.rename(|register| self.new.name(register));
            if !line.is(Operation::Syncs) {
                let waits = line.read().iter().any(|register| slow.contains(register));
                slow.extend(line.written().filter(|_| line.instruction.control.write_barrier.is_some()));
                line.set(|Instruction { control, .. }| {
                    control.reuse = 0;
                    control.wait = control.wait & self.kept | u8::from(waits) << self.others;
                    control.write_barrier = control.write_barrier.map(|_| self.others);
                });
            }
            self.hold_addresses(at);
        }
        Ok(())
    }

    /// Returns the multiply-adds and their loads in the order in which they are issued.
    fn sequence(&self, places: &[usize]) -> Result<Vec<Instruction>, Refusal> {
        let Allocation { flow, sums, loads, regions, .. } = self.new;
        let body = &self.lines[regions.body.clone()];
        let quad = usize::from(QUAD);
        let (n_k, n_rows, n_cols) = (flow.a.len(), flow.sums.len(), flow.sums[0].len());
        // Of the rows' factors for the next four k, each k loads a part.
        let n_parts = n_rows.div_ceil(quad);
        if places.len() != n_cols / quad + n_parts {
            return Err(Refusal("there are not as many places as loads"));
        }
        if places.iter().any(|&place| place >= n_rows * n_cols) {
            return Err(Refusal("a place is behind the last multiply-add"));
        }
        let ffma = body.iter().find(|line| line.is(Operation::Ffma)).map(|line| &line.instruction);
        let with = |instruction: Option<&Instruction>, registers: &[u8], control| {
            let mut instruction = instruction.expect("it is decoded").clone();
            registers.iter().enumerate().for_each(|(i, register)| set_register(&mut instruction, i, *register));
            Instruction { control: Control { stall: 1, ..control }, ..instruction }
        };
        let mut sequence = Vec::new();
        for k in 0..n_k {
            let of_b = flow.b[(k + 1) % n_k].iter();
            let of_a = flow.a[(k / quad + 1) * quad % n_k].iter().skip(k % quad * n_parts).take(n_parts);
            let placed: Vec<(usize, usize)> = places.iter().copied().zip(of_b.chain(of_a).copied()).collect();
            // Where rows turn, the factor of the column is kept and that of the row is read: it lies in bank k % 2, and
            // the sum must not.
            let mut columns: Vec<usize> = (0..n_cols).collect();
            let turn = if k % 2 == 0 { n_cols - 2 } else { 0 };
            columns.swap(turn, turn + 1);
            for i in 0..n_rows * n_cols {
                for &(_, load) in placed.iter().filter(|&&(place, _)| place == i) {
                    let control = Control { write_barrier: Some(self.loads[k % 2]), ..Control::default() };
                    sequence.push(with(Some(&body[flow.loads[load]].instruction), &[loads[load]], control));
                }
                let (row, step) = (i / n_cols, i % n_cols);
                let col = columns[if row % 2 == 0 { step } else { n_cols - 1 - step }];
                let a = loads[flow.a[k][row]] + (k % quad) as u8;
                let b = loads[flow.b[k][col / quad]] + (col % quad) as u8;
                let sum = sums[row][col];
                // What the next one needs, too: the factor of the row, or where rows turn that of the column.
                let reuse = match (step + 1 < n_cols, row + 1 < n_rows) {
                    (true, _) => 1,
                    (false, true) => 2,
                    (false, false) => 0,
                };
                // Loads of the k before, which bring what this one needs.
                let wait = if i == 0 { 1 << self.loads[(k + 1) % 2] } else { 0 };
                sequence.push(with(ffma, &[sum, a, b, sum], Control { reuse, wait, ..Control::default() }));
            }
        }
        Ok(sequence)
    }

    /// Lets an instruction that changes an address wait until loads have read it.
    fn hold_addresses(&mut self, at: usize) {
        let changed = self.lines[at].written();
        let mut waited = 0;
        for before in (self.new.regions.body.start..at).rev() {
            let line = &self.lines[before];
            let reads = line.is(Operation::Lds) && line.read().iter().any(|register| changed.contains(register));
            if reads && line.instruction.control.write_barrier.is_none_or(|barrier| waited >> barrier & 1 == 0) {
                self.lines[before].set(|load| load.control.read_barrier = Some(self.addresses));
                self.lines[at].set(|other| other.control.wait |= 1 << self.addresses);
            } else {
                waited |= line.instruction.control.wait;
            }
        }
    }
}
