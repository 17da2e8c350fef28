//! Loads that a loop repeats although nothing changes what they read, sums that it keeps in memory, and loops of which
//! several rounds run for one test of their end.

use crate::map::{HashMap, HashSet};

use crate::ssa::{Arith, Block, Class, Compare, End, Graph, Instruction, Num, Op, Value};

/// Instructions of a loop that is unrolled, and the most that its index grows by.
const MAX_UNROLLED: usize = 256;
const MAX_STEP: i64 = 1 << 16;

/// A loop: its first block, which its last one goes back to, and the block before it.
struct Loop {
    header: Block,
    before: Block,
    latch: Block,
    blocks: HashSet<Block>,
}

/// Moves loads and stores out of loops, innermost loops first, as LLVM does where a loop writes nothing else there.
pub(crate) fn optimize(graph: &mut Graph) {
    let mut loops: Vec<Loop> = graph.order.clone().into_iter().filter_map(|header| find(graph, header)).collect();
    loops.sort_by_key(|one| one.blocks.len());
    graph.number_again();
    // Values of loops, and what has them behind.
    let mut moved = HashMap::default();
    for header in loops.into_iter().map(|one| one.header) {
        // Loops inside of it have new blocks by now, which write.
        if let Some(one) = find(graph, header) {
            promote(graph, &one);
            unroll(graph, &one, &mut moved);
        }
    }
    replace(graph, &moved, graph.order.clone());
}

fn find(graph: &Graph, header: Block) -> Option<Loop> {
    let [before, latch] = graph.data(header).before[..] else { return None };
    let position = |block: Block| graph.order.iter().position(|&one| one == block);
    // Code behind the header goes back to it.
    if position(latch)? < position(header)? {
        return None;
    }
    let mut blocks = HashSet::from_iter([header]);
    let mut work = vec![latch];
    while let Some(block) = work.pop() {
        if blocks.insert(block) {
            work.extend(&graph.data(block).before);
        }
    }
    // Only the block before leads in, and only to the header.
    (!blocks.contains(&before) && graph.data(before).end == End::Jump(header)).then_some(Loop {
        header,
        before,
        latch,
        blocks,
    })
}

fn promote(graph: &mut Graph, one: &Loop) {
    let mut accesses: Vec<Value> = Vec::new();
    for &block in &one.blocks {
        for &value in &graph.data(block).code {
            match graph.op(value) {
                Op::Load { .. } | Op::Store { .. } => accesses.push(value),
                Op::Atomic(..) | Op::Effect { touches_memory: true, .. } => return,
                _ => {}
            }
        }
    }
    let known = |graph: &Graph, value: Value| match graph.op(value) {
        Op::Load { num, .. } | Op::Store { num, .. } => (graph.at(value).args[0], num),
        _ => unreachable!("an access"),
    };
    for value in graph.data(one.header).code.clone() {
        let Op::Load { num, is_volatile: false, .. } = graph.op(value) else { continue };
        let address = graph.at(value).args[0];
        let (base, _) = graph.split(address);
        let is_outside = |value: Value| !one.blocks.contains(&graph.at(value).block);
        if !is_outside(base) && graph.constant_of(base).is_none() {
            continue;
        }
        let bytes = graph.bytes_at(address, num.bytes());
        let others = accesses.iter().copied().filter(|&other| {
            let (to, other_num) = known(graph, other);
            graph.may_overlap(&bytes, &graph.bytes_at(to, other_num.bytes()))
        });
        let others: Vec<Value> = others.collect();
        let stores: Vec<Value> =
            others.iter().copied().filter(|&one| matches!(graph.op(one), Op::Store { .. })).collect();
        let is_volatile = |value: Value| {
            matches!(graph.op(value), Op::Load { is_volatile: true, .. } | Op::Store { is_volatile: true, .. })
        };
        let leave = |graph: &mut Graph, gone: Value| graph.data_mut(one.header).code.retain(|&other| other != gone);
        if stores.is_empty() {
            leave(graph, value);
            let args = vec![outside(graph, address, one)];
            graph.data_mut(one.before).code.push(value);
            let load = &mut graph.values[value.0 as usize];
            (load.block, load.args) = (one.before, args);
        } else if let [store] = stores[..]
            && others.len() == 2
            && !others.iter().any(|&one| is_volatile(one))
            && known(graph, store) == (address, num)
            && graph.at(store).block == one.latch
            && one.header == one.latch
            && let End::Branch(_, then, other) = graph.data(one.latch).end
        {
            // A sum in memory: it is read before the loop, and written behind it.
            let exit = if then == one.header { other } else { then };
            let stored = graph.at(store).args[1];
            let address = outside(graph, address, one);
            graph.place = graph.at(value).place;
            let first = graph.push(graph.op(value), num.class(), vec![address], one.before);
            graph.data_mut(one.before).code.push(first);
            let arg = |&from: &Block| if from == one.before { first } else { stored };
            let args = graph.data(one.header).before.iter().map(arg).collect();
            let sum = &mut graph.values[value.0 as usize];
            (sum.op, sum.args) = (Op::Phi, args);
            graph.data_mut(one.header).phis.push(value);
            [value, store].iter().for_each(|&gone| leave(graph, gone));
            let between = leave_by_block(graph, one.latch, exit);
            graph.data_mut(between).code.push(store);
            let moved = &mut graph.values[store.0 as usize];
            (moved.block, moved.args) = (between, vec![address, stored]);
            return;
        }
    }
}

