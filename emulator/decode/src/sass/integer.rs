//! Integer arithmetic, logic, shifts, moves and predicates.

use sass::instruction::{Operand, Value};
use sass::operation::Modifier;

use super::{SassLowering, emit::PendingResult, float::COMPARISONS};
use crate::error::Result;
use arithmetic::lanes::Src;
use arithmetic::{Builtin, ResultPart, SassStep, Shift};

impl SassLowering<'_> {
    /// Takes the PTX type of the words: signed unless the instruction has `U32`.
    pub(super) fn sign(&mut self) -> &'static str {
        if self.take_modifier(Modifier::U32) { "u32" } else { "s32" }
    }

    /// Takes the PTX modifier for positions past the last bit.
    pub(super) fn overflow(&mut self) -> &'static str {
        if self.take_modifier(Modifier::W) { "wrap" } else { "clamp" }
    }

    /// Lowers to the PTX instruction with `n` sources.
    pub(super) fn plain(&mut self, opcode: &str, modifiers: &[&str], n: usize) -> Result<()> {
        let sources = (0..n).map(|at| self.int(at)).collect::<Result<Vec<_>>>()?;
        self.compute_result(opcode, modifiers, &sources)
    }

    pub(super) fn mov(&mut self) -> Result<()> {
        let source = self.int(0)?;
        self.only_result(self.builtin(Builtin::Mov32), &[source])
    }

    /// Lowers `IADD3{.X} R{, carry{, carry}}, a, b, c{, carry{, carry}}`
    pub(super) fn add3(&mut self) -> Result<()> {
        if self.take_modifier(Modifier::W64) {
            // Whether a negative number keeps its sign was not tried.
            let is_negative =
                |operand: &Operand| matches!(operand.value, Value::Immediate(number) if number.cast_signed() < 0);
            refuse_if!(self.instruction.sources().iter().any(is_negative), self.unsupported());
            let [a, b, c] = [self.wide(0)?, self.wide(1)?, self.wide(2)?];
            let sum = self.value(self.builtin(Builtin::Add64), &[a, b])?;
            return self.wide_result(self.builtin(Builtin::Add64), &[sum, c]);
        }
        let wants = self.wanted_predicates();
        let extended = self.take_modifier(Modifier::X);
        if !extended && wants.iter().all(Option::is_none) {
            let sources = [self.int(0)?, self.int(1)?, self.int(2)?];
            let dst = self.dst()?;
            let nonzero: Vec<Src> = sources.into_iter().filter(|&s| !self.constants.is(s, 0)).collect();
            return match nonzero[..] {
                [] => self.result(self.builtin(Builtin::Mov32), dst, &[sources[0]]),
                [one] => self.result(self.builtin(Builtin::Mov32), dst, &[one]),
                [a, b] => self.result(self.builtin(Builtin::Add32), dst, &[a, b]),
                _ => self.result(self.step(SassStep::Sum3), dst, &sources),
            };
        }
        // A negative source is its complement plus 1, and both carry.
        let mut ones = 0;
        let mut sources = [0; 4];
        for (n, place) in sources.iter_mut().enumerate().take(3) {
            let negated;
            (*place, negated) = self.complement(n)?;
            ones += u32::from(negated && !extended);
        }
        let mut carries = vec![super::TRUE as Src; ones as usize];
        if extended {
            for from in [3, 4] {
                if self.known_predicate(from)? != Some(false) {
                    carries.push(self.predicate(from)?);
                }
            }
        }
        if let [] | [_] = carries[..] {
            sources[3] = carries.first().copied().unwrap_or(super::FALSE as Src);
            return self.sum_with_carries(&wants, &sources);
        }
        self.sum_of_many(&wants, &sources[..3], &carries)
    }

    /// Computes [`SassLowering::add3`]'s sum of any number of words and carries with 64 bits.
    fn sum_of_many(&mut self, wants: &[Option<u32>], words: &[Src], carries: &[Src]) -> Result<()> {
        let widen = self.builtin(Builtin::Zext64(32));
        let mut sum = self.wide_number(0)?;
        for word in words {
            let word = self.value(widen, &[*word])?;
            sum = self.value(self.builtin(Builtin::Add64), &[sum, word])?;
        }
        let (one, zero) = (self.number(1)?, self.number(0)?);
        for carry in carries {
            let bit = self.compute("selp", &["b32"], &[one, zero, *carry])?;
            let bit = self.value(widen, &[bit])?;
            sum = self.value(self.builtin(Builtin::Add64), &[sum, bit])?;
        }
        let above = self.value(self.builtin(Builtin::Hi32Of64), &[sum])?;
        let mut writes = Vec::new();
        for (dst, least) in wants.iter().zip([1, 2]) {
            if let Some(dst) = dst {
                let least = self.number(least)?;
                writes.push(PendingResult::Pred(*dst, self.compute("setp", &["ge", "u32"], &[above, least])?));
            }
        }
        let low = self.value(self.builtin(Builtin::Lo32Of64), &[sum])?;
        writes.push(PendingResult::Line(self.dst()?, low));
        self.write(writes)
    }

    /// Adds three words and a carry to operand 0, with carries out.
    fn sum_with_carries(&mut self, wants: &[Option<u32>], sources: &[Src; 4]) -> Result<()> {
        let mut writes = Vec::new();
        for (dst, step) in wants.iter().zip([SassStep::CarryOut, SassStep::SecondCarryOut]) {
            if let Some(dst) = dst {
                writes.push(PendingResult::Pred(*dst, self.value(self.step(step), sources)?));
            }
        }
        let sum = self.step(SassStep::SumCarry);
        let dst = self.dst()?;
        if writes.is_empty() {
            return self.result(sum, dst, sources);
        }
        let value = self.value(sum, sources)?;
        writes.push(PendingResult::Line(dst, value));
        self.write(writes)
    }

    /// Lowers `IMAD` and its special cases.
    pub(super) fn multiply_add(&mut self) -> Result<()> {
        let sign = self.sign();
        if self.take_modifier(Modifier::Wide) {
            return self.multiply_add_wide(sign);
        }
        if self.take_modifier(Modifier::Hi) {
            let (a, b, c) = (self.int(0)?, self.int(1)?, self.wide(2)?);
            let Some(carry) = self.wanted_predicate(0) else {
                let product = self.compute("mad", &["wide", sign], &[a, b, c])?;
                return self.only_result(self.builtin(Builtin::Hi32Of64), &[product]);
            };
            refuse_if!(self.is_negative(2), self.unsupported());
            let product = self.compute("mul", &["wide", sign], &[a, b])?;
            let none = super::FALSE as Src;
            let function = self.part("addc", &["cc", "u64"], ResultPart::Second)?;
            let carried = self.value(function, &[product, c, none])?;
            let sum = self.value(self.builtin(Builtin::Add64), &[product, c])?;
            let high = self.value(self.builtin(Builtin::Hi32Of64), &[sum])?;
            let dst = self.dst()?;
            return self.write(vec![PendingResult::Line(dst, high), PendingResult::Pred(carry, carried)]);
        }
        let wants = self.wanted_predicates();
        let (a, b) = (self.int(0)?, self.int(1)?);
        if self.take_modifier(Modifier::X) || wants.iter().any(Option::is_some) {
            let carry = if self.take_modifier(Modifier::X) { self.predicate(3)? } else { super::FALSE as Src };
            let (c, negated) = self.complement(2)?;
            refuse_if!(negated && !self.take_modifier(Modifier::X), self.unsupported());
            let zero = self.number(0)?;
            let is = |src, value| self.constants.is(src, value);
            let product = if is(a, 0) || is(b, 0) {
                zero
            } else if is(b, 1) {
                a
            } else {
                self.compute("mul", &["lo", "u32"], &[a, b])?
            };
            return self.sum_with_carries(&wants, &[product, c, zero, carry]);
        }
        let c = self.int(2)?;
        let is = |src, value| self.constants.is(src, value);
        let power = self.constants.value_of(b).filter(|b| b.is_power_of_two());
        if is(a, 0) || is(b, 0) {
            self.only_result(self.builtin(Builtin::Mov32), &[c])
        } else if is(b, 1) && is(c, 0) {
            self.only_result(self.builtin(Builtin::Mov32), &[a])
        } else if is(b, 1) {
            self.only_result(self.builtin(Builtin::Add32), &[a, c])
        } else if is(c, 0)
            && let Some(power) = power
        {
            let amount = self.number(power.trailing_zeros())?;
            self.compute_result("shl", &["b32"], &[a, amount])
        } else if is(c, 0) {
            self.compute_result("mul", &["lo", "u32"], &[a, b])
        } else {
            self.compute_result("mad", &["lo", "u32"], &[a, b, c])
        }
    }

    fn multiply_add_wide(&mut self, sign: &str) -> Result<()> {
        let (a, b, c) = (self.int(0)?, self.int(1)?, self.wide(2)?);
        let wants = self.wanted_predicate(0);
        let carry_in = if self.take_modifier(Modifier::X) { Some(self.predicate(3)?) } else { None };
        if wants.is_none() && carry_in.is_none() {
            let function = self.ptx("mad", &["wide", sign])?;
            return self.wide_result(function, &[a, b, c]);
        }
        // The negation of 0 would have carried.
        refuse_if!(wants.is_some() && self.is_negative(2), self.unsupported());
        let product = self.compute("mul", &["wide", sign], &[a, b])?;
        let carry_in = carry_in.unwrap_or(super::FALSE as Src);
        let carry = match wants {
            Some(dst) => {
                let function = self.part("addc", &["cc", "u64"], ResultPart::Second)?;
                Some((dst, self.value(function, &[product, c, carry_in])?))
            }
            None => None,
        };
        let function = self.ptx("addc", &["u64"])?;
        self.wide_result(function, &[product, c, carry_in])?;
        match carry {
            Some((dst, carry)) => self.write(vec![PendingResult::Pred(dst, carry)]),
            None => Ok(()),
        }
    }

    /// Lowers `LEA`: a shifted word, or the high word of two, and a sum.
    pub(super) fn shift_add(&mut self) -> Result<()> {
        let wants = self.wanted_predicates();
        let carries = self.take_modifier(Modifier::X) || wants.iter().any(Option::is_some);
        refuse_if!(self.is_negative(0) && (carries || self.take_modifier(Modifier::Hi)), self.unsupported());
        let (b, mut ones) = self.complement(1)?;
        let (shifted, amount_at) = if self.take_modifier(Modifier::Hi) {
            let a = self.int(0)?;
            let (high, amount_at) = if self.take_modifier(Modifier::Sx32) {
                let most = self.number(31)?;
                (self.compute("shr", &["s32"], &[a, most])?, 2)
            } else {
                (self.int(2)?, 3)
            };
            let amount = self.int(amount_at)?;
            (self.compute("shf", &["l", "wrap", "b32"], &[a, high, amount])?, amount_at)
        } else {
            let (a, amount) = (self.int(0)?, self.int(2)?);
            (self.compute("shl", &["b32"], &[a, amount])?, 2)
        };
        let extended = self.take_modifier(Modifier::X);
        let carry = if extended {
            ones = false;
            self.predicate(amount_at + 1)?
        } else {
            (if ones { super::TRUE } else { super::FALSE }) as Src
        };
        if !extended && !ones && wants.iter().all(Option::is_none) {
            return self.only_result(self.builtin(Builtin::Add32), &[shifted, b]);
        }
        let zero = self.number(0)?;
        self.sum_with_carries(&wants, &[shifted, b, zero, carry])
    }

    /// Lowers `LOP3.LUT {P,} R, a, b, c, table, P`
    pub(super) fn logic(&mut self) -> Result<()> {
        let [a, b, c] = [self.int(0)?, self.int(1)?, self.int(2)?];
        let table = self.immediate(3).ok_or_else(|| self.unsupported())?;
        let table_source = self.number(table & 0xff)?;
        let (function, sources) = match table & 0xff {
            0xc0 => (self.ptx("and", &["b32"])?, vec![a, b]),
            0xfc => (self.ptx("or", &["b32"])?, vec![a, b]),
            0x3c => (self.ptx("xor", &["b32"])?, vec![a, b]),
            0x0f => (self.ptx("not", &["b32"])?, vec![a]),
            0x33 => (self.ptx("not", &["b32"])?, vec![b]),
            _ => (self.ptx("lop3", &["b32"])?, vec![a, b, c, table_source]),
        };
        let wanted = self.wanted_predicate(0);
        let dst = self.dst()?;
        let known = self.known_predicate(4)?;
        let Some(pred) = wanted else { return self.result(function, dst, &sources) };
        let value = self.value(function, &sources)?;
        let any = self.value(self.builtin(Builtin::PredOf32), &[value])?;
        let any = match known {
            Some(false) => any,
            _ => {
                let with = self.predicate(4)?;
                self.compute("or", &["pred"], &[any, with])?
            }
        };
        self.write(vec![PendingResult::Line(dst, value), PendingResult::Pred(pred, any)])
    }

    /// Lowers `PLOP3.LUT P, P, p, q, r, table, table`
    pub(super) fn predicate_logic(&mut self) -> Result<()> {
        let sources = [self.predicate(0)?, self.predicate(1)?, self.predicate(2)?];
        let mut writes = Vec::new();
        for at in 0..2 {
            let (Some(dst), Some(table)) = (self.wanted_predicate(at), self.immediate(3 + at)) else { continue };
            let table = self.step(SassStep::Table(table as u8));
            writes.push(PendingResult::Pred(dst, self.value(table, &sources)?));
        }
        self.write(writes)
    }

    /// Lowers `SHF`: a funnel shift.
    pub(super) fn shift(&mut self) -> Result<()> {
        let how = Shift {
            right: self.take_modifier(Modifier::R),
            high: self.take_modifier(Modifier::Hi),
            signed: self.take_modifier(Modifier::S32) || self.take_modifier(Modifier::S64),
            wrap: self.take_modifier(Modifier::W),
            wide: self.take_modifier(Modifier::U64) || self.take_modifier(Modifier::S64),
        };
        let (low, amount, high) = (self.int(0)?, self.int(1)?, self.int(2)?);
        let dst = self.dst()?;
        let clamped = !how.wrap && !how.wide;
        let (function, sources) = match (how.right, how.high, how.signed) {
            (false, false, _) if clamped => (self.ptx("shl", &["b32"])?, vec![low, amount]),
            (true, true, false) if clamped => (self.ptx("shr", &["u32"])?, vec![high, amount]),
            (true, true, true) if clamped => (self.ptx("shr", &["s32"])?, vec![high, amount]),
            (true, false, false) if clamped => (self.ptx("shf", &["r", "clamp", "b32"])?, vec![low, high, amount]),
            (false, true, _) if clamped => (self.ptx("shf", &["l", "clamp", "b32"])?, vec![low, high, amount]),
            _ => (self.step(SassStep::Shift(how)), vec![low, amount, high]),
        };
        self.result(function, dst, &sources)
    }

    /// Lowers `PRMT R, a, selector, c`
    pub(super) fn permute(&mut self) -> Result<()> {
        let (a, selector, c) = (self.int(0)?, self.int(1)?, self.int(2)?);
        let mode = self.take_choice(&[
            (Modifier::F4e, "f4e"),
            (Modifier::B4e, "b4e"),
            (Modifier::Rc8, "rc8"),
            (Modifier::Ecl, "ecl"),
            (Modifier::Ecr, "ecr"),
            (Modifier::Rc16, "rc16"),
        ]);
        let mut modifiers = vec!["b32"];
        modifiers.extend(mode);
        self.compute_result("prmt", &modifiers, &[a, c, selector])
    }

    /// Lowers `SEL`: chooses between two 32-bit values by a predicate.
    pub(super) fn select(&mut self) -> Result<()> {
        let (a, b, by) = (self.int(0)?, self.int(1)?, self.predicate(2)?);
        self.compute_result("selp", &["b32"], &[a, b, by])
    }

    /// Lowers `IMNMX`, `VIMNMX`: minimum or maximum, by a predicate.
    pub(super) fn integer_extremum(&mut self) -> Result<()> {
        let types = [(Modifier::U32, "u32"), (Modifier::U16x2, "u16x2"), (Modifier::S16x2, "s16x2")];
        let mut modifiers = vec![self.take_choice(&types).unwrap_or("s32")];
        modifiers.extend(self.take_flags(&[(Modifier::Relu, "relu")]));
        let sources = [self.int(0)?, self.int(1)?];
        self.min_or_max(&modifiers, &sources, 2)
    }

    /// Lowers `VIADDMNMX`: minimum or maximum of a sum and a third operand.
    pub(super) fn sum_extremum(&mut self) -> Result<()> {
        let ty = self.sign();
        let sum = [self.int(0)?, self.int(1)?];
        let sum = self.value(self.builtin(Builtin::Add32), &sum)?;
        let sources = [sum, self.int(2)?];
        self.min_or_max(&[ty], &sources, 3)
    }

    /// Lowers `IDP.4A`, `IDP.2A`: dot product of packed integers, added to a third operand.
    pub(super) fn dot_product(&mut self) -> Result<()> {
        let mut signs = self.take_all(&[
            (Modifier::U8, "u32"),
            (Modifier::U16, "u32"),
            (Modifier::S8, "s32"),
            (Modifier::S16, "s32"),
        ]);
        refuse_if!(signs.len() != 2, self.unsupported());
        if self.take_modifier(Modifier::W4a) {
            return self.plain("dp4a", &signs, 3);
        }
        let half = match (
            self.take_modifier(Modifier::W2a),
            self.take_modifier(Modifier::Lo),
            self.take_modifier(Modifier::Hi),
        ) {
            (true, true, false) => "lo",
            (true, false, true) => "hi",
            _ => return Err(self.unsupported()),
        };
        signs.insert(0, half);
        self.plain("dp2a", &signs, 3)
    }

    /// Lowers `ISETP`. With `.EX` the words are the high ones of 64 bits, and the last predicate compares the low ones.
    pub(super) fn compare_integers(&mut self) -> Result<()> {
        let ty = self.sign();
        let name = self.take_choice(&COMPARISONS[..6]).ok_or_else(|| self.unsupported())?;
        let (a, b, with) = (self.int(0)?, self.int(1)?, self.predicate(2)?);
        if !self.take_modifier(Modifier::Ex) {
            let modifiers = [name, self.boolean(), ty];
            return self.two_predicates(&modifiers, &[a, b, with]);
        }
        let low = self.predicate(3)?;
        let both = self.compute("setp", &["eq", "and", ty], &[a, b, low])?;
        let strict = match name {
            "le" => "lt",
            "ge" => "gt",
            other => other,
        };
        let holds = match strict {
            "eq" => both,
            _ => self.compute("setp", &[strict, "or", ty], &[a, b, both])?,
        };
        let fails = self.compute("not", &["pred"], &[holds])?;
        self.write_predicates(|lower, at| {
            let boolean = lower.boolean();
            lower.compute(boolean, &["pred"], &[[holds, fails][at], with])
        })
    }

    /// Lowers `FLO`: position of the highest one, or its distance from the top.
    pub(super) fn find_leading_one(&mut self) -> Result<()> {
        let ty = self.sign();
        let modifiers = if self.take_modifier(Modifier::Sh) { vec!["shiftamt", ty] } else { vec![ty] };
        self.plain("bfind", &modifiers, 1)
    }

    /// Lowers `P2R R, PR, c, mask`: predicates as the lowest bits of `c`.
    pub(super) fn predicates_to_register(&mut self) -> Result<()> {
        let mask = self.immediate(2).ok_or_else(|| self.unsupported())?;
        let rest = self.int(1)?;
        let keep = self.number(!(mask & 0x7f))?;
        let mut value = self.compute("and", &["b32"], &[rest, keep])?;
        for number in (0..7u8).filter(|number| mask >> number & 1 == 1) {
            let predicate = self.predicate_of(number, false) as Src;
            let bit = self.number(1 << number)?;
            let zero = self.number(0)?;
            let bit = self.compute("selp", &["b32"], &[bit, zero, predicate])?;
            value = self.compute("or", &["b32"], &[value, bit])?;
        }
        self.only_result(self.builtin(Builtin::Mov32), &[value])
    }

    /// Lowers `R2P PR, R, mask`
    pub(super) fn register_to_predicates(&mut self) -> Result<()> {
        let (value, Some(mask)) = (self.int(0)?, self.immediate(1)) else { return Err(self.unsupported()) };
        let mut writes = Vec::new();
        for number in (0..7u8).filter(|number| mask >> number & 1 == 1) {
            let bit = self.number(1 << number)?;
            let bit = self.compute("and", &["b32"], &[value, bit])?;
            let bit = self.value(self.builtin(Builtin::PredOf32), &[bit])?;
            writes.push(PendingResult::Pred(self.predicate_of(number, false), bit));
        }
        self.write(writes)
    }

    /// Takes the operation that combines a comparison with a predicate.
    pub(super) fn boolean(&mut self) -> &'static str {
        let operations = [(Modifier::And, "and"), (Modifier::Or, "or"), (Modifier::Xor, "xor")];
        self.take_choice(&operations).unwrap_or("and")
    }
}
