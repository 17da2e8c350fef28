//! Numbers and constant expressions (manual: Constants, Constant Expressions).
//!
//! Compilers write plain numbers; people write `4*8` in inline assembly. Integers are 64 bits wide and wrap,
//! signed unless a literal is unsigned by its `U` or its size. An expression becomes its value at once.

#[cfg(test)]
mod tests;

use super::{Parsed, Parser};
use crate::ast::Immediate;
use crate::lex::{TokenKind, clip};

/// An integer during evaluation.
#[derive(Clone, Copy)]
struct Int {
    bits: u64,
    unsigned: bool,
}

impl Int {
    fn signed(value: i64) -> Self {
        Int { bits: value as u64, unsigned: false }
    }

    fn truth(value: bool) -> Self {
        Int::signed(value.into())
    }

    fn value(self) -> i128 {
        if self.unsigned { self.bits.into() } else { (self.bits as i64).into() }
    }

    fn negate(self) -> Self {
        // 2⁶³ has no signed positive form, but its negative is what `-9223372036854775808` means.
        let unsigned = self.unsigned && self.bits != 1 << 63;
        Int { bits: self.bits.wrapping_neg(), unsigned }
    }
}

/// Returns the precedence of a binary operator, as in C; 0 for other tokens.
fn precedence(operator: &str) -> u8 {
    match operator {
        "*" | "/" | "%" => 10,
        "+" | "-" => 9,
        "<<" | ">>" => 8,
        "<" | ">" | "<=" | ">=" => 7,
        "==" | "!=" => 6,
        "&" => 5,
        "^" => 4,
        "|" => 3,
        "&&" => 2,
        "||" => 1,
        _ => 0,
    }
}

const FACTOR: u8 = 10;

/// Computes `a operator b`; `None` for a division by zero.
fn apply(operator: &str, a: Int, b: Int) -> Option<Int> {
    let unsigned = a.unsigned || b.unsigned;
    let (x, y) = (a.bits as i64, b.bits as i64);
    let int = |bits| Some(Int { bits, unsigned });
    let less = if unsigned { a.bits < b.bits } else { x < y };
    let greater = if unsigned { a.bits > b.bits } else { x > y };
    match operator {
        "*" => int(a.bits.wrapping_mul(b.bits)),
        "/" if unsigned => int(a.bits.checked_div(b.bits)?),
        "/" if y != 0 => int(x.wrapping_div(y) as u64),
        // The remainder takes both operands as unsigned.
        "%" => Some(Int { bits: a.bits.checked_rem(b.bits)?, unsigned: true }),
        "+" => int(a.bits.wrapping_add(b.bits)),
        "-" => int(a.bits.wrapping_sub(b.bits)),
        // The count has no influence on the sign, and one of 64 or more shifts everything out.
        "<<" => Some(Int { bits: if b.bits < 64 { a.bits << b.bits } else { 0 }, ..a }),
        ">>" if a.unsigned => Some(Int { bits: if b.bits < 64 { a.bits >> b.bits } else { 0 }, ..a }),
        ">>" => Some(Int::signed(x >> b.bits.min(63))),
        "<" => Some(Int::truth(less)),
        ">" => Some(Int::truth(greater)),
        "<=" => Some(Int::truth(!greater)),
        ">=" => Some(Int::truth(!less)),
        "==" => Some(Int::truth(a.bits == b.bits)),
        "!=" => Some(Int::truth(a.bits != b.bits)),
        "&" => int(a.bits & b.bits),
        "^" => int(a.bits ^ b.bits),
        "|" => int(a.bits | b.bits),
        "&&" => Some(Int::truth(a.bits != 0 && b.bits != 0)),
        "||" => Some(Int::truth(a.bits != 0 || b.bits != 0)),
        _ => None,
    }
}

#[derive(Clone, Copy)]
enum Value {
    Int(Int),
    Float(Immediate),
}

