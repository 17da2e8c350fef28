//! Proof that code with new registers and a new order computes the same, and that no value is read too early.
//!
//! Both codes are executed with symbols in place of values: what a register holds is the expression that made it. It
//! suffices to go through the loop once: registers that correspond before a pass correspond after it.
//!
//! Taken for granted: that nothing behind the loop needs a register that the compiler's own loop replaces, but the
//! scaled sums; that loads which wait for copies take their addresses from what the wait decides, as those of v11 do.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use sass::instruction::{Index, Instruction, Uniform, Value};
use sass::operation::Operation;

use crate::code::{Line, fields};
use crate::flow::Regions;
use crate::{KEPT, Refusal};

/// What can hold a value.
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
    /// Output of an instruction: its bits without registers and control, its inputs, the number of the output.
    Output {
        bits: u128,
        inputs: Vec<usize>,
        output: usize,
    },
    /// The `n`th instruction without a decoder.
    Event {
        bits: u128,
        inputs: Vec<usize>,
        n: usize,
    },
}

/// All expressions of both codes; equal ones have one number.
#[derive(Default)]
struct Expressions {
    numbers: HashMap<Expression, usize>,
}

impl Expressions {
    fn number(&mut self, expression: Expression) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(expression).or_insert(next)
    }
}

/// A code that is executed with symbols.
struct Run {
    values: BTreeMap<Place, usize>,
    /// Loads so far.
    loads: BTreeSet<usize>,
    /// Instructions without a decoder: opcode, expression, and the loads before it.
    events: Vec<(u128, usize, BTreeSet<usize>)>,
}

/// `SYNCS` that looks whether copies have arrived, which a predicate says.
const WAIT: u128 = 0x5a7;
const CONTROL: u32 = 105;
/// The general registers of an instruction: destination, A, B, C.
const REGISTERS: [u32; 4] = [16, 24, 32, 64];

impl Run {
    fn new() -> Run {
        Run { values: BTreeMap::new(), loads: BTreeSet::new(), events: Vec::new() }
    }

    fn value(&mut self, place: Place, expressions: &mut Expressions) -> usize {
        *self.values.entry(place).or_insert_with(|| expressions.number(Expression::Before(place)))
    }

    fn step(&mut self, line: &Line, expressions: &mut Expressions) {
        let Some(instruction) = &line.instruction else { return self.event(line, expressions) };
        let (read, written) = places(line, instruction);
        let is_zero = [Operation::Cs2r, Operation::Hfma2, Operation::Mov].contains(&instruction.operation);
        if is_zero && read.is_empty() && !instruction.to_string().contains("UR") && is_of_zeros(instruction) {
            for place in written {
                self.values.insert(place, expressions.number(Expression::Zero));
            }
            return;
        }
        let mut bits = line.word & ((1 << CONTROL) - 1);
        for operand in &instruction.operands {
            let register = match operand.value {
                Value::Register(register) => register.0,
                Value::Memory(address) => address.base.0,
                _ => continue,
            };
            for low in REGISTERS {
                // `RZ` is a number, and no register.
                if (line.word >> low) as u8 == register && register != 255 {
                    bits &= !(0xff << low);
                }
            }
        }
        let mut inputs: Vec<usize> = read.iter().map(|place| self.value(*place, expressions)).collect();
        if instruction.operation == Operation::Ffma {
            inputs[..2].sort_unstable();
        }
        if !instruction.guard.is_always() {
            inputs.extend(written.iter().map(|place| self.value(*place, expressions)));
        }
        if instruction.operation == Operation::Lds {
            let load = expressions.number(Expression::Output { bits, inputs: inputs.clone(), output: 0 });
            self.loads.insert(load);
        }
        for (output, place) in written.into_iter().enumerate() {
            let made = expressions.number(Expression::Output { bits, inputs: inputs.clone(), output });
            self.values.insert(place, made);
        }
    }

    /// An instruction of asynchronous copies and their barriers: may read and write any uniform register or predicate.
    fn event(&mut self, line: &Line, expressions: &mut Expressions) {
        let warp = (0..63).map(Place::Uniform).chain((0..7).map(Place::UniformPredicate));
        let read = line.read().into_iter().map(Place::Register).chain((0..7).map(Place::Predicate)).chain(warp);
        let inputs: Vec<usize> = read.map(|place| self.value(place, expressions)).collect();
        let bits = line.word & ((1 << CONTROL) - 1);
        let bits = fields(line.word).into_iter().fold(bits, |bits, (low, _)| bits & !(0xff << low));
        let made = expressions.number(Expression::Event { bits, inputs, n: self.events.len() });
        self.events.push((line.word & 0xfff, made, self.loads.clone()));
        if line.word & 0xfff == WAIT {
            self.values.insert(Place::Predicate((line.word >> 81) as u8 & 7), made);
        }
    }
}

