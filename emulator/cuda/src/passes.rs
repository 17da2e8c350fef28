//! Passes over the code of a kernel once it is complete.

use crate::map::{HashMap, HashSet};

use crate::ssa::{Arith, Block, BlockData, Bytes, Class, End, Graph, Num, Op, Space, Value};

/// Simplifies the code: only what is reached and used stays, products and sums become multiply-adds, and accesses to
/// neighbours become one.
pub(crate) fn clean(graph: &mut Graph) {
    reachable(graph);
    phis(graph);
    join_blocks(graph);
    drop_unused(graph);
    never_read(graph);
    dead_stores(graph);
    crate::loops::optimize(graph);
    skip_empty(graph);
    join_blocks(graph);
    drop_unused(graph);
    sink(graph);
    multiply_adds(graph);
    drop_unused(graph);
    vectors(graph);
    drop_unused(graph);
}

/// Returns the keys of variables without memory whose address is used all the same.
pub(crate) fn addressed(graph: &Graph) -> Vec<u64> {
    let mut keys = Vec::new();
    for value in all_code(graph) {
        if let Op::Address(object) = graph.op(value) {
            let object = &graph.objects[object as usize];
            if object.parts.is_some() {
                keys.push(object.key);
            }
        }
    }
    keys
}

/// Returns the phis and the code of all blocks.
pub(crate) fn all_code(graph: &Graph) -> impl Iterator<Item = Value> + '_ {
    graph.order.iter().flat_map(|&block| {
        let data = graph.data(block);
        data.phis.iter().chain(&data.code).copied()
    })
}

fn reachable(graph: &mut Graph) {
    let mut reached = HashSet::from_iter([Block(0)]);
    let mut work = vec![Block(0)];
    while let Some(block) = work.pop() {
        for target in graph.data(block).end.targets() {
            if reached.insert(target) {
                work.push(target);
            }
        }
    }
    let mut seen = HashSet::default();
    let order = std::mem::take(&mut graph.order);
    graph.order = order.into_iter().filter(|block| reached.contains(block) && seen.insert(*block)).collect();
    for block in graph.order.clone() {
        let before = std::mem::take(&mut graph.data_mut(block).before);
        let keep: Vec<bool> = before.iter().map(|one| reached.contains(one)).collect();
        let kept = |at: &usize| keep[*at];
        graph.data_mut(block).before = (0..before.len()).filter(kept).map(|at| before[at]).collect();
        for phi in graph.data(block).phis.clone() {
            let args = &mut graph.values[phi.0 as usize].args;
            *args = (0..args.len()).filter(kept).map(|at| args[at]).collect();
        }
    }
}

/// Drops phis that have one value only, and names values as they are now.
fn phis(graph: &mut Graph) {
    loop {
        let mut changed = false;
        for block in graph.order.clone() {
            for phi in graph.data(block).phis.clone() {
                changed |= graph.simplify_phi(phi) != phi;
            }
        }
        if !changed {
            break;
        }
    }
    for block in graph.order.clone() {
        let data = graph.data(block);
        let values: Vec<Value> = data.phis.iter().chain(&data.code).copied().collect();
        for value in values {
            let args = graph.at(value).args.iter().map(|&arg| graph.resolve(arg)).collect();
            graph.values[value.0 as usize].args = args;
        }
        if let End::Branch(condition, then, other) = graph.data(block).end {
            let condition = graph.resolve(condition);
            graph.data_mut(block).end = End::Branch(condition, then, other);
        }
    }
}

/// Joins blocks of which one leads only to the other, and nothing else does.
fn join_blocks(graph: &mut Graph) {
    let mut gone = HashSet::default();
    for block in graph.order.clone() {
        if gone.contains(&block) {
            continue;
        }
        while let End::Jump(next) = graph.data(block).end
            && graph.data(next).before.len() == 1
            && next != block
        {
            let BlockData { code, end, end_place, .. } = std::mem::take(graph.data_mut(next));
            for &value in &code {
                graph.values[value.0 as usize].block = block;
            }
            for target in end.targets() {
                for before in &mut graph.data_mut(target).before {
                    if *before == next {
                        *before = block;
                    }
                }
            }
            let data = graph.data_mut(block);
            data.code.extend(code);
            (data.end, data.end_place) = (end, end_place);
            gone.insert(next);
        }
    }
    graph.order.retain(|block| !gone.contains(block));
}

