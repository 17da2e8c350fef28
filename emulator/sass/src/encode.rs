//! Encoding of an instruction by its row of the table: the inverse of [`decode`](crate::decode()).

use crate::architecture::Architecture;
use crate::instruction::{Address, Constant, Control, Halves, Index, Instruction, Operand, Register, Uniform, Value};
use crate::table::{Bits, ImmediateFormat, Slot, Token};

impl Instruction {
    /// Returns the 128 bits of the instruction; `None` where a modifier or an operand is none of the row's, or does not
    /// fit its field. Which operands are kept for the next instruction is read from the control bits.
    pub fn encode(&self) -> Option<u128> {
        let mut word =
            Word(u128::from(self.row.opcode()) | self.row.layout.encode(self.architecture, &self.modifiers)?);
        word.put(12, 3, self.guard.predicate.0.into())?;
        word.flag(Some(15), self.guard.negated)?;
        let tokens = &self.row.slots.tokens;
        if tokens.len() != self.operands.len() {
            return None;
        }
        for (token, operand) in tokens.iter().zip(&self.operands) {
            word.operand(self, token, operand)?;
        }
        word.control(self.control)?;
        Some(word.0)
    }
}

/// An instruction's bits, as far as they are known.
struct Word(u128);

impl Word {
    /// Sets a field that is zero so far.
    fn put(&mut self, low: u32, width: u32, value: u64) -> Option<()> {
        (width == u64::BITS || value >> width == 0).then(|| self.0 |= u128::from(value) << low)
    }

    /// Sets a field to a signed number.
    fn put_signed(&mut self, low: u32, width: u32, value: i64) -> Option<()> {
        let unused = u64::BITS - width;
        let bits = (value as u64) << unused;
        if (bits as i64) >> unused != value {
            return None;
        }
        self.put(low, width, bits >> unused)
    }

    /// Sets a bit that an operand may have, or else must not.
    fn flag(&mut self, at: Option<u32>, is_set: bool) -> Option<()> {
        match at {
            Some(at) => self.put(at, 1, is_set.into()),
            None => (!is_set).then_some(()),
        }
    }

    fn control(&mut self, control: Control) -> Option<()> {
        let Control { stall, yields, write_barrier, read_barrier, wait, reuse } = control;
        self.put(105, 4, stall.into())?;
        self.put(109, 1, (!yields).into())?;
        self.put(110, 3, write_barrier.unwrap_or(7).into())?;
        self.put(113, 3, read_barrier.unwrap_or(7).into())?;
        self.put(116, 6, wait.into())?;
        self.put(122, 4, reuse.into())
    }

    fn operand(&mut self, instruction: &Instruction, token: &Token, operand: &Operand) -> Option<()> {
        self.flag(token.negate, operand.negated || operand.inverted)?;
        self.flag(token.absolute, operand.absolute)?;
        match (token.halves, operand.halves) {
            (_, Halves::Both) => {}
            (None, _) => return None,
            (Some(at), Halves::Low) => self.put(at, 2, 2)?,
            (Some(at), Halves::High) => self.put(at, 2, 3)?,
        }
        self.value(instruction, token, operand.value)
    }

