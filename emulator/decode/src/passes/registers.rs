//! Register allocation: virtual registers to lines and predicates, by linear scan with holes
//! (after Wimmer and Mössenböck, "Optimized Interval Splitting", without splitting: lines are plenty).
//!
//! Few lines matter more than anything else here: a warp's registers should stay in the first-level cache.
//! A result takes the line of a source that dies with it when it can, so that accumulators stay where they
//! are and the moves at the end of a loop become nothing.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use crate::error::Result;
use crate::passes::liveness::{Liveness, Stretch};
use crate::virtual_op::{FALSE, TRUE, VirtualOp, map_registers};
use arithmetic::lanes::{Class, Dst};
use program::limits::{Account, COMPARISONS};
use program::{OpKind, Special};

/// Place of each virtual register, and the size of the register file.
#[derive(Debug)]
pub(crate) struct Allocation {
    /// Line, or predicate number.
    pub(crate) place: Vec<u32>,
    /// Register lines; 64-bit registers come first.
    pub(crate) n_lines: u32,
    pub(crate) n_preds: u32,
}

impl Allocation {
    /// Returns the special registers that the code reads, with their lines: the others have none.
    pub(crate) fn specials(&self, specials: &BTreeMap<Special, u32>, live: &Liveness) -> Vec<(Special, Dst)> {
        let read = specials.iter().filter(|&(_, &register)| !live.of(register).is_empty());
        read.map(|(&special, &register)| (special, self.place[register as usize])).collect()
    }
}

/// Slots `0 .. n` of one class of registers.
#[derive(Default)]
struct Pool {
    free: BTreeSet<u32>,
    /// Registers in a lifetime hole, by slot.
    resting: Vec<Vec<u32>>,
}

/// Slots tried before a new one is added.
const MAX_TRIES: usize = 64;

/// Assigns slots in order of the starts of live ranges.
pub(crate) fn allocate(ops: &[VirtualOp], live: &Liveness, classes: &[Class], account: &Account) -> Result<Allocation> {
    let n = classes.len();
    let hints = hints(ops, n);
    let mut order: Vec<u32> = (0..n as u32).filter(|&r| r > FALSE && !live.of(r).is_empty()).collect();
    order.sort_by_key(|&r| (live.of(r)[0].0, r));

    let mut slot = vec![u32::MAX; n];
    let mut pools = [Pool::default(), Pool::default(), Pool::default()];
    // (position, wakes, register): the end of a stretch, or the start of the next one.
    let mut events: BinaryHeap<Reverse<(u32, bool, u32)>> = BinaryHeap::new();
    let mut current = vec![0u32; n];
    let comparisons = std::cell::Cell::new(0u64);
    // Compiled programs need a few per register.
    let bound = COMPARISONS.min(account.steps_left() / 2);

    for register in order {
        let class = classes[register as usize];
        let stretches = live.of(register);
        let start = stretches[0].0;
        while let Some(&Reverse((at, wakes, other))) = events.peek() {
            if at > start {
                break;
            }
            events.pop();
            let o = other as usize;
            let pool = &mut pools[index(classes[o])];
            let stretches = live.of(other);
            if wakes {
                pool.free.remove(&slot[o]);
                pool.resting[slot[o] as usize].retain(|&r| r != other);
                events.push(Reverse((stretches[current[o] as usize].1, false, other)));
            } else {
                current[o] += 1;
                pool.free.insert(slot[o]);
                if let Some(next) = stretches.get(current[o] as usize) {
                    pool.resting[slot[o] as usize].push(other);
                    events.push(Reverse((next.0, true, other)));
                }
            }
        }

        let pool = &mut pools[index(class)];
        let fits = |candidate: u32| {
            let resting = &pool.resting[candidate as usize];
            if resting.is_empty() {
                return true;
            }
            if comparisons.get() > bound {
                return false;
            }
            resting.iter().all(|&r| {
                let theirs = &live.of(r)[current[r as usize] as usize..];
                comparisons.set(comparisons.get() + (stretches.len() + theirs.len()) as u64);
                !intersect(stretches, theirs)
            })
        };
        let hinted = hints[register as usize]
            .iter()
            .filter(|&&h| h != u32::MAX && slot[h as usize] != u32::MAX)
            .map(|&h| slot[h as usize])
            .find(|s| pool.free.contains(s) && fits(*s));
        let chosen = hinted.or_else(|| pool.free.iter().copied().take(MAX_TRIES).find(|&s| fits(s)));
        let chosen = chosen.unwrap_or_else(|| {
            pool.resting.push(Vec::new());
            pool.resting.len() as u32 - 1
        });
        pool.free.remove(&chosen);
        slot[register as usize] = chosen;
        events.push(Reverse((stretches[0].1, false, register)));
    }

    account.steps(comparisons.get().min(account.steps_left()))?;
    let n_wide = pools[index(Class::Bits64)].resting.len() as u32;
    let n_narrow = pools[index(Class::Bits32)].resting.len() as u32;
    let n_preds = pools[index(Class::Pred)].resting.len() as u32 + 2;
    let place = classes
        .iter()
        .zip(&slot)
        .enumerate()
        .map(|(register, (class, &slot))| match (class, slot) {
            _ if register as u32 == TRUE => 0,
            _ if register as u32 == FALSE => 1,
            (_, u32::MAX) => 0, // never mentioned
            (Class::Bits64, s) => 2 * s,
            (Class::Bits32, s) => 2 * n_wide + s,
            (Class::Pred, s) => 2 + s,
        })
        .collect();
    Ok(Allocation { place, n_lines: 2 * n_wide + n_narrow, n_preds })
}

fn index(class: Class) -> usize {
    match class {
        Class::Pred => 0,
        Class::Bits32 => 1,
        Class::Bits64 => 2,
    }
}

/// Returns whether two ascending lists of stretches intersect.
fn intersect(a: &[Stretch], b: &[Stretch]) -> bool {
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x.0 < y.1 && y.0 < x.1 {
            return true;
        }
        if x.1 <= y.1 { i += 1 } else { j += 1 }
    }
    false
}

/// Chooses up to two registers to share a place with: a source of the op that writes it, the target of a move.
fn hints(ops: &[VirtualOp], n: usize) -> Vec<[u32; 2]> {
    let mut hints = vec![[u32::MAX; 2]; n];
    for op in ops {
        let OpKind::Alu { args, .. } = &op.kind else { continue };
        let dst = args.dst;
        let same = |&(s, class): &(i32, &Class)| s >= 0 && *class == op.classes.dst;
        let mut sources = args.src.iter().copied().zip(op.classes.srcs);
        // The last source is the addend of a multiply-add.
        if let Some((source, _)) = sources.rfind(same) {
            hints[dst as usize][0] = source as u32;
            if op.classes.srcs.len() == 1 {
                hints[source as usize][1] = dst;
            }
        }
    }
    hints
}

/// Replaces virtual registers by their places.
pub(crate) fn rewrite(op: &mut VirtualOp, allocation: &Allocation) {
    map_registers(op, &mut |register, _| allocation.place[register as usize]);
    op.guard = allocation.place[op.guard as usize];
}
