//! Operands: names and numbers to virtual registers and constants.

use ptx::ast::{Operand, Type};

use super::{PtxLowering, special_registers};
use crate::virtual_op::{FALSE, Reg, TRUE};
use crate::{error::Result, passes::constants, ptx::scope::Binding};
use arithmetic::Builtin;
use arithmetic::lanes::{Class, Src};
use program::window;

impl<'a> PtxLowering<'a> {
    /// Lowers a source of `class`. `ty` is the type of a number there.
    pub(super) fn source(&mut self, operand: &'a Operand, class: Class, ty: Option<Type>) -> Result<Src> {
        match operand {
            Operand::Name(name) => self.named(name, 0, class),
            Operand::NameOffset { name, offset } => self.named(name, *offset, class),
            Operand::Immediate(value) => {
                if class == Class::Pred
                    && let ptx::ast::Immediate::Int(v) = value
                {
                    return Ok(if *v == 0 { FALSE } else { TRUE } as Src);
                }
                let bits = constants::bits(*value, class, ty, self.span)?;
                self.constant(bits, class)
            }
            Operand::NotPred(name) if class == Class::Pred => {
                let pred = self.predicate(name)?;
                self.value(Builtin::NotPred, &[pred as Src])
            }
            Operand::Component(..) => {
                let reg = self.register(operand)?;
                self.of_class(reg, class, "%v.x")
            }
            _ => Err(self.invalid("an operand of this form does not belong here")),
        }
    }

    /// Returns a constant of a class other than predicates.
    pub(super) fn constant(&mut self, bits: u64, class: Class) -> Result<Src> {
        match class {
            Class::Bits64 => self.constants.bits64(bits, self.span),
            _ => self.constants.bits32(bits as u32, self.span),
        }
    }

    fn named(&mut self, name: &'a str, offset: i64, class: Class) -> Result<Src> {
        let Some(binding) = self.find(name)? else {
            if name == "WARP_SZ" {
                return self.constant(32, class);
            }
            if let Some(special) = special_registers::find(name) {
                return self.special(special, name, class);
            }
            if let Some(function) = self.index.function(name) {
                let address = self.index.callable(function, self.span)?;
                if class != Class::Bits64 {
                    return Err(self.invalid(format!("the address of `{name}` takes a 64-bit register")));
                }
                return self.constant(address.wrapping_add_signed(offset), class);
            }
            return Err(self.undeclared(name));
        };
        if let Binding::Register(reg) = binding {
            let value = self.of_class(reg, class, name)?;
            if offset == 0 {
                return Ok(value);
            }
            // ptxas accepts `%r1+4` as an operand, and adds.
            let sum = match class {
                Class::Bits32 => Builtin::Add32,
                Class::Bits64 => Builtin::Add64,
                Class::Pred => {
                    return Err(self.invalid(format!("`{name}` is a predicate: nothing can be added")));
                }
            };
            let offset = self.constant(offset as u64, class)?;
            return self.value(sum, &[value, offset]);
        }
        refuse_if!(class == Class::Pred, self.invalid(format!("`{name}` is not a predicate")));
        if let Some((base, at)) = self.in_frame(&binding) {
            let offset = self.constants.bits32(at.wrapping_add(offset as u32), self.span)?;
            let address = self.value(Builtin::Add32, &[base as Src, offset])?;
            return match class {
                Class::Bits64 => self.value(Builtin::Zext64(32), &[address]),
                _ => Ok(address),
            };
        }
        let address = symbol_value(&binding).ok_or_else(|| self.invalid(format!("`{name}` has no address")))?;
        let address = address.wrapping_add_signed(offset);
        match binding {
            Binding::Shared(_) => self.constants.shared_address(address, class, self.span),
            _ => self.constant(address, class),
        }
    }

    /// Returns the register and distance that make a variable's address in local memory.
    pub(super) fn in_frame(&self, binding: &Binding) -> Option<(u32, u32)> {
        match *binding {
            Binding::ParamAt(reg) => Some((reg.id, 0)),
            Binding::Local(at) | Binding::ParamLocal(at) => Some((self.activations.frame_base()?, at)),
            _ => None,
        }
    }

    fn of_class(&self, reg: Reg, class: Class, name: &str) -> Result<Src> {
        if reg.class == class {
            return Ok(reg.id as Src);
        }
        Err(self.invalid(format!("`{name}` is {}, and {} is needed here", describe(reg.class), describe(class))))
    }

    pub(super) fn undeclared(&self, name: &str) -> super::DecodeError {
        self.invalid(format!("`{name}` is not declared"))
    }

    pub(super) fn predicate(&mut self, name: &'a str) -> Result<u32> {
        match self.find(name)? {
            Some(Binding::Register(Reg { id, class: Class::Pred, .. })) => Ok(id),
            Some(_) => Err(self.invalid(format!("`{name}` is not a predicate"))),
            None => Err(self.undeclared(name)),
        }
    }