    fn value(&mut self, instruction: &Instruction, token: &Token, value: Value) -> Option<()> {
        let next = i64::from(instruction.address) + 16;
        let is_sm_90 = instruction.architecture == Architecture::Sm90;
        match (token.slot, value) {
            (Slot::Register(low), Value::Register(register)) => self.put(low, 8, register.0.into()),
            (Slot::Uniform(low), Value::Uniform(register)) => self.put(low, 6, register.0.into()),
            (Slot::Predicate(low), Value::Predicate(predicate))
            | (Slot::UniformPredicate(low), Value::UniformPredicate(predicate)) => self.put(low, 3, predicate.0.into()),
            (Slot::InvertedPredicate(low), Value::UniformPredicate(predicate)) => {
                self.put(low, 3, u64::from(predicate.0 ^ 7))
            }
            (Slot::Predicates, Value::Predicates) | (Slot::Group, Value::Group) => Some(()),
            (Slot::Immediate(Bits { low, width }), Value::Immediate(number)) => match token.kind {
                ImmediateFormat::Signed => self.put_signed(low, width, (number as i32).into()),
                _ => self.put(low, width, number.into()),
            },
            (Slot::Table, Value::Immediate(table)) => {
                self.put(64, 3, u64::from(table & 7))?;
                self.put(72, 5, u64::from(table >> 3))
            }
            (Slot::Constant(low) | Slot::WordConstant(low), Value::Constant(constant)) => {
                let offset = u64::try_from(constant.offset).ok().filter(|_| constant.index == Index::None)?;
                self.put(low, 16, offset)?;
                self.put(low + 16, 5, constant.bank.into())
            }
            (Slot::IndexedConstant, Value::Constant(Constant { bank, index, offset })) => {
                let index = match index {
                    Index::None => Register::ZERO,
                    Index::Register(register) => register,
                    Index::Uniform(_) => return None,
                };
                self.put(24, 8, index.0.into())?;
                self.put_signed(38, 16, offset.into())?;
                self.put(54, 5, bank.into())
            }
            (Slot::UniformConstant, Value::Constant(Constant { bank, index: Index::Uniform(index), offset })) => {
                self.put(24, 6, index.0.into())?;
                self.put_signed(38, 16, offset.into())?;
                self.put(54, 5, bank.into())
            }
            (Slot::Special(low), Value::Special(register)) => self.put(low, 8, register.0.into()),
            (Slot::Barrier(low), Value::Barrier(barrier)) => self.put(low, 4, barrier.into()),
            (Slot::Scoreboard(low), Value::Scoreboard(scoreboard)) => self.put(low, 3, scoreboard.into()),
            (Slot::Label, Value::Label(target)) => self.put_signed(34, 30, in_words(target.checked_sub(next)?)?),
            (Slot::CodeLabel, Value::Label(target)) => self.put_signed(24, 58, target.checked_sub(next)?),
            (Slot::BranchLabel | Slot::BranchOffset, Value::Label(target)) => {
                let distance = in_words(target.checked_sub(next)?)?;
                if is_sm_90 {
                    self.put(16, 8, distance as u64 & 0xff)?;
                    self.put_signed(34, 48, distance >> 8)
                } else {
                    self.put_signed(34, 48, distance)
                }
            }
            (Slot::UniformBase(low, at), Value::Memory(Address { uniform: Some(uniform), offset, .. })) => {
                self.put(low, 6, uniform.0.into())?;
                match at {
                    Some(at) => self.put_signed(at, 24, offset.into()),
                    None => (offset == 0).then_some(()),
                }
            }
            (Slot::Matrices(low), Value::Matrices { descriptor, transposed, negated }) => {
                self.put(low, 6, descriptor.0.into())?;
                let set = transposed.into_iter().chain(negated).zip(Slot::Matrices(low).bits_of_factors());
                { set }.try_for_each(|(is_set, bit)| self.flag(bit, is_set))
            }
            (slot, Value::Memory(address)) => self.memory(slot, address, is_sm_90),
            _ => None,
        }
    }

    fn memory(&mut self, slot: Slot, address: Address, is_sm_90: bool) -> Option<()> {
        let Address { base, wide, extends, scale, uniform, descriptor, offset } = address;
        let offset = i64::from(offset);
        let base_at = if slot == Slot::CopyTo { 16 } else { 24 };
        self.put(base_at, 8, base.0.into())?;
        match slot {
            Slot::CopyTo => self.put_signed(44, 20, offset),
            Slot::CopyFrom => {
                self.flag(Some(76), descriptor.is_some())?;
                self.put(64, 6, descriptor.or(uniform)?.0.into())?;
                self.put_signed(32, 12, offset)
            }
            Slot::Far => self.put(32, 32, u64::from(address.offset as u32)),
            Slot::Atomic(at) | Slot::Local(at) => {
                self.uniform(at, descriptor.or(uniform))?;
                self.put_signed(40, 24, offset)
            }
            Slot::Shared(at) => {
                self.uniform(at, uniform)?;
                self.put(78, 2, [1, 4, 8, 16].iter().position(|&factor| factor == scale)? as u64)?;
                // Before sm_90 an address without registers has no sign.
                if !is_sm_90 && base == Register::ZERO && uniform.is_none() {
                    self.put(40, 24, u64::try_from(offset).ok()?)
                } else {
                    self.put_signed(40, 24, offset)
                }
            }
            Slot::Global(at) => {
                let register = descriptor.or(uniform);
                self.uniform(at, register)?;
                self.flag(Some(76), descriptor.is_some())?;
                // Without a uniform register a modifier says how wide the base is.
                self.flag(Some(90), register.is_some() && !extends && wide)?;
                self.put_signed(40, 24, offset)
            }
            _ => None,
        }
    }

    /// Sets a uniform register that an address may have.
    fn uniform(&mut self, at: u32, register: Option<Uniform>) -> Option<()> {
        self.flag(Some(91), register.is_some())?;
        self.put(at, 6, register.unwrap_or(Uniform(0)).0.into())
    }
}

/// Returns a distance of bytes in units of four.
fn in_words(bytes: i64) -> Option<i64> {
    (bytes % 4 == 0).then_some(bytes / 4)
}
