//! `mov`: registers, numbers, addresses, special registers; packing and unpacking.

use ptx::ast::{Instruction, Operand, Type};

use super::operand::Elements;
use super::{PtxLowering, Reg, class_of, mov_of, special_registers};
use crate::{error::Result, ptx::scope::Binding};
use arithmetic::Builtin;
use arithmetic::lanes::{Class, Src};
use program::{OpKind, operands::clock_class};

impl<'a> PtxLowering<'a> {
    pub(super) fn mov(&mut self, instruction: &'a Instruction) -> Result<()> {
        self.count(instruction, 2)?;
        let (to, from) = (&instruction.operands[0], &instruction.operands[1]);
        let ty = match &instruction.modifiers[..] {
            [name] => Type::from_name(name),
            [count, name] => {
                let ty = Type::from_name(name).filter(|_| matches!(count.as_str(), "v2" | "v4"));
                let n = if count == "v2" { 2 } else { 4 };
                return match ty {
                    Some(ty) => self.mov_vector(to, from, ty, n),
                    None => Err(self.not_supported(instruction)),
                };
            }
            _ => None,
        };
        let ty = ty.filter(|ty| ty.bytes() < 16).ok_or_else(|| self.not_supported(instruction))?;
        match (to, from) {
            (_, Operand::Vector(parts)) => return self.pack(to, parts, ty),
            (Operand::Vector(parts), _) => return self.unpack(Elements::Operands(parts), from, ty),
            (Operand::Name(name), _) if matches!(self.find(name)?, Some(Binding::Vector(_))) => {
                let parts = self.elements(to)?;
                return self.unpack(parts, from, ty);
            }
            (_, Operand::Name(name)) => {
                if let Some(Binding::Vector(parts)) = self.find(name)? {
                    let sources: Vec<Src> = parts.iter().map(|part| part.id as Src).collect();
                    if parts.iter().any(|part| part.class != Class::Bits32) {
                        return Err(self.invalid(format!("`{name}` does not fit {} bytes", ty.bytes())));
                    }
                    return self.pack_values(to, &sources, ty);
                }
            }
            _ => {}
        }
        if ty == Type::Pred {
            let dst = self.destination(to, Class::Pred)?;
            let src = self.source(from, Class::Pred, None)?;
            return self.builtin(Builtin::MovPred, dst, &[src]);
        }
        let class = class_of(ty.bytes());
        let dst = self.destination(to, class)?;
        if let Operand::Name(name) = from
            && let Some(special_registers::SpecialSource::Clock(clock)) = special_registers::find(name)
            && clock_class(clock) == class
            && self.find(name)?.is_none()
        {
            return self.emit(OpKind::ReadClock { clock, dst });
        }
        let src = self.source(from, class, Some(ty))?;
        // 16-bit registers are zero above; other sources (`%tid.x`, once) may not be.
        let narrow = ty.bytes() == 2 && src >= 0 && !self.is_register(from, class)?;
        self.builtin(if narrow { Builtin::Lo16Of32 } else { mov_of(class) }, dst, &[src])
    }

    /// Lowers `mov.v2.f32 {%f1, %f2}, {%f2, %f1};`, or with vector registers.
    fn mov_vector(&mut self, to: &'a Operand, from: &'a Operand, ty: Type, n: usize) -> Result<()> {
        let class = class_of(ty.bytes());
        let (to, from) = (self.elements(to)?, self.elements(from)?);
        if to.len() != n || from.len() != n {
            return Err(self.invalid(format!("both sides of this `mov` must have {n} elements")));
        }
        // Sources are read before destinations are written: they may be the same registers.
        let mut values = Vec::with_capacity(n);
        for at in 0..n {
            let source = match &from {
                Elements::Operands(list) => self.source(&list[at], class, Some(ty))?,
                Elements::Registers(list) => self.register_of(list[at], class)?,
            };
            values.push(self.value(mov_of(class), &[source])?);
        }
        for (at, value) in values.into_iter().enumerate() {
            let dst = match &to {
                Elements::Operands(list) => self.destination(&list[at], class)?,
                Elements::Registers(list) => self.register_of(list[at], class)? as u32,
            };
            self.builtin(mov_of(class), dst, &[value])?;
        }
        Ok(())
    }

