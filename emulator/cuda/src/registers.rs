//! Values that can share a register: those that a phi joins, where none is needed while another one is set.

use crate::map::HashMap;

use crate::passes;
use crate::ssa::{Block, End, Graph, Op, Value};

/// Bits of the sets of all blocks: above this, phis are copied.
const MAX_BITS: usize = 1 << 24;

struct Live {
    /// Numbers of the values that are used.
    numbers: HashMap<Value, usize>,
    /// Values needed at the end of each block.
    out: HashMap<Block, Vec<u64>>,
    /// The place where each value is set (0 for a phi), and its last use in each block that uses it.
    set: HashMap<Value, usize>,
    last: HashMap<(Block, Value), usize>,
}

/// Returns for each value of a phi the value whose register it shares.
pub(crate) fn shared(graph: &Graph) -> HashMap<Value, Value> {
    let mut class: HashMap<Value, Value> = HashMap::default();
    let mut members: HashMap<Value, Vec<Value>> = HashMap::default();
    let Some(live) = live(graph) else { return class };
    let is_plain = |value: Value| !matches!(graph.op(value), Op::Const(_) | Op::Undef | Op::Address(_));
    for &block in &graph.order {
        let data = graph.data(block);
        for &phi in &data.phis {
            for &arg in &graph.at(phi).args {
                let of = |value: Value| class.get(&value).copied().unwrap_or(value);
                let (a, b) = (of(phi), of(arg));
                if !is_plain(arg) || a == b {
                    continue;
                }
                let all = |value: Value| members.get(&value).cloned().unwrap_or_else(|| vec![value]);
                let (left, right) = (all(a), all(b));
                let is_apart = left.iter().all(|&one| right.iter().all(|&other| !live.interfere(graph, one, other)));
                if is_apart {
                    for &value in &right {
                        class.insert(value, a);
                    }
                    members.insert(a, [left, right].concat());
                    members.remove(&b);
                }
            }
        }
    }
    class
}

impl Live {
    fn interfere(&self, graph: &Graph, a: Value, b: Value) -> bool {
        self.is_needed_at(graph, a, b) || self.is_needed_at(graph, b, a)
    }

    /// Returns whether `value` is still needed behind the place where `other` is set.
    fn is_needed_at(&self, graph: &Graph, value: Value, other: Value) -> bool {
        let block = graph.at(other).block;
        let place = self.set[&other];
        let is_before = graph.at(value).block != block || self.set[&value] <= place;
        if !is_before {
            return false;
        }
        let Some(&number) = self.numbers.get(&value) else { return false };
        let is_out = self.out.get(&block).is_some_and(|out| out[number / 64] >> (number % 64) & 1 == 1);
        // What is live here was set before, or it would be used before it is set.
        let is_live = is_out || self.last.get(&(block, value)).is_some_and(|&last| last > place);
        is_live && (graph.at(value).block == block || self.is_in(graph, block, number))
    }

    fn is_in(&self, graph: &Graph, block: Block, number: usize) -> bool {
        graph
            .data(block)
            .before
            .iter()
            .any(|one| self.out.get(one).is_some_and(|out| out[number / 64] >> (number % 64) & 1 == 1))
    }
}

fn live(graph: &Graph) -> Option<Live> {
    let mut numbers = HashMap::default();
    let (mut set, mut last) = (HashMap::default(), HashMap::default());
    for &block in &graph.order {
        let data = graph.data(block);
        for &phi in &data.phis {
            let next = numbers.len();
            numbers.insert(phi, next);
            set.insert(phi, 0);
        }
        for (at, &value) in data.code.iter().enumerate() {
            let next = numbers.len();
            numbers.entry(value).or_insert(next);
            set.insert(value, at + 1);
            for operand in passes::operands(graph, value) {
                last.insert((block, operand), at + 1);
            }
        }
        if let End::Branch(mut condition, ..) = data.end {
            // A branch reads what its condition negates.
            while graph.op(condition) == Op::Not {
                condition = graph.at(condition).args[0];
            }
            last.insert((block, condition), data.code.len() + 1);
        }
    }
    let words = numbers.len().div_ceil(64);
    if words * 64 * graph.order.len() > MAX_BITS {
        return None;
    }
    let mut out: HashMap<Block, Vec<u64>> = graph.order.iter().map(|&block| (block, vec![0; words])).collect();
    // Values needed at the start of each block: at first those that it uses itself.
    let mut into: HashMap<Block, Vec<u64>> = out.clone();
    for &(block, value) in last.keys() {
        if let Some(&number) = numbers.get(&value).filter(|_| graph.at(value).block != block) {
            into.entry(block).or_default()[number / 64] |= 1 << (number % 64);
        }
    }
    loop {
        let mut changed = false;
        for &block in graph.order.iter().rev() {
            let data = graph.data(block);
            let mut bits = vec![0u64; words];
            for target in data.end.targets() {
                for (to, from) in bits.iter_mut().zip(&into[&target]) {
                    *to |= from;
                }
                let at = graph.data(target).before.iter().position(|&one| one == block);
                for &phi in &graph.data(target).phis {
                    if let Some(&number) = at.and_then(|at| numbers.get(&graph.at(phi).args[at])) {
                        bits[number / 64] |= 1 << (number % 64);
                    }
                }
            }
            if bits != out[&block] {
                changed = true;
                out.insert(block, bits.clone());
                for value in data.phis.iter().chain(&data.code) {
                    let number = numbers[value];
                    bits[number / 64] &= !(1 << (number % 64));
                }
                let into = into.entry(block).or_default();
                into.iter_mut().zip(bits).for_each(|(to, from)| *to |= from);
            }
        }
        if !changed {
            break;
        }
    }
    Some(Live { numbers, out, set, last })
}
