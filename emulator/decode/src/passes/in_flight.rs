//! Finds the operations that access registers of pending `wgmma` operations.

use std::collections::{BTreeSet, HashMap};

use crate::passes::cfg::Cfg;
use crate::virtual_op::{VirtualOp, for_each_register};
use arithmetic::lanes::Class;
use program::operands::Role;
use program::{InstrInfo, OpKind, RegisterAccess, RegisterWrite, WgmmaA};

/// Lists the accesses of each operation to lines that `wgmma` uses; `None` in kernels without `wgmma`.
///
/// `ops` still have virtual registers; `place` has their lines.
pub(crate) fn touches(ops: &[VirtualOp], place: &[u32], n_registers: usize) -> Option<Vec<Box<[RegisterAccess]>>> {
    let mut used = vec![false; n_registers];
    for op in ops.iter() {
        if let OpKind::Wgmma(wgmma) = &op.kind {
            wgmma.d.iter().for_each(|&d| used[d as usize] = true);
            if let WgmmaA::Registers(a) = &wgmma.a {
                a.iter().filter(|a| **a >= 0).for_each(|&a| used[a as usize] = true);
            }
        }
    }
    if !used.contains(&true) {
        return None;
    }
    let lines = lines_of(&used, place);
    let touches = ops.iter().map(|op| {
        let mut touched = Vec::new();
        for_each_register(op, &mut |register, class, role| {
            let at = register as usize;
            let first = place[at];
            let n = match class {
                Class::Pred => 0,
                Class::Bits32 => 1,
                Class::Bits64 => 2,
            };
            let watched = (first..first + n).filter(|line| lines.get(*line as usize) == Some(&true));
            touched.extend(watched.map(|line| RegisterAccess { line, register, writes: !role.is_use() }));
        });
        touched.into_boxed_slice()
    });
    Some(touches.collect())
}

/// Finds writes to registers of `wgmma`, moved ones included, from which a path without `wgmma.fence` leads to it.
///
/// Moves by themselves are not writes, since compilers add them; they may move a written value.
pub(crate) fn unfenced(
    ops: &[VirtualOp], cfg: &Cfg, instrs: &[InstrInfo], place: &[u32],
) -> Option<Vec<Box<[RegisterWrite]>>> {
    if cfg!(feature = "scalar") || !ops.iter().any(|op| matches!(op.kind, OpKind::Wgmma(_))) {
        return None;
    }
    let effects = |op: &VirtualOp| {
        let mnemonic = instrs[op.instr as usize].mnemonic();
        // Some moves copy registers for `wgmma` and back.
        let moves = mnemonic.starts_with("mov") || op.moves;
        Effects::of(op, moves)
    };
    let steps: Vec<Effects> = ops.iter().map(effects).collect();
    let tracked = tracked(&steps);
    if !has_unfenced_path(&steps, cfg, &tracked) {
        return None;
    }
    let lines = lines_of(&tracked, place);
    let writes = steps.iter().map(|step| {
        let mut written = Vec::new();
        for &(register, n) in &step.writes {
            let first = place[register as usize];
            for line in (first..first + n).filter(|line| lines[*line as usize]) {
                let from = step.moves.then(|| step.reads.iter().map(|r| place[*r as usize]).collect());
                written.push(RegisterWrite { line, from });
            }
        }
        written.into_boxed_slice()
    });
    Some(writes.collect())
}

/// Returns which lines these registers have; those that are not needed at the same time share lines.
fn lines_of(registers: &[bool], place: &[u32]) -> Vec<bool> {
    // The last register may be two lines wide.
    let mut lines = vec![false; place.iter().max().map_or(0, |line| *line as usize + 2)];
    registers.iter().zip(place).filter(|(used, _)| **used).for_each(|(_, line)| lines[*line as usize] = true);
    lines
}

/// Bound on the operations and registers that the search visits: many times the needs of the largest kernels.
const MAX_WORK: usize = 1 << 22;

/// Effects of an operation on the registers of `wgmma`.
struct Effects {
    kind: StepKind,
    moves: bool,
    reads: Vec<u32>,
    /// Registers with their lines.
    writes: Vec<(u32, u32)>,
}

