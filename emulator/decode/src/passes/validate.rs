//! Safety argument of [`arithmetic::lanes`]: all indices in a kernel are in range, established once.

use crate::virtual_op::VirtualOp;
use arithmetic::lanes::{Class, NONE};
use program::operands::{Operand, Permitted, for_each_operand};
use program::{Access, AtomicKind, CallSite, Calls, DecodedKernel, Kept, OpKind, Reconverge, Wgmma};

/// Checks all operands against the register file, the constants and the program. `ops`: with their operand classes.
pub(crate) fn validate(kernel: &DecodedKernel, ops: &[VirtualOp]) -> Result<(), String> {
    let n_ops = kernel.ops.len() as u32;
    refuse_if!(ops.len() != kernel.ops.len(), "ops out of step".to_owned());
    let ends = kernel.ops.last().is_some_and(|op| {
        op.guard.pred == 0 && matches!(op.kind, OpKind::Exit | OpKind::Trap | OpKind::Return | OpKind::Branch { .. })
    });
    refuse_if!(!ends, "the last op falls through".to_owned());
    refuse_if!(kernel.n_preds < 2, "no constant predicates".to_owned());
    for (at, op) in ops.iter().enumerate() {
        let wrong = |what: &str| Err(format!("op {at}: {what} out of range"));
        if op.instr as usize >= kernel.instrs.len() {
            return wrong("instruction");
        }
        if op.guard >= kernel.n_preds {
            return wrong("predicate");
        }
        if !targets_in_range(&op.kind, n_ops) {
            return wrong("branch target");
        }
        if !is_sensible(op) {
            return wrong("number or size of operands");
        }
        let mut bad = None;
        for_each_operand(&op.kind, op.classes, &mut |Operand { src: field, class, permitted, .. }| {
            let may_be_constant = matches!(permitted, Permitted::RegisterOrConstant | Permitted::Optional);
            let (good, what) = match field {
                NONE => (matches!(permitted, Permitted::OptionalRegister | Permitted::Optional), "operand"),
                0.. => (kernel.has_register(field as u32, class), "register"),
                _ => (may_be_constant && kernel.has_constant(!field as usize, class), "constant"),
            };
            if !good {
                bad = Some(what);
            }
        });
        if let Some(what) = bad {
            return wrong(what);
        }
    }
    if kernel.specials.iter().any(|&(_, line)| !kernel.has_register(line, Class::Bits32)) {
        return Err("a special register out of range".to_owned());
    }
    match &kernel.calls {
        Some(calls) => calls_in_range(kernel, calls),
        None if kernel.ops.iter().any(|op| matches!(op.kind, OpKind::Return)) => {
            Err("a return without calls".to_owned())
        }
        None => Ok(()),
    }
}

/// Checks saved registers and targets of calls.
fn calls_in_range(kernel: &DecodedKernel, calls: &Calls) -> Result<(), String> {
    let n_ops = kernel.ops.len() as u32;
    let n_callees = calls.callees.len() as u32;
    let registers = |kept: &Kept| {
        kept.wide.iter().all(|&r| kernel.has_register(r, Class::Bits64))
            && kept.narrow.iter().all(|&r| kernel.has_register(r, Class::Bits32))
            && kept.preds.iter().all(|&r| kernel.has_register(r, Class::Pred))
    };
    let fits = |site: &CallSite| {
        registers(&site.kept)
            && site.callee.is_none_or(|callee| callee < n_callees)
            && u64::from(site.keep_at) + site.kept.bytes() <= u64::from(site.frame)
    };
    let callees_fit = calls.callees.iter().all(|callee| callee.entry < n_ops && registers(&callee.zeroed));
    let good = kernel.has_register(calls.base, Class::Bits32) && calls.sites.iter().all(fits) && callees_fit;
    let resumes = |at: usize, site: u32| {
        kernel.ops.get(at).is_some_and(|op| matches!(op.kind, OpKind::Resume { site: own } if own == site))
    };
    let calls_resume = kernel.ops.iter().enumerate().all(|(at, op)| match op.kind {
        OpKind::Call { site, target } => {
            let known = calls.sites.get(site as usize);
            resumes(at + 1, site) && known.is_some_and(|known| known.callee.is_some() == target.is_none())
        }
        _ => true,
    });
    if good && calls_resume { Ok(()) } else { Err("a call out of range".to_owned()) }
}

fn targets_in_range(kind: &OpKind, n_ops: u32) -> bool {
    let meets = |reconverge| match reconverge {
        Reconverge::At(position) => position < n_ops,
        Reconverge::Enclosing | Reconverge::AtExit => true,
    };
    match kind {
        OpKind::Branch { target, reconverge } => *target < n_ops && meets(*reconverge),
        OpKind::BranchIndexed { targets, reconverge, .. } => {
            !targets.is_empty() && targets.iter().all(|&t| t < n_ops) && meets(*reconverge)
        }
        OpKind::Converge { position } | OpKind::Leave { position } => *position < n_ops,
        _ => true,
    }
}

/// Checks fields of an op that are not registers.
fn is_sensible(op: &VirtualOp) -> bool {
    let access = |a: &Access| matches!((a.element, a.n), (1 | 2 | 4 | 8, 1..=8)) && (a.wide || a.element < 8);
    match &op.kind {
        OpKind::Alu { args, .. } => op.classes.srcs.len() <= args.src.len(),
        OpKind::Load(a) | OpKind::Store(a) => access(a),
        OpKind::Atomic(a) => matches!(a.ty.bytes(), 2 | 4 | 8) && (a.src[1] != NONE) == (a.kind == AtomicKind::Cas),
        OpKind::CpAsync { bytes, .. } => matches!(bytes, 4 | 8 | 16),
        OpKind::TensorCopy(copy) => matches!(copy.dims, 1..=5),
        OpKind::MatrixLoad(access) | OpKind::MatrixStore(access) => matches!(access.n, 1 | 2 | 4),
        OpKind::Wgmma(wgmma) => {
            let lines = Wgmma::lines(wgmma.sum, wgmma.n);
            wgmma.n % 8 == 0
                && (8..=256).contains(&wgmma.n)
                && wgmma.c.len() == usize::from(lines)
                && wgmma.d.len() == wgmma.c.len()
        }
        OpKind::Texture(texture) => matches!(texture.dims, 1 | 2),
        _ => true,
    }
}