/// Leads ways past blocks that do nothing.
fn skip_empty(graph: &mut Graph) {
    let mut gone = HashSet::default();
    for block in graph.order.clone() {
        let data = graph.data(block).clone();
        let End::Jump(to) = data.end else { continue };
        let target = graph.data(to);
        let is_empty = block != Block(0) && data.code.is_empty() && data.phis.is_empty() && to != block;
        // Two ways from one block to another cannot bring different values.
        let differs = |from: Block| {
            let [at, other] = [block, from].map(|one| target.before.iter().position(|&before| before == one));
            let args = |phi: Value| [at, other].map(|at| at.map(|at| graph.at(phi).args[at]));
            other.is_some() && target.phis.iter().map(|&phi| args(phi)).any(|[a, b]| a != b)
        };
        if !is_empty || data.before.iter().any(|&one| differs(one)) {
            continue;
        }
        let at = target.before.iter().position(|&one| one == block).expect("it leads there");
        for phi in target.phis.clone() {
            let args = &mut graph.values[phi.0 as usize].args;
            let arg = args.remove(at);
            args.extend(data.before.iter().map(|_| arg));
        }
        let before = &mut graph.data_mut(to).before;
        before.remove(at);
        before.extend(&data.before);
        for &one in &data.before {
            let redirect = |target: Block| if target == block { to } else { target };
            let end = match graph.data(one).end {
                End::Jump(target) => End::Jump(redirect(target)),
                End::Branch(condition, then, other) => End::Branch(condition, redirect(then), redirect(other)),
                end => end,
            };
            graph.data_mut(one).end = end;
        }
        gone.insert(block);
    }
    graph.order.retain(|block| !gone.contains(block));
    // A branch whose ways are one.
    for block in graph.order.clone() {
        if let End::Branch(_, then, other) = graph.data(block).end
            && then == other
        {
            graph.data_mut(block).end = End::Jump(then);
            let before = &mut graph.data_mut(then).before;
            let Some(at) = before.iter().rposition(|&one| one == block) else { continue };
            before.remove(at);
            for phi in graph.data(then).phis.clone() {
                graph.values[phi.0 as usize].args.remove(at);
            }
        }
    }
}

/// Returns what an instruction reads: of an address that adds a constant, the rest.
pub(crate) fn operands(graph: &Graph, value: Value) -> Vec<Value> {
    let found = graph.at(value);
    let mut args = found.args.clone();
    let is_access = matches!(
        found.op,
        Op::Load { .. } | Op::Store { .. } | Op::LoadVector { .. } | Op::StoreVector { .. } | Op::Atomic(..)
    );
    if is_access {
        args[0] = graph.split(args[0]).0;
    }
    args
}

fn drop_unused(graph: &mut Graph) {
    let mut used = HashSet::default();
    let mut work: Vec<Value> = all_code(graph).filter(|&value| graph.op(value).is_effect()).collect();
    for &block in &graph.order {
        if let End::Branch(condition, ..) = graph.data(block).end {
            work.push(condition);
        }
    }
    while let Some(value) = work.pop() {
        if used.insert(value) {
            work.extend(operands(graph, value));
        }
    }
    for block in graph.order.clone() {
        let data = graph.data_mut(block);
        data.phis.retain(|value| used.contains(value));
        data.code.retain(|value| used.contains(value));
    }
}

/// Drops stores to shared variables that nothing reads.
fn never_read(graph: &mut Graph) {
    let mut read = graph.read_objects.clone();
    // The object that each address points into, or a store.
    let mut objects: HashMap<Value, Option<u32>> = HashMap::default();
    for value in all_code(graph) {
        let found = graph.at(value);
        let is_moved = matches!(found.op, Op::Arith(Arith::Add | Arith::Sub, _));
        let is_store = matches!(found.op, Op::Store { .. });
        for (at, &arg) in found.args.iter().enumerate() {
            if graph.class(arg) != Class::I64 {
                continue;
            }
            let object = *objects.entry(arg).or_insert_with(|| graph.object_of(arg));
            if at == 0 && (is_moved || is_store) {
                objects.insert(value, object);
            }
            if at > 0 || !is_moved && !matches!(found.op, Op::Store { is_volatile: false, .. }) {
                read.extend(object);
            }
        }
    }
    for block in graph.order.clone() {
        let code = std::mem::take(&mut graph.data_mut(block).code);
        let is_dead = |value: &Value| {
            let is_store = matches!(graph.op(*value), Op::Store { .. });
            objects.get(value).copied().flatten().filter(|_| is_store).is_some_and(|object| {
                let shared = &graph.objects[object as usize];
                shared.space == Space::Shared && !shared.is_extern && !read.contains(&object)
            })
        };
        let kept = code.into_iter().filter(|value| !is_dead(value)).collect();
        graph.data_mut(block).code = kept;
    }
}

