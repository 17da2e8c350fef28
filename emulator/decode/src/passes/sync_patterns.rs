//! Patterns that excuse accesses from race checks: compare-and-swap loops, and volatile accesses of warps in step.
//!
//! The search ignores the order of operations and memory. In doubt, fewer races are found.

use crate::virtual_op::{BitRule, FALSE, TRUE, VirtualOp, for_each_register};
use program::operands::Role;
use program::{AtomicKind, InstrInfo, MemSpace, OpKind, Order};

/// Bound on the rounds of following values through registers; programs that need more keep their orders.
const MAX_ROUNDS: usize = 16;

/// Assigns the orders [`Order::Guess`] and [`Order::InStep`].
///
/// Runs after all passes that decide by the order of an access how it is counted or run.
pub(crate) fn classify(ops: &mut [VirtualOp], n_registers: usize, instrs: &[InstrInfo]) {
    guesses(ops, n_registers);
    in_step(ops, n_registers, instrs);
}

/// Calls `see` for the registers that an op reads and writes, its guard included.
fn registers(op: &VirtualOp, mut see: impl FnMut(u32, Role)) {
    if op.guard != TRUE && op.guard != FALSE {
        see(op.guard, Role::GUARD);
    }
    for_each_register(op, &mut |register, _, role| {
        see(register, role);
    });
}

/// Marks ordinary loads whose value reaches the compare operand of a compare-and-swap by moves alone.
fn guesses(ops: &mut [VirtualOp], n_registers: usize) {
    let mut compared = vec![false; n_registers];
    let mut any = false;
    for op in ops.iter() {
        if let OpKind::Atomic(atomic) = &op.kind
            && atomic.kind == AtomicKind::Cas
            && atomic.src[0] >= 0
        {
            compared[atomic.src[0] as usize] = true;
            any = true;
        }
    }
    for _ in 0..MAX_ROUNDS {
        if !std::mem::take(&mut any) {
            break;
        }
        // Backwards, since values mostly come from above.
        for op in ops.iter().rev() {
            if let OpKind::Alu { args, .. } = &op.kind
                && (op.moves || op.rule == BitRule::Same)
                && compared[args.dst as usize]
                && args.src[0] >= 0
                && !std::mem::replace(&mut compared[args.src[0] as usize], true)
            {
                any = true;
            }
        }
    }
    for op in ops {
        if let OpKind::Load(access) = &mut op.kind
            && access.order == Order::Weak
            && access.n == 1
            && compared.get(access.regs[0] as usize) == Some(&true)
        {
            access.order = Order::Guess;
        }
    }
}

/// Marks volatile accesses to shared memory, unless the kernel seems to pass data by them: a loaded value decides
/// a branch, or an atomic on shared memory returns a value, as a lock does.
fn in_step(ops: &mut [VirtualOp], n_registers: usize, instrs: &[InstrInfo]) {
    let volatile = |instr: u32| {
        let text = instrs.get(instr as usize).map_or("", |info| info.text.as_str());
        text.contains(".volatile")
    };
    let in_shared = |space: MemSpace| matches!(space, MemSpace::Shared | MemSpace::Generic);
    let mut loaded = vec![false; n_registers];
    let mut any = false;
    for op in ops.iter() {
        match &op.kind {
            OpKind::Atomic(atomic) if atomic.dst.is_some() && in_shared(atomic.space) => return,
            OpKind::Load(access) if access.order == Order::Strong && in_shared(access.space) => {
                any = true;
                registers(op, |register, role| loaded[register as usize] |= !role.is_use());
            }
            _ => {}
        }
    }
    let mut rounds = 0;
    while std::mem::take(&mut any) {
        rounds += 1;
        if rounds > MAX_ROUNDS {
            return;
        }
        for op in ops.iter() {
            let mut reads = false;
            registers(op, |register, role| reads |= role.is_use() && loaded[register as usize]);
            let guarded = loaded[op.guard as usize];
            let decides = match &op.kind {
                OpKind::Branch { .. } | OpKind::BranchIndexed { .. } | OpKind::Call { .. } | OpKind::Exit => reads,
                _ => guarded,
            };
            if decides {
                return;
            }
            if reads {
                registers(op, |register, role| {
                    any |= !role.is_use() && !std::mem::replace(&mut loaded[register as usize], true);
                });
            }
        }
    }
    for op in ops {
        let instr = op.instr;
        if let OpKind::Load(access) | OpKind::Store(access) = &mut op.kind
            && access.order == Order::Strong
            && access.space == MemSpace::Shared
            && volatile(instr)
        {
            access.order = Order::InStep;
        }
    }
}
