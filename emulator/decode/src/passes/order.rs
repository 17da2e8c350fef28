//! Decides if results may depend on the order of blocks, and if threads may load what others store.
//!
//! Blocks communicate through global memory. A plain store to what another block accesses is a race, which the race
//! check reports. Other results must be repeatable: strong accesses, atomics whose old value is used, and atomics that
//! do not commute (float sums, exchanges, `min` and `add` on one word).

use std::cell::LazyCell;

use ptx::ast::Type;

use crate::passes::InitialRegisters;
use crate::passes::pointers::{Pointers, UniformValue};
use crate::virtual_op::{VirtualOp, for_each_register};
use arithmetic::lanes::Src;
use program::{Addr, Atomic, AtomicKind, Launches, MemSpace, OpKind, Order, Pointer};

/// Bound on the different atomics of a kernel to compare with each other.
const MAX_ATOMICS: usize = 64;

/// Decides in which order the kernel's blocks must run.
///
/// Removes the destination of an `atom` whose old value is unused, which compilers emit.
pub(crate) fn decide_block_order(ops: &mut [VirtualOp], registers: InitialRegisters<'_>) -> Launches {
    let mut read = vec![false; registers.n];
    for op in ops.iter() {
        for_each_register(op, &mut |register, _, role| {
            read[register as usize] |= role.is_use();
        });
    }
    let shared_by_blocks = |space| matches!(space, MemSpace::Global | MemSpace::Generic);
    let (mut depends, mut fence, mut atomics) = (false, false, false);
    for op in ops.iter_mut() {
        match &mut op.kind {
            OpKind::Atomic(atomic) => {
                atomic.dst = atomic.dst.filter(|&dst| read[dst as usize]);
                if shared_by_blocks(atomic.space) {
                    atomics = true;
                    depends |= !commutes(atomic);
                }
            }
            OpKind::Load(access) | OpKind::Store(access) => {
                depends |= access.order == Order::Strong && shared_by_blocks(access.space);
            }
            OpKind::Fence | OpKind::ProxyFence => fence = true,
            _ => {}
        }
    }
    // Blocks pass data to each other by a fence and an atomic.
    if depends || (fence && atomics) {
        return Launches::All;
    }
    if !atomics {
        return Launches::None;
    }
    order_of_atomics(ops, registers)
}

/// Finds the launches whose threads may load what others store. Addresses of unknown pointers are left out.
///
/// A thread that updates an element of its own loads it from where it stores it: from the same register, if the
/// register differs between threads, and holds no index that was read from memory.
pub(crate) fn find_exchanges(ops: &[VirtualOp], registers: InitialRegisters<'_>) -> Launches {
    let is_global = |space: MemSpace| matches!(space, MemSpace::Global | MemSpace::Generic);
    let (mut loads, mut stores) = (Vec::new(), Vec::new());
    for op in ops {
        match &op.kind {
            OpKind::Load(a) if is_global(a.space) && a.order == Order::Weak => loads.push(&a.addr),
            OpKind::Store(a) if is_global(a.space) => stores.push(&a.addr),
            OpKind::Atomic(a) if is_global(a.space) => stores.push(&a.addr),
            _ => {}
        }
    }
    if loads.is_empty() || stores.is_empty() {
        return Launches::None;
    }
    let pointers = Pointers::new(ops, registers);
    // Few kernels load from where they store.
    let from_memory = LazyCell::new(|| from_memory(ops, registers.n));
    let mut stored: Vec<Pointer> = stores.iter().filter_map(|addr| pointers.place(addr)).map(|place| place.0).collect();
    stored.sort_unstable();
    stored.dedup();
    let mut pairs = Vec::new();
    for addr in loads {
        let Some((pointer, at)) = pointers.place(addr) else { continue };
        let is_index = || usize::try_from(addr.src).is_ok_and(|register| from_memory[register]);
        let is_updated = stores.iter().any(|store| (store.src, store.offset) == (addr.src, addr.offset));
        let is_own = at.is_none() && is_updated && !is_index();
        if stored.contains(&pointer) && !is_own {
            return Launches::All;
        }
        let may_alias = |other: &&Pointer| {
            let are_windows = matches!((pointer, **other), (Pointer::Window(_), Pointer::Window(_)));
            **other != pointer && !are_windows
        };
        pairs.extend(stored.iter().filter(may_alias).map(|other| (pointer, *other)));
    }
    pairs.sort_unstable();
    pairs.dedup();
    if pairs.is_empty() { Launches::None } else { Launches::IfAliased(pairs.into()) }
}

/// Returns, by register, whether its value may be made of values from memory.
fn from_memory(ops: &[VirtualOp], n_registers: usize) -> Vec<bool> {
    let mut from_memory = vec![false; n_registers];
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for op in ops {
            let mut comes = match &op.kind {
                OpKind::Load(load) => matches!(load.space, MemSpace::Global | MemSpace::Generic | MemSpace::Shared),
                kind => matches!(kind, OpKind::Atomic(_)),
            };
            for_each_register(op, &mut |register, _, role| {
                let known = &mut from_memory[register as usize];
                if role.is_use() {
                    comes |= *known;
                } else {
                    changed |= comes && !*known;
                    *known |= comes;
                }
            });
        }
    }
    from_memory
}

