//! The code with new registers, in a new order, with new control bits.

use std::collections::{BTreeSet, VecDeque};

use sass::instruction::{Control, Instruction, Register, Value};
use sass::operation::Operation;

use crate::allocate::{Allocation, is_zero};
use crate::code::Line;
use crate::flow::{Flow, QUAD, Regions};
use crate::{Options, Refusal};

/// Scoreboards by what waits for them.
struct Scoreboards {
    /// Loads that are issued in an even k, and in an odd one.
    loads: [u8; 2],
    /// Loads whose address registers change.
    addresses: u8,
    /// Other instructions.
    others: u8,
    /// Scoreboards of instructions that are left as they are.
    kept: u8,
}

impl Scoreboards {
    fn new(body: &[Line]) -> Result<Scoreboards, Refusal> {
        let kept = body.iter().filter(|line| line.instruction.is_none()).filter_map(Line::write_barrier);
        let kept = kept.fold(0, |mask, barrier| mask | 1 << barrier);
        let mut free = (0..6).filter(|barrier| kept >> barrier & 1 == 0);
        let mut next = || free.next().ok_or(Refusal("too few scoreboards"));
        Ok(Scoreboards { loads: [next()?, next()?], addresses: next()?, others: next()?, kept })
    }

    fn all(&self) -> u8 {
        let Scoreboards { loads: [even, odd], addresses, others, .. } = *self;
        1 << even | 1 << odd | 1 << addresses | 1 << others
    }
}

/// Writes the regions again.
pub(crate) fn rewrite(
    lines: &mut [Line], regions: &Regions, flow: &Flow, new: &Allocation, options: &Options,
) -> Result<(), Refusal> {
    let scoreboards = Scoreboards::new(&lines[regions.body.clone()])?;
    body(&mut lines[regions.body.clone()], regions.body.start, flow, new, options, &scoreboards)?;
    entry(lines, regions, flow, new)?;
    exit(lines, regions, new, &scoreboards);
    Ok(())
}

/// Replaces an instruction, which stays where it is.
pub(crate) fn set(line: &mut Line, at: usize, change: impl FnOnce(&mut Instruction)) {
    let mut instruction = line.instruction.clone().expect("it is decoded");
    change(&mut instruction);
    *line = Line::decode(instruction.encode().expect("registers and control bits have room"), at);
}

fn set_register(instruction: &mut Instruction, operand: usize, register: u8) {
    instruction.operands[operand].value = Value::Register(Register(register));
}

fn entry(lines: &mut [Line], regions: &Regions, flow: &Flow, new: &Allocation) -> Result<(), Refusal> {
    let sums: BTreeSet<u8> = new.sums.iter().flatten().copied().collect();
    let is_pair = |first: &u8| first.is_multiple_of(2) && sums.contains(&(first + 1));
    let mut pairs: VecDeque<u8> = sums.iter().copied().filter(is_pair).collect();
    let is_single = |sum: &u8| !sums.contains(&(sum ^ 1));
    let mut singles: VecDeque<u8> = sums.iter().copied().filter(is_single).collect();
    // The loop may be skipped.
    let skips = |at: &usize| lines[*at].target() == Some(regions.body.end);
    let last = regions.entry.clone().rev().find(skips).unwrap_or(regions.body.start);
    let zeros: Vec<usize> = regions.entry.clone().filter(|&at| is_zero(&lines[at], flow)).collect();
    let n_pairs = zeros.iter().filter(|&&at| at < last && lines[at].is(Operation::Cs2r)).count();
    while pairs.len() > n_pairs {
        let first = pairs.pop_back().expect("it is not empty");
        singles.extend([first, first + 1]);
    }
    let (any_pair, any_single) = (pairs.front().copied(), singles.front().copied());
    for &at in &zeros {
        let queue = if lines[at].is(Operation::Cs2r) { &mut pairs } else { &mut singles };
        let next = if at < last { queue.pop_front() } else { None };
        // There are more instructions than registers.
        let again = if lines[at].is(Operation::Cs2r) { any_pair } else { any_single };
        let register = next.or(again).ok_or(Refusal("nothing is left to be zeroed"))?;
        set(&mut lines[at], at, |instruction| set_register(instruction, 0, register));
    }
    if !pairs.is_empty() || !singles.is_empty() {
        return Err(Refusal("too few instructions zero the sums"));
    }
    for at in regions.entry.clone().filter(|at| !zeros.contains(at)) {
        if lines[at].is(Operation::Lds) {
            let old = lines[at].register(0);
            let load = flow.first.iter().find_map(|(&load, &first)| (Some(first) == old).then_some(load));
            let load = load.ok_or(Refusal("a load before the loop brings no factor"))?;
            let register = new.of_load(flow, load).ok_or(Refusal("a load brings no factor"))?;
            set(&mut lines[at], at, |instruction| set_register(instruction, 0, register));
        } else {
            lines[at].rename(at, |register| new.others.get(&register).copied().unwrap_or(register));
        }
    }
    Ok(())
}

fn exit(lines: &mut [Line], regions: &Regions, new: &Allocation, scoreboards: &Scoreboards) {
    let places = new.scaled.iter().flatten().zip(new.sums.iter().flatten());
    let products: Vec<usize> = regions.exit.clone().filter(|&at| lines[at].is(Operation::Fmul)).collect();
    for (&at, (&to, &from)) in products.iter().zip(places) {
        set(&mut lines[at], at, |instruction| {
            set_register(instruction, 0, to);
            set_register(instruction, 1, from);
        });
    }
    // Registers of loads that no pass uses have other values from here on.
    let first = regions.exit.start;
    set(&mut lines[first], first, |instruction| instruction.control.wait |= scoreboards.all());
}