/// Returns an address as the block before a loop can compute it.
fn outside(graph: &mut Graph, address: Value, one: &Loop) -> Value {
    if !one.blocks.contains(&graph.at(address).block) {
        return address;
    }
    let (base, offset) = graph.split(address);
    let offset = graph.int(Class::I64, offset);
    let op = Op::Arith(Arith::Add, true);
    let moved = graph.push(op, Class::I64, vec![base, offset], one.before);
    graph.data_mut(one.before).code.push(moved);
    moved
}

/// Makes a block on the way from a loop to its exit.
fn leave_by_block(graph: &mut Graph, latch: Block, exit: Block) -> Block {
    let between = graph.block();
    let end_place = graph.data(latch).end_place;
    let data = graph.data_mut(between);
    (data.before, data.end, data.end_place) = (vec![latch], End::Jump(exit), end_place);
    if let End::Branch(condition, then, other) = graph.data(latch).end {
        let [then, other] = [then, other].map(|to| if to == exit { between } else { to });
        graph.data_mut(latch).end = End::Branch(condition, then, other);
    }
    for from in graph.data_mut(exit).before.iter_mut().filter(|from| **from == latch) {
        *from = between;
    }
    let at = graph.order.iter().position(|&block| block == latch).expect("it is there");
    graph.order.insert(at + 1, between);
    between
}

/// Finds out how a loop of one block counts, if it counts up to a bound which it does not change.
fn counter(graph: &Graph, one: &Loop) -> Option<Counter> {
    let &Loop { header, before, .. } = one;
    let data = graph.data(header);
    let End::Branch(condition, then, exit) = data.end else { return None };
    let (less @ Op::Compare(Compare::Lt, _), &[next, bound]) = (graph.op(condition), &graph.at(condition).args[..])
    else {
        return None;
    };
    let (Op::Arith(Arith::Add, _), &[index, step]) = (graph.op(next), &graph.at(next).args[..]) else { return None };
    let step = graph.signed(step).filter(|step| (1..=MAX_STEP).contains(step))?;
    let at = data.phis.iter().position(|&phi| phi == index)?;
    let [first, last] = incoming(graph, one);
    let is_counted = then == header && last.get(at) == Some(&next) && graph.at(bound).block != header;
    is_counted.then_some(Counter { header, before, exit, at, index, first: first[at], step, bound, less })
}