    /// Returns an element of a vector register as an operand.
    fn register_of(&self, reg: Reg, class: Class) -> Result<Src> {
        if reg.class == class {
            Ok(reg.id as Src)
        } else {
            Err(self.invalid("the vector's elements have another size than the instruction's type"))
        }
    }

    /// Lowers `mov.b64 %rd1, {%r1, %r2};`
    fn pack(&mut self, to: &'a Operand, parts: &'a [Operand], ty: Type) -> Result<()> {
        let part_bytes = ty.bytes() as usize / parts.len().max(1);
        let part_type = match part_bytes {
            1 => Type::B8,
            2 => Type::B16,
            _ => Type::B32,
        };
        let sources = parts.iter().map(|part| self.source(part, Class::Bits32, Some(part_type)));
        let sources = sources.collect::<Result<Vec<_>>>()?;
        self.pack_values(to, &sources, ty)
    }

    fn pack_values(&mut self, to: &'a Operand, parts: &[Src], ty: Type) -> Result<()> {
        let op = match (ty.bytes(), parts.len()) {
            (8, 2) => Builtin::Pack64,
            (8, 4) => Builtin::Pack64x4,
            (4, 2) => Builtin::Pack32,
            (4, 4) => Builtin::Pack32x4,
            (2, 2) => Builtin::Pack16,
            _ => return Err(self.invalid(format!("{} parts do not make {} bytes", parts.len(), ty.bytes()))),
        };
        let dst = self.destination(to, class_of(ty.bytes()))?;
        self.builtin(op, dst, parts)
    }

    /// Lowers `mov.b64 {%r1, %r2}, %rd1;`, or to a vector register.
    fn unpack(&mut self, parts: Elements<'a>, from: &'a Operand, ty: Type) -> Result<()> {
        let src = self.source(from, class_of(ty.bytes()), Some(ty))?;
        let mut results: Vec<(u32, Src)> = Vec::new();
        for at in 0..parts.len() {
            let op = match (ty.bytes(), parts.len(), at) {
                (8, 2, 0) => Builtin::Lo32Of64,
                (8, 2, 1) => Builtin::Hi32Of64,
                (8, 4, _) => Builtin::Word16Of64(at as u8),
                (4, 2, 0) => Builtin::Lo16Of32,
                (4, 2, 1) => Builtin::Hi16Of32,
                (4, 4, _) | (2, 2, _) => Builtin::ByteOf32(at as u8),
                _ => {
                    return Err(self.invalid(format!("{} bytes do not come apart in {}", ty.bytes(), parts.len())));
                }
            };
            let dst = match &parts {
                Elements::Operands(list) if self.wanted(&list[at])?.is_none() => continue,
                Elements::Operands(list) => self.destination(&list[at], Class::Bits32)?,
                Elements::Registers(list) => self.register_of(list[at], Class::Bits32)? as u32,
            };
            if dst as Src == src {
                // A part must not overwrite the source of the next one.
                let value = self.value(op, &[src])?;
                results.push((dst, value));
            } else {
                self.builtin(op, dst, &[src])?;
            }
        }
        for (dst, value) in results {
            self.builtin(Builtin::Mov32, dst, &[value])?;
        }
        Ok(())
    }

    pub(super) fn is_register(&mut self, operand: &'a Operand, class: Class) -> Result<bool> {
        Ok(match operand {
            Operand::Name(name) => {
                matches!(self.find(name)?, Some(Binding::Register(reg)) if reg.class == class)
            }
            _ => false,
        })
    }
}
