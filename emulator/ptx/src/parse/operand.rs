//! Operands of instructions.

use super::{Parsed, Parser};
use crate::ast::{Immediate, Operand};
use crate::lex::TokenKind;

/// Special registers with components; `%tid.x` is one name.
const WITH_COMPONENTS: [&str; 8] =
    ["%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"];

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
        let each = |parser: &mut Self| parser.operand(depth);
        match self.token.kind {
            TokenKind::Name => self.named(),
            TokenKind::Mark(b'[') => self.address(depth),
            TokenKind::Mark(b'{') => Ok(Operand::Vector(self.bracketed([b'{', b'}'], "", each)?)),
            TokenKind::Mark(b'(') if self.in_call => Ok(Operand::List(self.bracketed([b'(', b')'], "", each)?)),
            TokenKind::Mark(b'!') => {
                self.bump()?;
                if self.token.kind == TokenKind::Name {
                    return Ok(Operand::NotPred(self.bump()?.text.to_owned()));
                }
                Ok(Operand::Immediate(self.negated_constant(depth)?))
            }
            TokenKind::Number | TokenKind::Dot | TokenKind::Mark(b'-' | b'+' | b'~' | b'(') => {
                Ok(Operand::Immediate(self.constant(depth)?))
            }
            _ => Err(self.expected("an operand")),
        }
    }

    fn named(&mut self) -> Parsed<Operand> {
        let name = self.bump()?.text;
        if self.token.kind == TokenKind::Dot {
            let part = self.token.text;
            self.bump()?;
            let mut letters = part.chars();
            let component = match (letters.next(), letters.next()) {
                (Some(letter), None) if "xyzwrgba".contains(letter) => Some(letter),
                _ => None,
            };
            return Ok(match component {
                Some(letter) if !WITH_COMPONENTS.contains(&name) => Operand::Component(name.to_owned(), letter),
                // Also `%r1.b0` and `%r1.h1` of the video instructions, which the tree does not distinguish.
                _ => Operand::Name(format!("{name}.{part}")),
            });
        }
        Ok(match self.offset()? {
            Some(offset) => Operand::NameOffset { name: name.to_owned(), offset },
            None => Operand::Name(name.to_owned()),
        })
    }

    /// Parses `[…]`: an address, or a texture with its coordinates.
    fn address(&mut self, depth: usize) -> Parsed<Operand> {
        self.open(b'[', "")?;
        let mut first = self.single(depth)?;
        if self.at(b',') {
            let mut parts = vec![first];
            while self.eat(b',')? {
                parts.push(self.single(depth)?);
            }
            self.close(b']')?;
            // The first comma separates two parts, so `pop` finds something.
            let coordinates = match parts.pop() {
                Some(Operand::Vector(list)) => list,
                Some(single) => vec![single],
                None => Vec::new(),
            };
            return Ok(Operand::Texture { handles: parts, coordinates });
        }
        if let Operand::Name(name) = first {
            first = Operand::Address { base: Some(name), offset: self.offset()?.unwrap_or(0) };
        }
        let found = match first {
            Operand::Address { .. } => first,
            Operand::NameOffset { name, offset } => Operand::Address { base: Some(name), offset },
            Operand::Component(name, part) => {
                let offset = self.offset()?.unwrap_or(0);
                Operand::Address { base: Some(format!("{name}.{part}")), offset }
            }
            Operand::Immediate(Immediate::Int(value)) => Operand::Address { base: None, offset: value as i64 },
            _ => return Err(self.error("an address is a register, a variable or a number".to_owned())),
        };
        self.close(b']')?;
        Ok(found)
    }

    /// Parses `+4`, `-4`, `+-4`, several of them, or nothing.
    pub(super) fn offset(&mut self) -> Parsed<Option<i64>> {
        let mut found: Option<i64> = None;
        while self.at(b'+') || self.at(b'-') {
            let minus = self.at(b'-');
            self.bump()?;
            let value = self.factor("an offset in bytes")?;
            let value = if minus { -value } else { value };
            found = Some(found.unwrap_or(0).wrapping_add(value as i64));
        }
        Ok(found)
    }
}