/// Unrolls a loop of one block, as NVRTC does: a loop before it tests the bound once for several rounds, and it runs
/// those that are left.
fn unroll(graph: &mut Graph, one: &Loop, moved: &mut HashMap<Value, Value>) -> Option<()> {
    let counter = counter(graph, one)?;
    let Counter { header, before, exit, at, index, bound, less, .. } = counter;
    let is_simple = |&value: &Value| match graph.op(value) {
        Op::Load { is_volatile, .. } | Op::Store { is_volatile, .. } => !is_volatile,
        op => op.is_pure(),
    };
    let data = graph.data(header);
    let (code, rounds) = (data.code.clone(), data.unroll);
    if rounds < 2 || code.len() * rounds > MAX_UNROLLED || !code.iter().all(is_simple) {
        return None;
    }
    (graph.current, graph.place) = (before, graph.data(before).end_place);
    code.into_iter().for_each(|value| advance(graph, &counter, value));
    let data = graph.data(header).clone();
    let [first, last] = incoming(graph, one);
    // As many rounds are left where the index is below the limit, which is below the bound unless it wraps around.
    let class = graph.class(index);
    let rest_of_rounds = graph.int(class, -counter.step * (rounds as i64 - 1));
    let limit = graph.make(Op::Arith(Arith::Add, false), class, &[bound, rest_of_rounds]);
    let [is_limit, is_below] = [[limit, bound], [first[at], limit]].map(|pair| graph.make(less, Class::Pred, &pair));
    let enters = graph.make(Op::Arith(Arith::And, false), Class::Pred, &[is_limit, is_below]);
    if graph.constant_of(enters).is_some() {
        return None;
    }
    let out = leave_by_block(graph, header, exit);
    let (main, rest) = (graph.block_of_loop(before), graph.block());
    graph.data_mut(before).end = End::Branch(enters, main, header);
    graph.data_mut(main).before.push(before);
    graph.data_mut(rest).before.push(main);
    graph.begin(main);
    let new_phi = |graph: &mut Graph, old: Value, args: Vec<Value>, block: Block| {
        let phi = graph.push(Op::Phi, graph.class(old), args, block);
        graph.data_mut(block).phis.push(phi);
        phi
    };
    let phis: Vec<Value> = data.phis.iter().map(|&phi| new_phi(graph, phi, Vec::new(), main)).collect();
    for (old, &new) in data.phis.iter().zip(&phis) {
        let start = graph.pointers.get(old).copied();
        graph.pointers.extend(start.map(|start| (new, start)));
    }
    let mut copies: HashMap<Value, Value> = HashMap::default();
    let mut ends = phis.clone();
    for _ in 0..rounds {
        copies.extend(data.phis.iter().copied().zip(ends));
        data.code.iter().for_each(|&value| copy(graph, value, &mut copies));
        ends = last.iter().map(|value| copies.get(value).copied().unwrap_or(*value)).collect();
    }
    graph.place = data.end_place;
    let again = graph.make(less, Class::Pred, &[ends[at], limit]);
    graph.begin(rest);
    let is_left = graph.make(less, Class::Pred, &[ends[at], bound]);
    for (block, condition, then, other) in [(main, again, main, rest), (rest, is_left, header, out)] {
        let new = graph.data_mut(block);
        (new.end, new.end_place) = (End::Branch(condition, then, other), data.end_place);
    }
    graph.data_mut(main).before.push(main);
    for (at, (&phi, &end)) in phis.iter().zip(&ends).enumerate() {
        graph.values[phi.0 as usize].args = vec![first[at], end];
        graph.values[data.phis[at].0 as usize].args.push(end);
    }
    [header, out].iter().for_each(|&block| graph.data_mut(block).before.push(rest));
    graph.data_mut(header).unroll = 1;
    graph.order.truncate(graph.order.len() - 2);
    let here = graph.order.iter().position(|&block| block == header).expect("it is there");
    graph.order.splice(here..here, [main, rest]);
    graph.replace_dominator(header, out);
    for &value in data.phis.iter().chain(&data.code) {
        if graph.class(value) != Class::None {
            let phi = new_phi(graph, value, vec![value, copies[&value]], out);
            moved.insert(value, phi);
        }
    }
    Some(())
}

/// Adds an instruction of a round to the current block, with the values of the copies so far.
fn copy(graph: &mut Graph, value: Value, copies: &mut HashMap<Value, Value>) {
    let Instruction { op, class, mut args, place, .. } = graph.at(value).clone();
    graph.place = place;
    let mut offset = 0;
    if matches!(op, Op::Load { .. } | Op::Store { .. }) {
        // The sum of an address and a constant is no code of its own.
        (args[0], offset) = graph.split(args[0]);
    }
    args.iter_mut().for_each(|arg| *arg = copies.get(arg).copied().unwrap_or(*arg));
    if offset != 0 {
        let offset = graph.int(Class::I64, offset);
        args[0] = graph.make(Op::Arith(Arith::Add, true), Class::I64, &[args[0], offset]);
    }
    let made = match op {
        Op::Load { num, align, .. } => graph.load(args[0], num, false, align),
        Op::Store { num, align, .. } => return graph.store(args[0], num, args[1], false, align),
        _ => graph.make(op, class, &args),
    };
    copies.insert(value, made);
}

