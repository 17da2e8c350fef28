//! Arithmetic: instructions for which [`arithmetic::lookup`] has a function.

use ptx::ast::{Instruction, Operand, Type};

use super::PtxLowering;
use crate::error::Result;
use crate::passes::flow::{flow_of, flow_of_second_result};
use crate::virtual_op::{AluFunction, BitRule};
use arithmetic::lanes::{Class, NONE, Src};
use arithmetic::{Builtin, ResultPart, lookup};

impl<'a> PtxLowering<'a> {
    pub(super) fn arithmetic(&mut self, instruction: &'a Instruction) -> Result<()> {
        let modifiers: Vec<&str> = instruction.modifiers.iter().map(String::as_str).collect();
        let opcode = instruction.opcode.as_str();
        let form =
            lookup(opcode, &modifiers, ResultPart::First, self.level).ok_or_else(|| self.not_supported(instruction))?;
        if opcode == "cvt" {
            return self.convert(instruction, form);
        }

        let reads_carry = matches!(opcode, "addc" | "subc" | "madc");
        let written = form.srcs.len() - usize::from(reads_carry && !form.srcs.is_empty());
        self.count(instruction, 1 + written)?;
        let mut sources = [NONE; 4];
        for (at, (place, &class)) in sources.iter_mut().zip(form.srcs).enumerate() {
            *place = if at == written {
                self.carry() as Src
            } else {
                self.source(&instruction.operands[at + 1], class, type_of_source(instruction, at, class))?
            };
        }

        // Second result: a predicate, or the carry flag.
        let (first, second) = match &instruction.operands[0] {
            Operand::Pair(first, second) => (&**first, Some(&**second)),
            single => (single, None),
        };
        let second = match second {
            Some(operand) => {
                let Some(part) = lookup(opcode, &modifiers, ResultPart::Second, self.level) else {
                    return Err(self.unsupported(format!("`{}` with two results", instruction.mnemonic())));
                };
                self.wanted_destination(operand, part.dst)?.map(|dst| (part, dst))
            }
            None if instruction.has("cc") => {
                let Some(part) = lookup(opcode, &modifiers, ResultPart::Second, self.level) else {
                    return Err(self.not_supported(instruction));
                };
                Some((part, self.carry()))
            }
            None => None,
        };
        let dst = self.destination(first, form.dst)?;
        let flow = flow_of(instruction);
        let function = AluFunction::from(form).with_flow(flow);
        let Some((part, second)) = second else {
            return self.alu(AluFunction { rule: rule(instruction), ..function }, dst, &sources);
        };
        let part = AluFunction::from(part).with_flow(flow_of_second_result(flow));
        // The second part reads the sources again, so the first must not overwrite one.
        let overwrites = form.srcs.iter().zip(sources).any(|(&class, s)| class == form.dst && s == dst as Src);
        if overwrites {
            let copy = self.registers.fresh(form.dst);
            self.alu(function, copy, &sources)?;
            self.alu(part, second, &sources)?;
            return self.builtin(super::mov_of(form.dst), dst, &[copy as Src]);
        }
        self.alu(function, dst, &sources)?;
        self.alu(part, second, &sources)
    }

    /// Lowers `cvt`, whose operands may be wider than its types.
    fn convert(&mut self, instruction: &'a Instruction, form: arithmetic::Form) -> Result<()> {
        self.count(instruction, 1 + form.srcs.len())?;
        let mut sources = [NONE; 4];
        for (at, (place, &class)) in sources.iter_mut().zip(form.srcs).enumerate() {
            let operand = &instruction.operands[at + 1];
            let wide = class == Class::Bits32
                && matches!(operand, Operand::Name(_))
                && self.register(operand).is_ok_and(|reg| reg.class == Class::Bits64);
            *place = if wide {
                let whole = self.source(operand, Class::Bits64, None)?;
                self.value(Builtin::Lo32Of64, &[whole])?
            } else {
                self.source(operand, class, instruction.types().last())?
            };
        }
        let Some(reg) = self.wanted(&instruction.operands[0])? else { return Ok(()) };
        let function = AluFunction::from(form).with_flow(flow_of(instruction));
        if reg.class == form.dst {
            self.alu(AluFunction { rule: rule(instruction), ..function }, reg.id, &sources)?;
            return match instruction.types().next() {
                Some(Type::S8 | Type::S16) if reg.bits == 32 && !instruction.has("pack") => {
                    self.builtin(Builtin::Sext32(16), reg.id, &[reg.id as Src])
                }
                _ => Ok(()),
            };
        }
        if (form.dst, reg.class) != (Class::Bits32, Class::Bits64) {
            self.destination(&instruction.operands[0], form.dst)?;
        }
        let narrow = self.registers.fresh(form.dst);
        self.alu(function, narrow, &sources)?;
        let extend = match instruction.types().next() {
            Some(Type::S8 | Type::S16) => Builtin::Sext64(16),
            Some(Type::S32) => Builtin::Sext64(32),
            _ => Builtin::Zext64(32),
        };
        self.builtin(extend, reg.id, &[narrow as Src])
    }
}

fn type_of_source(instruction: &Instruction, at: usize, class: Class) -> Option<Type> {
    let mut types = instruction.types();
    let ty = match instruction.opcode.as_str() {
        // Amounts and positions are 32-bit integers in all instructions.
        "shl" | "shr" if at == 1 => Some(Type::U32),
        "bfe" if at >= 1 => Some(Type::U32),
        "bfi" if at >= 2 => Some(Type::U32),
        "mad" if at == 2 && instruction.has("wide") => None,
        "slct" if at < 2 => types.next(),
        _ => types.last(),
    }?;
    // Sources of another class have types of their own.
    match class {
        Class::Bits32 if ty.bytes() > 4 => None,
        Class::Bits64 if ty.bytes() < 8 => None,
        _ => Some(ty),
    }
}

/// Returns the rule for the low bits of an integer result.
fn rule(instruction: &Instruction) -> BitRule {
    if !instruction.types().all(is_integer) || instruction.has("hi") || instruction.has("sat") {
        return BitRule::Unknown;
    }
    match instruction.opcode.as_str() {
        "cvt" => BitRule::Same,
        "add" => BitRule::Sum,
        "sub" => BitRule::Difference,
        "or" | "xor" | "min" | "max" | "selp" => BitRule::Either,
        "and" => BitRule::And,
        "mul" => BitRule::Product,
        "mad" => BitRule::ProductSum,
        "shl" => BitRule::ShiftLeft,
        _ => BitRule::Unknown,
    }
}

fn is_integer(ty: Type) -> bool {
    use Type::{B16, B32, B64, S16, S32, S64, U16, U32, U64};
    matches!(ty, B16 | B32 | B64 | S16 | S32 | S64 | U16 | U32 | U64)
}
