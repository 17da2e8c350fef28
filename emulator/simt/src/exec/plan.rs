//! What a kernel needs prepared once before it can run.

use crate::lanes::{NONE, Src};
use crate::program::{Addr, BarrierKind, Kernel, OpKind};

/// No memo.
pub(crate) const NO_MEMO: u32 = u32::MAX;

/// Prepared once per kernel.
#[derive(Debug)]
pub(crate) struct Plan {
    /// By operation: which memo it uses, or [`NO_MEMO`].
    pub(crate) memo_of: Vec<u32>,
    pub(crate) n_memos: usize,
    /// Ranges of shared memory that kernels may touch, static ones; the dynamic range follows from the launch.
    pub(crate) shared: Vec<(u32, u32)>,
}

impl Plan {
    pub(crate) fn new(kernel: &Kernel) -> Self {
        let mut n_memos = 0;
        let memo_of = kernel.ops.iter().map(|op| match op.kind {
            OpKind::Load(_) | OpKind::Store(_) | OpKind::Atomic(_) => {
                n_memos += 1;
                n_memos as u32 - 1
            }
            // One for each end.
            OpKind::CpAsync { .. } => {
                n_memos += 2;
                n_memos as u32 - 2
            }
            _ => NO_MEMO,
        });
        let memo_of = memo_of.collect();
        let mut shared: Vec<(u32, u32)> = kernel
            .shared
            .iter()
            .filter(|a| a.bytes > 0)
            .map(|a| (a.offset, a.offset.saturating_add(a.bytes)))
            .collect();
        shared.sort_unstable();
        Self {
            memo_of,
            n_memos,
            shared,
        }
    }
}

/// Whether every operand of the operations that this crate's machine runs itself is in range. Operands of
/// arithmetic are established by decode, which knows their classes.
pub(crate) fn validate(kernel: &Kernel) -> Result<(), String> {
    let check = Check { kernel };
    for (i, op) in kernel.ops.iter().enumerate() {
        if !check.op(&op.kind)
            || !check.pred(u32::from(op.guard.pred))
            || op.instr as usize >= kernel.instrs.len()
        {
            return Err(format!(
                "operation {i} of kernel `{}` has an operand out of range",
                kernel.name
            ));
        }
    }
    let specials = kernel.specials.iter().all(|(_, dst)| check.dst(*dst as i32, 1));
    if !specials || kernel.n_preds < 2 {
        return Err(format!(
            "kernel `{}` has a special register out of range",
            kernel.name
        ));
    }
    Ok(())
}

struct Check<'a> {
    kernel: &'a Kernel,
}