/// Accesses of a block that are compared with each other.
const MAX_ACCESSES: usize = 512;

/// Drops stores whose bytes a later store of the same block sets, before anyone can read them.
fn dead_stores(graph: &mut Graph) {
    for block in graph.order.clone() {
        let mut later: Vec<Bytes> = Vec::new();
        let mut dead = HashSet::default();
        for &value in graph.data(block).code.iter().rev() {
            let found = graph.at(value);
            match found.op {
                Op::Store { num, is_volatile: false, .. } => {
                    let to = graph.bytes_at(found.args[0], num.bytes());
                    if later.contains(&to) {
                        dead.insert(value);
                    } else if later.len() < MAX_ACCESSES {
                        later.push(to);
                    }
                }
                Op::Load { num, .. } => {
                    let read = graph.bytes_at(found.args[0], num.bytes());
                    later.retain(|store| !graph.may_overlap(store, &read));
                }
                op if op.is_pure() => {}
                _ => later.clear(),
            }
        }
        graph.data_mut(block).code.retain(|value| !dead.contains(value));
    }
}

/// Moves what only a following block uses there, if nothing else leads to that block: loads too,
/// where nothing behind them writes.
fn sink(graph: &mut Graph) {
    let users = users(graph);
    let mut branched = HashSet::default();
    for &block in &graph.order {
        if let End::Branch(condition, ..) = graph.data(block).end {
            branched.insert(condition);
        }
    }
    for block in graph.order.clone() {
        let mut is_written = false;
        for &value in graph.data(block).code.clone().iter().rev() {
            let op = graph.op(value);
            let is_movable = match op {
                Op::Load { is_volatile: false, .. } => !is_written,
                Op::Address(_) | Op::Special(_) | Op::Param { .. } => false,
                op => op.is_pure(),
            };
            is_written |= matches!(op, Op::Store { .. } | Op::Atomic(..) | Op::Effect { touches_memory: true, .. });
            let Some(by) = users.get(&value).filter(|_| is_movable && !branched.contains(&value)) else { continue };
            let to = graph.at(by[0]).block;
            let is_there = |&one: &Value| graph.at(one).block == to && graph.op(one) != Op::Phi;
            if to != block && by.iter().all(is_there) && graph.data(to).before == [block] {
                graph.data_mut(block).code.retain(|&other| other != value);
                graph.data_mut(to).code.insert(0, value);
                graph.values[value.0 as usize].block = to;
            }
        }
    }
}

/// Returns the instructions that read each value, once for each operand.
fn users(graph: &Graph) -> HashMap<Value, Vec<Value>> {
    let mut users: HashMap<Value, Vec<Value>> = HashMap::default();
    for value in all_code(graph) {
        for operand in operands(graph, value) {
            users.entry(operand).or_default().push(value);
        }
    }
    users
}

/// Sums that a product may be fused into: with more, LLVM keeps the product.
const MAX_SUMS: usize = 5;

/// Fuses products of floats into sums, as LLVM does for NVRTC: into sums only, not into differences, and of two
/// products that are added the first.
fn multiply_adds(graph: &mut Graph) {
    let mut users = users(graph);
    for block in graph.order.clone() {
        for value in graph.data(block).code.clone() {
            let found = graph.at(value).clone();
            if found.op == Op::Arith(Arith::Mul, true) && found.class == Class::I64 {
                wide_product(graph, value);
            }
            let mut found = found;
            if let (Op::Arith(Arith::Sub, _), [_, subtracted]) = (found.op, &found.args[..])
                && negate(graph, *subtracted, &users)
            {
                found.op = Op::Arith(Arith::Add, false);
                graph.values[value.0 as usize].op = found.op;
            }
            if !matches!(found.op, Op::Arith(Arith::Add, _)) || !matches!(found.class, Class::F32 | Class::F64) {
                continue;
            }
            // Only a product that every use adds, in this block, is not computed on its own.
            let is_sum = |&user: &Value| {
                let user = graph.at(user);
                user.block == block && matches!(user.op, Op::Arith(Arith::Add, _))
            };
            let is_product = |value: Value| {
                let product = graph.at(value);
                let is_near =
                    product.block == block && users[&value].len() < MAX_SUMS && users[&value].iter().all(is_sum);
                matches!(product.op, Op::Arith(Arith::Mul, _)) && is_near
            };
            let (product, other) = match found.args[..] {
                [a, b] if is_product(a) => (a, b),
                [a, b] if is_product(b) => (b, a),
                _ => continue,
            };
            let factors = graph.at(product).args.clone();
            if let Some(of) = users.get_mut(&product) {
                of.retain(|&user| user != value);
            }
            let fused = &mut graph.values[value.0 as usize];
            (fused.op, fused.args) = (Op::Fma, vec![factors[0], factors[1], other]);
        }
    }
}

