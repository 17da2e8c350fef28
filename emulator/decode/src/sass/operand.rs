//! Operands of machine instructions, as sources and destinations of operations.

use ptx::ast::Type;
use sass::instruction::{Constant, Halves, Index, Operand, Predicate, Register, Uniform, Value};

use super::emit::PendingResult;
use super::{FALSE, SassLowering, TRUE};
use crate::{error::Result, virtual_op::AluFunction};
use arithmetic::Builtin;
use arithmetic::lanes::{Class, Dst, Src};
use program::{Special, window};

/// Offset of the parameters in constant bank 0.
pub(super) const PARAMETERS: u32 = 0x210;

/// A register of the GPU, which has a line of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum LineId {
    Lane(u8),
    Warp(u8),
}

impl LineId {
    /// Returns the register, unless it is the zero register.
    fn of(value: Value) -> Option<LineId> {
        match value {
            Value::Register(register) if register != Register::ZERO => Some(LineId::Lane(register.0)),
            Value::Uniform(register) if register != Uniform::ZERO => Some(LineId::Warp(register.0)),
            _ => None,
        }
    }

    pub(super) fn next(self, n: u8) -> LineId {
        match self {
            LineId::Lane(number) => LineId::Lane(number.wrapping_add(n)),
            LineId::Warp(number) => LineId::Warp(number.wrapping_add(n)),
        }
    }
}