impl Value {
    fn immediate(self) -> Immediate {
        match self {
            Value::Int(int) => Immediate::Int(int.value()),
            Value::Float(float) => float,
        }
    }
}

impl Parser<'_> {
    /// Reads a whole expression and evaluates it.
    pub(super) fn constant(&mut self, depth: usize) -> Parsed<Immediate> {
        Ok(self.conditional(depth)?.immediate())
    }

    /// Evaluates the rest of an expression after its `!`.
    pub(super) fn negated_constant(&mut self, depth: usize) -> Parsed<Immediate> {
        let depth = self.deeper(depth)?;
        let first = self.unary(depth)?;
        let first = Value::Int(Int::truth(self.int(first)?.bits == 0));
        let first = self.binary(first, 1, depth)?;
        Ok(self.choice(first, depth)?.immediate())
    }

    /// Reads an unsigned integer expression: an array's length.
    pub(super) fn size(&mut self, what: &str) -> Parsed<u64> {
        let start = self.token;
        match self.constant(0)? {
            Immediate::Int(value) if u64::try_from(value).is_ok() => Ok(value as u64),
            _ => Err(self.expected_at(start, what)),
        }
    }

    /// Reads an integer, or a product of several: the summand of an offset.
    pub(super) fn factor(&mut self, what: &str) -> Parsed<i128> {
        let start = self.token;
        let first = self.unary(0)?;
        match self.binary(first, FACTOR, 0)? {
            Value::Int(int) => Ok(int.value()),
            Value::Float(_) => Err(self.expected_at(start, what)),
        }
    }

    pub(super) fn integer(&mut self, what: &str) -> Parsed<i128> {
        let start = self.token;
        match self.unary(0) {
            Ok(Value::Int(int)) => Ok(int.value()),
            Err(error) if start.kind == TokenKind::Number => Err(error),
            _ => Err(self.expected_at(start, what)),
        }
    }

    /// Reads a single unsigned integer of 32 bits.
    pub(super) fn small(&mut self, what: &str) -> Parsed<u32> {
        let start = self.token;
        u32::try_from(self.integer(what)?).map_err(|_| self.expected_at(start, what))
    }

    fn conditional(&mut self, depth: usize) -> Parsed<Value> {
        let depth = self.deeper(depth)?;
        let first = self.unary(depth)?;
        let first = self.binary(first, 1, depth)?;
        self.choice(first, depth)
    }

    /// Reads `? a : b`, if it is there.
    fn choice(&mut self, condition: Value, depth: usize) -> Parsed<Value> {
        if !self.at(b'?') {
            return Ok(condition);
        }
        let condition = self.int(condition)?;
        self.bump()?;
        let yes = self.conditional(depth)?;
        self.expect(b':')?;
        let no = self.conditional(depth)?;
        Ok(if condition.bits != 0 { yes } else { no })
    }

    /// Continues after `left` with operators that bind at least as tightly as `least`.
    fn binary(&mut self, mut left: Value, least: u8, depth: usize) -> Parsed<Value> {
        loop {
            let operator = self.token;
            let binds = match operator.kind {
                // `%` starts a name; a lone one is the remainder.
                TokenKind::Mark(_) | TokenKind::Operator | TokenKind::Name => precedence(operator.text),
                _ => 0,
            };
            if binds == 0 || binds < least {
                return Ok(left);
            }
            let a = self.int(left)?;
            self.bump()?;
            let depth = self.deeper(depth)?;
            let right = self.unary(depth)?;
            let right = self.binary(right, binds + 1, depth)?;
            let b = self.int(right)?;
            let Some(value) = apply(operator.text, a, b) else { return Err(self.error("division by zero".to_owned())) };
            left = Value::Int(value);
        }
    }

    fn int(&self, value: Value) -> Parsed<Int> {
        match value {
            Value::Int(int) => Ok(int),
            Value::Float(_) => Err(self.error("only integers can be computed with here".to_owned())),
        }
    }

    fn unary(&mut self, depth: usize) -> Parsed<Value> {
        let depth = self.deeper(depth)?;
        match self.token.kind {
            TokenKind::Mark(mark @ (b'-' | b'+' | b'~' | b'!')) => {
                self.bump()?;
                let value = self.unary(depth)?;
                Ok(match (mark, value) {
                    (b'+', value) => value,
                    (b'-', Value::Int(int)) => Value::Int(int.negate()),
                    (b'-', Value::Float(Immediate::F32(bits))) => Value::Float(Immediate::F32(bits ^ 1 << 31)),
                    (b'-', Value::Float(Immediate::F64(bits))) => Value::Float(Immediate::F64(bits ^ 1 << 63)),
                    (b'-', other) => other,
                    (b'~', value) => {
                        let int = self.int(value)?;
                        Value::Int(Int { bits: !int.bits, ..int })
                    }
                    (_, value) => Value::Int(Int::truth(self.int(value)?.bits == 0)),
                })
            }
            TokenKind::Mark(b'(') => self.parenthesis(depth),
            _ => self.literal(),
        }
    }

    /// Reads `(a)`, or a cast `(.u64)a`.
    fn parenthesis(&mut self, depth: usize) -> Parsed<Value> {
        self.open(b'(', "")?;
        let unsigned = self.at_dot("u64");
        if unsigned || self.at_dot("s64") {
            self.bump()?;
            self.close(b')')?;
            let value = self.unary(depth)?;
            let Int { bits, .. } = self.int(value)?;
            return Ok(Value::Int(Int { bits, unsigned }));
        }
        let value = self.conditional(depth)?;
        self.close(b')')?;
        Ok(value)
    }

    fn literal(&mut self) -> Parsed<Value> {
        let token = self.token;
        let value = match token.kind {
            TokenKind::Number => read(token.text),
            // `.5` looks like a modifier.
            TokenKind::Dot if token.text.starts_with(|letter: char| letter.is_ascii_digit()) => {
                read(&format!("0.{}", token.text))
            }
            _ => return Err(self.expected("a number")),
        };
        let Some(value) = value else {
            return Err(self.error(format!("`{}` is not a number that PTX knows", clip(token.text))));
        };
        self.bump()?;
        Ok(value)
    }
}

