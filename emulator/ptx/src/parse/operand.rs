//! Operands and numbers.

use super::{Parsed, Parser};
use crate::ast::{Immediate, Operand};
use crate::lex::{Kind, Token};

/// Special registers with components; `%tid.x` is one name.
const WITH_COMPONENTS: [&str; 8] = [
    "%tid",
    "%ntid",
    "%ctaid",
    "%nctaid",
    "%clusterid",
    "%nclusterid",
    "%cluster_ctaid",
    "%cluster_nctaid",
];

impl Parser<'_> {
    pub(super) fn operand(&mut self, depth: usize) -> Parsed<Operand> {
        let first = self.single(depth)?;
        if self.eat(b'|')? {
            let second = self.single(depth)?;
            return Ok(Operand::Pair(Box::new(first), Box::new(second)));
        }
        Ok(first)
    }

    fn single(&mut self, depth: usize) -> Parsed<Operand> {
        let depth = self.deeper(depth)?;
        match self.token.kind {
            Kind::Name => self.named(),
            Kind::Mark(b'[') => self.address(depth),
            Kind::Mark(b'{') => Ok(Operand::Vector(self.sequence(b'{', b'}', depth)?)),
            Kind::Mark(b'(') => Ok(Operand::List(self.sequence(b'(', b')', depth)?)),
            Kind::Mark(b'!') => {
                self.bump()?;
                Ok(Operand::NotPred(self.name("a predicate")?.to_owned()))
            }
            Kind::Number | Kind::Mark(b'-' | b'+' | b'~') => Ok(Operand::Immediate(self.number()?)),
            _ => Err(self.expected("an operand")),
        }
    }

    fn named(&mut self) -> Parsed<Operand> {
        let name = self.bump()?.text;
        if self.token.kind == Kind::Dot {
            let part = self.token.text;
            self.bump()?;
            let mut letters = part.chars();
            let component = match (letters.next(), letters.next()) {
                (Some(letter), None) if "xyzwrgba".contains(letter) => Some(letter),
                _ => None,
            };
            return Ok(match component {
                Some(letter) if !WITH_COMPONENTS.contains(&name) => {
                    Operand::Component(name.to_owned(), letter)
                }
                // Also `%r1.b0` and `%r1.h1` of the video instructions, which the tree has no use for.
                _ => Operand::Name(format!("{name}.{part}")),
            });
        }
        Ok(match self.offset()? {
            Some(offset) => Operand::NameOffset {
                name: name.to_owned(),
                offset,
            },
            None => Operand::Name(name.to_owned()),
        })
    }

    fn sequence(&mut self, open: u8, close: u8, depth: usize) -> Parsed<Vec<Operand>> {
        self.open(open, "")?;
        let mut found = Vec::new();
        while !self.at(close) {
            found.push(self.operand(depth)?);
            if !self.eat(b',')? {
                break;
            }
        }
        self.close(close)?;
        Ok(found)
    }

    /// `[…]`: an address, or a texture with its coordinates.
    fn address(&mut self, depth: usize) -> Parsed<Operand> {
        self.open(b'[', "")?;
        let mut first = self.single(depth)?;
        if self.at(b',') {
            let mut parts = vec![first];
            while self.eat(b',')? {
                parts.push(self.single(depth)?);
            }
            self.close(b']')?;
            // There is one part before the first comma and one behind it, so `pop` finds something.
            let coordinates = match parts.pop() {
                Some(Operand::Vector(list)) => list,
                Some(single) => vec![single],
                None => Vec::new(),
            };
            return Ok(Operand::Texture {
                handles: parts,
                coordinates,
            });
        }
        if let Operand::Name(name) = first {
            first = Operand::Address {
                base: Some(name),
                offset: self.offset()?.unwrap_or(0),
            };
        }
        let found = match first {
            Operand::Address { .. } => first,
            Operand::NameOffset { name, offset } => Operand::Address {
                base: Some(name),
                offset,
            },
            Operand::Component(name, part) => {
                let offset = self.offset()?.unwrap_or(0);
                Operand::Address {
                    base: Some(format!("{name}.{part}")),
                    offset,
                }
            }
            Operand::Immediate(Immediate::Int(value)) => Operand::Address {
                base: None,
                offset: value as i64,
            },
            _ => return Err(self.error("an address is a register, a variable or a number".to_owned())),
        };
        self.close(b']')?;
        Ok(found)
    }

    /// `+4`, `-4`, `+-4`, several of them, or nothing.
    pub(super) fn offset(&mut self) -> Parsed<Option<i64>> {
        let mut found: Option<i64> = None;
        while self.at(b'+') || self.at(b'-') {
            let minus = self.at(b'-');
            self.bump()?;
            let value = self.integer("an offset in bytes")?;
            let value = if minus { -value } else { value };
            found = Some(found.unwrap_or(0).wrapping_add(value as i64));
        }
        Ok(found)
    }

    /// An integer with its signs.
    pub(super) fn integer(&mut self, what: &str) -> Parsed<i128> {
        let start = self.token;
        match self.number() {
            Ok(Immediate::Int(value)) => Ok(value),
            Err(error) if start.kind == Kind::Number => Err(error),
            _ => {
                self.token = start;
                Err(self.expected(what))
            }
        }
    }

    /// An integer of 32 bits without sign.
    pub(super) fn small(&mut self, what: &str) -> Parsed<u32> {
        let start = self.token;
        match u32::try_from(self.integer(what)?) {
            Ok(value) => Ok(value),
            Err(_) => {
                self.token = start;
                Err(self.expected(what))
            }
        }
    }

    /// An integer of 64 bits without sign.
    pub(super) fn size(&mut self, what: &str) -> Parsed<u64> {
        let start = self.token;
        match u64::try_from(self.integer(what)?) {
            Ok(value) => Ok(value),
            Err(_) => {
                self.token = start;
                Err(self.expected(what))
            }
        }
    }

    /// A number with its signs.
    pub(super) fn number(&mut self) -> Parsed<Immediate> {
        let (mut minus, mut not) = (false, false);
        loop {
            match self.token.kind {
                // Signs only ever repeat by accident, but a loop costs nothing and cannot overflow the stack.
                Kind::Mark(b'-') => minus = !minus,
                Kind::Mark(b'+') => {}
                Kind::Mark(b'~') if !minus && !not => not = true,
                _ => break,
            }
            self.bump()?;
        }
        if self.token.kind != Kind::Number {
            return Err(self.expected("a number"));
        }
        let token = self.token;
        let Some(value) = read(token) else {
            let what = format!(
                "`{}` is not a number that PTX knows",
                crate::lex::clip(token.text)
            );
            return Err(self.error(what));
        };
        self.bump()?;
        Ok(match value {
            Immediate::Int(value) => {
                let value = if minus { -value } else { value };
                // The complement is one of 64 bits, so that what is printed can be read again.
                Immediate::Int(if not { i128::from(!(value as i64)) } else { value })
            }
            Immediate::F32(bits) => Immediate::F32(bits ^ (u32::from(minus) << 31)),
            Immediate::F64(bits) => Immediate::F64(bits ^ (u64::from(minus) << 63)),
        })
    }
}

