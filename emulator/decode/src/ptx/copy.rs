//! `cp.async`: asynchronous copies from global to shared memory.

use ptx::ast::{Immediate, Instruction, Operand, Type};

use super::PtxLowering;
use crate::error::Result;
use arithmetic::lanes::{Class, Src};
use arithmetic::{ResultPart, lookup};
use program::{MemSpace, OpKind, PendingCopies};

impl<'a> PtxLowering<'a> {
    pub(super) fn copy(&mut self, instruction: &'a Instruction) -> Result<()> {
        let modifiers: Vec<&str> =
            instruction.modifiers.iter().map(String::as_str).filter(|m| !m.starts_with("L2::")).collect();
        match modifiers[..] {
            ["async", "commit_group"] => self.emit(OpKind::CpAsyncCommit),
            ["async", "wait_all"] => self.emit(OpKind::CpAsyncWait { allowed: PendingCopies::None }),
            ["async", "wait_group"] => match &instruction.operands[..] {
                [Operand::Immediate(Immediate::Int(n))] => {
                    let Ok(pending) = u32::try_from(*n) else {
                        return Err(self.invalid("a number of groups cannot be negative"));
                    };
                    self.emit(OpKind::CpAsyncWait { allowed: PendingCopies::Groups(pending) })
                }
                _ => Err(self.invalid("`cp.async.wait_group` takes a number")),
            },
            ["async", "ca" | "cg", "shared" | "shared::cta", "global"] => self.copy_bytes(instruction),
            _ => Err(self.not_supported(instruction)),
        }
    }

    fn copy_bytes(&mut self, instruction: &'a Instruction) -> Result<()> {
        let (to, from, size, last) = match self.operands_without_policy(instruction) {
            [to, from, size] => (to, from, size, None),
            [to, from, size, last] => (to, from, size, Some(last)),
            _ => return Err(self.invalid("`cp.async` takes 3 or 4 operands")),
        };
        let bytes = match size {
            Operand::Immediate(Immediate::Int(n @ (4 | 8 | 16))) => *n as u8,
            _ => return Err(self.invalid("`cp.async` copies 4, 8 or 16 bytes")),
        };
        refuse_if!(instruction.has("cg") && bytes != 16, self.invalid("`cp.async.cg` copies 16 bytes"));
        let (dst, _) = self.address(to, MemSpace::Shared)?;
        let (src, _) = self.address(from, MemSpace::Global)?;
        let src_bytes = match last {
            None => None,
            // Where the predicate holds, nothing is read and zeros are written.
            Some(last) if self.is_register(last, Class::Pred)? || matches!(last, Operand::NotPred(_)) => {
                let ignore = self.source(last, Class::Pred, None)?;
                let none = self.constants.bits32(0, self.span)?;
                let all = self.constants.bits32(u32::from(bytes), self.span)?;
                let Some(select) = lookup("selp", &["b32"], ResultPart::First, self.level) else {
                    return Err(self.unsupported("`cp.async` with a predicate"));
                };
                let chosen = self.registers.fresh(Class::Bits32);
                self.alu(select.into(), chosen, &[none, all, ignore])?;
                Some(chosen as Src)
            }
            Some(last) => Some(self.source(last, Class::Bits32, Some(Type::U32))?),
        };
        self.emit(OpKind::CpAsync { dst, src, bytes, src_bytes })
    }
}