/// Returns the values that a loop's phis have first, and those that a round gives them.
fn incoming(graph: &Graph, one: &Loop) -> [Vec<Value>; 2] {
    let data = graph.data(one.header);
    [one.before, one.latch].map(|from| {
        let from = data.before.iter().position(|&block| block == from);
        data.phis.iter().filter_map(|&phi| Some(graph.at(phi).args[from?])).collect()
    })
}

/// A loop of one block whose index, the phi at `at`, grows from `first` while it is `less` than the bound.
struct Counter {
    header: Block,
    before: Block,
    exit: Block,
    at: usize,
    index: Value,
    first: Value,
    step: i64,
    bound: Value,
    less: Op,
}

/// Makes the address of an access one that each round adds to, where that is the same in each round.
fn advance(graph: &mut Graph, counter: &Counter, access: Value) {
    if !matches!(graph.op(access), Op::Load { .. } | Op::Store { .. }) {
        return;
    }
    let (base, _) = graph.split(graph.at(access).args[0]);
    if graph.at(base).block != counter.header || graph.op(base) == Op::Phi {
        return;
    }
    let (Some(start), Some(by)) = (counter.start(graph, base, 0), counter.change(graph, base, 0)) else { return };
    let next = graph.push(Op::Arith(Arith::Add, true), Class::I64, vec![base, by], counter.header);
    let data = graph.data_mut(counter.header);
    let args = data.before.iter().map(|&from| if from == counter.before { start } else { next }).collect();
    data.code.retain(|&value| value != base);
    data.code.push(next);
    data.phis.push(base);
    let pointer = &mut graph.values[base.0 as usize];
    (pointer.op, pointer.args) = (Op::Phi, args);
    graph.pointers.insert(base, start);
}

/// Operations of an address that are looked at.
const MAX_DEPTH: u32 = 8;

impl Counter {
    /// Returns the value of the first round, computed before the loop.
    fn start(&self, graph: &mut Graph, value: Value, depth: u32) -> Option<Value> {
        let Instruction { op, class, args, block, .. } = graph.at(value).clone();
        match op {
            _ if value == self.index => Some(self.first),
            _ if block != self.header => Some(value),
            op if op.is_pure() && depth < MAX_DEPTH => {
                let args = args.iter().map(|&arg| self.start(graph, arg, depth + 1)).collect::<Option<Vec<Value>>>()?;
                Some(graph.make(op, class, &args))
            }
            _ => None,
        }
    }

    /// Returns what a round adds to a value that does not overflow, if that is the same in each round.
    fn change(&self, graph: &mut Graph, value: Value, depth: u32) -> Option<Value> {
        let Instruction { op, class, args, block, .. } = graph.at(value).clone();
        match (op, &args[..]) {
            _ if value == self.index => Some(graph.int(class, self.step)),
            _ if block != self.header => Some(graph.int(class, 0)),
            _ if depth == MAX_DEPTH => None,
            (Op::Arith(Arith::Add, true), &[a, b]) => {
                let changes = [self.change(graph, a, depth + 1)?, self.change(graph, b, depth + 1)?];
                Some(graph.make(op, class, &changes))
            }
            (Op::Arith(Arith::Mul, true), &[a, b]) => {
                let (a, b) = if graph.at(b).block == self.header { (b, a) } else { (a, b) };
                let change = self.change(graph, a, depth + 1)?;
                (graph.at(b).block != self.header).then(|| graph.make(op, class, &[change, b]))
            }
            (Op::Convert(Num::S32, Num::S64), &[a]) => {
                let change = self.change(graph, a, depth + 1)?;
                Some(graph.make(op, class, &[change]))
            }
            _ => None,
        }
    }
}

/// Reads what has a moved value instead of it, but in its own block, in some blocks.
fn replace(graph: &mut Graph, moved: &HashMap<Value, Value>, blocks: Vec<Block>) {
    let now = |graph: &Graph, user: Option<Value>, block: Block, mut value: Value| {
        while let Some(&next) = moved.get(&value)
            && graph.at(value).block != block
            && Some(next) != user
        {
            value = next;
        }
        value
    };
    for block in blocks {
        if let End::Branch(condition, then, other) = graph.data(block).end {
            graph.data_mut(block).end = End::Branch(now(graph, None, block, condition), then, other);
        }
        let data = graph.data(block);
        for user in data.phis.iter().chain(&data.code).copied().collect::<Vec<Value>>() {
            let args = graph.at(user).args.iter().map(|&arg| now(graph, Some(user), block, arg)).collect();
            graph.values[user.0 as usize].args = args;
        }
    }
}
