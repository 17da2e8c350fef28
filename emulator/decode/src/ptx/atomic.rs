//! Lowers atomics and reductions: `atom`, `red`.

use ptx::ast::{Instruction, Type};

use super::address::space_of;
use super::{PtxLowering, class_of};
use crate::error::Result;
use arithmetic::lanes::NONE;
use program::{Atomic, AtomicKind, MemSpace, OpKind};

impl<'a> PtxLowering<'a> {
    pub(super) fn atomic(&mut self, instruction: &'a Instruction) -> Result<()> {
        let returns = instruction.opcode == "atom";
        let mut kind = None;
        let mut ty = None;
        let mut policy = false;
        for modifier in &instruction.modifiers {
            kind = kind.or(match modifier.as_str() {
                "add" => Some(AtomicKind::Add),
                "min" => Some(AtomicKind::Min),
                "max" => Some(AtomicKind::Max),
                "inc" => Some(AtomicKind::Inc),
                "dec" => Some(AtomicKind::Dec),
                "and" => Some(AtomicKind::And),
                "or" => Some(AtomicKind::Or),
                "xor" => Some(AtomicKind::Xor),
                "exch" => Some(AtomicKind::Exch),
                "cas" => Some(AtomicKind::Cas),
                "relaxed" | "acquire" | "release" | "acq_rel" | "cta" | "cluster" | "gpu" | "sys" | "gl" | "noftz"
                | "global" | "shared" | "shared::cta" | "shared::cluster" => continue,
                hint if hint.starts_with("L2::") => {
                    policy = true;
                    continue;
                }
                name => {
                    match Type::from_name(name) {
                        Some(found) if ty.is_none() => ty = Some(found),
                        _ => return Err(self.not_supported(instruction)),
                    }
                    continue;
                }
            });
        }
        let (Some(kind), Some(ty)) = (kind, ty) else { return Err(self.not_supported(instruction)) };
        let space = space_of(instruction).unwrap_or(MemSpace::Generic);
        let has_atomics = matches!(space, MemSpace::Global | MemSpace::Shared | MemSpace::Generic);
        refuse_if!(!has_atomics || !supported(kind, ty), self.not_supported(instruction));

        let n_sources = 1 + usize::from(kind == AtomicKind::Cas);
        let first = usize::from(returns);
        let n = first + 1 + n_sources;
        if instruction.operands.len() != n && !(policy && instruction.operands.len() == n + 1) {
            self.count(instruction, n)?;
        }
        let (addr, space) = self.address(&instruction.operands[first], space)?;
        let class = class_of(ty.bytes());
        let mut src = [NONE; 2];
        for (at, place) in src.iter_mut().enumerate().take(n_sources) {
            *place = self.source(&instruction.operands[first + 1 + at], class, Some(ty))?;
        }
        // `_` as the destination of `atom` is a `red`.
        let dst = if returns { self.wanted_destination(&instruction.operands[0], class)? } else { None };
        self.shared_subword |= ty.bytes() < 4 && space != MemSpace::Global;
        let atomic = Atomic { space, addr, kind, ty, src, dst, returns };
        self.emit(OpKind::Atomic(Box::new(atomic)))
    }
}

fn supported(kind: AtomicKind, ty: Type) -> bool {
    use Type::{B16, B32, B64, Bf16, Bf16x2, F16, F16x2, F32, F64, S32, S64, U32, U64};
    match kind {
        AtomicKind::Add => {
            matches!(ty, U32 | S32 | U64 | S64 | F32 | F64 | F16 | F16x2 | Bf16 | Bf16x2)
        }
        AtomicKind::Min | AtomicKind::Max => matches!(ty, U32 | S32 | U64 | S64),
        AtomicKind::Inc | AtomicKind::Dec => ty == U32,
        AtomicKind::And | AtomicKind::Or | AtomicKind::Xor => matches!(ty, B32 | B64 | U32 | U64 | S32 | S64),
        AtomicKind::Exch => matches!(ty, B32 | B64 | U32 | U64 | S32 | S64 | F32 | F64),
        AtomicKind::Cas => matches!(ty, B16 | B32 | B64 | U32 | U64 | S32 | S64),
    }
}
