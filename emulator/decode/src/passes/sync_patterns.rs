//! Idioms that decide what an access means to the race checks: the first load of a compare-and-swap loop, and
//! volatile shared memory in code that relies on the lanes of a warp running in step.
//!
//! Registers are looked at without regard to the order of operations, and values are not followed through
//! memory. Where that makes a difference, an access keeps the order under which fewer races are found.

use crate::operands::{Role, operands};
use crate::virt::{FALSE, Rule, TRUE, VirtualOp};
use arithmetic::lanes::NONE;
use program::{AtomicKind, InstrInfo, MemSpace, OpKind, Order};

/// Rounds of following values through registers; a program that needs more is left as it is.
const MAX_ROUNDS: usize = 16;

/// Gives accesses the orders [`Order::Guess`] and [`Order::InStep`].
///
/// Comes after everything that decides by the order of an access how it is counted or run.
pub(crate) fn classify(ops: &mut [VirtualOp], n_registers: usize, instrs: &[InstrInfo]) {
    guesses(ops, n_registers);
    in_step(ops, n_registers, instrs);
}

/// Registers that an op reads and writes, its guard among the former.
fn registers(op: &mut VirtualOp, mut see: impl FnMut(u32, Role)) {
    if op.guard != TRUE && op.guard != FALSE {
        see(op.guard, Role::Use);
    }
    operands(op, &mut |register, _, role| {
        see(register as u32, role);
        register
    });
}

/// Ordinary loads whose value reaches the operand that a compare-and-swap compares, by moves alone.
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
        // Backwards: a value mostly comes from above.
        for op in ops.iter().rev() {
            if let OpKind::Alu { args, .. } = &op.kind
                && (op.moves || op.rule == Rule::Same)
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

/// Volatile accesses to shared memory, unless the kernel seems to hand data over by them: a value that is loaded
/// so decides where lanes go, or an atomic on shared memory gives a value back, as a lock does.
fn in_step(ops: &mut [VirtualOp], n_registers: usize, instrs: &[InstrInfo]) {
    let volatile = |instr: u32| {
        let text = instrs.get(instr as usize).map_or("", |info| info.text.as_str());
        text.contains(".volatile")
    };
    let in_shared = |space: MemSpace| matches!(space, MemSpace::Shared | MemSpace::Generic);
    let mut loaded = vec![false; n_registers];
    let mut any = false;
    for op in ops.iter_mut() {
        match &op.kind {
            OpKind::Atomic(atomic) if atomic.dst != NONE && in_shared(atomic.space) => return,
            OpKind::Load(access) if access.order == Order::Strong && in_shared(access.space) => {
                any = true;
                registers(op, |register, role| {
                    loaded[register as usize] |= role != Role::Use
                });
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
        for op in ops.iter_mut() {
            let mut reads = false;
            registers(op, |register, role| {
                reads |= role == Role::Use && loaded[register as usize]
            });
            let guarded = loaded[op.guard as usize];
            let decides = match &op.kind {
                OpKind::Branch { .. } | OpKind::BranchIndexed { .. } | OpKind::Call { .. } | OpKind::Exit => {
                    reads
                }
                _ => guarded,
            };
            if decides {
                return;
            }
            if reads {
                registers(op, |register, role| {
                    any |= role != Role::Use && !std::mem::replace(&mut loaded[register as usize], true);
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