fn read(text: &str) -> Option<Value> {
    if let Some(digits) = text.strip_prefix("0f").or_else(|| text.strip_prefix("0F")) {
        let bits = (digits.len() == 8).then(|| u32::from_str_radix(digits, 16).ok())??;
        return Some(Value::Float(Immediate::F32(bits)));
    }
    if let Some(digits) = text.strip_prefix("0d").or_else(|| text.strip_prefix("0D")) {
        let bits = (digits.len() == 16).then(|| u64::from_str_radix(digits, 16).ok())??;
        return Some(Value::Float(Immediate::F64(bits)));
    }
    let whole = text.strip_suffix('U').or_else(|| text.strip_suffix('u')).unwrap_or(text);
    let (digits, radix) = if let Some(digits) = whole.strip_prefix("0x").or_else(|| whole.strip_prefix("0X")) {
        (digits, 16)
    } else if let Some(digits) = whole.strip_prefix("0b").or_else(|| whole.strip_prefix("0B")) {
        (digits, 2)
    } else if whole.len() > 1 && whole.starts_with('0') && whole.bytes().all(|byte| byte.is_ascii_digit()) {
        (&whole[1..], 8)
    } else {
        (whole, 10)
    };
    if radix != 10 || digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let bits = u64::from_str_radix(digits, radix).ok()?;
        return Some(Value::Int(Int { bits, unsigned: whole != text || bits > i64::MAX as u64 }));
    }
    // Floats that get this far have only digits, a point and an exponent: not `inf`, not `1_000`.
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    let value = if plain { text.parse::<f64>().ok()? } else { return None };
    Some(Value::Float(Immediate::F64(value.to_bits())))
}
