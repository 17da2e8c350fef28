//! The code of a kernel as words.

use std::ops::Range;

use sass::Architecture;
use sass::instruction::{Instruction, Operand, Register, Value};
use sass::operation::{Modifier, Operation};

use crate::Refusal;

/// A word of code.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) word: u128,
    pub(crate) instruction: Instruction,
}

impl Line {
    pub(crate) fn decode(word: u128, address: u32) -> Result<Line, Refusal> {
        let decoded = sass::decode(Architecture::Sm90, word, address);
        Ok(Line { word, instruction: decoded.map_err(|_| Refusal("an instruction is unknown"))? })
    }

    pub(crate) fn is(&self, operation: Operation) -> bool {
        self.instruction.operation == operation
    }

    /// Returns the index of the instruction to which this one branches.
    pub(crate) fn target(&self) -> Option<usize> {
        usize::try_from(self.instruction.label()?).ok().map(|address| address / 16)
    }

    pub(crate) fn register(&self, operand: usize) -> Option<u8> {
        match self.instruction.operands.get(operand)?.value {
            Value::Register(Register(register)) => Some(register),
            _ => None,
        }
    }

    /// Returns the registers that are written.
    pub(crate) fn written(&self) -> Range<u8> {
        let instruction = &self.instruction;
        let n = match instruction.operation {
            Operation::Cs2r => 2 - u8::from(instruction.has(Modifier::W32)),
            _ => width(instruction).max(1 + u8::from(instruction.has(Modifier::Wide))),
        };
        let first = instruction.destinations().iter().find_map(|operand| match operand.value {
            Value::Register(register) if register != Register::ZERO => Some(register.0),
            _ => None,
        });
        first.map_or(0..0, |first| first..first.saturating_add(n))
    }

    /// Returns the registers that are read, each as often as it is.
    pub(crate) fn read(&self) -> Vec<u8> {
        let instruction = &self.instruction;
        let is_memory = instruction.sources().iter().any(|operand| matches!(operand.value, Value::Memory(_)));
        let of = |(i, operand): (usize, &Operand)| {
            let (Register(first), n) = match operand.value {
                Value::Register(register) if is_memory => (register, width(instruction)),
                Value::Register(register) => (register, 1 + u8::from(i == 2 && instruction.has(Modifier::Wide))),
                Value::Memory(address) => (address.base, 1 + u8::from(address.wide)),
                _ => (Register::ZERO, 0),
            };
            if first == Register::ZERO.0 { 0..0 } else { first..first.saturating_add(n) }
        };
        instruction.sources().iter().enumerate().flat_map(of).collect()
    }

    pub(crate) fn mentioned(&self) -> impl Iterator<Item = u8> {
        self.read().into_iter().chain(self.written())
    }

    /// Returns whether zeros are written, whatever registers hold.
    pub(crate) fn is_zero(&self) -> bool {
        let instruction = &self.instruction;
        let is_zero = |operand: &Operand| match operand.value {
            Value::Register(register) => register == Register::ZERO,
            Value::Immediate(number) => number == 0,
            Value::Special(register) => register.name(instruction.architecture) == "SRZ",
            _ => false,
        };
        let can_be = [Operation::Cs2r, Operation::Hfma2, Operation::Mov].contains(&instruction.operation);
        can_be && instruction.guard.is_always() && instruction.sources().iter().all(is_zero)
    }

    /// Changes an instruction, which stays where it is.
    pub(crate) fn set(&mut self, change: impl FnOnce(&mut Instruction)) {
        change(&mut self.instruction);
        self.word = self.instruction.encode().expect("registers and control bits have room");
    }

    /// Renames registers, all but `RZ`.
    pub(crate) fn rename(&mut self, name: impl Fn(u8) -> u8) {
        let of = |register: u8| if register == 255 { register } else { name(register) };
        self.set(|instruction| {
            for operand in &mut instruction.operands {
                match &mut operand.value {
                    Value::Register(register) => register.0 = of(register.0),
                    Value::Memory(address) => address.base.0 = of(address.base.0),
                    _ => {}
                }
            }
        });
    }
}

/// Returns the registers of a value in memory.
fn width(instruction: &Instruction) -> u8 {
    if instruction.has(Modifier::W128) { 4 } else { 1 + u8::from(instruction.has(Modifier::W64)) }
}

pub(crate) fn set_register(instruction: &mut Instruction, operand: usize, register: u8) {
    instruction.operands[operand].value = Value::Register(Register(register));
}
