//! Proof that code with new registers and a new order computes the same, and that no value is read too early.
//!
//! Both codes are executed with symbols in place of values: what a register holds is the expression that made it. It
//! suffices to go through the loop once: registers that correspond before a pass correspond after it.
//!
//! Taken for granted: that nothing behind the loop needs a register that the compiler's own loop replaces, but the
//! scaled sums; that loads which wait for copies take their addresses from what the wait decides, as those of v11 do;
//! that branches past the loop, and past a part of it, find what the straight path leaves (a test runs no step, too);
//! that reuse bits name a register that is still the same.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use sass::instruction::{Constant, Index, Uniform, Value};
use sass::operation::{Modifier, Operation};

use crate::code::Line;
use crate::flow::Regions;
use crate::{KEPT, Refusal};

/// A register or predicate, which holds a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Place {
    Register(u8),
    Uniform(u8),
    Predicate(u8),
    UniformPredicate(u8),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Expression {
    Before(Place),
    Zero,
    /// A value that no other register holds.
    Lost(u8),
    /// Output of an instruction: its bits without registers and control, its inputs, and the number of the output, or
    /// of the event.
    Output(u128, Vec<usize>, usize),
}

/// All expressions of both codes; equal ones have one number.
type Expressions = RefCell<HashMap<Expression, usize>>;

fn number(expressions: &Expressions, expression: Expression) -> usize {
    let mut numbers = expressions.borrow_mut();
    let next = numbers.len();
    *numbers.entry(expression).or_insert(next)
}

/// A code that is executed with symbols.
struct Run<'a> {
    expressions: &'a Expressions,
    values: BTreeMap<Place, usize>,
    /// Loads so far.
    loads: BTreeSet<usize>,
    events: Vec<Event>,
}

/// An access to a barrier of copies: whether it only looks, expression, and the loads before it.
type Event = (bool, usize, BTreeSet<usize>);

const OPCODE: u128 = 0xfff;
/// All bits but those of control.
const MEANING: u128 = (1 << 105) - 1;

impl Run<'_> {
    fn new(expressions: &Expressions) -> Run<'_> {
        Run { expressions, values: BTreeMap::new(), loads: BTreeSet::new(), events: Vec::new() }
    }

    fn value(&mut self, place: Place) -> usize {
        *self.values.entry(place).or_insert_with(|| number(self.expressions, Expression::Before(place)))
    }

    fn step(&mut self, line: &Line) {
        let (read, written) = places(line);
        if line.is_zero() {
            let zero = number(self.expressions, Expression::Zero);
            return self.values.extend(written.into_iter().map(|place| (place, zero)));
        }
        let mut without_registers = line.clone();
        without_registers.rename(|_| 0);
        let bits = without_registers.word & MEANING;
        let mut inputs: Vec<usize> = read.into_iter().map(|place| self.value(place)).collect();
        if line.is(Operation::Ffma) && inputs.len() == 3 {
            inputs[..2].sort_unstable();
        }
        if !line.instruction.guard.is_always() {
            inputs.extend(written.iter().map(|place| self.value(*place)));
        }
        let expressions = self.expressions;
        let make = |n| number(expressions, Expression::Output(bits, inputs.clone(), n));
        let n = self.events.len();
        let is_event = line.is(Operation::Syncs);
        if is_event {
            self.events.push((line.instruction.has(Modifier::Phasechk), make(n), self.loads.clone()));
        } else if line.is(Operation::Lds) {
            self.loads.insert(make(0));
        }
        let made = (if is_event { n } else { 0 }..).zip(written);
        self.values.extend(made.map(|(n, place)| (place, make(n))));
    }
}

/// Returns the places that an instruction reads, in the order of its operands, and those that it writes.
fn places(line: &Line) -> (Vec<Place>, Vec<Place>) {
    let mut read: Vec<Place> = line.read().into_iter().map(Place::Register).collect();
    let mut written: Vec<Place> = line.written().map(Place::Register).collect();
    let instruction = &line.instruction;
    let wide = 1 + u8::from(instruction.to_string().contains(".64") || instruction.to_string().contains("WIDE"));
    for (at, operand) in instruction.operands.iter().enumerate() {
        let mut add = |place| if at < instruction.n_destinations { written.push(place) } else { read.push(place) };
        let mut uniform = |Uniform(first): Uniform| {
            (first..first + wide).filter(|&register| register < 63).for_each(|register| add(Place::Uniform(register)));
        };
        match operand.value {
            Value::Uniform(register) => uniform(register),
            Value::Memory(address) => address.uniform.into_iter().chain(address.descriptor).for_each(uniform),
            Value::Constant(Constant { index: Index::Uniform(register), .. }) => uniform(register),
            Value::Predicate(predicate) if predicate.0 != 7 => add(Place::Predicate(predicate.0)),
            Value::UniformPredicate(predicate) if predicate.0 != 7 => add(Place::UniformPredicate(predicate.0)),
            _ => {}
        }
    }
    let guard = instruction.guard;
    if guard.predicate.0 != 7 {
        let place = if guard.uniform { Place::UniformPredicate } else { Place::Predicate };
        read.push(place(guard.predicate.0));
    }
    (read, written)
}