impl SassLowering<'_> {
    fn source(&mut self, at: usize) -> Result<Operand> {
        self.take_source(at).ok_or_else(|| self.unsupported())
    }

    /// Takes a source, and returns whether it is negated or inverted.
    pub(super) fn is_negative(&mut self, at: usize) -> bool {
        self.source(at).is_ok_and(|operand| operand.negated || operand.inverted)
    }

    /// Returns the virtual register of a register, which is added if it is new.
    pub(super) fn line(&mut self, line: LineId) -> u32 {
        let registers = &mut self.registers;
        *self.lines.entry(line).or_insert_with(|| registers.fresh(Class::Bits32))
    }

    /// Reads the raw 32 bits of an operand; `half` chooses between two words.
    pub(super) fn word(&mut self, value: Value, half: u8) -> Result<Src> {
        match value {
            Value::Register(_) | Value::Uniform(_) => match LineId::of(value) {
                Some(line) => Ok(self.line(line.next(half)) as Src),
                None => self.number(0),
            },
            Value::Immediate(bits) => self.number(bits),
            Value::Constant(constant) => self.constant_word(constant, half),
            _ => Err(self.unsupported()),
        }
    }

    fn constant_word(&mut self, constant: Constant, half: u8) -> Result<Src> {
        let offset = i64::from(constant.offset) + 4 * i64::from(half);
        match (constant.index, u32::try_from(offset)) {
            (Index::None, Ok(offset)) => self.word_of_bank(constant.bank, offset),
            _ => Err(self.unsupported()),
        }
    }

    /// Reads four bytes of constant memory at a known offset.
    pub(super) fn word_of_bank(&mut self, bank: u8, offset: u32) -> Result<Src> {
        refuse_if!(!offset.is_multiple_of(4), self.unsupported());
        if bank == 3 {
            return self.word_of_constants(offset);
        }
        if bank != 0 {
            return match self.fixed_word(bank, offset) {
                Some(word) => self.number(word),
                None => Err(self.unsupported()),
            };
        }
        let special = match offset {
            0x0 | 0x4 | 0x8 => Special::Ntid(offset as usize / 4),
            0xc | 0x10 | 0x14 => Special::Nctaid((offset - 0xc) as usize / 4),
            // Start of local memory among generic addresses.
            0x20 => return self.number(window::LOCAL as u32),
            0x24 => return self.number((window::LOCAL >> 32) as u32),
            0x28 => Special::LocalBytes,
            0x2c => Special::DynamicSharedBytes,
            // Start of the program's constants.
            0xd0 | 0xd4 => {
                let start = self.segments.constants.unwrap_or_default();
                return self.number((start >> (8 * (offset - 0xd0))) as u32);
            }
            0x10c => Special::NsmId,
            0x144 | 0x148 | 0x14c => Special::ClusterNctaid((offset - 0x144) as usize / 4),
            0x150 | 0x154 | 0x158 => Special::PerClusterNctaid((offset - 0x150) as usize / 4),
            0x15c | 0x160 | 0x164 => Special::Nclusterid((offset - 0x15c) as usize / 4),
            0x188 => Special::ClusterNctarank,
            // Descriptor of global memory, unused here.
            0x208 | 0x20c => return self.number(0),
            // Start of the parameters.
            0x198 | 0x19c => return self.number((window::PARAM >> (8 * (offset - 0x198))) as u32),
            PARAMETERS.. => Special::ParamWord(offset - PARAMETERS),
            _ => return Err(self.unsupported()),
        };
        Ok(self.special(special))
    }

    /// Takes a source of 32 bits, with its sign or complement applied.
    pub(super) fn int(&mut self, at: usize) -> Result<Src> {
        let operand = self.source(at)?;
        let word = self.word(operand.value, 0)?;
        match (operand.inverted, operand.negated) {
            _ if operand.absolute => Err(self.unsupported()),
            (true, _) => self.inverted(word),
            (false, true) => match self.constants.value_of(word) {
                Some(value) => self.number(value.wrapping_neg()),
                None => self.compute("neg", &["s32"], &[word]),
            },
            _ => Ok(word),
        }
    }

    /// Takes a source, complemented if it is negated or inverted, and returns whether it is.
    pub(super) fn complement(&mut self, at: usize) -> Result<(Src, bool)> {
        let operand = self.source(at)?;
        let word = self.word(operand.value, 0)?;
        if !operand.negated && !operand.inverted {
            return Ok((word, false));
        }
        Ok((self.inverted(word)?, true))
    }

    fn inverted(&mut self, word: Src) -> Result<Src> {
        match self.constants.value_of(word) {
            Some(value) => self.number(!value),
            None => self.compute("not", &["b32"], &[word]),
        }
    }

    pub(super) fn immediate(&mut self, at: usize) -> Option<u32> {
        match self.take_source(at)?.value {
            Value::Immediate(bits) => Some(bits),
            Value::Register(Register::ZERO) | Value::Uniform(Uniform::ZERO) => Some(0),
            _ => None,
        }
    }

    /// Applies the operand's sign to a float or a pair of halves; `rest` masks the bits that are not sign bits.
    fn with_sign(&mut self, mut bits: Src, operand: Operand, rest: u32, signs: u32) -> Result<Src> {
        if operand.absolute {
            let rest = self.number(rest)?;
            bits = self.compute("and", &["b32"], &[bits, rest])?;
        }
        if operand.negated {
            let signs = self.number(signs)?;
            bits = self.compute("xor", &["b32"], &[bits, signs])?;
        }
        Ok(bits)
    }

    /// Takes a source as an `f32`, with its sign applied.
    pub(super) fn f32(&mut self, at: usize) -> Result<Src> {
        let operand = self.source(at)?;
        let word = self.word(operand.value, 0)?;
        self.with_sign(word, operand, 0x7fff_ffff, 0x8000_0000)
    }

    pub(super) fn floats(&mut self, n: usize) -> Result<Vec<Src>> {
        (0..n).map(|at| self.f32(at)).collect()
    }

    /// Takes a source as an `f64`. An immediate is its upper half.
    pub(super) fn f64(&mut self, at: usize) -> Result<Src> {
        let operand = self.source(at)?;
        let mut value = match operand.value {
            Value::Immediate(high) => self.wide_number(u64::from(high) << 32)?,
            value => self.wide_value(value)?,
        };
        // A NaN keeps its sign.
        if operand.absolute {
            value = self.compute("abs", &["f64"], &[value])?;
        }
        if operand.negated {
            value = self.compute("neg", &["f64"], &[value])?;
        }
        Ok(value)
    }

    /// Takes a source of 64 bits. An immediate is extended with zeros.
    pub(super) fn wide(&mut self, at: usize) -> Result<Src> {
        let operand = self.source(at)?;
        let value = match operand.value {
            Value::Immediate(low) => self.wide_number(low.into())?,
            value => self.wide_value(value)?,
        };
        match (operand.negated, operand.inverted) {
            _ if operand.absolute => Err(self.unsupported()),
            (false, false) => Ok(value),
            (true, _) => self.compute("neg", &["s64"], &[value]),
            (_, true) => self.compute("not", &["b64"], &[value]),
        }
    }

    /// Combines a pair of registers, or two words of constant memory.
    pub(super) fn wide_value(&mut self, value: Value) -> Result<Src> {
        if matches!(value, Value::Register(Register::ZERO) | Value::Uniform(Uniform::ZERO)) {
            return self.wide_number(0);
        }
        let line = LineId::of(value);
        if let Some(&pair) = line.and_then(|line| self.pairs.get(&line)) {
            return Ok(pair);
        }
        let words = [self.word(value, 0)?, self.word(value, 1)?];
        let pair = self.value(self.builtin(Builtin::Pack64), &words)?;
        if let Some(line) = line {
            self.pairs.insert(line, pair);
        }
        Ok(pair)
    }

    /// Takes the low bits of a source, in the form of a PTX type of 8 or 16 bits.
    pub(super) fn narrow(&mut self, at: usize, ty: Type) -> Result<Src> {
        let operand = self.source(at)?;
        let word = self.int(at)?;
        let low = match operand.halves {
            Halves::High => self.value(self.builtin(Builtin::Hi16Of32), &[word])?,
            _ => word,
        };
        let function = match ty {
            Type::U8 => Builtin::Zext32(8),
            Type::S8 => Builtin::Sext32(8),
            _ => Builtin::Zext32(16),
        };
        self.value(self.builtin(function), &[low])
    }

    /// Takes a source that is a half of a register.
    pub(super) fn half(&mut self, at: usize) -> Result<Src> {
        let operand = self.source(at)?;
        let word = self.word(operand.value, 0)?;
        let function = match operand.halves {
            Halves::High => Builtin::Hi16Of32,
            _ => Builtin::Lo16Of32,
        };
        let half = self.value(self.builtin(function), &[word])?;
        self.with_sign(half, operand, 0x7fff, 0x8000)
    }

    pub(super) fn pair_of_halves(&mut self, at: usize) -> Result<Src> {
        let operand = self.source(at)?;
        let mut word = self.word(operand.value, 0)?;
        let spread = match operand.halves {
            Halves::Both => None,
            Halves::Low => Some(0x1010),
            Halves::High => Some(0x3232),
        };
        if let Some(selector) = spread {
            let selector = self.number(selector)?;
            word = self.compute("prmt", &["b32"], &[word, word, selector])?;
        }
        self.with_sign(word, operand, 0x7fff_7fff, 0x8000_8000)
    }

    /// Returns the virtual register of a predicate, which is added if it is new.
    pub(super) fn predicate_of(&mut self, number: u8, uniform: bool) -> u32 {
        if number == Predicate::TRUE.0 {
            return TRUE;
        }
        let registers = &mut self.registers;
        *self.predicates.entry((number, uniform)).or_insert_with(|| registers.fresh(Class::Pred))
    }

    /// Takes a source that is a predicate, and returns its value if it is `PT` or `!PT`.
    pub(super) fn known_predicate(&mut self, at: usize) -> Result<Option<bool>> {
        let operand = self.source(at)?;
        Ok(match operand.value {
            Value::Predicate(Predicate::TRUE) | Value::UniformPredicate(Predicate::TRUE) => Some(!operand.negated),
            _ => None,
        })
    }

    /// Takes a source that is a predicate, with its negation applied.
    pub(super) fn predicate(&mut self, at: usize) -> Result<Src> {
        if let Some(known) = self.known_predicate(at)? {
            return Ok((if known { TRUE } else { FALSE }) as Src);
        }
        let operand = self.source(at)?;
        let register = match operand.value {
            Value::Predicate(Predicate(number)) => self.predicate_of(number, false),
            Value::UniformPredicate(Predicate(number)) => self.predicate_of(number, true),
            _ => return Err(self.unsupported()),
        };
        if operand.negated {
            self.value(self.builtin(Builtin::NotPred), &[register as Src])
        } else {
            Ok(register as Src)
        }
    }

    /// Takes the `n`-th predicate that is written; `None` if it is discarded.
    pub(super) fn wanted_predicate(&mut self, n: usize) -> Option<Dst> {
        *self.wanted_predicates().get(n)?
    }

    /// Takes the predicates that are written; `None` for discarded ones.
    pub(super) fn wanted_predicates(&mut self) -> Vec<Option<Dst>> {
        self.taken.written_predicates = true;
        let instruction = self.instruction;
        let written = instruction.destinations().iter().filter_map(|operand| match operand.value {
            Value::Predicate(Predicate(number)) => Some((number, false)),
            Value::UniformPredicate(Predicate(number)) => Some((number, true)),
            _ => None,
        });
        written
            .map(|(number, uniform)| (number != Predicate::TRUE.0).then(|| self.predicate_of(number, uniform)))
            .collect()
    }

    /// Returns the register that is written, unless it is the zero register.
    pub(super) fn destination(&self) -> Option<LineId> {
        self.instruction
            .destinations()
            .iter()
            .find(|operand| matches!(operand.value, Value::Register(_) | Value::Uniform(_)))
            .and_then(|operand| LineId::of(operand.value))
    }

    /// Returns the register to write, and invalidates the pairs that contain it; a new one for the zero register.
    pub(super) fn dst(&mut self) -> Result<Dst> {
        self.dst_word(0)
    }

    pub(super) fn dst_word(&mut self, n: u8) -> Result<Dst> {
        match self.destination() {
            Some(line) => {
                self.written(line.next(n));
                Ok(self.line(line.next(n)))
            }
            None => Ok(self.registers.fresh(Class::Bits32)),
        }
    }

    /// Invalidates the pairs that contain a register.
    pub(super) fn written(&mut self, line: LineId) {
        self.pairs.remove(&line);
        self.pairs.remove(&line.next(u8::MAX));
    }

    pub(super) fn wide_result(&mut self, function: AluFunction, sources: &[Src]) -> Result<()> {
        let value = self.value(function, sources)?;
        self.wide_write(value)
    }

    /// Writes a 64-bit value to the two destination registers.
    pub(super) fn wide_write(&mut self, value: Src) -> Result<()> {
        let low = self.dst_word(0)?;
        let high = self.dst_word(1)?;
        self.result(self.builtin(Builtin::Lo32Of64), low, &[value])?;
        self.result(self.builtin(Builtin::Hi32Of64), high, &[value])?;
        // The pair holds this value where the guard holds; no code may rely on the other lanes.
        if self.guard == TRUE
            && !self.negated
            && let Some(line) = self.destination()
        {
            self.pairs.insert(line, value);
        }
        Ok(())
    }

    /// Moves a result to its destination: operations that write early use registers of their own.
    pub(super) fn write_line(&mut self, value: Src) -> Result<()> {
        let dst = self.dst()?;
        self.write(vec![PendingResult::Line(dst, value)])
    }
}
