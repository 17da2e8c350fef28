//! New registers: sums in the bank that their column's factors do not use.

use std::collections::{BTreeMap, BTreeSet};

use sass::operation::Operation;

use crate::code::Line;
use crate::flow::{Flow, QUAD, Regions};
use crate::{KEPT, Options, Refusal};

/// Registers of the loop.
pub(crate) struct Allocation {
    pub(crate) regions: Regions,
    pub(crate) flow: Flow,
    pub(crate) sums: Vec<Vec<u8>>,
    /// Registers in which the exit leaves the scaled sums, row by row.
    pub(crate) scaled: Vec<u8>,
    /// First register of what each load brings.
    pub(crate) loads: Vec<u8>,
    /// New names of the registers that only instructions other than multiply-adds and their loads use.
    pub(crate) others: BTreeMap<u8, u8>,
}

impl Allocation {
    pub(crate) fn new(lines: &[Line], options: &Options) -> Result<Allocation, Refusal> {
        let regions = Regions::find(lines)?;
        let flow = Flow::read(&lines[regions.body.clone()])?;
        let products = lines[regions.exit.clone()].iter().filter(|line| line.is(Operation::Fmul));
        let to: BTreeMap<u8, u8> = products.filter_map(|line| line.register(1).zip(line.register(0))).collect();
        let scaled = flow.sums.iter().flatten().map(|sum| to.get(sum).copied()).collect::<Option<Vec<u8>>>();
        let scaled = scaled.ok_or(Refusal("a sum is not scaled behind the loop"))?;
        let (kept, local) = others(&lines[regions.entry.start..regions.body.end], &flow);
        let (inside, outside): (Vec<_>, Vec<_>) = (0..).zip(lines).partition(|(at, _)| regions.all().contains(at));
        let written: BTreeSet<u8> = inside.iter().flat_map(|(_, line)| line.written()).collect();
        let elsewhere: BTreeSet<u8> = outside.iter().flat_map(|(_, line)| line.mentioned()).collect();
        // What only code elsewhere writes may be needed after the loop. Register 1 is the stack pointer.
        let is_taken = |register: &u8| {
            kept.contains(register) || *register == 1 || elsewhere.contains(register) && !written.contains(register)
        };
        if scaled.iter().any(is_taken) {
            return Err(Refusal("a scaled sum takes the register of another value"));
        }
        let is_free = |register: &u8| !is_taken(register) && !scaled.contains(register);
        let mut free: BTreeSet<u8> = (0..options.registers.saturating_sub(KEPT)).filter(is_free).collect();
        let mut quad = || {
            let is_there = |first: &u8| first.is_multiple_of(QUAD) && (0..QUAD).all(|i| free.contains(&(first + i)));
            let first = free.iter().rev().copied().find(is_there).ok_or(Refusal("too few registers"))?;
            free.retain(|register| !(first..first + QUAD).contains(register));
            Ok(first)
        };
        let mut loads = vec![0; flow.loads.len()];
        // Twice the factors of the rows, of four k, and of the columns, of one k: some are multiplied, others loaded.
        for (of_k, n_k) in [(&flow.a, usize::from(QUAD)), (&flow.b, 1)] {
            for turn in 0..2 {
                for i in 0..of_k[0].len() {
                    let first = quad()?;
                    (0..of_k.len()).filter(|k| k / n_k % 2 == turn).for_each(|k| loads[of_k[k][i]] = first);
                }
            }
        }
        let mut take = |is_good: &dyn Fn(&u8) -> bool| {
            let register = free.iter().copied().find(is_good).ok_or(Refusal("too few registers"))?;
            free.remove(&register);
            Ok(register)
        };
        // Each sum lies where the next one is scaled to, in the order of the sums: in the other bank, and no scaled sum
        // replaces another that is still needed.
        let last = take(&|register| register % 2 == scaled[0] % 2)?;
        let sums: Vec<u8> = scaled[1..].iter().copied().chain([last]).collect();
        let sums = sums.chunks(flow.sums[0].len()).map(<[u8]>::to_vec).collect();
        let others = local.into_iter().map(|register| Ok((register, take(&|_| true)?))).collect::<Result<_, _>>()?;
        Ok(Allocation { regions, flow, sums, scaled, loads, others })
    }

    /// Returns the new name of a register that neither multiply-adds nor their loads write.
    pub(crate) fn name(&self, register: u8) -> u8 {
        self.others.get(&register).copied().unwrap_or(register)
    }

    /// Returns the registers that hold the same between two passes of the loop, in the old code and in the new.
    pub(crate) fn correspondence(&self) -> BTreeMap<u8, u8> {
        let sums = self.flow.sums.iter().flatten().copied().zip(self.sums.iter().flatten().copied());
        let factors = self.flow.first.iter().flat_map(|(&load, &old)| (0..QUAD).map(move |part| (load, old, part)));
        let factors = factors.map(|(load, old, part)| (old + part, self.loads[load] + part));
        // A register that serves others within a pass may hold a sum or factor between two.
        self.others.iter().map(|(&old, &new)| (old, new)).chain(sums).chain(factors).collect()
    }
}

/// Returns the registers of all other instructions: those that hold a value before, and the rest.
fn others(lines: &[Line], flow: &Flow) -> (BTreeSet<u8>, BTreeSet<u8>) {
    let (mut kept, mut local) = (BTreeSet::new(), BTreeSet::new());
    for line in lines.iter().filter(|line| !line.is(Operation::Ffma)) {
        kept.extend(line.read().into_iter().filter(|register| !local.contains(register)));
        if !line.is(Operation::Lds) && !is_zero(line, flow) {
            local.extend(line.written().filter(|register| !kept.contains(register)));
        }
    }
    (kept, local)
}

/// Returns whether a line sets sums to zero.
pub(crate) fn is_zero(line: &Line, flow: &Flow) -> bool {
    let is_sum = |register| flow.sums.iter().flatten().any(|&sum| sum == register);
    line.is_zero() && line.written().all(is_sum)
}
