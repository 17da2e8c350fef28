//! New registers: sums in the bank that their column's factors do not use.

use std::collections::{BTreeMap, BTreeSet};

use sass::operation::Operation;

use crate::code::Line;
use crate::flow::{Flow, QUAD, Regions};
use crate::{KEPT, Options, Refusal};

/// Registers of the loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Allocation {
    pub(crate) sums: Vec<Vec<u8>>,
    /// Where the exit leaves the scaled sums.
    pub(crate) scaled: Vec<Vec<u8>>,
    /// First register of the factors of each row: of four k, and of the four after them.
    pub(crate) a: [Vec<u8>; 2],
    /// First register of the factors of four columns: of one k, and of the next.
    pub(crate) b: [Vec<u8>; 2],
    /// New names of the registers that only instructions other than multiply-adds and their loads use.
    pub(crate) others: BTreeMap<u8, u8>,
}

impl Allocation {
    pub(crate) fn new(
        lines: &[Line], regions: &Regions, flow: &Flow, options: &Options,
    ) -> Result<Allocation, Refusal> {
        let scaled = scaled(&lines[regions.exit.clone()], flow)?;
        let of_sums: BTreeSet<u8> = scaled.iter().flatten().copied().collect();
        let (kept, local) = others(&lines[regions.entry.start..regions.body.end], flow);
        let (mut mentioned, mut written) = (BTreeSet::new(), BTreeSet::new());
        for (at, line) in lines.iter().enumerate() {
            let inside = regions.entry.start <= at && at < regions.exit.end;
            let list = if inside { &mut written } else { &mut mentioned };
            list.extend(line.written().into_iter().flatten());
            mentioned.extend(line.read().into_iter().filter(|_| !inside));
        }
        // What only code elsewhere writes may be needed after the loop. Register 1 is the stack pointer.
        let is_taken = |register: &u8| {
            kept.contains(register) || *register == 1 || mentioned.contains(register) && !written.contains(register)
        };
        if of_sums.iter().any(is_taken) {
            return Err(Refusal("a scaled sum takes the register of another value"));
        }
        let is_free = |register: &u8| !is_taken(register) && !of_sums.contains(register);
        let mut free: BTreeSet<u8> = (0..options.registers.saturating_sub(KEPT)).filter(is_free).collect();
        let mut quad = || {
            let is_there = |first: &u8| first.is_multiple_of(QUAD) && (0..QUAD).all(|i| free.contains(&(first + i)));
            let first =
                free.iter().rev().copied().find(is_there).ok_or(Refusal("too few registers for the factors"))?;
            free.retain(|register| !(first..first + QUAD).contains(register));
            Ok(first)
        };
        let mut quads = |n: usize| (0..n).map(|_| quad()).collect::<Result<Vec<u8>, Refusal>>();
        let (rows, cols) = (flow.a[0].len(), flow.b[0].len());
        let a = [quads(rows)?, quads(rows)?];
        let b = [quads(cols)?, quads(cols)?];
        let mut take = |is_good: &dyn Fn(&u8) -> bool| {
            let register = free.iter().copied().find(is_good).ok_or(Refusal("too few registers"))?;
            free.remove(&register);
            Ok(register)
        };
        // Each sum lies where the next one is scaled to, in the order of the sums: in the other bank, and no scaled sum
        // replaces another that is still needed.
        let mut flat: Vec<u8> = scaled.iter().flatten().copied().collect();
        let first = flat.remove(0);
        flat.push(take(&|register| register % 2 == first % 2)?);
        let sums = flat.chunks(scaled[0].len()).map(<[u8]>::to_vec).collect();
        let others = local.into_iter().map(|register| Ok((register, take(&|_| true)?))).collect::<Result<_, _>>()?;
        Ok(Allocation { sums, scaled, a, b, others })
    }

    pub(crate) fn scaled(&self) -> BTreeSet<u8> {
        self.scaled.iter().flatten().copied().collect()
    }

    /// Returns the registers that hold the same between two passes of the loop, in the old code and in the new.
    pub(crate) fn correspondence(&self, flow: &Flow) -> BTreeMap<u8, u8> {
        let sums = flow.sums.iter().flatten().copied().zip(self.sums.iter().flatten().copied());
        let factors = flow.first.iter().flat_map(|(&load, &old)| {
            let new = self.of_load(flow, load).unwrap_or(old);
            (0..QUAD).map(move |part| (old + part, new + part))
        });
        // A register that serves others within a pass may hold a sum or factor between two.
        self.others.iter().map(|(&old, &new)| (old, new)).chain(sums).chain(factors).collect()
    }

    /// Returns the new register of what a load brings.
    pub(crate) fn of_load(&self, flow: &Flow, load: usize) -> Option<u8> {
        let find = |lists: &[Vec<usize>]| {
            lists.iter().enumerate().find_map(|(k, list)| Some((k, list.iter().position(|&other| other == load)?)))
        };
        let of_a = find(&flow.a).map(|(k, row)| self.a[k / usize::from(QUAD) % 2][row]);
        of_a.or_else(|| find(&flow.b).map(|(k, quad)| self.b[k % 2][quad]))
    }
}

/// Returns where each sum is scaled to, in the places that the sums have.
fn scaled(exit: &[Line], flow: &Flow) -> Result<Vec<Vec<u8>>, Refusal> {
    let mut to = BTreeMap::new();
    for line in exit.iter().filter(|line| line.is(Operation::Fmul)) {
        if let (Some(scaled), Some(sum)) = (line.register(0), line.register(1)) {
            to.insert(sum, scaled);
        }
    }
    let of = |sum: &u8| to.get(sum).copied().ok_or(Refusal("a sum is not scaled behind the loop"));
    flow.sums.iter().map(|row| row.iter().map(of).collect()).collect()
}

/// Returns the registers of all other instructions: those that hold a value before, and the rest.
fn others(lines: &[Line], flow: &Flow) -> (BTreeSet<u8>, BTreeSet<u8>) {
    let (mut kept, mut local) = (BTreeSet::new(), BTreeSet::new());
    for line in lines.iter().filter(|line| !line.is(Operation::Ffma)) {
        let read = line.read();
        kept.extend(read.into_iter().filter(|register| !local.contains(register)));
        let is_load = line.is(Operation::Lds);
        let written = line.written().filter(|_| !is_load && !is_zero(line, flow));
        local.extend(written.into_iter().flatten().filter(|register| !kept.contains(register)));
    }
    (kept, local)
}

/// Returns whether a line sets sums to zero.
pub(crate) fn is_zero(line: &Line, flow: &Flow) -> bool {
    let Some(mut written) = line.written() else { return false };
    let zeros = [Operation::Cs2r, Operation::Hfma2, Operation::Mov];
    let is_sum = |register| flow.sums.iter().flatten().any(|&sum| sum == register);
    zeros.iter().any(|&zero| line.is(zero)) && line.read().is_empty() && written.all(is_sum)
}