/// Proves that the new code computes what the old one does, where some registers have others' values between two
/// passes, and that the scaled sums have the same registers.
pub(crate) fn same_results(
    [old, new]: [&[Line]; 2], regions: &Regions, same: &BTreeMap<u8, u8>, scaled: &[u8],
) -> Result<(), Refusal> {
    let Regions { entry, body, exit } = regions;
    let all = regions.all();
    if old.len() != new.len() || (0..old.len()).any(|at| !all.contains(&at) && old[at] != new[at]) {
        return Err(Refusal("code outside of the loop has changed"));
    }
    let differing = all.map(|at| [old[at].written(), new[at].written()]).filter(|[old, new]| old != new);
    let changed: BTreeSet<u8> =
        same.iter().flat_map(|(&old, &new)| [old, new]).chain(differing.flatten().flatten()).collect();
    let expressions = Expressions::default();
    let run = |range: &Range<usize>, same: Option<&BTreeMap<u8, u8>>| {
        let mut runs = [Run::new(&expressions), Run::new(&expressions)];
        if let Some(same) = same {
            let lost = changed.iter().map(|&register| (register, Expression::Lost(register)));
            let held = same.iter().map(|(&old, &new)| (new, Expression::Before(Place::Register(old))));
            let held = lost.chain(held).map(|(register, it)| (Place::Register(register), number(&expressions, it)));
            runs[1].values = held.collect();
        }
        for at in range.clone() {
            runs[0].step(&old[at]);
            runs[1].step(&new[at]);
        }
        let [first, second] = &mut runs;
        let is_same = |place| first.value(place) == second.value(place);
        let unchanged = (0..255).filter(|register| !changed.contains(register) && !scaled.contains(register));
        let uniform = (0..63).map(Place::Uniform).chain((0..7).map(Place::UniformPredicate));
        if !unchanged.map(Place::Register).chain((0..7).map(Place::Predicate)).chain(uniform).all(is_same) {
            return Err(Refusal("an address, a predicate or a uniform register differs"));
        }
        Ok(runs)
    };
    let agree = |runs: &[Run; 2], same: &BTreeMap<u8, u8>, what| {
        let value = |i: usize, register: &u8| runs[i].values.get(&Place::Register(*register));
        let is_same = same.iter().all(|(old, new)| value(0, old).is_some() && value(0, old) == value(1, new));
        if is_same { Ok(()) } else { Err(Refusal(what)) }
    };
    let of_entry = run(entry, None)?;
    // What the entry leaves unwritten holds nothing that a pass reads: it would be a symbol of no other.
    let is_held = |old: &u8| of_entry[0].values.contains_key(&Place::Register(*old));
    let held: BTreeMap<u8, u8> = same.iter().filter(|(old, _)| is_held(old)).map(|(&old, &new)| (old, new)).collect();
    agree(&of_entry, &held, "the loop begins with other values")?;
    let of_body = run(body, Some(&held))?;
    agree(&of_body, &held, "a pass of the loop has another result")?;
    let [events, new_events] = of_body.map(|run| run.events);
    let is_same = |((looks, event, before), (_, new_event, new_before)): (&Event, &Event)| {
        event == new_event && (*looks || before.is_subset(new_before))
    };
    if events.len() != new_events.len() || !events.iter().zip(&new_events).all(is_same) {
        return Err(Refusal("a barrier is told of loads that are still to come"));
    }
    let scaled = scaled.iter().map(|&register| (register, register)).collect();
    agree(&run(exit, Some(&held))?, &scaled, "a scaled sum is another")
}

