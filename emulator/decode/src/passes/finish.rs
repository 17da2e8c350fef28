//! The last pass: removes moves that do nothing, and gives operations their final form.

use crate::virtual_op::VirtualOp;
use program::{AluShape, Calls, Guard, Op, OpKind, Reconverge};

/// Returns whether an op moves a register to its own place.
pub(crate) fn moves_nothing(op: &VirtualOp) -> bool {
    matches!(&op.kind, OpKind::Alu { args, .. } if op.moves && args.dst as i32 == args.src[0])
}

/// Removes moves that do nothing, except those that count as an instruction.
pub(crate) fn remove_moves(ops: &mut Vec<VirtualOp>, calls: Option<&mut Calls>) {
    let mut position = Vec::with_capacity(ops.len());
    let mut kept = 0u32;
    for op in ops.iter() {
        position.push(kept);
        kept += u32::from(op.first || !moves_nothing(op));
    }
    if kept as usize == ops.len() {
        return;
    }
    ops.retain(|op| op.first || !moves_nothing(op));
    let shift = |target: &mut u32| {
        if let Some(&new) = position.get(*target as usize) {
            *target = new;
        }
    };
    for callee in calls.into_iter().flat_map(|calls| &mut calls.callees) {
        shift(&mut callee.entry);
    }
    for op in ops {
        each_target(&mut op.kind, &mut &shift);
        if let OpKind::Branch { reconverge, .. } | OpKind::BranchIndexed { reconverge, .. } = &mut op.kind
            && let Reconverge::At(position) = reconverge
        {
            shift(position);
        }
    }
}

/// Returns the operand classes and undefined-bit rule of an op.
pub(crate) fn alu_shape(op: &VirtualOp) -> AluShape {
    AluShape { flow: op.flow, dst: op.classes.dst, srcs: op.classes.srcs }
}

/// Returns the final form of an op with allocated registers.
pub(crate) fn finish_op(op: &VirtualOp) -> Op {
    let kind = if moves_nothing(op) { OpKind::Nop } else { op.kind.clone() };
    Op { guard: Guard { pred: op.guard as u16, negated: op.negated }, instr: op.instr, first: op.first, kind }
}

/// Calls `f` for the positions that an operation refers to.
pub(crate) fn each_target(kind: &mut OpKind, f: &mut dyn FnMut(&mut u32)) {
    match kind {
        OpKind::Branch { target, .. } => f(target),
        OpKind::BranchIndexed { targets, .. } => targets.iter_mut().for_each(f),
        OpKind::Converge { position } | OpKind::Leave { position } => f(position),
        _ => {}
    }
}
