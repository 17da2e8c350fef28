//! Loads that a loop repeats although nothing changes what they read, and sums that it keeps in memory.

use crate::map::HashSet;

use crate::ssa::{Block, Class, End, Graph, Op, Value};

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
    for header in loops.into_iter().map(|one| one.header) {
        // Loops inside of it have new blocks by now, which write.
        if let Some(one) = find(graph, header) {
            promote(graph, &one);
        }
    }
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
        let load = |graph: &mut Graph| {
            // The address may add a constant inside of the loop.
            let address = outside(graph, address, one);
            let data = graph.data_mut(one.header);
            data.code.retain(|&other| other != value);
            graph.data_mut(one.before).code.push(value);
            let load = &mut graph.values[value.0 as usize];
            (load.block, load.args) = (one.before, vec![address]);
            address
        };
        if stores.is_empty() {
            load(graph);
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
            let address = load(graph);
            let phi = graph.push(Op::Phi, num.class(), Vec::new(), one.header);
            let args =
                graph.data(one.header).before.iter().map(|&from| if from == one.before { value } else { stored });
            let args: Vec<Value> = args.collect();
            replace(graph, value, phi, one);
            let stored = if stored == value { phi } else { stored };
            graph.values[phi.0 as usize].args =
                args.into_iter().map(|arg| if arg == value { value } else { stored }).collect();
            graph.data_mut(one.header).phis.push(phi);
            graph.data_mut(one.latch).code.retain(|&other| other != store);
            // A block of its own on the way out.
            let between = graph.block();
            graph.data_mut(between).before = vec![one.latch];
            graph.data_mut(between).end = End::Jump(exit);
            graph.data_mut(between).end_place = graph.data(one.latch).end_place;
            let redirect = |to: Block| if to == exit { between } else { to };
            if let End::Branch(condition, then, other) = graph.data(one.latch).end {
                graph.data_mut(one.latch).end = End::Branch(condition, redirect(then), redirect(other));
            }
            for from in &mut graph.data_mut(exit).before {
                if *from == one.latch {
                    *from = between;
                }
            }
            let at = graph.order.iter().position(|&block| block == one.latch).expect("it is there");
            graph.order.insert(at + 1, between);
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
    let op = Op::Arith(crate::ssa::Arith::Add, true);
    let moved = graph.push(op, Class::I64, vec![base, offset], one.before);
    graph.data_mut(one.before).code.push(moved);
    moved
}

/// Reads another value in a loop.
fn replace(graph: &mut Graph, old: Value, new: Value, one: &Loop) {
    for &block in &one.blocks {
        let values: Vec<Value> = graph.data(block).code.clone();
        for value in values {
            for arg in &mut graph.values[value.0 as usize].args {
                if *arg == old {
                    *arg = new;
                }
            }
        }
    }
}
