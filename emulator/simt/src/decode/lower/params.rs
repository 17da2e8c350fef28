//! Parameters of calls. A scalar that is only ever loaded and stored whole is a register; everything else
//! lives in the frame.

use std::collections::HashSet;

use ptx::ast::{Function, Operand, Space, Type, Variable};

use super::super::error::Result;
use super::super::index::{for_each_instruction, for_each_name, for_each_variable};
use super::super::names::{Binding, Reg, shape};
use super::Lower;
use crate::alu::Builtin;
use crate::lanes::{Class, Src};

/// Names of the parameters in a function that are used otherwise than whole: with an offset, as a vector,
/// or by their address.
pub(super) fn addressed(function: &Function) -> HashSet<&str> {
    let mut declared: HashSet<&str> = HashSet::new();
    if function.kind == ptx::ast::FunctionKind::Func {
        declared.extend(
            function
                .params
                .iter()
                .chain(&function.returns)
                .map(|v| v.name.as_str()),
        );
    }
    let body = function.body.as_deref().unwrap_or_default();
    for_each_variable(body, &mut |v| {
        if v.space == Space::Param {
            declared.insert(&v.name);
        }
    });
    let mut found = HashSet::new();
    if declared.is_empty() {
        return found;
    }
    for_each_instruction(body, &mut |instruction| {
        if instruction.opcode == "call" {
            return;
        }
        let whole = matches!(instruction.opcode.as_str(), "ld" | "st")
            && !instruction.has("v2")
            && !instruction.has("v4");
        for operand in &instruction.operands {
            if whole && matches!(operand, Operand::Address { offset: 0, .. }) {
                continue;
            }
            for_each_name(operand, &mut |name| {
                if declared.contains(name) {
                    found.insert(name);
                }
            });
        }
    });
    found
}

impl<'a> Lower<'a> {
    /// A `.param` variable inside a function, or a formal parameter without an actual one to stand for it.
    pub(super) fn param_variable(&mut self, v: &'a Variable) -> Result<Binding> {
        if v.space == Space::Reg {
            let (class, bits) = shape(v.ty, v.span)?;
            return Ok(Binding::Register(Reg {
                id: self.registers.fresh(class),
                class,
                bits,
            }));
        }
        let scalar = v.dims.is_empty() && v.vector <= 1 && v.ty.bytes() <= 8 && v.ty != Type::Pred;
        if scalar && !self.addressed.contains(v.name.as_str()) {
            let (class, bits) = shape(v.ty, v.span)?;
            let reg = Reg {
                id: self.registers.fresh(class),
                class,
                bits,
            };
            return Ok(Binding::ParamRegister(reg, v.ty.bytes()));
        }
        Ok(Binding::ParamLocal(self.frame_slot(v)?))
    }

    /// `ld.param` of a parameter that is a register.
    pub(super) fn load_param(&mut self, to: &'a Operand, from: Reg, bytes: u32, ty: Type) -> Result<()> {
        if ty.bytes() > bytes {
            return Err(self.invalid(format!("{} bytes of a parameter of {bytes}", ty.bytes())));
        }
        let Some(reg) = self.wanted(to)? else {
            return Ok(());
        };
        let src = self.low_part(from, ty)?;
        let signed = matches!(ty, Type::S8 | Type::S16 | Type::S32);
        let bits = 8 * ty.bytes() as u8;
        let op = match (reg.class, signed) {
            (Class::Pred, _) => return Err(self.invalid("a parameter cannot be loaded to a predicate")),
            (Class::Bits32, _) if bits == 64 => {
                return Err(self.invalid("8 bytes do not fit a 32-bit register"));
            }
            (Class::Bits32, _) if bits == 32 => Builtin::Mov32,
            (Class::Bits32, true) => Builtin::Sext32(bits),
            (Class::Bits32, false) => Builtin::Zext32(bits),
            (Class::Bits64, _) if bits == 64 => Builtin::Mov64,
            (Class::Bits64, true) => Builtin::Sext64(bits),
            (Class::Bits64, false) => Builtin::Zext64(bits),
        };
        self.builtin(op, reg.id, &[src])
    }

    /// `st.param` of a parameter that is a register.
    pub(super) fn store_param(&mut self, to: Reg, bytes: u32, from: &'a Operand, ty: Type) -> Result<()> {
        if ty.bytes() > bytes {
            return Err(self.invalid(format!("{} bytes to a parameter of {bytes}", ty.bytes())));
        }
        let class = match from {
            Operand::Vector(list) if list.len() == 1 => return self.store_param(to, bytes, &list[0], ty),
            _ if self.is_register(from, Class::Bits64)? => Class::Bits64,
            _ if self.is_register(from, Class::Bits32)? => Class::Bits32,
            _ => super::class_of(ty.bytes()),
        };
        if class == Class::Bits32 && ty.bytes() == 8 {
            return Err(self.invalid("8 bytes from a 32-bit register"));
        }
        let src = self.source(from, class, Some(ty))?;
        let src = if class == Class::Bits64 && ty.bytes() < 8 {
            self.value(Builtin::Lo32Of64, &[src])?
        } else {
            src
        };
        let bits = 8 * ty.bytes() as u8;
        let op = match (bits, to.class) {
            (64, _) => Builtin::Mov64,
            (32, Class::Bits32) => Builtin::Mov32,
            (_, Class::Bits64) => Builtin::Zext64(bits),
            _ => Builtin::Zext32(bits),
        };
        self.builtin(op, to.id, &[src])
    }

    /// The low part of a parameter as a source for a type.
    fn low_part(&mut self, from: Reg, ty: Type) -> Result<Src> {
        if from.class == Class::Bits64 && ty.bytes() < 8 {
            return self.value(Builtin::Lo32Of64, &[from.id as Src]);
        }
        Ok(from.id as Src)
    }
}
