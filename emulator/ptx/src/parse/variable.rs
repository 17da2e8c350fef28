//! Variables, parameters and initialisers.

use super::{Parsed, Parser};
use crate::ast::{Immediate, Initializer, Linkage, PtrAttribute, RegDecl, Space, Type, Variable};
use crate::lex::TokenKind;

impl Parser<'_> {
    /// Parses `.attribute(.managed, .unified(1, 2))`; keeps each attribute as text.
    pub(super) fn attributes(&mut self) -> Parsed<Vec<String>> {
        let mut found = Vec::new();
        while self.eat_dot("attribute")? {
            self.open(b'(', " of `.attribute`")?;
            loop {
                // Attributes are copied to each variable of a declaration, so their number is limited.
                if self.token.kind != TokenKind::Dot || found.len() == 8 {
                    return Err(self.expected("an attribute such as `.managed`"));
                }
                let mut text = self.bump()?.text.to_owned();
                let mut n_numbers = 1;
                if self.at(b'(') {
                    self.bump()?;
                    let first = self.integer("a number")?;
                    text.push_str(&format!("({first}"));
                    while n_numbers < 4 && self.eat(b',')? {
                        n_numbers += 1;
                        let next = self.integer("a number")?;
                        text.push_str(&format!(", {next}"));
                    }
                    self.expect(b')')?;
                    text.push(')');
                }
                if text.len() > 100 {
                    return Err(self.error("an attribute this long has no meaning".to_owned()));
                }
                found.push(text);
                if !self.eat(b',')? {
                    break;
                }
            }
            self.close(b')')?;
        }
        Ok(found)
    }

    /// Parses the directives before the name: `.global .align 4 .v2 .f32`. The space and the type are required.
    fn head(&mut self, linkage: Linkage) -> Parsed<Variable> {
        let span = self.token.span;
        let space = match Space::from_name(self.token.text) {
            Some(space) if self.token.kind == TokenKind::Dot => space,
            _ => return Err(self.expected("a directive or a state space such as `.global`")),
        };
        self.bump()?;
        let (mut align, mut vector, mut ty, mut ptr) = (None, 1, None, None);
        let mut attributes = Vec::new();
        while self.token.kind == TokenKind::Dot {
            let word = self.token.text;
            match word {
                "attribute" => {
                    if !attributes.is_empty() {
                        return Err(self.expected("a type such as `.b32`"));
                    }
                    attributes = self.attributes()?;
                    continue;
                }
                "align" => {
                    self.bump()?;
                    align = Some(self.small("an alignment")?);
                    continue;
                }
                "ptr" => {
                    self.bump()?;
                    ptr = Some(self.pointer()?);
                    continue;
                }
                "v2" => vector = 2,
                "v4" => vector = 4,
                "v8" => vector = 8,
                _ => match Type::from_name(word) {
                    Some(found) if ty.is_none() => ty = Some(found),
                    _ => return Err(self.expected("a name")),
                },
            }
            self.bump()?;
        }
        let Some(ty) = ty else { return Err(self.expected("a type such as `.b32`")) };
        let (name, dims, init) = (String::new(), Vec::new(), None);
        Ok(Variable { span, linkage, space, align, vector, ty, name, dims, init, ptr, attributes })
    }

    fn pointer(&mut self) -> Parsed<PtrAttribute> {
        let mut found = PtrAttribute { space: None, align: None };
        if self.token.kind == TokenKind::Dot
            && let Some(space) = Space::from_name(self.token.text)
        {
            self.bump()?;
            found.space = Some(space);
        }
        if self.eat_dot("align")? {
            found.align = Some(self.small("an alignment")?);
        }
        Ok(found)
    }

    /// Parses `.global .u32 a, b[4] = {…};`.
    pub(super) fn variables(&mut self, linkage: Linkage) -> Parsed<Vec<Variable>> {
        let head = self.head(linkage)?;
        let found = self.list(|parser| parser.declarator(&head))?;
        self.expect(b';')?;
        Ok(found)
    }

    /// Parses the rest of a variable, and returns it with what is in front of all variables of the declaration.
    fn declarator(&mut self, head: &Variable) -> Parsed<Variable> {
        let name = self.name("a variable's name")?.to_owned();
        let mut dims = Vec::new();
        while self.at(b'[') {
            self.open(b'[', "")?;
            dims.push(if self.at(b']') { None } else { Some(self.size("an array's length")?) });
            self.close(b']')?;
        }
        let init = if self.eat(b'=')? { Some(self.initializer(0)?) } else { None };
        Ok(Variable { span: self.since(head.span), name, dims, init, ..head.clone() })
    }

    /// Parses `(.param .u64 a, .param .u32 b)`, or nothing.
    pub(super) fn params(&mut self) -> Parsed<Vec<Variable>> {
        if !self.at(b'(') {
            return Ok(Vec::new());
        }
        self.bracketed([b'(', b')'], " of a parameter list", |parser| {
            let head = parser.head(Linkage::Internal)?;
            parser.declarator(&head)
        })
    }

    /// Parses `.reg .b32 %r<5>, %s;`.
    pub(super) fn registers(&mut self) -> Parsed<RegDecl> {
        let head = self.head(Linkage::Internal)?;
        let names = self.list(|parser| {
            let name = parser.name("a register's name")?.to_owned();
            if !parser.eat(b'<')? {
                return Ok((name, None));
            }
            let count = parser.small("a count of registers")?;
            parser.expect(b'>')?;
            Ok((name, Some(count)))
        })?;
        self.expect(b';')?;
        Ok(RegDecl { span: self.since(head.span), vector: head.vector, ty: head.ty, names })
    }

    fn initializer(&mut self, depth: usize) -> Parsed<Initializer> {
        match self.token.kind {
            TokenKind::Mark(b'{') => {
                let depth = self.deeper(depth)?;
                let each = |parser: &mut Self| parser.initializer(depth);
                Ok(Initializer::List(self.bracketed([b'{', b'}'], " of an initialiser", each)?))
            }
            TokenKind::Name => {
                let start = self.token.span.start as usize;
                let mut name = self.bump()?.text;
                let generic = name == "generic" && self.at(b'(');
                if generic {
                    self.bump()?;
                    name = self.name("a variable")?;
                    self.expect(b')')?;
                } else if self.eat(b'=')? {
                    // A field of a sampler: `filter_mode = nearest`.
                    if !matches!(self.token.kind, TokenKind::Name | TokenKind::Number) {
                        return Err(self.expected("a value"));
                    }
                    self.bump()?;
                    return Ok(Initializer::Other(self.slice(start)));
                }
                let offset = self.offset()?.unwrap_or(0);
                Ok(Initializer::Symbol { name: name.to_owned(), offset, generic })
            }
            _ => {
                let start = self.token.span.start as usize;
                match self.constant(depth)? {
                    Immediate::Int(_) if self.at(b'(') => {
                        self.open(b'(', "")?;
                        self.name("a variable")?;
                        if self.eat(b'(')? {
                            self.name("a variable")?;
                            self.expect(b')')?;
                        }
                        self.offset()?;
                        self.close(b')')?;
                        Ok(Initializer::Other(self.slice(start)))
                    }
                    Immediate::Int(value) => Ok(Initializer::Int(value)),
                    float => Ok(Initializer::Float(float)),
                }
            }
        }
    }

    fn slice(&self, start: usize) -> String {
        self.lexer.source()[start..self.last.end as usize].to_owned()
    }
}