/// How an operation orders accesses to the registers of `wgmma`.
#[derive(PartialEq, Eq)]
enum StepKind {
    Fence,
    Wgmma,
    Other,
}

impl Effects {
    fn of(op: &VirtualOp, moves: bool) -> Self {
        let kind = match op.kind {
            OpKind::WgmmaFence => StepKind::Fence,
            OpKind::Wgmma(_) => StepKind::Wgmma,
            _ => StepKind::Other,
        };
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for_each_register(op, &mut |register, class, role| {
            let n = match class {
                Class::Pred => return,
                Class::Bits32 => 1,
                Class::Bits64 => 2,
            };
            match role {
                // Descriptors do not count as registers of `wgmma`.
                Role::Use(_) if kind == StepKind::Wgmma && n == 2 => {}
                Role::Use(_) => reads.push(register),
                Role::Def | Role::EarlyDef => writes.push((register, n)),
            }
        });
        Self { kind, moves, reads, writes }
    }
}

/// Returns for each register whether `wgmma` uses it, or its value is moved to one that `wgmma` uses.
fn tracked(steps: &[Effects]) -> Vec<bool> {
    let all = steps.iter().flat_map(|step| step.reads.iter().copied().chain(step.writes.iter().map(|w| w.0)));
    let mut tracked = vec![false; all.max().map_or(0, |last| last as usize + 1)];
    for step in steps.iter().filter(|step| step.kind == StepKind::Wgmma) {
        for &register in step.reads.iter().chain(step.writes.iter().map(|(register, _)| register)) {
            tracked[register as usize] = true;
        }
    }
    let mut sources: HashMap<u32, Vec<u32>> = HashMap::new();
    for step in steps.iter().filter(|step| step.moves) {
        for (register, _) in &step.writes {
            sources.entry(*register).or_default().extend(&step.reads);
        }
    }
    let mut todo: Vec<u32> = (0..tracked.len() as u32).filter(|register| tracked[*register as usize]).collect();
    while let Some(register) = todo.pop() {
        for &source in sources.get(&register).into_iter().flatten() {
            if !std::mem::replace(&mut tracked[source as usize], true) {
                todo.push(source);
            }
        }
    }
    tracked
}

/// Returns whether a path without a fence leads from a write of a register to its `wgmma`, if the search is short.
fn has_unfenced_path(steps: &[Effects], cfg: &Cfg, tracked: &[bool]) -> bool {
    let n_blocks = cfg.n_blocks();
    // Registers written since the last fence, at the start of each block.
    let mut written: Vec<Option<BTreeSet<u32>>> = vec![None; n_blocks];
    written[0] = Some(BTreeSet::new());
    let mut todo = vec![0];
    let mut work = 0;
    while let Some(block) = todo.pop() {
        let mut now = written[block as usize].clone().unwrap_or_default();
        work += now.len() + cfg.range(block).len() + cfg.successors.of(block).len();
        if work > MAX_WORK {
            return false;
        }
        for step in cfg.range(block).map(|at| &steps[at as usize]) {
            match step.kind {
                StepKind::Fence => now.clear(),
                StepKind::Wgmma if step.reads.iter().any(|register| now.contains(register)) => return true,
                StepKind::Wgmma => {}
                StepKind::Other => {
                    let new = !step.moves || step.reads.iter().any(|register| now.contains(register));
                    for &(register, _) in step.writes.iter().filter(|(r, _)| tracked[*r as usize]) {
                        if new {
                            now.insert(register)
                        } else {
                            now.remove(&register)
                        };
                    }
                }
            }
        }
        for &next in cfg.successors.of(block) {
            let known = written[next as usize].clone();
            let mut all = known.clone().unwrap_or_default();
            all.extend(&now);
            if known.as_ref() != Some(&all) {
                written[next as usize] = Some(all);
                todo.push(next);
            }
        }
    }
    false
}

/// Removes the entries of operations that are not kept.
pub(crate) fn keep<T>(touches: &mut Option<Vec<Box<[T]>>>, ops: &[VirtualOp], kept: impl Fn(&VirtualOp) -> bool) {
    if let Some(touches) = touches {
        let mut at = ops.iter();
        touches.retain(|_| at.next().is_some_and(&kept));
    }
}
