//! Parameters of calls. A scalar that is only loaded and stored whole is a register; others live in the frame.

use std::collections::{HashMap, HashSet};

use ptx::ast::{Function, Operand, Space, Type, Variable};

use super::PtxLowering;
use crate::ptx::walk::{instructions, variables};
use crate::virtual_op::{Reg, class_and_bits};
use crate::{error::Result, ptx::scope::Binding};
use arithmetic::Builtin;
use arithmetic::lanes::{Class, Src};

/// Uses of the parameters of one name, other than whole.
#[derive(Debug, Clone, Copy)]
pub(super) struct ParamUses {
    address: bool,
    /// Smallest offset other than 0 in an access.
    offset: u64,
    /// Bytes of the smallest access as a vector.
    vector: u64,
}

impl ParamUses {
    /// Returns whether a scalar of `bytes` bytes must be in memory; larger accesses to `param0` belong to another call.
    fn reach_into(self, bytes: u32) -> bool {
        self.address || self.offset < u64::from(bytes) || self.vector <= u64::from(bytes)
    }
}

/// Parameters of a function that are not only used whole, by name.
pub(super) fn addressed(function: &Function) -> HashMap<&str, ParamUses> {
    let mut declared: HashSet<&str> = HashSet::new();
    if function.kind == ptx::ast::FunctionKind::Func {
        declared.extend(function.params.iter().chain(&function.returns).map(|v| v.name.as_str()));
    }
    declared.extend(variables(function).filter(|v| v.space == Space::Param).map(|v| v.name.as_str()));
    let mut found = HashMap::new();
    if declared.is_empty() {
        return found;
    }
    for instruction in instructions(function).filter(|instruction| instruction.opcode != "call") {
        let access = matches!(instruction.opcode.as_str(), "ld" | "st");
        let lanes = instruction.choice(&[("v2", 2), ("v4", 4), ("v8", 8)]);
        for operand in &instruction.operands {
            let offset = match operand {
                Operand::Address { offset, .. } if access => Some(*offset as u64),
                _ => None,
            };
            operand.for_each_name(&mut |name| {
                if !declared.contains(name.as_str()) {
                    return;
                }
                let parts: &mut ParamUses =
                    found.entry(name).or_insert(ParamUses { address: false, offset: u64::MAX, vector: u64::MAX });
                match offset {
                    None => parts.address = true,
                    Some(0) => {}
                    Some(offset) => parts.offset = parts.offset.min(offset),
                }
                if let (Some(_), Some(n)) = (offset, lanes) {
                    let element = instruction.types().last().map_or(0, Type::bytes);
                    parts.vector = parts.vector.min(n * u64::from(element));
                }
            });
        }
    }
    found
}

impl<'a> PtxLowering<'a> {
    /// Declares a `.param` variable inside a function, or a formal parameter without an actual one to stand for it.
    pub(super) fn param_variable(&mut self, v: &'a Variable) -> Result<Binding> {
        if v.space == Space::Reg {
            return Binding::declare(&mut self.registers, v.ty, v.vector, v.span);
        }
        let scalar = v.dims.is_empty() && v.vector <= 1 && v.ty.bytes() <= 8 && v.ty != Type::Pred;
        if scalar && !self.in_memory(v) {
            let (class, bits) = class_and_bits(v.ty, v.span)?;
            let reg = Reg { id: self.registers.fresh(class), class, bits };
            return Ok(Binding::ParamRegister(reg, v.ty.bytes()));
        }
        Ok(Binding::ParamLocal(self.frame_slot(v)?))
    }

    pub(super) fn in_memory(&self, v: &Variable) -> bool {
        let scalar = v.dims.is_empty() && v.vector <= 1;
        !scalar || self.addressed.get(v.name.as_str()).is_some_and(|parts| parts.reach_into(v.ty.bytes()))
    }

    /// Lowers `ld.param` from a register.
    pub(super) fn load_param(&mut self, to: &'a Operand, from: Reg, bytes: u32, ty: Type) -> Result<()> {
        refuse_if!(ty.bytes() > bytes, self.invalid(format!("{} bytes of a parameter of {bytes}", ty.bytes())));
        let Some(reg) = self.wanted(to)? else { return Ok(()) };
        let src = self.low_part(from, ty)?;
        let signed = matches!(ty, Type::S8 | Type::S16 | Type::S32);
        let bits = 8 * ty.bytes() as u8;
        let op = match (reg.class, signed) {
            (Class::Pred, _) => return Err(self.invalid("a parameter cannot be loaded to a predicate")),
            (Class::Bits32, _) if bits == 64 => return Err(self.invalid("8 bytes do not fit a 32-bit register")),
            (Class::Bits32, _) if bits == 32 => Builtin::Mov32,
            (Class::Bits32, true) => Builtin::Sext32(bits),
            (Class::Bits32, false) => Builtin::Zext32(bits),
            (Class::Bits64, _) if bits == 64 => Builtin::Mov64,
            (Class::Bits64, true) => Builtin::Sext64(bits),
            (Class::Bits64, false) => Builtin::Zext64(bits),
        };
        self.builtin(op, reg.id, &[src])
    }

    pub(super) fn store_param(&mut self, to: Reg, bytes: u32, from: &'a Operand, ty: Type) -> Result<()> {
        refuse_if!(ty.bytes() > bytes, self.invalid(format!("{} bytes to a parameter of {bytes}", ty.bytes())));
        let class = match from {
            Operand::Vector(list) if list.len() == 1 => return self.store_param(to, bytes, &list[0], ty),
            _ if self.is_register(from, Class::Bits64)? => Class::Bits64,
            _ if self.is_register(from, Class::Bits32)? => Class::Bits32,
            _ => super::class_of(ty.bytes()),
        };
        refuse_if!(class == Class::Bits32 && ty.bytes() == 8, self.invalid("8 bytes from a 32-bit register"));
        let src = self.source(from, class, Some(ty))?;
        let src = if class == Class::Bits64 && ty.bytes() < 8 { self.value(Builtin::Lo32Of64, &[src])? } else { src };
        let bits = 8 * ty.bytes() as u8;
        let op = match (bits, to.class) {
            (64, _) => Builtin::Mov64,
            (32, Class::Bits32) => Builtin::Mov32,
            (_, Class::Bits64) => Builtin::Zext64(bits),
            _ => Builtin::Zext32(bits),
        };
        self.builtin(op, to.id, &[src])
    }

    fn low_part(&mut self, from: Reg, ty: Type) -> Result<Src> {
        if from.class == Class::Bits64 && ty.bytes() < 8 {
            return self.value(Builtin::Lo32Of64, &[from.id as Src]);
        }
        Ok(from.id as Src)
    }
}