/// Negates a product that nothing else uses, by its constant. NVRTC does so where the constant is the left factor, as
/// in `x - c * y`, or a quotient's divisor.
fn negate(graph: &mut Graph, product: Value, users: &HashMap<Value, Vec<Value>>) -> bool {
    let found = graph.at(product).clone();
    let sign = match found.class {
        Class::F32 => 1 << 31,
        Class::F64 => 1 << 63,
        _ => return false,
    };
    let Op::Arith(Arith::Mul, is_left) = found.op else { return false };
    if users.get(&product).is_none_or(|users| users.len() != 1) {
        return false;
    }
    match graph.constant_of(found.args[1]) {
        Some(bits) if is_left => {
            let negative = graph.bits(found.class, bits ^ sign);
            graph.values[product.0 as usize].args[1] = negative;
            true
        }
        _ => negate(graph, found.args[0], users),
    }
}

/// A product of a 32-bit index that is extended.
fn wide_product(graph: &mut Graph, value: Value) {
    let [a, b] = graph.at(value).args[..] else { return };
    let Op::Convert(from @ (Num::S32 | Num::U32), Num::S64 | Num::U64) = graph.op(a) else { return };
    let narrow = |graph: &mut Graph, value: Value| match graph.op(value) {
        Op::Convert(other, Num::S64 | Num::U64) if other == from => Some(graph.at(value).args[0]),
        Op::Const(bits) if bits < 1 << 31 => Some(graph.bits(Class::I32, bits)),
        _ => None,
    };
    let Some(b) = narrow(graph, b) else { return };
    let a = graph.at(a).args[0];
    let product = &mut graph.values[value.0 as usize];
    (product.op, product.args) = (Op::MulWide(from == Num::S32), vec![a, b]);
}

/// An access that may become part of one to several neighbours.
#[derive(Debug, Clone, Copy)]
struct Access {
    value: Value,
    base: Value,
    offset: i64,
    num: Num,
    align: u8,
    is_constant: bool,
    bytes: Bytes,
}

/// Joins loads, and stores, of neighbours in one block, where their alignment allows it.
fn vectors(graph: &mut Graph) {
    for block in graph.order.clone() {
        let code = graph.data(block).code.clone();
        let (mut loads, mut stores): (Vec<Access>, Vec<Access>) = (Vec::new(), Vec::new());
        // Stores since the loads that wait.
        let mut since: Vec<Bytes> = Vec::new();
        let mut joined: HashMap<Value, Joined> = HashMap::default();
        for &value in &code {
            let op = graph.op(value);
            let access = |num: Num, align: u8, is_constant: bool| {
                let address = graph.at(value).args[0];
                let (base, offset) = graph.split(address);
                let bytes = graph.bytes_at(address, num.bytes());
                Access { value, base, offset, num, align, is_constant, bytes }
            };
            let is_full = |list: &[Access]| list.len() >= MAX_ACCESSES;
            match op {
                Op::Load { num, is_volatile: false, is_constant, align } => {
                    let one = access(num, align, is_constant);
                    if is_full(&loads) || since.iter().any(|store| graph.may_overlap(store, &one.bytes)) {
                        join(graph, std::mem::take(&mut loads), true, &mut joined);
                        since.clear();
                    }
                    if stores.iter().any(|store| graph.may_overlap(&store.bytes, &one.bytes)) {
                        join(graph, std::mem::take(&mut stores), false, &mut joined);
                    }
                    if num != Num::Bool {
                        loads.push(one);
                    }
                }
                Op::Store { num, is_volatile: false, align } => {
                    let one = access(num, align, false);
                    if is_full(&stores) || stores.iter().any(|store| graph.may_overlap(&store.bytes, &one.bytes)) {
                        join(graph, std::mem::take(&mut stores), false, &mut joined);
                    }
                    if since.len() >= MAX_ACCESSES {
                        join(graph, std::mem::take(&mut loads), true, &mut joined);
                        since.clear();
                    }
                    since.push(one.bytes);
                    if num != Num::Bool {
                        stores.push(one);
                    }
                }
                op if op.is_pure() => {}
                Op::Effect { touches_memory: false, .. } => {}
                _ => {
                    join(graph, std::mem::take(&mut loads), true, &mut joined);
                    join(graph, std::mem::take(&mut stores), false, &mut joined);
                    since.clear();
                }
            }
        }
        join(graph, loads, true, &mut joined);
        join(graph, stores, false, &mut joined);
        if joined.is_empty() {
            continue;
        }
        let mut new = Vec::new();
        for value in code {
            match joined.get(&value) {
                None => new.push(value),
                Some(Joined::Gone) => {}
                Some(Joined::Here(values)) => new.extend(values),
            }
        }
        graph.data_mut(block).code = new;
    }
}