/// Columns of a row in the order of their multiply-adds, for an even row; an odd one has the opposite order.
///
/// Where rows turn, the factor of the column is kept and that of the row is read: it must not lie in the bank of the sum.
/// The factor of row and k lies in bank k % 2.
fn columns(n: usize, k: usize) -> Vec<usize> {
    let mut columns: Vec<usize> = (0..n).collect();
    if k.is_multiple_of(2) {
        columns.swap(n - 2, n - 1)
    } else {
        columns.swap(0, 1)
    }
    columns
}

fn body(
    lines: &mut [Line], start: usize, flow: &Flow, new: &Allocation, options: &Options, scoreboards: &Scoreboards,
) -> Result<(), Refusal> {
    let mut queue = sequence(lines, flow, new, options, scoreboards)?.into_iter();
    let mut slow = BTreeSet::new();
    for (at, line) in lines.iter_mut().enumerate() {
        if line.is(Operation::Ffma) || flow.loads.contains(&at) {
            let mut instruction = queue.next().expect("there are as many as before");
            instruction.address = ((start + at) * 16) as u32;
            line.instruction = Some(instruction);
            set(line, start + at, |_| {});
            continue;
        }
        // All others stay where they are: attributes of the kernel have the addresses of some.
        line.rename(start + at, |register| new.others.get(&register).copied().unwrap_or(register));
        let (read, written) = (line.read(), line.written());
        if line.instruction.is_some() {
            set(line, start + at, |Instruction { control, .. }| {
                control.reuse = 0;
                control.wait &= scoreboards.kept;
                if read.iter().any(|register| slow.contains(register)) {
                    control.wait |= 1 << scoreboards.others;
                }
                if control.write_barrier.is_some() {
                    control.write_barrier = Some(scoreboards.others);
                    slow.extend(written.into_iter().flatten());
                }
            });
        }
    }
    hold_addresses(lines, start, scoreboards);
    Ok(())
}

/// Returns the multiply-adds and their loads in the order in which they are issued.
fn sequence(
    lines: &[Line], flow: &Flow, new: &Allocation, options: &Options, scoreboards: &Scoreboards,
) -> Result<Vec<Instruction>, Refusal> {
    let quad = usize::from(QUAD);
    let (n_k, n_rows, n_cols) = (flow.a.len(), flow.sums.len(), flow.sums[0].len());
    // Of the rows' factors for the next four k, each k loads a part.
    let n_parts = n_rows.div_ceil(quad);
    if options.places.len() != n_cols / quad + n_parts {
        return Err(Refusal("there are not as many places as loads"));
    }
    if options.places.iter().any(|&place| place >= n_rows * n_cols) {
        return Err(Refusal("a place is behind the last multiply-add"));
    }
    let ffma = lines.iter().find(|line| line.is(Operation::Ffma)).and_then(|line| line.instruction.as_ref());
    let ffma = ffma.expect("the loop has some");
    let plain = Control { stall: 1, ..Control::default() };
    let mut sequence = Vec::new();
    for k in 0..n_k {
        let of_b = flow.b[(k + 1) % n_k].iter();
        let of_a = flow.a[(k / quad + 1) * quad % n_k].iter().skip(k % quad * n_parts).take(n_parts);
        let loads: Vec<(usize, usize)> = options.places.iter().copied().zip(of_b.chain(of_a).copied()).collect();
        let columns = columns(n_cols, k);
        for i in 0..n_rows * n_cols {
            for &(_, load) in loads.iter().filter(|&&(place, _)| place == i) {
                let mut instruction = lines[flow.loads[load]].instruction.clone().expect("loads are decoded");
                set_register(&mut instruction, 0, new.of_load(flow, load).expect("it is a load of the flow"));
                instruction.control = Control { write_barrier: Some(scoreboards.loads[k % 2]), ..plain };
                sequence.push(instruction);
            }
            let (row, step) = (i / n_cols, i % n_cols);
            let col = columns[if row % 2 == 0 { step } else { n_cols - 1 - step }];
            let sum = new.sums[row][col];
            let a = new.a[k / quad % 2][row] + (k % quad) as u8;
            let b = new.b[k % 2][col / quad] + (col % quad) as u8;
            let mut instruction = ffma.clone();
            for (operand, register) in [sum, a, b, sum].into_iter().enumerate() {
                set_register(&mut instruction, operand, register);
            }
            // What the next one needs, too: the factor of the row, or where rows turn that of the column.
            let reuse = match (step + 1 < n_cols, row + 1 < n_rows) {
                (true, _) => 1,
                (false, true) => 2,
                (false, false) => 0,
            };
            // Loads of the k before, which bring what this one needs.
            let wait = if i == 0 { 1 << scoreboards.loads[(k + 1) % 2] } else { 0 };
            instruction.control = Control { reuse, wait, ..plain };
            sequence.push(instruction);
        }
    }
    Ok(sequence)
}

/// Lets instructions that change an address wait until loads have read it.
fn hold_addresses(lines: &mut [Line], start: usize, scoreboards: &Scoreboards) {
    for at in 0..lines.len() {
        let Some(changed) = lines[at].written() else { continue };
        if lines[at].is(Operation::Lds) || lines[at].is(Operation::Ffma) {
            continue;
        }
        let mut waited = 0;
        for before in (0..at).rev() {
            let line = &mut lines[before];
            let is_reader = line.is(Operation::Lds) && line.read().iter().any(|register| changed.contains(register));
            if is_reader && line.write_barrier().is_none_or(|barrier| waited >> barrier & 1 == 0) {
                set(line, start + before, |load| load.control.read_barrier = Some(scoreboards.addresses));
                set(&mut lines[at], start + at, |other| other.control.wait |= 1 << scoreboards.addresses);
            } else {
                waited |= line.wait();
            }
        }
    }
}