/// Clocks after which every result of a fixed latency can be used.
const ALL_LATENCIES: u32 = 16;
/// Clocks after which an instruction can wait for a scoreboard that another one sets.
const SCOREBOARD_LATENCY: u32 = 2;
/// Clocks after which a result of an FFMA or FMUL can be used.
const FMA_LATENCY: u32 = 4;

/// Proves that no instruction of the new code reads or replaces a value too early, and that all registers are there:
/// results of a fixed latency are old enough, or as old as the compiler has them, and scoreboards are waited for.
pub(crate) fn no_hazards([old, new]: [&[Line]; 2], regions: &Regions, registers: u8) -> Result<(), Refusal> {
    let Regions { entry, body, exit } = regions;
    let steps: Vec<usize> = entry.clone().chain(body.clone()).chain(body.clone()).chain(exit.clone()).collect();
    let [old_times, times] = [old, new].map(|lines| {
        let stalls = steps.iter().map(|&at| u32::from(lines[at].instruction.control.stall).max(1));
        stalls.scan(0, |now, stall| Some(std::mem::replace(now, *now + stall))).collect::<Vec<u32>>()
    });
    // The step at which a result of a fixed latency was computed, and the clocks that it takes.
    let mut ready: BTreeMap<Place, (usize, u32)> = BTreeMap::new();
    // The scoreboard that says when a load has written, and those of each load, of which one says when it has read.
    let mut unwritten: BTreeMap<Place, u8> = BTreeMap::new();
    let mut unread: BTreeMap<Place, Vec<u8>> = BTreeMap::new();
    let mut since_set = [0; 6];
    for (step, &at) in steps.iter().enumerate() {
        let line = &new[at];
        if line.mentioned().any(|register| register >= registers.saturating_sub(KEPT)) {
            return Err(Refusal("a register is not one of the thread, or kept by the hardware"));
        }
        let waited = line.instruction.control.wait;
        let is_early = |(i, &set): (usize, &u32)| waited >> i & 1 == 1 && times[step] < set + SCOREBOARD_LATENCY;
        if since_set.iter().enumerate().any(is_early) {
            return Err(Refusal("a scoreboard is waited for before it is set"));
        }
        let barriers: Vec<u8> =
            line.instruction.control.write_barrier.into_iter().chain(line.instruction.control.read_barrier).collect();
        for &barrier in &barriers {
            *since_set.get_mut(usize::from(barrier)).ok_or(Refusal("there are six scoreboards"))? = times[step];
        }
        unwritten.retain(|_, barriers| *barriers & waited == 0);
        unread.values_mut().for_each(|loads| loads.retain(|barriers| barriers & waited == 0));
        let (read, written) = places(line);
        if read.iter().any(|place| unwritten.contains_key(place)) {
            return Err(Refusal("a register is read before its load is waited for"));
        }
        let is_unread = |place| unread.get(place).is_some_and(|loads| !loads.is_empty());
        if written.iter().any(|place| unwritten.contains_key(place) || is_unread(place)) {
            return Err(Refusal("a register is written before it has been read"));
        }
        let moves = line.is(Operation::Ffma) || line.is(Operation::Lds);
        let stays = !moves && line.word & OPCODE == old[at].word & OPCODE;
        for &(since, latency) in read.iter().filter_map(|place| ready.get(place)) {
            let clocks = times[step] - times[since];
            if clocks < latency && !(stays && clocks >= old_times[step] - old_times[since]) {
                return Err(Refusal("a result is read too early"));
            }
        }
        let is_load = [Operation::Lds, Operation::S2r, Operation::Ldc].into_iter().any(|load| line.is(load));
        if is_load || line.instruction.control.write_barrier.is_some() {
            let barrier =
                line.instruction.control.write_barrier.ok_or(Refusal("nothing says when a load has arrived"))?;
            let any = barriers.iter().fold(0, |mask, barrier| mask | 1 << barrier);
            // Others have read when they are issued, or say so by the compiler's own scoreboards.
            let late = if is_load { read } else { Default::default() };
            late.into_iter().for_each(|place| unread.entry(place).or_default().push(any));
            for place in written {
                unwritten.insert(place, 1 << barrier);
                ready.remove(&place);
            }
        } else {
            let is_fma = line.is(Operation::Ffma) || line.is(Operation::Fmul);
            let latency = if is_fma { FMA_LATENCY } else { ALL_LATENCIES };
            ready.extend(written.into_iter().map(|place| (place, (step, latency))));
        }
    }
    Ok(())
}
