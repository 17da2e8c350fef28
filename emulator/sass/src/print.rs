//! The text of an instruction, as `nvdisasm` prints it for code without relocations.

use std::fmt::{Display, Formatter, Result};

use crate::architecture::Architecture;
use crate::instruction::{
    Address, Constant, Control, Guard, Halves, Index, Instruction, Operand, Predicate, Register, Uniform, Value,
};
use crate::operation::{Modifier, Operation};
use crate::table::{Form, ImmediateFormat, Slot, Token};

mod number;

impl Display for Instruction {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}{}", self.guard, self.operation)?;
        let mut modifiers = self.modifiers.as_slice();
        if let Some((short, left)) = short_form(self) {
            f.write_str(short)?;
            modifiers = left;
        }
        for modifier in modifiers {
            let dot = if modifier.name().starts_with('x') { "" } else { "." };
            write!(f, "{dot}{modifier}")?;
        }
        let mut separator = " ";
        for (operand, token) in self.operands.iter().zip(&self.row.slots.tokens) {
            if token.hidden.is_some_and(|hidden| is_default(operand, hidden)) {
                continue;
            }
            f.write_str(if token.joined { " " } else { separator })?;
            separator = ", ";
            match (token.slot, operand.value) {
                // Distance from the next instruction, without its address.
                (Slot::BranchOffset, Value::Label(target)) => {
                    Hex(target.wrapping_sub(i64::from(self.address) + 16)).fmt(f)?;
                }
                _ => {
                    print_operand(f, self.architecture, operand, token)?;
                    f.write_str(self.layout(token))?;
                }
            }
        }
        Ok(())
    }
}

impl Instruction {
    /// Returns how a factor lies, which the mnemonic of some products leaves to the operand.
    fn layout(&self, token: &Token) -> &'static str {
        match (self.operation, token.slot) {
            (Operation::Imma | Operation::Bmma, Slot::Register(24)) => ".ROW",
            (Operation::Imma | Operation::Bmma, Slot::Register(32)) => ".COL",
            _ => "",
        }
    }
}

fn is_default(operand: &Operand, (number, negated): (u8, bool)) -> bool {
    let found = match operand.value {
        Value::Register(Register(found)) | Value::Uniform(Uniform(found)) => found,
        Value::Predicate(Predicate(found)) | Value::UniformPredicate(Predicate(found)) => found,
        Value::Immediate(value) => return value == u32::from(number),
        _ => return false,
    };
    found == number && operand.negated == negated
}

/// Returns the names for common uses of `IMAD`, and the modifiers that are printed after them.
fn short_form(instruction: &Instruction) -> Option<(&'static str, &[Modifier])> {
    if instruction.operation != Operation::Imad {
        return None;
    }
    let modifiers = instruction.modifiers.as_slice();
    let [.., a, b, c] = instruction.operands.as_slice() else { return None };
    let zero = |operand: &Operand| operand.value == Value::Register(Register::ZERO);
    let immediate = |operand: &Operand| match operand.value {
        Value::Immediate(value) => Some(value),
        _ => None,
    };
    if !matches!(modifiers, [] | [Modifier::U32]) || matches!(instruction.row.form, Form::Ur | Form::Ru) {
        return None;
    }
    let name = match immediate(b) {
        _ if zero(a) || zero(b) => ".MOV",
        Some(0) => ".MOV",
        Some(1) if zero(c) => ".MOV",
        Some(1) => ".IADD",
        Some(0x8000_0000 | 0x10000) => return None,
        Some(value) if value.is_power_of_two() && zero(c) => ".SHL",
        _ => return None,
    };
    Some((name, modifiers))
}

impl Display for Guard {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.is_always() {
            return Ok(());
        }
        let (not, uniform) = (if self.negated { "!" } else { "" }, if self.uniform { "U" } else { "" });
        write!(f, "@{not}{uniform}{} ", self.predicate)
    }
}

/// Implements `Display` for registers: the constant register has a name, the others a prefix and a number.
macro_rules! display_numbered {
    ($($register:ident: $constant:ident $name:literal $prefix:literal),+) => {$(
        impl Display for $register {
            fn fmt(&self, f: &mut Formatter<'_>) -> Result {
                match *self {
                    $register::$constant => f.write_str($name),
                    $register(number) => write!(f, "{}{number}", $prefix),
                }
            }
        }
    )+};
}

display_numbered!(Register: ZERO "RZ" "R", Uniform: ZERO "URZ" "UR", Predicate: TRUE "PT" "P");

/// Prints a number as `nvdisasm` does: `0x10`, `-0x10`.
struct Hex(i64);

impl Display for Hex {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{:#x}", self.0.unsigned_abs())
    }
}

