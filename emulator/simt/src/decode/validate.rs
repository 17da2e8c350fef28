//! The safety argument of [`crate::lanes`]: every index in a kernel is in range, established once.

use super::virt::{VirtualOp, operands};
use crate::lanes::{Class, NONE};
use crate::program::{Kernel, OpKind};

impl Kernel {
    /// Checks every operand of every op against the sizes of the register file, of the constants and of the
    /// program. `ops` are the ops of the kernel with the classes of their operands.
    pub(super) fn validate(&self, ops: &mut [VirtualOp]) -> Result<(), String> {
        let n_ops = self.ops.len() as u32;
        if ops.len() != self.ops.len() {
            return Err("ops out of step".to_owned());
        }
        let ends = match self.ops.last() {
            Some(op) => {
                op.guard.pred == 0 && matches!(op.kind, OpKind::Exit | OpKind::Trap | OpKind::Branch { .. })
            }
            None => false,
        };
        if !ends {
            return Err("the last op falls through".to_owned());
        }
        for (at, op) in ops.iter_mut().enumerate() {
            let wrong = |what: &str| Err(format!("op {at}: {what} out of range"));
            if op.instr as usize >= self.instrs.len() {
                return wrong("instruction");
            }
            if op.guard >= self.n_preds || op.pred >= self.n_preds {
                return wrong("predicate");
            }
            let in_program = |target: u32| target < n_ops;
            let meets = |at: u32| in_program(at) || at == u32::MAX;
            let targets = match &op.kind {
                OpKind::Branch { target, reconverge } => in_program(*target) && meets(*reconverge),
                OpKind::BranchIndexed {
                    targets, reconverge, ..
                } => !targets.is_empty() && targets.iter().all(|&t| in_program(t)) && meets(*reconverge),
                _ => true,
            };
            if !targets {
                return wrong("branch target");
            }
            if let OpKind::Alu { args, .. } = &op.kind {
                if op.classes.srcs.len() > args.src.len() {
                    return wrong("number of sources");
                }
                // Arithmetic reads all its sources, whatever they are.
                for (&src, &class) in args.src.iter().zip(op.classes.srcs) {
                    let constant = src < 0 && src != NONE && class != Class::Pred;
                    if src < 0 && !(constant && self.has_constant(src, class)) {
                        return wrong("constant");
                    }
                }
            }
            let mut good = true;
            operands(op, &mut |register, class, _| {
                good &= match class {
                    _ if register < 0 => false,
                    Class::Pred => (register as u32) < self.n_preds,
                    Class::Bits32 => (register as u32) < self.n_lines,
                    Class::Bits64 => (register as u32) < self.n_lines.saturating_sub(1),
                };
                register
            });
            if !good {
                return wrong("register");
            }
            if !self.constants_in_range(&op.kind) {
                return wrong("constant");
            }
        }
        if self.specials.iter().any(|&(_, line)| line >= self.n_lines) {
            return Err("a special register out of range".to_owned());
        }
        Ok(())
    }

    fn has_constant(&self, src: i32, class: Class) -> bool {
        let lines = if class == Class::Bits64 { 2 } else { 1 };
        src == NONE || (src < 0 && !src as usize + lines <= self.consts.len())
    }

    /// Constants of ops other than arithmetic: both lines must be there if it could be a 64-bit one.
    fn constants_in_range(&self, kind: &OpKind) -> bool {
        use Class::{Bits32, Bits64};
        let good = |src: i32, class: Class| src >= 0 || self.has_constant(src, class);
        let class = |wide: bool| if wide { Bits64 } else { Bits32 };
        let address = |addr: &crate::program::Addr| addr.src != NONE && good(addr.src, class(addr.wide));
        match kind {
            OpKind::Load(access) => address(&access.addr) && access.regs.iter().all(|&r| r >= 0 || r == NONE),
            OpKind::Store(access) => {
                let n = usize::from(access.n);
                address(&access.addr)
                    && access.regs[..n]
                        .iter()
                        .all(|&r| r != NONE && good(r, class(access.wide)))
            }
            OpKind::Atomic(atomic) => {
                let class = class(atomic.ty.bytes() == 8);
                address(&atomic.addr) && atomic.src[0] != NONE && atomic.src.iter().all(|&s| good(s, class))
            }
            OpKind::BranchIndexed { index, .. } => good(*index, Bits32),
            OpKind::Barrier { id, count, .. } => *id != NONE && good(*id, Bits32) && good(*count, Bits32),
            OpKind::WarpSync { members } | OpKind::Vote { members, .. } => good(*members, Bits32),
            OpKind::Shuffle { src, .. } => src.iter().all(|&s| s != NONE && good(s, Bits32)),
            OpKind::Match { wide, src, .. } => good(src[0], class(*wide)) && good(src[1], Bits32),
            OpKind::Redux { src, .. } => src.iter().all(|&s| s != NONE && good(s, Bits32)),
            OpKind::CpAsync {
                dst, src, src_bytes, ..
            } => address(dst) && address(src) && good(*src_bytes, Bits32),
            OpKind::IsSpace { src, .. } => good(*src, Bits64),
            OpKind::Texture(texture) => {
                good(texture.handle, Bits64) && texture.coordinates.iter().all(|&c| good(c, Bits32))
            }
            OpKind::Printf {
                format, arguments, ..
            } => good(*format, Bits64) && good(*arguments, Bits64),
            OpKind::AssertFail { text, line } => text.iter().all(|&t| good(t, Bits64)) && good(*line, Bits32),
            _ => true,
        }
    }
}
