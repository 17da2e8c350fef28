//! Live ranges of virtual registers, as stretches of positions.
//!
//! Op `i` reads at position `2i` and writes at `2i + 1`. A guarded write keeps other lanes' values, so it counts as a
//! read too. A register that is read before it is written is live from the start, where it is 0.

use crate::passes::cfg::{Cfg, Lists};
use crate::virtual_op::{TRUE, VirtualOp, for_each_register};
use program::{limits::LIVE_PAIRS, operands::Role};

/// A range of positions: first, end.
pub(crate) type Stretch = (u32, u32);

/// Stretches of each register: ascending, disjoint.
#[derive(Debug)]
pub(crate) struct Liveness {
    stretches: Lists<Stretch>,
    /// Registers that may be read before they are written.
    pub(crate) at_entry: Vec<u32>,
    /// Pairs of a register and a block at whose end it is live.
    pub(crate) n_pairs: usize,
}

impl Liveness {
    pub(crate) fn of(&self, register: u32) -> &[Stretch] {
        self.stretches.of(register)
    }

    /// Makes registers live from the first operation to the last.
    pub(crate) fn pin(&mut self, registers: &[u32], n_ops: usize) {
        let mut pinned = vec![false; self.stretches.len()];
        registers.iter().for_each(|&register| pinned[register as usize] = true);
        self.stretches = Lists::build(pinned.len(), |register, stretches| {
            if pinned[register as usize] {
                stretches.push((0, 2 * n_ops as u32))
            } else {
                stretches.extend_from_slice(self.of(register))
            }
        });
    }

    /// Returns whether a register has a value at `from` that is used at `to` or later.
    pub(crate) fn spans(&self, register: u32, from: u32, to: u32) -> bool {
        let stretches = self.of(register);
        let n_started = stretches.partition_point(|&(start, _)| start <= from);
        n_started > 0 && stretches[n_started - 1].1 > to
    }

    /// Computes the live ranges; `None` if too many registers are live across blocks.
    pub(crate) fn new(ops: &[VirtualOp], cfg: &Cfg, n_registers: usize) -> Option<Liveness> {
        let [exposed, kills] = find_exposed_and_kills(ops, cfg, n_registers);
        let LiveOut { pairs, at_entry } = find_live_out(cfg, &exposed, &kills, n_registers)?;
        let live_out = Lists::from_pairs(cfg.n_blocks(), &pairs);
        let pieces = find_pieces(ops, cfg, &live_out, n_registers);
        Some(Self { stretches: merge(n_registers, &pieces), at_entry, n_pairs: pairs.len() })
    }
}

/// Sorts pieces by register and joins adjacent ones.
fn merge(n_registers: usize, pieces: &[(u32, Stretch)]) -> Lists<Stretch> {
    let mut sorted = Lists::from_pairs(n_registers, pieces);
    Lists::build(n_registers, |register, stretches: &mut Vec<Stretch>| {
        let own = sorted.of_mut(register);
        own.sort_unstable();
        let first = stretches.len();
        for &(from, until) in own.iter() {
            match stretches[first..].last_mut() {
                Some(last) if last.1 >= from => last.1 = last.1.max(until),
                _ => stretches.push((from, until)),
            }
        }
    })
}

/// Finds for each register the blocks that read it before writing it, and the blocks that write it for all lanes.
fn find_exposed_and_kills(ops: &[VirtualOp], cfg: &Cfg, n_registers: usize) -> [Lists; 2] {
    let mut exposed: Vec<(u32, u32)> = Vec::new();
    let mut kills: Vec<(u32, u32)> = Vec::new();
    let mut killed_in = vec![u32::MAX; n_registers];
    let mut exposed_in = vec![u32::MAX; n_registers];
    for block in 0..cfg.n_blocks() as u32 {
        for at in cfg.range(block) {
            for_each_read_and_write(&ops[at as usize], |register, role| {
                let r = register as usize;
                if role.is_use() && killed_in[r] != block && exposed_in[r] != block {
                    exposed_in[r] = block;
                    exposed.push((register, block));
                }
                if !role.is_use() && killed_in[r] != block {
                    killed_in[r] = block;
                    kills.push((register, block));
                }
            });
        }
    }
    [exposed, kills].map(|pairs| Lists::from_pairs(n_registers, &pairs))
}