/// Returns whether several such atomics with the same operand commute.
fn commutes(atomic: &Atomic) -> bool {
    use Type::{Bf16, Bf16x2, F16, F16x2, F32, F64};
    let float = matches!(atomic.ty, F16 | F16x2 | Bf16 | Bf16x2 | F32 | F64);
    let swaps = matches!(atomic.kind, AtomicKind::Exch | AtomicKind::Cas);
    atomic.dst.is_none() && !float && !swaps
}

/// Properties of an atomic that decide if it commutes with another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AtomicProperties {
    kind: AtomicKind,
    bytes: u32,
    signed: bool,
    /// Operand of `inc` and `dec`, if it is the same for all threads.
    bound: Option<UniformValue>,
}

impl AtomicProperties {
    fn of(atomic: &Atomic) -> AtomicProperties {
        let ordering = matches!(atomic.kind, AtomicKind::Min | AtomicKind::Max);
        AtomicProperties {
            kind: atomic.kind,
            bytes: atomic.ty.bytes(),
            signed: ordering && matches!(atomic.ty, Type::S32 | Type::S64),
            bound: None,
        }
    }

    /// Returns whether two atomics on the same bytes commute.
    fn commutes_with(&self, other: &AtomicProperties) -> bool {
        use AtomicKind::{Add, And, Dec, Inc, Max, Min, Or, Xor};
        self.kind == other.kind
            && match self.kind {
                And | Or | Xor => true,
                Add => self.bytes == other.bytes,
                Min | Max => (self.bytes, self.signed) == (other.bytes, other.signed),
                Inc | Dec => self.bound.is_some() && self.bound == other.bound,
                _ => false,
            }
    }
}

/// Returns whether `bytes` at `at` end at `next` or before it.
fn ends_before(at: i64, bytes: u32, next: i64) -> bool {
    at.checked_add(i64::from(bytes)).is_some_and(|end| end <= next)
}

/// Target of an atomic: its pointer, and the distance from it, if known.
type Target = Option<(Pointer, Option<i64>)>;

/// Decides the order for a kernel whose atomics all commute with themselves.
fn order_of_atomics(ops: &[VirtualOp], registers: InitialRegisters<'_>) -> Launches {
    let has_bound = |kind: &AtomicProperties| matches!(kind.kind, AtomicKind::Inc | AtomicKind::Dec);
    fn of_op(op: &VirtualOp) -> Option<(AtomicProperties, &Addr, Src)> {
        match &op.kind {
            OpKind::Atomic(atomic) if atomic.space != MemSpace::Shared => {
                Some((AtomicProperties::of(atomic), &atomic.addr, atomic.src[0]))
            }
            _ => None,
        }
    }
    let mut kinds = ops.iter().filter_map(of_op).map(|(kind, ..)| kind);
    if let Some(first) = kinds.next()
        && !has_bound(&first)
        && kinds.all(|kind| first.commutes_with(&kind))
    {
        return Launches::None;
    }

    // Several kinds are harmless on different words.
    let pointers = Pointers::new(ops, registers);
    let mut found: Vec<(AtomicProperties, Target)> = Vec::new();
    for (mut kind, addr, operand) in ops.iter().filter_map(of_op) {
        if has_bound(&kind) {
            kind.bound = pointers.uniform_value(operand);
        }
        let mut place = pointers.place(addr);
        if found.contains(&(kind, place)) {
            continue;
        }
        if found.len() >= MAX_ATOMICS {
            place = place.map(|(pointer, _)| (pointer, None));
            if found.contains(&(kind, place)) {
                continue;
            }
        }
        if found.len() >= 2 * MAX_ATOMICS {
            return Launches::All;
        }
        found.push((kind, place));
    }
    let mut pairs = Vec::new();
    for (at, (kind, place)) in found.iter().enumerate() {
        for (other, elsewhere) in &found[at..] {
            if kind.commutes_with(other) {
                continue;
            }
            let (Some((a, x)), Some((b, y))) = (place, elsewhere) else { return Launches::All };
            match (a == b, x, y) {
                (true, Some(x), Some(y)) if ends_before(*x, kind.bytes, *y) || ends_before(*y, other.bytes, *x) => {}
                (true, ..) => return Launches::All,
                (false, ..) if matches!((a, b), (Pointer::Window(_), Pointer::Window(_))) => {}
                (false, ..) if pairs.contains(&(*a, *b)) => {}
                (false, ..) => pairs.push((*a, *b)),
            }
        }
    }
    if pairs.is_empty() { Launches::None } else { Launches::IfAliased(pairs.into()) }
}