    /// Returns the register of a predicate operand, and whether it is written with `!`.
    pub(super) fn predicate_operand(&mut self, operand: &'a Operand) -> Result<(u32, bool)> {
        match operand {
            Operand::Name(name) => Ok((self.predicate(name)?, false)),
            Operand::NotPred(name) => Ok((self.predicate(name)?, true)),
            Operand::Immediate(_) => Ok((self.source(operand, Class::Pred, None)? as u32, false)),
            _ => Err(self.invalid("a predicate is needed here")),
        }
    }

    pub(super) fn register(&mut self, operand: &'a Operand) -> Result<Reg> {
        match operand {
            Operand::Name(name) => match self.find(name)? {
                Some(Binding::Register(reg)) => Ok(reg),
                Some(_) => Err(self.invalid(format!("`{name}` is not a register"))),
                None => Err(self.undeclared(name)),
            },
            Operand::Component(name, letter) => match self.find(name)? {
                Some(Binding::Vector(parts)) => {
                    let at = match letter {
                        'x' | 'r' => 0,
                        'y' | 'g' => 1,
                        'z' | 'b' => 2,
                        _ => 3,
                    };
                    match parts.get(at) {
                        Some(reg) => Ok(*reg),
                        None => Err(self.invalid(format!("`{name}` has no component `{letter}`"))),
                    }
                }
                Some(_) => Err(self.invalid(format!("`{name}` is not a vector"))),
                None => Err(self.undeclared(name)),
            },
            _ => Err(self.invalid("a register is needed here")),
        }
    }

    /// Returns a destination register; `None` for `_`.
    pub(super) fn wanted(&mut self, operand: &'a Operand) -> Result<Option<Reg>> {
        match operand {
            Operand::Name(name) if name == "_" => Ok(None),
            _ => self.register(operand).map(Some),
        }
    }

    /// Returns a destination of `class`; for `_` a new register without uses.
    pub(super) fn destination(&mut self, operand: &'a Operand, class: Class) -> Result<u32> {
        let wanted = self.wanted_destination(operand, class)?;
        Ok(wanted.unwrap_or_else(|| self.registers.fresh(class)))
    }

    /// Returns a destination of `class`; `None` for `_`.
    pub(super) fn wanted_destination(&mut self, operand: &'a Operand, class: Class) -> Result<Option<u32>> {
        match self.wanted(operand)? {
            None => Ok(None),
            Some(reg) if reg.class == class => Ok(Some(reg.id)),
            Some(reg) => Err(self.invalid(format!(
                "the result goes to {}, and {} is needed",
                describe(reg.class),
                describe(class)
            ))),
        }
    }

    /// Returns the elements of a vector operand, or the operand itself.
    pub(super) fn elements(&mut self, operand: &'a Operand) -> Result<Elements<'a>> {
        match operand {
            Operand::Vector(list) => Ok(Elements::Operands(list)),
            Operand::Name(name) => match self.find(name)? {
                Some(Binding::Vector(parts)) => Ok(Elements::Registers(parts)),
                _ => Ok(Elements::Operands(std::slice::from_ref(operand))),
            },
            _ => Ok(Elements::Operands(std::slice::from_ref(operand))),
        }
    }
}

pub(super) enum Elements<'a> {
    /// Operands in braces: `{a, b}`.
    Operands(&'a [Operand]),
    Registers(Box<[Reg]>),
}

impl Elements<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Elements::Operands(list) => list.len(),
            Elements::Registers(list) => list.len(),
        }
    }
}

/// Returns the value that `mov` gives for a variable: an offset in its space, or a generic address.
fn symbol_value(binding: &Binding) -> Option<u64> {
    Some(match binding {
        Binding::Param(at) | Binding::ParamLocal(at) | Binding::Shared(at) | Binding::Local(at) => u64::from(*at),
        Binding::Global(address) | Binding::Const(address) => *address,
        Binding::Register(_) | Binding::Vector(_) | Binding::ParamRegister(..) | Binding::ParamAt(_) => return None,
    })
}

pub(super) fn generic_value(binding: &Binding) -> Option<u64> {
    let value = symbol_value(binding)?;
    Some(match binding {
        Binding::Param(_) => value | window::PARAM,
        Binding::ParamLocal(_) | Binding::Local(_) => value | window::LOCAL,
        Binding::Shared(_) => value | window::SHARED,
        _ => value,
    })
}

pub(super) fn describe(class: Class) -> &'static str {
    match class {
        Class::Pred => "a predicate",
        Class::Bits32 => "a register of up to 32 bits",
        Class::Bits64 => "a 64-bit register",
    }
}
