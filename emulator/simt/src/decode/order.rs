//! Whether what a kernel computes could depend on the order in which its blocks run.

use ptx::ast::Type;

use super::virt::{Role, VirtualOp, operands};
use crate::lanes::NONE;
use crate::program::{Atomic, AtomicKind, MemSpace, OpKind, Order};

/// Looks for what makes blocks depend on each other: atomics on global memory whose old value is used, or
/// that do not commute (float sums, exchanges), and strong loads of it.
///
/// Compilers write `atom` where nobody reads the old value; such a destination is taken away.
pub(super) fn depends_on_order(ops: &mut [VirtualOp], n_registers: usize) -> bool {
    let mut read = vec![false; n_registers];
    for op in ops.iter_mut() {
        operands(op, &mut |register, _, role| {
            read[register as usize] |= role == Role::Use;
            register
        });
    }
    let mut depends = false;
    for op in ops {
        match &mut op.kind {
            OpKind::Atomic(atomic) => {
                if atomic.dst != NONE && !read[atomic.dst as usize] {
                    atomic.dst = NONE;
                }
                depends |= atomic.space != MemSpace::Shared && !commutes(atomic);
            }
            OpKind::Load(access) => {
                let seen_by_others = matches!(access.space, MemSpace::Global | MemSpace::Generic);
                depends |= access.order == Order::Strong && seen_by_others;
            }
            _ => {}
        }
    }
    depends
}

/// Whether the order of several such atomics leaves no trace.
fn commutes(atomic: &Atomic) -> bool {
    use Type::{Bf16, Bf16x2, F16, F16x2, F32, F64};
    let float = matches!(atomic.ty, F16 | F16x2 | Bf16 | Bf16x2 | F32 | F64);
    let swaps = matches!(atomic.kind, AtomicKind::Exch | AtomicKind::Cas);
    atomic.dst == NONE && !float && !swaps
}