fn is_of_zeros(instruction: &Instruction) -> bool {
    instruction.sources().iter().all(|operand| match operand.value {
        Value::Register(register) => register.0 == 255,
        Value::Immediate(number) => number == 0,
        Value::Special(register) => register.name(instruction.architecture) == "SRZ",
        _ => false,
    })
}

/// Returns the places that an instruction reads, in the order of its operands, and those that it writes.
fn places(line: &Line, instruction: &Instruction) -> (Vec<Place>, Vec<Place>) {
    let mut read: Vec<Place> = line.read().into_iter().map(Place::Register).collect();
    let mut written: Vec<Place> = line.written().into_iter().flatten().map(Place::Register).collect();
    let wide = 1 + u8::from(instruction.to_string().contains(".64") || instruction.to_string().contains("WIDE"));
    for (at, operand) in instruction.operands.iter().enumerate() {
        let mut add = |place| if at < instruction.n_destinations { written.push(place) } else { read.push(place) };
        let mut uniform = |Uniform(first): Uniform| {
            (first..first + wide).filter(|&register| register < 63).for_each(|register| add(Place::Uniform(register)));
        };
        match operand.value {
            Value::Uniform(register) => uniform(register),
            Value::Memory(address) => address.uniform.into_iter().chain(address.descriptor).for_each(uniform),
            Value::Constant(constant) => {
                if let Index::Uniform(register) = constant.index {
                    uniform(register);
                }
            }
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

/// Proves that the new code names no register that a thread does not have.
pub(crate) fn registers_exist(new: &[Line], regions: &Regions, registers: u8) -> Result<(), Refusal> {
    let exists = |register| register < registers.saturating_sub(KEPT);
    let is_legal = |line: &Line| line.read().into_iter().chain(line.written().into_iter().flatten()).all(exists);
    let is_legal = new[regions.entry.start..regions.exit.end].iter().all(is_legal);
    if is_legal { Ok(()) } else { Err(Refusal("a register is not one of the thread, or kept by the hardware")) }
}

/// Proves that the new code computes what the old one does.
pub(crate) fn same_results(
    [old, new]: [&[Line]; 2], regions: &Regions, same: &BTreeMap<u8, u8>, scaled: &BTreeSet<u8>,
) -> Result<(), Refusal> {
    let Regions { entry, body, exit } = regions;
    let is_inside = |at: &usize| (entry.start..exit.end).contains(at);
    if (0..old.len()).any(|at| !is_inside(&at) && old[at] != new[at]) {
        return Err(Refusal("code outside of the loop has changed"));
    }
    let differing = (entry.start..exit.end).map(|at| [old[at].written(), new[at].written()]);
    let written = differing.filter(|[old, new]| old != new).flatten().flatten().flatten();
    let changed: BTreeSet<u8> = same.iter().flat_map(|(&old, &new)| [old, new]).chain(written).collect();
    let mut expressions = Expressions::default();
    let mut run = |range: &Range<usize>, same: &BTreeMap<u8, u8>, begins_equal: bool| {
        let mut runs = [Run::new(), Run::new()];
        let begins = changed.iter().filter(|_| !begins_equal);
        for (i, &register) in begins.enumerate() {
            // A value of no other.
            let lost = Expression::Event { bits: 0, inputs: Vec::new(), n: i };
            runs[1].values.insert(Place::Register(register), expressions.number(lost));
        }
        for (&old, &new) in same.iter().filter(|_| !begins_equal) {
            let number = expressions.number(Expression::Before(Place::Register(old)));
            runs[1].values.insert(Place::Register(new), number);
        }
        for at in range.clone() {
            runs[0].step(&old[at], &mut expressions);
            runs[1].step(&new[at], &mut expressions);
        }
        let unchanged = (0..255).filter(|register| !changed.contains(register) && !scaled.contains(register));
        let registers = unchanged.map(Place::Register).chain((0..63).map(Place::Uniform));
        let predicates = (0..7).flat_map(|i| [Place::Predicate(i), Place::UniformPredicate(i)]);
        for place in registers.chain(predicates) {
            let [first, second] = &mut runs;
            if first.value(place, &mut expressions) != second.value(place, &mut expressions) {
                return Err(Refusal("an address, a predicate or a uniform register differs"));
            }
        }
        Ok(runs)
    };
    let pairs = |runs: &[Run; 2], pairs: &BTreeMap<u8, u8>, what| {
        let value = |run: &Run, register| run.values.get(&Place::Register(register)).copied();
        let is_equal =
            |(old, new): (&u8, &u8)| value(&runs[0], *old).is_some_and(|it| Some(it) == value(&runs[1], *new));
        if pairs.iter().all(is_equal) { Ok(()) } else { Err(Refusal(what)) }
    };
    let of_entry = run(entry, same, true)?;
    // What the entry leaves unwritten holds nothing that a pass reads: it would be a symbol of no other.
    let is_held = |old: &u8| of_entry[0].values.contains_key(&Place::Register(*old));
    let held: BTreeMap<u8, u8> = same.iter().filter(|(old, _)| is_held(old)).map(|(&old, &new)| (old, new)).collect();
    pairs(&of_entry, &held, "the loop begins with other values")?;
    let of_body = run(body, &held, false)?;
    pairs(&of_body, &held, "a pass of the loop has another result")?;
    for ((opcode, event, before), (_, new_event, new_before)) in of_body[0].events.iter().zip(&of_body[1].events) {
        if event != new_event || (*opcode != WAIT && !before.is_subset(new_before)) {
            return Err(Refusal("a barrier is told of loads that are still to come"));
        }
    }
    let of_exit = run(exit, &held, false)?;
    let scaled = scaled.iter().map(|&register| (register, register)).collect();
    pairs(&of_exit, &scaled, "a scaled sum is another")
}

/// Clocks after which every result of a fixed latency can be used.
const ALL_LATENCIES: u32 = 16;
/// Clocks after which an instruction can wait for a scoreboard that another one sets.
const SCOREBOARD_LATENCY: u32 = 2;
/// Clocks after which a result of an FFMA or FMUL can be used.
const FMA_LATENCY: u32 = 4;

/// Proves that no instruction of the new code reads or replaces a value too early: that results of a fixed latency are
/// old enough, or as old as the compiler has them, and that scoreboards are waited for.
pub(crate) fn no_hazards([old, new]: [&[Line]; 2], regions: &Regions) -> Result<(), Refusal> {
    let Regions { entry, body, exit } = regions;
    let path = || entry.clone().chain(body.clone()).chain(body.clone()).chain(exit.clone());
    let times = |lines: &[Line]| -> Vec<u32> {
        let stall = |at: usize| u32::from(lines[at].stall()).max(1);
        path().scan(0, |now, at| Some(std::mem::replace(now, *now + stall(at)))).collect()
    };
    let (old_times, times) = (times(old), times(new));
    let steps: Vec<usize> = path().collect();
    // The step at which a result of a fixed latency was computed, and whether by a multiply-add.
    let mut ready: BTreeMap<Place, (usize, bool)> = BTreeMap::new();
    // The scoreboard that says when a load has written, and those of each load, of which one says when it has read.
    let mut unwritten: BTreeMap<Place, u8> = BTreeMap::new();
    let mut unread: BTreeMap<Place, Vec<u8>> = BTreeMap::new();
    let mut since_set = [0; 6];
    for (step, &at) in steps.iter().enumerate() {
        let line = &new[at];
        let waited = line.wait();
        if since_set.iter().enumerate().any(|(i, &set)| waited >> i & 1 == 1 && times[step] < set + SCOREBOARD_LATENCY)
        {
            return Err(Refusal("a scoreboard is waited for before it is set"));
        }
        for barrier in [line.write_barrier(), line.read_barrier()].into_iter().flatten().filter(|&barrier| barrier < 6)
        {
            since_set[usize::from(barrier)] = times[step];
        }
        unwritten.retain(|_, barriers| *barriers & waited == 0);
        for barriers in unread.values_mut() {
            barriers.retain(|barriers| barriers & waited == 0);
        }
        let Some(instruction) = &line.instruction else { continue };
        let (read, written) = places(line, instruction);
        let stays = old[at].instruction.as_ref().is_some_and(|old| old.operation == instruction.operation);
        let moves = |line: &Line| line.is(Operation::Ffma) || line.is(Operation::Lds);
        let stays = stays && !moves(line);
        for place in &read {
            if unwritten.contains_key(place) {
                return Err(Refusal("a register is read before its load is waited for"));
            }
            if let Some(&(since, is_fma)) = ready.get(place) {
                let clocks = times[step] - times[since];
                let least = if is_fma { FMA_LATENCY } else { ALL_LATENCIES };
                let as_before = stays && clocks >= old_times[step] - old_times[since];
                if clocks < least && !as_before {
                    return Err(Refusal("a result is read too early"));
                }
            }
        }
        for place in &written {
            if unwritten.contains_key(place) || unread.get(place).is_some_and(|barriers| !barriers.is_empty()) {
                return Err(Refusal("a register is written before it has been read"));
            }
        }
        let control = instruction.control;
        let is_slow = [Operation::Lds, Operation::S2r, Operation::Ldc].contains(&instruction.operation);
        let bit = |barrier: Option<u8>| barrier.map_or(0, |barrier| 1 << barrier);
        for place in written {
            if is_slow {
                let barrier = control.write_barrier.ok_or(Refusal("nothing says when a load has arrived"))?;
                unwritten.insert(place, 1 << barrier);
                ready.remove(&place);
            } else {
                let is_fma = line.is(Operation::Ffma) || line.is(Operation::Fmul);
                ready.insert(place, (step, is_fma));
            }
        }
        if is_slow {
            let barriers = bit(control.read_barrier) | bit(control.write_barrier);
            read.into_iter().for_each(|place| unread.entry(place).or_default().push(barriers));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::allocate::Allocation;
    use crate::flow::Flow;
    use crate::rewrite::{self, set};
    use crate::{Options, read};

    /// Checks new code after a change of the `n`th instruction of an operation in the loop.
    #[track_caller]
    fn changed(operation: Operation, n: usize, change: impl FnOnce(&mut Instruction)) -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/cubin/v11_stream_k.cubin");
        let cubin = std::fs::read(path).expect("it is committed");
        let (_, old) = read(&cubin, "sgemm_v11_stream_k").expect("it is there");
        let options = Options { registers: 240, places: vec![8, 24, 40, 56, 72, 88] };
        let regions = Regions::find(&old).expect("it has a loop");
        let flow = Flow::read(&old[regions.body.clone()]).expect("of an outer product");
        let allocation = Allocation::new(&old, &regions, &flow, &options).expect("there are enough registers");
        let mut new = old.clone();
        rewrite::rewrite(&mut new, &regions, &flow, &allocation, &options).expect("it is rewritten");
        let at = regions.body.clone().filter(|&at| new[at].is(operation)).nth(n).expect("there are as many");
        set(&mut new[at], at, change);
        let codes = [&old[..], &new[..]];
        let legal = registers_exist(&new, &regions, options.registers);
        let same = legal.and(same_results(codes, &regions, &allocation.correspondence(&flow), &allocation.scaled()));
        same.and_then(|()| no_hazards(codes, &regions)).map_or_else(|refusal| refusal.to_string(), |()| "right".into())
    }

    #[test]
    fn a_factor_of_another_column_is_another_result() {
        let of = |n| changed(Operation::Ffma, n, |ffma| ffma.operands[2] = ffma.operands[3]);
        assert_eq!(of(0), "a pass of the loop has another result");
        assert_eq!(of(2047), "a pass of the loop has another result");
    }

    #[test]
    fn the_order_of_a_product_does_not_matter() {
        assert_eq!(changed(Operation::Ffma, 7, |ffma| ffma.operands.swap(1, 2)), "right");
    }

    #[test]
    fn a_load_into_other_registers_is_another_result() {
        let into = |register| {
            let register = Value::Register(sass::instruction::Register(register));
            changed(Operation::Lds, 95, |load| load.operands[0].value = register)
        };
        assert_eq!(into(140), "a pass of the loop has another result");
        // R238 and R239 of 240 are kept by the hardware.
        assert_eq!(into(236), "a register is not one of the thread, or kept by the hardware");
    }

    #[test]
    fn loads_are_waited_for() {
        let early = "a register is read before its load is waited for";
        assert_eq!(changed(Operation::Ffma, 128, |ffma| ffma.control.wait = 0), early);
        assert_eq!(changed(Operation::Lds, 3, |load| load.control.write_barrier = Some(5)), early);
        let silent = "nothing says when a load has arrived";
        assert_eq!(changed(Operation::Lds, 3, |load| load.control.write_barrier = None), silent);
    }

    #[test]
    fn addresses_change_when_their_loads_have_read_them() {
        let late = "a register is written before it has been read";
        assert_eq!(changed(Operation::Iadd3, 1, |add| add.control.wait = 0), late);
    }
}