impl Check<'_> {
    fn src(&self, src: Src, lines: u64) -> bool {
        if src == NONE {
            return false;
        }
        let (at, n) = if src >= 0 {
            (src as u64, u64::from(self.kernel.n_lines))
        } else {
            (!src as u64, self.kernel.consts.len() as u64)
        };
        at + lines <= n
    }

    fn opt(&self, src: Src, lines: u64) -> bool {
        src == NONE || self.src(src, lines)
    }

    fn dst(&self, dst: i32, lines: u64) -> bool {
        dst >= 0 && self.src(dst, lines)
    }

    fn opt_dst(&self, dst: i32, lines: u64) -> bool {
        dst == NONE || self.dst(dst, lines)
    }

    fn pred(&self, pred: u32) -> bool {
        pred < self.kernel.n_preds
    }

    fn addr(&self, addr: &Addr) -> bool {
        self.src(addr.src, if addr.wide { 2 } else { 1 })
    }

    fn op(&self, kind: &OpKind) -> bool {
        let lines = |wide: bool| if wide { 2 } else { 1 };
        match kind {
            OpKind::Alu { .. }
            | OpKind::Branch { .. }
            | OpKind::Exit
            | OpKind::Trap
            | OpKind::Fence
            | OpKind::Yield
            | OpKind::CpAsyncCommit
            | OpKind::CpAsyncWait { .. }
            | OpKind::Nop => true,
            OpKind::Load(a) => {
                self.addr(&a.addr)
                    && matches!((a.element, a.n), (1 | 2 | 4 | 8, 1..=8))
                    && a.regs[..usize::from(a.n)]
                        .iter()
                        .all(|r| self.opt_dst(*r, lines(a.wide || a.element == 8)))
            }
            OpKind::Store(a) => {
                self.addr(&a.addr)
                    && matches!((a.element, a.n), (1 | 2 | 4 | 8, 1..=8))
                    && a.regs[..usize::from(a.n)]
                        .iter()
                        .all(|r| self.src(*r, lines(a.wide || a.element == 8)))
            }
            OpKind::Atomic(a) => {
                let n = lines(a.ty.bytes() == 8);
                matches!(a.ty.bytes(), 2 | 4 | 8)
                    && self.addr(&a.addr)
                    && self.src(a.src[0], n)
                    && (a.src[1] == NONE) != (a.kind == crate::program::AtomicKind::Cas)
                    && self.opt(a.src[1], n)
                    && self.opt_dst(a.dst, n)
            }
            OpKind::BranchIndexed { index, .. } => self.src(*index, 1),
            OpKind::Barrier { kind, id, count } => {
                self.src(*id, 1)
                    && self.opt(*count, 1)
                    && match *kind {
                        BarrierKind::Sync | BarrierKind::Arrive => true,
                        BarrierKind::RedPopc(dst, p, _) => self.dst(dst as i32, 1) && self.pred(u32::from(p)),
                        BarrierKind::RedAnd(dst, p, _) | BarrierKind::RedOr(dst, p, _) => {
                            self.pred(dst) && self.pred(u32::from(p))
                        }
                    }
            }
            OpKind::WarpSync { members } => self.src(*members, 1),
            OpKind::Shuffle {
                dst, dst_pred, src, ..
            } => {
                self.dst(*dst as i32, 1)
                    && (*dst_pred == NONE || self.pred(*dst_pred as u32))
                    && src.iter().all(|s| self.src(*s, 1))
            }
            OpKind::Vote {
                mode,
                dst,
                pred,
                members,
                ..
            } => {
                let result = match mode {
                    crate::program::VoteMode::Ballot => self.dst(*dst as i32, 1),
                    _ => self.pred(*dst),
                };
                result && self.pred(u32::from(*pred)) && self.src(*members, 1)
            }
            OpKind::Match {
                wide,
                dst,
                dst_pred,
                src,
                ..
            } => {
                self.dst(*dst as i32, 1)
                    && (*dst_pred == NONE || self.pred(*dst_pred as u32))
                    && self.src(src[0], lines(*wide))
                    && self.src(src[1], 1)
            }
            OpKind::Redux { dst, src, .. } => self.dst(*dst as i32, 1) && src.iter().all(|s| self.src(*s, 1)),
            OpKind::ActiveMask { dst } => self.dst(*dst as i32, 1),
            OpKind::ReadClock { clock, dst } => {
                use crate::program::Clock::{Clock64, GlobalTimer};
                self.dst(*dst as i32, lines(matches!(clock, Clock64 | GlobalTimer)))
            }
            OpKind::CpAsync {
                dst,
                src,
                bytes,
                src_bytes,
            } => self.addr(dst) && self.addr(src) && matches!(bytes, 4 | 8 | 16) && self.opt(*src_bytes, 1),
            OpKind::IsSpace { dst, src, .. } => self.pred(*dst) && self.src(*src, 2),
            OpKind::Texture(t) => {
                self.src(t.handle, 2)
                    && self.src(t.coordinates[0], 1)
                    && (t.dims < 2 || self.src(t.coordinates[1], 1))
                    && t.dst.iter().all(|d| self.opt_dst(*d, 1))
            }
            OpKind::Printf {
                format,
                arguments,
                dst,
            } => self.src(*format, 2) && self.src(*arguments, 2) && self.opt_dst(*dst, 1),
            OpKind::AssertFail { text, line } => text.iter().all(|s| self.src(*s, 2)) && self.src(*line, 1),
        }
    }
}
