//! Finds `wmma.mma` operations that take a fragment made for another use, at decode; executing one reports it.
//!
//! A register counts as a fragment's only where all its definitions, through any number of `mov`, make fragments; of
//! definitions in the same basic block, only the last one before the use counts. One definition by other code, such as
//! a fill, ends the search: a program may compute elements itself where all are treated alike. So no right program is
//! reported, and neither is a register that holds the right fragment on one path and a wrong one on another.

use std::collections::HashMap;

use crate::virtual_op::{TRUE, VirtualOp, for_each_register};
use program::mma::fragment::{Foreign, fragment_made, fragments_taken};
use program::operands::Role;
use program::{InstrInfo, OpKind};

/// Bound on the registers that a search follows; beyond it finds nothing.
const MAX_SEARCHED: usize = 64;

struct Definition {
    at: usize,
    instr: u32,
    /// A guard may skip it.
    guarded: bool,
    /// Sources of a `mov`: registers or constants.
    copies: Option<Vec<u32>>,
}

/// Stores in each `wmma.mma` operation the fragments that do not fit. `starts` are those of basic blocks.
pub(crate) fn find_mismatches(ops: &mut [VirtualOp], starts: &[u32], instrs: &[InstrInfo]) {
    if cfg!(feature = "scalar") || !instrs.iter().any(|instr| instr.mnemonic().starts_with("wmma.mma")) {
        return;
    }
    // A called function may write registers in the middle of a block.
    let calls = ops.iter().any(|op| matches!(op.kind, OpKind::Call { .. }));
    let known = Definitions { definitions: definitions(ops, instrs), starts: if calls { &[] } else { starts }, instrs };
    for (at, op) in ops.iter_mut().enumerate() {
        let instr = op.instr as usize;
        let OpKind::Mma(mma) = &mut op.kind else { continue };
        let Some(wanted) = instrs.get(instr).and_then(|instr| fragments_taken(instr.mnemonic())) else { continue };
        let [n_a, n_b, n_c] = mma.form.registers();
        let (mut a, mut b) = (&mma.a[..n_a], &mma.b[..n_b]);
        // An MMA with 32 columns and 8 rows is computed transposed.
        if wanted[0].shape[1] == 32 {
            (a, b) = (b, a);
        }
        let found: Vec<Option<Foreign>> = [a, b, &mma.c[..n_c]]
            .into_iter()
            .zip(wanted)
            .map(|(registers, wanted)| {
                registers.iter().find_map(|&register| {
                    let makers = known.makers(register as u32, at, op.instr)?;
                    let mut foreign = makers.iter().map(|&maker| {
                        let given = fragment_made(instrs[maker as usize].mnemonic())?;
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

fn definitions(ops: &[VirtualOp], instrs: &[InstrInfo]) -> HashMap<u32, Vec<Definition>> {
    let mut all: HashMap<u32, Vec<Definition>> = HashMap::new();
    for (at, op) in ops.iter().enumerate() {
        let (mut sources, mut results) = (Vec::new(), Vec::new());
        for_each_register(op, &mut |register, _, role| match role {
            Role::Use(_) => sources.push(register),
            Role::Def | Role::EarlyDef => results.push(register),
        });
        let mnemonic = instrs.get(op.instr as usize).map_or("", InstrInfo::mnemonic);
        // In the lowering of an MMA, only conversions are not moves.
        let moves = op.moves || mnemonic.starts_with("mov.") || mnemonic.starts_with("wmma.mma");
        let moves = moves && matches!(op.kind, OpKind::Alu { .. });
        for result in results {
            // A `mov` of a constant has no source that could be followed.
            let constant = matches!(&op.kind, OpKind::Alu { args, .. }
                if args.src.iter().take(op.classes.srcs.len()).any(|&src| src < 0));
            let copies = (moves && !constant).then(|| sources.clone());
            all.entry(result).or_default().push(Definition { at, instr: op.instr, guarded: op.guard != TRUE, copies });
        }
    }
    all
}

/// Input of the search for a fragment's makers.
struct Definitions<'a> {
    definitions: HashMap<u32, Vec<Definition>>,
    /// Starts of basic blocks; empty if a called function may write registers in the middle of one.
    starts: &'a [u32],
    instrs: &'a [InstrInfo],
}

impl Definitions<'_> {
    /// Returns the definitions of a register that may reach an operation: a superset.
    fn reaching(&self, register: u32, at: usize) -> Option<&[Definition]> {
        let all = self.definitions.get(&register)?;
        let block = self.starts.partition_point(|&start| start as usize <= at);
        if let Some(&start) = block.checked_sub(1).and_then(|block| self.starts.get(block)) {
            // Definitions are sorted by operation.
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

    /// Returns the instructions that alone define the fragment in a register before `product` takes it.
    fn makers(&self, register: u32, at: usize, product: u32) -> Option<Vec<u32>> {
        let (mut found, mut next) = (vec![(register, at)], 0);
        let mut makers = Vec::new();
        while let Some(&(register, at)) = found.get(next) {
            next += 1;
            for definition in self.reaching(register, at)? {
                let mnemonic = self.instrs.get(definition.instr as usize)?.mnemonic();
                if definition.instr != product && fragment_made(mnemonic).is_some() {
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
                if found.len() + makers.len() > MAX_SEARCHED {
                    return None;
                }
            }
        }
        makers.sort_unstable();
        Some(makers)
    }
}
