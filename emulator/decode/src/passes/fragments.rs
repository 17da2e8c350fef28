//! Products of `wmma` that take a fragment made for something else: found once, when a kernel is decoded, and reported
//! when such a product is executed.
//!
//! A register counts as a fragment's only where everything that defines it, through any number of `mov`, makes
//! fragments; of definitions in the same basic block before it is used, the last one alone. One definition by other
//! code, such as a fill, and nothing is said: a program may compute elements itself where all elements are treated
//! alike. So no right program is reported. A register that holds the right fragment on one path and a wrong one on
//! another is not reported either.

use std::collections::HashMap;

use crate::operands::{Role, operands};
use crate::virt::{TRUE, VirtualOp};
use program::mma::fragment::{Foreign, made, taken};
use program::{InstrInfo, OpKind};

/// Registers that are followed back from one; beyond, nothing is said.
const MOST: usize = 64;

/// What one operation that defines a register tells.
struct Definition {
    at: usize,
    instr: u32,
    /// A predicate may keep it from being executed.
    guarded: bool,
    /// Of a `mov`: the registers, or constants, that it copies.
    copies: Option<Vec<i32>>,
}

/// Notes in each product of `wmma` the fragments that are not what it takes.
/// `starts` are those of basic blocks.
pub(crate) fn compare(ops: &mut [VirtualOp], starts: &[u32], instrs: &[InstrInfo]) {
    if !instrs
        .iter()
        .any(|instr| instr.mnemonic().starts_with("wmma.mma"))
    {
        return;
    }
    // A called function may write registers in the middle of a block.
    let calls = ops.iter().any(|op| matches!(op.kind, OpKind::Call { .. }));
    let known = Known {
        definitions: definitions(ops, instrs),
        starts: if calls { &[] } else { starts },
        instrs,
    };
    for (at, op) in ops.iter_mut().enumerate() {
        let instr = op.instr as usize;
        let OpKind::Mma(mma) = &mut op.kind else { continue };
        let Some(wanted) = instrs.get(instr).and_then(|instr| taken(instr.mnemonic())) else {
            continue;
        };
        let [n_a, n_b, n_c] = mma.form.registers();
        let (mut a, mut b) = (&mma.a[..n_a], &mma.b[..n_b]);
        // A product with 32 columns and 8 rows is computed transposed.
        if wanted[0].shape[1] == 32 {
            (a, b) = (b, a);
        }
        let found: Vec<Option<Foreign>> = [a, b, &mma.c[..n_c]]
            .into_iter()
            .zip(wanted)
            .map(|(registers, wanted)| {
                registers.iter().find_map(|&register| {
                    let makers = known.makers(register, at)?;
                    let mut foreign = makers.iter().map(|&maker| {
                        let given = made(instrs[maker as usize].mnemonic())?;
                        (given != wanted).then_some(Foreign { wanted, given, maker })
                    });
                    let first = foreign.next()??;
                    foreign.all(|other| other.is_some()).then_some(first)
                })
            })
            .collect();
        for (to, found) in mma.foreign.iter_mut().zip(found) {
            *to = found;
        }
    }
}

fn definitions(ops: &mut [VirtualOp], instrs: &[InstrInfo]) -> HashMap<i32, Vec<Definition>> {
    let mut all: HashMap<i32, Vec<Definition>> = HashMap::new();
    for (at, op) in ops.iter_mut().enumerate() {
        let (mut sources, mut results) = (Vec::new(), Vec::new());
        operands(op, &mut |register, _, role| {
            match role {
                Role::Use => sources.push(register),
                Role::Def | Role::EarlyDef => results.push(register),
            }
            register
        });
        let mnemonic = instrs.get(op.instr as usize).map_or("", InstrInfo::mnemonic);
        let moves = matches!(op.kind, OpKind::Alu { .. }) && (op.moves || mnemonic.starts_with("mov."));
        for result in results {
            // A `mov` of a constant has no source that could be followed.
            let constant = matches!(&op.kind, OpKind::Alu { args, .. }
                if args.src.iter().take(op.classes.srcs.len()).any(|&src| src < 0));
            let copies = (moves && !constant).then(|| sources.clone());
            all.entry(result).or_default().push(Definition {
                at,
                instr: op.instr,
                guarded: op.guard != TRUE,
                copies,
            });
        }
    }
    all
}

/// What a search for the makers of a fragment looks at.
struct Known<'a> {
    definitions: HashMap<i32, Vec<Definition>>,
    /// Starts of basic blocks; empty: blocks are not told apart.
    starts: &'a [u32],
    instrs: &'a [InstrInfo],
}

impl Known<'_> {
    /// The definitions of a register that may be in force at an operation: at least these.
    fn reaching(&self, register: i32, at: usize) -> Option<&[Definition]> {
        let all = self.definitions.get(&register)?;
        let block = self.starts.partition_point(|&start| start as usize <= at);
        if let Some(&start) = block.checked_sub(1).and_then(|block| self.starts.get(block)) {
            // They are in the order of the operations.
            let before = all.partition_point(|definition| definition.at < at);
            if let Some(last) = before.checked_sub(1)
                && all[last].at >= start as usize
                && !all[last].guarded
            {
                return Some(&all[last..before]);
            }
        }
        Some(all)
    }

    /// The instructions that make the fragment in a register, when nothing else defines it.
    fn makers(&self, register: i32, at: usize) -> Option<Vec<u32>> {
        let (mut found, mut next) = (vec![(register, at)], 0);
        let mut makers = Vec::new();
        while let Some(&(register, at)) = found.get(next) {
            next += 1;
            for definition in self.reaching(register, at)? {
                if made(self.instrs.get(definition.instr as usize)?.mnemonic()).is_some() {
                    if !makers.contains(&definition.instr) {
                        makers.push(definition.instr);
                    }
                    continue;
                }
                for &source in definition.copies.as_ref()? {
                    if !found.contains(&(source, definition.at)) {
                        found.push((source, definition.at));
                    }
                }
                if found.len() + makers.len() > MOST {
                    return None;
                }
            }
        }
        makers.sort_unstable();
        Some(makers)
    }
}