/// The value of a number token.
fn read(token: Token<'_>) -> Option<Immediate> {
    let text = token.text;
    if let Some(digits) = text.strip_prefix("0f").or_else(|| text.strip_prefix("0F")) {
        return (digits.len() == 8).then(|| u32::from_str_radix(digits, 16).ok().map(Immediate::F32))?;
    }
    if let Some(digits) = text.strip_prefix("0d").or_else(|| text.strip_prefix("0D")) {
        return (digits.len() == 16).then(|| u64::from_str_radix(digits, 16).ok().map(Immediate::F64))?;
    }
    let whole = text
        .strip_suffix('U')
        .or_else(|| text.strip_suffix('u'))
        .unwrap_or(text);
    let (digits, radix) = if let Some(digits) = whole.strip_prefix("0x").or_else(|| whole.strip_prefix("0X"))
    {
        (digits, 16)
    } else if let Some(digits) = whole.strip_prefix("0b").or_else(|| whole.strip_prefix("0B")) {
        (digits, 2)
    } else if whole.len() > 1 && whole.starts_with('0') && whole.bytes().all(|byte| byte.is_ascii_digit()) {
        (&whole[1..], 8)
    } else {
        (whole, 10)
    };
    if radix != 10 || digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return u64::from_str_radix(digits, radix)
            .ok()
            .map(|value| Immediate::Int(value.into()));
    }
    // Only digits, a point and an exponent get this far as a float: not `inf`, not `1_000`.
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    if !plain {
        return None;
    }
    text.parse::<f64>()
        .ok()
        .map(|value| Immediate::F64(value.to_bits()))
}