fn print_operand(f: &mut Formatter<'_>, architecture: Architecture, operand: &Operand, token: &Token) -> Result {
    let predicate = matches!(operand.value, Value::Predicate(_) | Value::UniformPredicate(_));
    if operand.negated {
        f.write_str(if predicate { "!" } else { "-" })?;
    }
    if operand.inverted {
        f.write_str("~")?;
    }
    let bar = if operand.absolute { "|" } else { "" };
    f.write_str(bar)?;
    match operand.value {
        // The descriptor is not printed, nor a base that is zero.
        Value::Memory(address) if architecture != Architecture::Sm90 => {
            let has_base = address.base != Register::ZERO || address.uniform.is_none();
            let wide = address.wide && has_base;
            print_address(f, &Address { wide, ..address })?;
        }
        value => print_value(f, architecture, &value, token)?,
    }
    f.write_str(bar)?;
    if operand.reuse {
        f.write_str(".reuse")?;
    }
    f.write_str(match operand.halves {
        Halves::Both => "",
        Halves::Low => ".H0_H0",
        Halves::High => ".H1_H1",
    })
}

fn print_value(
    f: &mut Formatter<'_>, architecture: Architecture, value: &Value, &Token { slot, kind, .. }: &Token,
) -> Result {
    match value {
        Value::Register(register) => register.fmt(f),
        Value::Uniform(register) => register.fmt(f),
        Value::Predicate(predicate) => predicate.fmt(f),
        Value::UniformPredicate(predicate) => write!(f, "U{predicate}"),
        Value::Predicates => f.write_str("PR"),
        Value::Immediate(bits) => match kind {
            ImmediateFormat::Signed => Hex(i64::from(*bits as i32)).fmt(f),
            ImmediateFormat::Unsigned => write!(f, "{bits:#x}"),
            ImmediateFormat::Decimal => write!(f, "{bits}"),
            ImmediateFormat::Float => f.write_str(&number::single(*bits)),
            ImmediateFormat::Double => f.write_str(&number::double(*bits)),
            ImmediateFormat::Halves => f.write_str(&number::halves(*bits)),
            ImmediateFormat::BrainHalves => {
                write!(f, "{}, {}", number::single(bits & 0xffff_0000), number::single(bits << 16))
            }
        },
        // A load prints the index alone.
        Value::Constant(constant) if slot == Slot::IndexedConstant && constant.offset == 0 => {
            let index = Index::Register(Register::ZERO);
            let index = if constant.index == Index::None { index } else { constant.index };
            Constant { index, ..*constant }.fmt(f)
        }
        Value::Constant(constant) => constant.fmt(f),
        Value::Memory(address) => address.fmt(f),
        Value::Special(register) => f.write_str(&register.name(architecture)),
        Value::Label(target) => Hex(*target).fmt(f),
        Value::Barrier(number) => write!(f, "B{number}"),
        Value::Scoreboard(number) => write!(f, "SB{number}"),
        Value::Group => f.write_str("gsb0"),
        Value::Matrices { descriptor, transposed, negated } => {
            write!(f, "gdesc[{descriptor}]")?;
            let words = [".tnspA", ".tnspB", ".negA", ".negB"];
            let mut set = words.iter().zip(transposed.iter().chain(negated)).filter(|(_, is_set)| **is_set);
            set.try_for_each(|(word, _)| f.write_str(word))
        }
    }
}

impl Display for Constant {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "c[{:#x}][", self.bank)?;
        match self.index {
            Index::None => return write!(f, "{}]", Hex(self.offset.into())),
            Index::Register(index) => index.fmt(f)?,
            Index::Uniform(index) => index.fmt(f)?,
        }
        match self.offset {
            0 => f.write_str("]"),
            offset => write!(f, "+{}]", Hex(offset.into())),
        }
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(descriptor) = self.descriptor {
            write!(f, "desc[{descriptor}]")?;
        }
        print_address(f, self)
    }
}

fn print_address(f: &mut Formatter<'_>, address: &Address) -> Result {
    f.write_str("[")?;
    let mut plus = "";
    if address.base != Register::ZERO
        || address.scale != 1
        || (address.uniform.is_none() && address.offset == 0)
        || address.wide
        || address.extends
    {
        address.base.fmt(f)?;
        plus = "+";
    }
    match (address.scale, address.wide) {
        // Without a uniform register, the width is not printed.
        (1, true) if address.uniform.is_none() && address.descriptor.is_none() => {}
        (1, true) => f.write_str(".64")?,
        (1, false) if address.extends => f.write_str(".U32")?,
        (1, false) => {}
        (scale, _) => write!(f, ".X{scale}")?,
    }
    if let Some(uniform) = address.uniform {
        write!(f, "{plus}{uniform}")?;
        plus = "+";
    }
    if address.offset != 0 {
        write!(f, "{plus}{}", Hex(address.offset.into()))?;
    }
    f.write_str("]")
}

/// `stall 4, wait 0 1, write 2, read 3, yield`: the fields that are not zero.
impl Display for Control {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "stall {}", self.stall)?;
        if self.wait != 0 {
            f.write_str(", wait")?;
            for barrier in (0..6).filter(|barrier| self.wait >> barrier & 1 == 1) {
                write!(f, " {barrier}")?;
            }
        }
        if let Some(barrier) = self.write_barrier {
            write!(f, ", write {barrier}")?;
        }
        if let Some(barrier) = self.read_barrier {
            write!(f, ", read {barrier}")?;
        }
        if self.yields {
            f.write_str(", yield")?;
        }
        Ok(())
    }
}
