//! Which operations touch registers that products of a warpgroup read and write in the background.

use super::operands::{Role, operands};
use super::virt::VirtualOp;
use crate::lanes::Class;
use crate::program::{OpKind, Touched, WgmmaA};

/// What each operation touches of the lines that products use; `None` where there is no product.
///
/// `ops` have virtual registers still, and `place` has their lines.
pub(super) fn touches(
    ops: &mut [VirtualOp],
    place: &[u32],
    n_registers: usize,
) -> Option<Vec<Box<[Touched]>>> {
    let mut used = vec![false; n_registers];
    for op in ops.iter() {
        if let OpKind::Wgmma(wgmma) = &op.kind {
            wgmma.d.iter().for_each(|&d| used[d as usize] = true);
            if let WgmmaA::Registers(a) = &wgmma.a {
                { a.iter() }
                    .filter(|a| **a >= 0)
                    .for_each(|&a| used[a as usize] = true);
            }
        }
    }
    if !used.contains(&true) {
        return None;
    }
    // A line is shared by registers that are not needed at the same time.
    let n_lines = place.iter().max().map_or(0, |line| *line as usize + 1);
    let mut lines = vec![false; n_lines];
    for (register, _) in used.iter().enumerate().filter(|(_, used)| **used) {
        lines[place[register] as usize] = true;
    }
    let touches = ops.iter_mut().map(|op| {
        let mut touched = Vec::new();
        operands(op, &mut |register, class, role| {
            let at = register as usize;
            let first = place[at];
            let n = match class {
                Class::Pred => 0,
                Class::Bits32 => 1,
                Class::Bits64 => 2,
            };
            for line in (first..first + n).filter(|line| lines.get(*line as usize) == Some(&true)) {
                touched.push(Touched {
                    line,
                    register: register as u32,
                    writes: role != Role::Use,
                });
            }
            register
        });
        touched.into_boxed_slice()
    });
    Some(touches.collect())
}

/// Leaves out what belongs to operations that are not kept.
pub(super) fn keep(
    touches: &mut Option<Vec<Box<[Touched]>>>,
    ops: &[VirtualOp],
    kept: impl Fn(&VirtualOp) -> bool,
) {
    if let Some(touches) = touches {
        let mut at = ops.iter();
        touches.retain(|_| at.next().is_some_and(&kept));
    }
}