struct LiveOut {
    /// Pairs of a block and a register.
    pairs: Vec<(u32, u32)>,
    at_entry: Vec<u32>,
}

/// Walks back from each exposed read to the writes that reach it; `None` if too many registers cross blocks.
fn find_live_out(cfg: &Cfg, exposed: &Lists, kills: &Lists, n_registers: usize) -> Option<LiveOut> {
    let n_blocks = cfg.n_blocks();
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    let mut out_seen = vec![u32::MAX; n_blocks];
    let mut in_seen = vec![u32::MAX; n_blocks];
    let mut kills_here = vec![u32::MAX; n_blocks];
    let mut stack = Vec::new();
    let mut at_entry = Vec::new();
    for register in 0..n_registers as u32 {
        if exposed.of(register).is_empty() {
            continue;
        }
        for &block in kills.of(register) {
            kills_here[block as usize] = register;
        }
        stack.clear();
        for &block in exposed.of(register) {
            in_seen[block as usize] = register;
            stack.push(block);
        }
        while let Some(block) = stack.pop() {
            for &before in cfg.predecessors.of(block) {
                let b = before as usize;
                if out_seen[b] == register {
                    continue;
                }
                out_seen[b] = register;
                pairs.push((before, register));
                if kills_here[b] != register && in_seen[b] != register {
                    in_seen[b] = register;
                    stack.push(before);
                }
            }
        }
        if pairs.len() > LIVE_PAIRS {
            return None;
        }
        // Block 0 starts with the first operation.
        if in_seen.first() == Some(&register) {
            at_entry.push(register);
        }
    }
    Some(LiveOut { pairs, at_entry })
}

/// Walks backwards through each block, last block first: the stretches of a register come out in descending order.
fn find_pieces(ops: &[VirtualOp], cfg: &Cfg, live_out: &Lists, n_registers: usize) -> Vec<(u32, Stretch)> {
    let mut pieces: Vec<(u32, Stretch)> = Vec::new();
    let mut open_until = vec![0u32; n_registers];
    let mut open: Vec<u32> = Vec::new();
    for block in (0..cfg.n_blocks() as u32).rev() {
        let range = cfg.range(block);
        open.clear();
        for &register in live_out.of(block) {
            open_until[register as usize] = 2 * range.end;
            open.push(register);
        }
        for at in range.clone().rev() {
            // Definitions close a stretch before the reads of the same op open one.
            let op = &ops[at as usize];
            for_each_read_and_write(op, |register, role| {
                let r = register as usize;
                if !role.is_use() {
                    let from = if role == Role::EarlyDef { 2 * at } else { 2 * at + 1 };
                    let until = open_until[r].max(2 * at + 2);
                    pieces.push((register, (from, until)));
                    open_until[r] = 0;
                }
            });
            for_each_read_and_write(op, |register, role| {
                let r = register as usize;
                if role.is_use() && open_until[r] == 0 {
                    open_until[r] = 2 * at + 1;
                    open.push(register);
                }
            });
        }
        for &register in &open {
            let until = std::mem::take(&mut open_until[register as usize]);
            if until != 0 {
                pieces.push((register, (2 * range.start, until)));
            }
        }
    }
    pieces
}

/// Calls `f` for each operand and the guard. A guarded write is [`Role::Use`], since it keeps other lanes' values.
fn for_each_read_and_write(op: &VirtualOp, mut f: impl FnMut(u32, Role)) {
    let guarded = op.guard != TRUE;
    if guarded {
        f(op.guard, Role::GUARD);
    }
    for_each_register(op, &mut |register, _, role| {
        f(register, if guarded { Role::GUARD } else { role });
    });
}
