//! Machine code that ptxas makes of atomics, as far as counters depend on it.
//!
//! Read off the machine code of ptxas 13.0 for sm_90, and compared with an H200's counters (`tests/data/accesses.csv`):
//!
//! - In shared memory integers of 32 bits have instructions of their own, and so have `exch` and `cas` of both sizes.
//!   Floats and all other operations on 64 bits become a loop of a load and a compare-and-swap.
//! - Where every lane adds 1 to `u32` words in shared memory and no old value is read, the hardware counts the lanes of
//!   each word.
//! - Where all lanes of a warp provably have the same address, the values are combined first: additions, and `min`,
//!   `max`, `and`, `or`, `xor` without a result. Only for integers of 32 bits, and for the addition of a warp-uniform
//!   number to 64 bits.
//!
//! Atomics on 16 bits count as written.

use ptx::ast::Type;

use crate::passes::constants::Constants;
use crate::virtual_op::{TRUE, VirtualOp, for_each_register};
use arithmetic::lanes::Src;
use program::{Atomic, AtomicForm, AtomicKind, InstrInfo, MemSpace, OpKind};

/// Bound on the rounds of the search for uniform registers; programs that need more have none.
const MAX_ROUNDS: usize = 16;

/// Fills [`InstrInfo::atomic`]. [`crate::passes::order::decide_block_order`] has removed results that nothing reads
/// before; `varying` are the registers of special registers that differ between lanes.
pub(crate) fn forms(
    ops: &[VirtualOp], constants: &Constants, n_registers: usize, varying: &[u32], instrs: &mut [InstrInfo],
) {
    if !ops.iter().any(|op| matches!(op.kind, OpKind::Atomic(_))) {
        return;
    }
    let registers = UniformRegisters::new(ops, n_registers, varying);
    let mut seen = vec![false; instrs.len()];
    for op in ops {
        let OpKind::Atomic(atomic) = &op.kind else { continue };
        let form = form(atomic, constants, &registers);
        let at = op.instr as usize;
        // All inlined copies of an instruction must agree.
        let same = !seen[at] || instrs[at].atomic == form;
        instrs[at].atomic = if same { form } else { AtomicForm::Native };
        seen[at] = true;
    }
}

fn form(atomic: &Atomic, constants: &Constants, registers: &UniformRegisters) -> AtomicForm {
    use AtomicKind::{Add, And, Cas, Exch, Max, Min, Or, Xor};
    let shared = atomic.space == MemSpace::Shared;
    let (kind, ty) = (atomic.kind, atomic.ty);
    let wide = ty.bytes() == 8;
    let float = matches!(ty, Type::F32 | Type::F64 | Type::F16x2 | Type::Bf16x2);
    match kind {
        Cas if ty.bytes() >= 4 => return AtomicForm::CompareAndSwap,
        Cas | Exch => return AtomicForm::Native,
        _ if ty.bytes() < 4 => return AtomicForm::Native,
        _ if shared && (float || wide) => return AtomicForm::Loop,
        _ if float => return AtomicForm::Native,
        _ => {}
    }
    let result = atomic.dst.is_some();
    let [value, _] = atomic.src;
    let combines = match kind {
        Add if wide => !result && registers.uniform(value),
        Add => true,
        Min | Max | And | Or | Xor => !result && !wide,
        _ => false,
    };
    if combines && registers.uniform(atomic.addr.src) {
        return AtomicForm::OncePerWarp;
    }
    let one = value < 0 && constants.value32(value) == Some(1);
    if shared && kind == Add && ty == Type::U32 && one && !result {
        return AtomicForm::CountLanes;
    }
    AtomicForm::Native
}

/// Registers whose values are the same in all lanes of a warp.
struct UniformRegisters {
    uniform: Vec<bool>,
}

impl UniformRegisters {
    fn new(ops: &[VirtualOp], n: usize, varying: &[u32]) -> Self {
        let mut registers = Self { uniform: vec![true; n] };
        varying.iter().for_each(|&register| registers.uniform[register as usize] = false);
        // A register that several places write may differ between lanes that come from them.
        let mut written = vec![false; n];
        for op in ops {
            for_each_register(op, &mut |register, _, role| {
                let at = register as usize;
                if !role.is_use() && std::mem::replace(&mut written[at], true) {
                    registers.uniform[at] = false;
                }
            });
        }
        for round in 0.. {
            let mut changed = false;
            for op in ops {
                let known = &mut registers.uniform;
                let mut same = op.guard == TRUE && is_computed(&op.kind);
                for_each_register(op, &mut |register, _, role| {
                    let at = register as usize;
                    if role.is_use() {
                        same &= known[at];
                    } else if !same && known[at] {
                        known[at] = false;
                        changed = true;
                    }
                });
            }
            if !changed {
                break;
            }
            if round == MAX_ROUNDS {
                registers.uniform.fill(false);
                break;
            }
        }
        registers
    }

    fn uniform(&self, src: Src) -> bool {
        src < 0 || self.uniform[src as usize]
    }
}

/// Returns whether equal sources give equal results.
fn is_computed(kind: &OpKind) -> bool {
    match kind {
        OpKind::Alu { .. } => true,
        OpKind::Load(access) => access.space != MemSpace::Local,
        _ => false,
    }
}
