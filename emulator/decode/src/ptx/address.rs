//! Addresses: `[base + offset]`, `cvta`, `isspacep`.

use ptx::ast::{Instruction, Operand};

use super::{PtxLowering, operand::generic_value};
use crate::{error::Result, ptx::scope::Binding};
use arithmetic::Builtin;
use arithmetic::lanes::{Class, Src};
use program::{Addr, MemSpace, OpKind};

pub(super) fn space_of(instruction: &Instruction) -> Option<MemSpace> {
    instruction.modifiers.iter().find_map(|m| {
        Some(match m.as_str() {
            "global" => MemSpace::Global,
            "shared" | "shared::cta" | "shared::cluster" => MemSpace::Shared,
            "local" => MemSpace::Local,
            "const" => MemSpace::Const,
            "param" | "param::entry" | "param::func" => MemSpace::Param,
            _ => return None,
        })
    })
}

impl<'a> PtxLowering<'a> {
    /// Lowers an address operand. Returns it with its space: `space`, or local memory for parameters of calls.
    pub(super) fn address(&mut self, operand: &'a Operand, space: MemSpace) -> Result<(Addr, MemSpace)> {
        match operand {
            Operand::Address { base, offset } => self.address_of(base.as_deref(), *offset, space),
            _ => Err(self.invalid("an address in brackets is needed here")),
        }
    }

    /// Lowers as [`PtxLowering::address`] the operand between the brackets.
    pub(super) fn address_of(
        &mut self, base: Option<&'a str>, offset: i64, space: MemSpace,
    ) -> Result<(Addr, MemSpace)> {
        let Some(name) = base else { return Ok((self.fixed(offset as u64, space)?, space)) };
        let binding = self.find(name)?.ok_or_else(|| self.undeclared(name))?;
        let own = match &binding {
            Binding::Register(reg) => {
                if reg.class == Class::Pred || reg.bits < 32 {
                    return Err(self.invalid(format!("`{name}` cannot hold an address")));
                }
                let wide = reg.class == Class::Bits64;
                return Ok((Addr { src: reg.id as Src, wide, offset }, space));
            }
            Binding::Vector(_) | Binding::ParamRegister(..) => {
                return Err(self.invalid(format!("`{name}` has no address")));
            }
            Binding::ParamLocal(_) | Binding::ParamAt(_) | Binding::Local(_) => MemSpace::Local,
            Binding::Param(_) => MemSpace::Param,
            Binding::Shared(_) => MemSpace::Shared,
            Binding::Global(_) => MemSpace::Global,
            Binding::Const(_) => MemSpace::Const,
        };
        let param = space == MemSpace::Param && matches!(binding, Binding::ParamLocal(_) | Binding::ParamAt(_));
        if own != space && !param && space != MemSpace::Generic {
            return Err(self.invalid(format!("`{name}` is not in the state space that the instruction names")));
        }
        if let Some((base, at)) = self.in_frame(&binding) {
            let addr = Addr { src: base as Src, wide: false, offset: offset.wrapping_add(i64::from(at)) };
            return Ok((addr, own));
        }
        // A generic access reaches the variable's own space.
        let generic = generic_value(&binding).ok_or_else(|| self.invalid(format!("`{name}` has no address")))?;
        let value = generic.wrapping_sub(own.window()).wrapping_add_signed(offset);
        if own == MemSpace::Shared {
            let src = self.constants.shared_address(value, Class::Bits32, self.span)?;
            let (wide, offset) = (false, 0);
            return Ok((Addr { src, wide, offset }, own));
        }
        Ok((self.fixed(value, own)?, own))
    }

    fn fixed(&mut self, value: u64, space: MemSpace) -> Result<Addr> {
        let wide = space.window() == 0;
        let src = if wide {
            self.constants.bits64(value, self.span)?
        } else {
            self.constants.bits32(value as u32, self.span)?
        };
        Ok(Addr { src, wide, offset: 0 })
    }

    /// Lowers `cvta.shared.u64 a, b`, which makes a generic address, and `cvta.to.shared.u64`, which makes one of the
    /// space.
    pub(super) fn cvta(&mut self, instruction: &'a Instruction) -> Result<()> {
        self.count(instruction, 2)?;
        let space = space_of(instruction).ok_or_else(|| self.invalid("`cvta` must name a state space"))?;
        refuse_if!(!instruction.has("u64"), self.not_supported(instruction));
        let dst = self.destination(&instruction.operands[0], Class::Bits64)?;
        let src = self.source(&instruction.operands[1], Class::Bits64, None)?;
        let window = space.window();
        if window == 0 {
            return self.builtin(Builtin::Mov64, dst, &[src]);
        }
        let window = self.constants.bits64(window, self.span)?;
        let op = if instruction.has("to") { Builtin::Sub64 } else { Builtin::Add64 };
        self.builtin(op, dst, &[src, window])
    }

    pub(super) fn is_space(&mut self, instruction: &'a Instruction) -> Result<()> {
        self.count(instruction, 2)?;
        let space = space_of(instruction).ok_or_else(|| self.invalid("`isspacep` must name a state space"))?;
        let dst = self.destination(&instruction.operands[0], Class::Pred)?;
        let src = self.source(&instruction.operands[1], Class::Bits64, None)?;
        let own = !instruction.has("shared::cluster");
        self.emit(OpKind::IsSpace { space, own, dst, src })
    }
}