/// The code in an access's place.
enum Joined {
    Gone,
    Here(Vec<Value>),
}

fn join(graph: &mut Graph, accesses: Vec<Access>, is_load: bool, joined: &mut HashMap<Value, Joined>) {
    let mut groups: Vec<((Value, Num, bool), Vec<Access>)> = Vec::new();
    for access in accesses {
        let key = (access.base, access.num, access.is_constant);
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, group)) => group.push(access),
            None => groups.push((key, vec![access])),
        }
    }
    for ((base, num, is_constant), mut group) in groups {
        let positions: HashMap<Value, usize> = group.iter().enumerate().map(|(at, one)| (one.value, at)).collect();
        group.sort_by_key(|one| one.offset);
        group.dedup_by_key(|one| one.offset);
        let bytes = num.bytes() as i64;
        let zeros = graph.zeros(base, 0);
        let mut at = 0;
        while at < group.len() {
            let first = group[at];
            let aligned = 1i64 << zeros.min(first.offset.trailing_zeros()).min(4);
            let aligned = aligned.max(i64::from(first.align));
            let is_next =
                |n: usize| group.get(at + n).is_some_and(|next| next.offset == first.offset + n as i64 * bytes);
            let fits = |n: usize| n as i64 * bytes <= aligned.min(16) && (1..n).all(is_next);
            let Some(n) = [4, 2].into_iter().find(|&n| fits(n)) else {
                at += 1;
                continue;
            };
            let part = &group[at..at + n];
            // The first of the loads and the last of the stores, in the order of the code.
            let order = part.iter().map(|one| one.value);
            let place =
                if is_load { order.min_by_key(|one| positions[one]) } else { order.max_by_key(|one| positions[one]) };
            let place = place.expect("there are several");
            let Graph { place: old_site, .. } = *graph;
            graph.place = graph.at(place).place;
            let block = graph.at(place).block;
            let mut here = Vec::new();
            let address = if first.offset == 0 {
                base
            } else {
                let offset = graph.int(Class::I64, first.offset);
                let address = graph.push(Op::Arith(Arith::Add, true), Class::I64, vec![base, offset], block);
                here.push(address);
                address
            };
            if is_load {
                let op = Op::LoadVector { num, n: n as u8, is_volatile: false, is_constant };
                let vector = graph.push(op, Class::None, vec![address], block);
                here.push(vector);
                for (index, one) in part.iter().enumerate() {
                    let value = &mut graph.values[one.value.0 as usize];
                    (value.op, value.args) = (Op::Part(index as u8), vec![vector]);
                    here.push(one.value);
                }
            } else {
                let values = part.iter().map(|one| graph.at(one.value).args[1]);
                let args = std::iter::once(address).chain(values).collect();
                here.push(graph.push(
                    Op::StoreVector { num, n: n as u8, is_volatile: false },
                    Class::None,
                    args,
                    block,
                ));
            }
            graph.place = old_site;
            for one in part {
                joined.insert(one.value, Joined::Gone);
            }
            joined.insert(place, Joined::Here(here));
            at += n;
        }
    }
}
