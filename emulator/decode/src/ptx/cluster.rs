//! Addresses in the shared memory of other blocks of a cluster: `mapa`, `getctarank`.
//!
//! Shared-memory addresses, the block's own too, hold the rank above the offset.

use ptx::ast::{Instruction, Type};

use super::PtxLowering;
use crate::error::Result;
use arithmetic::Builtin;
use arithmetic::lanes::{Class, Src};
use program::{RANK_SHIFT, window};

/// Largest rank that fits in an address; no cluster has such a block.
const LAST_RANK: u32 = 254;

impl<'a> PtxLowering<'a> {
    /// Lowers `mapa.shared::cluster.u32 d, a, rank;`, or without the space for generic addresses.
    pub(super) fn map_address(&mut self, instruction: &'a Instruction) -> Result<()> {
        self.count(instruction, 3)?;
        let offset = self.shared_offset(instruction)?;
        let rank = self.source(&instruction.operands[2], Class::Bits32, Some(Type::U32))?;
        let [last, shift] = [LAST_RANK, RANK_SHIFT].map(|n| self.constants.bits32(n, self.span));
        let rank = self.computed("min", &["u32"], &[rank, last?])?;
        let rank = self.computed("shl", &["b32"], &[rank, shift?])?;
        let mask = self.constants.bits32((1 << RANK_SHIFT) - 1, self.span)?;
        let offset = self.computed("and", &["b32"], &[offset, mask])?;
        let address = self.computed("or", &["b32"], &[offset, rank])?;
        if !instruction.has("u64") {
            let dst = self.destination(&instruction.operands[0], Class::Bits32)?;
            return self.builtin(Builtin::Mov32, dst, &[address]);
        }
        let dst = self.destination(&instruction.operands[0], Class::Bits64)?;
        if instruction.has("shared::cluster") {
            return self.builtin(Builtin::Zext64(32), dst, &[address]);
        }
        let wide = self.value(Builtin::Zext64(32), &[address])?;
        let shared = self.constants.bits64(window::SHARED, self.span)?;
        self.builtin(Builtin::Add64, dst, &[wide, shared])
    }

    /// Lowers `getctarank.shared::cluster.u32 d, a;`
    pub(super) fn rank_of_address(&mut self, instruction: &'a Instruction) -> Result<()> {
        self.count(instruction, 2)?;
        let offset = self.shared_offset(instruction)?;
        let dst = self.destination(&instruction.operands[0], Class::Bits32)?;
        let shift = self.constants.bits32(RANK_SHIFT, self.span)?;
        let rank = self.computed("shr", &["u32"], &[offset, shift])?;
        self.builtin(Builtin::Mov32, dst, &[rank])
    }

    /// Emits the low half of the first source, a shared or generic address.
    fn shared_offset(&mut self, instruction: &'a Instruction) -> Result<Src> {
        let operand = &instruction.operands[1];
        if !instruction.has("u64") {
            return self.source(operand, Class::Bits32, None);
        }
        let wide = self.source(operand, Class::Bits64, None)?;
        self.value(Builtin::Lo32Of64, &[wide])
    }
}
