//! Removes unused operations: halves of 64-bit values that are only used whole, pairs that are only used by halves.

use crate::passes::{cfg::Cfg, finish::each_target, liveness::Liveness};
use crate::virtual_op::VirtualOp;
use program::OpKind;

/// Rounds; each finds values whose only uses the previous ones removed.
const ROUNDS: usize = 3;

/// Removes unused operations, and returns the liveness of the rest.
pub(super) fn prune(ops: &mut Vec<VirtualOp>, n_registers: usize) -> Option<Liveness> {
    for _ in 0..ROUNDS {
        let cfg = Cfg::new(ops);
        let live = Liveness::new(ops, &cfg, n_registers)?;
        let mut keep = vec![true; ops.len()];
        for (at, op) in ops.iter().enumerate() {
            // A result of a block's last operation may be read behind a branch.
            let last = cfg.starts.binary_search(&(at as u32 + 1)).is_ok();
            if let OpKind::Alu { args, .. } = &op.kind
                && !last
            {
                keep[at] = live.spans(args.dst, 2 * at as u32 + 1, 2 * at as u32 + 2);
            }
        }
        if keep.iter().all(|keep| *keep) {
            return Some(live);
        }
        // An instruction is counted by its first operation.
        for at in 0..ops.len() {
            if !keep[at] && ops[at].first {
                let heir =
                    (at + 1..ops.len()).take_while(|&next| ops[next].instr == ops[at].instr && !ops[next].first).find(
                        |&next| keep[next] && (ops[next].guard, ops[next].negated) == (ops[at].guard, ops[at].negated),
                    );
                match heir {
                    Some(heir) => {
                        ops[heir].first = true;
                        ops[at].first = false;
                    }
                    None => {
                        keep[at] = true;
                        ops[at].kind = OpKind::Nop;
                    }
                }
            }
        }
        let mut position = Vec::with_capacity(ops.len() + 1);
        let mut kept = 0u32;
        for keep in &keep {
            position.push(kept);
            kept += u32::from(*keep);
        }
        position.push(kept);
        let mut at = 0;
        ops.retain(|_| {
            at += 1;
            keep[at - 1]
        });
        for op in ops.iter_mut() {
            each_target(&mut op.kind, &mut |target| *target = position[*target as usize]);
        }
    }
    let cfg = Cfg::new(ops);
    Liveness::new(ops, &cfg, n_registers)
}
