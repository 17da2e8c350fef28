//! The code of a kernel as words, some of which cannot be decoded.

use std::ops::Range;

use sass::Architecture;
use sass::instruction::{Instruction, Register, Value};
use sass::operation::{Modifier, Operation};

/// A word of code.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) word: u128,
    /// `None` for instructions of asynchronous copies and their barriers, of which `sass` knows only the place of the
    /// registers.
    pub(crate) instruction: Option<Instruction>,
}

impl Line {
    pub(crate) fn decode(word: u128, at: usize) -> Line {
        let address = u32::try_from(at * 16).unwrap_or(u32::MAX);
        Line { word, instruction: sass::decode(Architecture::Sm90, word, address).ok() }
    }

    fn bits(&self, low: u32, n: u32) -> u8 {
        (self.word >> low) as u8 & ((1 << n) - 1)
    }

    pub(crate) fn stall(&self) -> u8 {
        self.bits(105, 4)
    }

    pub(crate) fn write_barrier(&self) -> Option<u8> {
        Some(self.bits(110, 3)).filter(|&barrier| barrier != 7)
    }

    pub(crate) fn read_barrier(&self) -> Option<u8> {
        Some(self.bits(113, 3)).filter(|&barrier| barrier != 7)
    }

    pub(crate) fn wait(&self) -> u8 {
        self.bits(116, 6)
    }

    pub(crate) fn is(&self, operation: Operation) -> bool {
        self.instruction.as_ref().is_some_and(|i| i.operation == operation)
    }

    /// Returns the index of the instruction to which this one branches.
    pub(crate) fn target(&self) -> Option<usize> {
        usize::try_from(self.instruction.as_ref()?.label()?).ok().map(|address| address / 16)
    }

    pub(crate) fn register(&self, operand: usize) -> Option<u8> {
        match self.instruction.as_ref()?.operands.get(operand)?.value {
            Value::Register(Register(register)) => Some(register),
            _ => None,
        }
    }

    /// Returns the registers that are written.
    pub(crate) fn written(&self) -> Option<Range<u8>> {
        let instruction = self.instruction.as_ref()?;
        let n = match instruction.operation {
            Operation::Cs2r => 2 - u8::from(instruction.has(Modifier::W32)),
            _ if instruction.has(Modifier::W128) => 4,
            _ if instruction.has(Modifier::W64) || instruction.has(Modifier::Wide) => 2,
            _ => 1,
        };
        instruction.destinations().iter().find_map(|operand| match operand.value {
            Value::Register(register) if register != Register::ZERO => Some(register.0..register.0 + n),
            _ => None,
        })
    }

    /// Returns the registers that are read, each counted once.
    pub(crate) fn read(&self) -> Vec<u8> {
        let mut registers = Vec::new();
        let mut add = |Register(first): Register, n: u8| {
            if first != 255 {
                registers.extend(first..first.saturating_add(n));
            }
        };
        match &self.instruction {
            None => fields(self.word).into_iter().for_each(|(_, register)| add(Register(register), 1)),
            Some(instruction) => {
                let stored =
                    if instruction.has(Modifier::W128) { 4 } else { 1 + u8::from(instruction.has(Modifier::W64)) };
                let is_memory = instruction.sources().iter().any(|o| matches!(o.value, Value::Memory(_)));
                for (i, operand) in instruction.sources().iter().enumerate() {
                    match operand.value {
                        Value::Register(register) if is_memory => add(register, stored),
                        Value::Register(register) => {
                            add(register, 1 + u8::from(i == 2 && instruction.has(Modifier::Wide)))
                        }
                        Value::Memory(address) => add(address.base, 1 + u8::from(address.wide)),
                        _ => {}
                    }
                }
            }
        }
        registers
    }

    /// Renames registers.
    pub(crate) fn rename(&mut self, at: usize, of: impl Fn(u8) -> u8) {
        match &mut self.instruction {
            None => {
                for (low, register) in fields(self.word) {
                    self.word = self.word & !(0xff << low) | u128::from(of(register)) << low;
                }
            }
            Some(instruction) => {
                for operand in &mut instruction.operands {
                    match &mut operand.value {
                        Value::Register(register) if register.0 != 255 => register.0 = of(register.0),
                        Value::Memory(address) if address.base.0 != 255 => address.base.0 = of(address.base.0),
                        _ => {}
                    }
                }
                let word = instruction.encode().expect("registers have eight bits");
                *self = Line::decode(word, at);
            }
        }
    }
}

/// Returns the registers that an instruction without a decoder reads, with their lowest bits: `SYNCS` has an address
/// and an operand.
pub(crate) fn fields(word: u128) -> Vec<(u32, u8)> {
    [24, 32].map(|low| (low, (word >> low) as u8)).into_iter().filter(|&(_, register)| register != 255).collect()
}
