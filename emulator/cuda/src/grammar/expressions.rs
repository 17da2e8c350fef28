//! Expressions.

use std::rc::Rc;

use crate::lex::{self, Kind, Number};
use crate::message::Message;
use crate::source::Span;
use crate::tree::{BINARY, CastKind, Expression, ExpressionKind, Initializer, Name, TypeKind, UnaryOp};

use super::{Meaning, Parser, Result, types, words};

/// Bytes of a string, after those side by side are joined.
const MAX_STRING_BYTES: usize = 1 << 16;

const PREFIXES: [(&str, UnaryOp); 6] = [
    ("-", UnaryOp::Minus),
    ("+", UnaryOp::Plus),
    ("!", UnaryOp::Not),
    ("~", UnaryOp::BitNot),
    ("&", UnaryOp::Address),
    ("*", UnaryOp::Deref),
];

/// The precedence of the operator of an expression without parentheses, or 0.
pub(super) fn precedence(of: &Expression) -> u8 {
    let ExpressionKind::Binary(op, ..) = &of.kind else { return 0 };
    BINARY.iter().find(|row| row.2 == *op).map_or(0, |row| row.1)
}

fn make(span: Span, kind: ExpressionKind) -> Result<Expression> {
    Ok(Expression { span, kind })
}

impl Parser {
    pub(super) fn expression(&mut self) -> Result<Expression> {
        let mut left = self.assignment()?;
        while self.is(",") {
            self.link()?;
            self.bump();
            let right = self.assignment()?;
            let span = left.span.to(right.span);
            left = make(span, ExpressionKind::Comma(Box::new(left), Box::new(right)))?;
        }
        Ok(left)
    }

    pub(super) fn assignment(&mut self) -> Result<Expression> {
        self.nested(|parser| {
            let to = parser.conditional()?;
            let text = parser.peek().text.clone();
            let op = match text.strip_suffix('=') {
                _ if parser.peek().kind != Kind::Punct => return Ok(to),
                Some("") => None,
                Some(op) => match BINARY.iter().find(|row| row.0 == op) {
                    Some(&(_, 3..=5 | 8.., op)) => Some(op),
                    _ => return Ok(to),
                },
                None => return Ok(to),
            };
            parser.link()?;
            parser.bump();
            parser.refuse_any("{", "an assignment of a list, `= {…}`")?;
            let value = parser.assignment()?;
            make(to.span.to(value.span), ExpressionKind::Assign(op, Box::new(to), Box::new(value)))
        })
    }

    pub(super) fn conditional(&mut self) -> Result<Expression> {
        let condition = self.binary(1)?;
        if !self.is("?") {
            return Ok(condition);
        }
        self.link()?;
        self.bump();
        let then = self.with_greater(false, Self::expression)?;
        self.expect(":")?;
        let otherwise = self.assignment()?;
        let span = condition.span.to(otherwise.span);
        make(span, ExpressionKind::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise)))
    }

    fn binary(&mut self, least: u8) -> Result<Expression> {
        let mut left = self.unary()?;
        loop {
            self.foreign_operator(&left)?;
            let token = self.peek().clone();
            let row = BINARY.iter().find(|row| token.is(row.0) && row.1 >= least);
            let Some(&(_, level, op)) = row.filter(|_| !(self.ends_at_greater && token.is_any("> >>"))) else {
                return Ok(left);
            };
            if token.is("<<") && self.next_is("<") && token.touches(self.token(self.at + 1)) {
                return Err(self.refuse(token.span, "a launch, `<<<…>>>`, in device code"));
            }
            self.link()?;
            self.bump();
            if token.is("*") && self.is("*") && token.touches(self.peek()) {
                self.power(&left, token.span);
            }
            let right = self.binary(level + 1)?;
            self.check_operands(&token, level, &left, &right);
            let span = left.span.to(right.span);
            left = make(span, ExpressionKind::Binary(op, Box::new(left), Box::new(right)))?;
        }
    }

    fn unary(&mut self) -> Result<Expression> {
        let token = self.peek().clone();
        let prefix = PREFIXES.iter().find(|(text, _)| token.is(text));
        if prefix.is_some() || token.is_any("++ --") {
            self.bump();
            if self.is("mut") {
                self.error(token.span.to(self.span()), "`&mut` is of Rust", "help: write `&`");
                self.bump();
            }
            let of = Box::new(self.nested(Self::unary)?);
            let span = token.span.to(of.span);
            return make(
                span,
                match prefix {
                    Some((_, op)) => ExpressionKind::Unary(*op, of),
                    None => ExpressionKind::Step { is_increment: token.is("++"), is_prefix: true, of },
                },
            );
        }
        if token.is_any("sizeof alignof") {
            return self.nested(Self::size_of);
        }
        // Not a cast where a value goes on, as in `(float(x) + y)`; a reference to an array is `(float (&)[4])`.
        let behind = self.behind_arguments(self.at + 2);
        let goes_on = self.token(behind).is("{") || self.token(behind).is("(") && !self.token(behind + 1).is_any("* &");
        if token.is("(") && self.is_type_at(self.at + 1) && !goes_on {
            self.bump();
            let ty = self.with_greater(false, Self::type_id)?;
            self.expect(")")?;
            self.refuse_any("{", "a value made by `(T){…}`")?;
            let of = self.nested(Self::unary)?;
            return make(token.span.to(of.span), ExpressionKind::Cast(CastKind::C, ty, Box::new(of)));
        }
        let primary = self.primary()?;
        self.postfix(primary)
    }

    fn size_of(&mut self) -> Result<Expression> {
        let is_alignof = self.is("alignof");
        let start = self.bump();
        self.refuse_any("...", "`sizeof...`")?;
        let kind = if self.is("(") && self.is_type_at(self.at + 1) {
            self.bump();
            let ty = self.with_greater(false, Self::type_id)?;
            self.expect(")")?;
            if is_alignof { ExpressionKind::Alignof(ty) } else { ExpressionKind::SizeofType(ty) }
        } else if is_alignof {
            return Err(self.unexpected("a type in parentheses"));
        } else {
            ExpressionKind::Sizeof(Box::new(self.unary()?))
        };
        make(start.to(self.previous()), kind)
    }

    fn postfix(&mut self, mut of: Expression) -> Result<Expression> {
        while self.is_any("( [ . -> ++ --") {
            let token = self.peek().clone();
            let start = of.span;
            self.link()?;
            self.bump();
            let kind = match &*token.text {
                "(" => ExpressionKind::Call(Box::new(of), self.arguments(")")?),
                "[" => {
                    let index = Box::new(self.index(&of)?);
                    ExpressionKind::Subscript(Box::new(of), index)
                }
                "." | "->" => {
                    let name = self.member_name(&of)?;
                    ExpressionKind::Member { of: Box::new(of), is_arrow: token.is("->"), name }
                }
                _ => ExpressionKind::Step { is_increment: token.is("++"), is_prefix: false, of: Box::new(of) },
            };
            of = make(start.to(self.previous()), kind)?;
        }
        Ok(of)
    }

    /// Reads what stands in `[]`, and the closing bracket.
    fn index(&mut self, of: &Expression) -> Result<Expression> {
        let start = self.at;
        if self.is("]") {
            return Err(self.unexpected("an index"));
        }
        let index = self.with_greater(false, Self::assignment)?;
        if self.is(",") {
            let end = self.partner(start - 1);
            let (row, col) = (self.text(start, self.at), self.text(self.at + 1, end));
            let ExpressionKind::Name { name, .. } = &of.kind else { return Err(self.unexpected("`]`")) };
            let name = &name.text;
            let help = format!("write `{name}[{row}][{col}]`, or `{name}[({row}) * width + {col}]` through a pointer");
            self.report(Message::error(self.span(), "an index has one part").label("not `,`").help(help));
            self.at = end;
        }
        self.expect("]")?;
        Ok(index)
    }

    fn member_name(&mut self, of: &Expression) -> Result<Name> {
        self.refuse_any("template ~ operator", "this member")?;
        if self.peek().kind == Kind::Number {
            let message = Message::error(self.span(), "members have names, and no numbers").label("not a name");
            return Err(self.report(message.help("the parts of a vector are `x`, `y`, `z` and `w`")));
        }
        let name = self.name()?;
        self.check_member(of, &name);
        Ok(name)
    }

    /// Reads arguments up to `close`, which it takes.
    pub(super) fn arguments(&mut self, close: &str) -> Result<Vec<Expression>> {
        let mut arguments = Vec::new();
        self.with_greater(false, |parser| {
            while !parser.is(close) {
                parser.refuse_any("{", "a list `{…}` as an argument")?;
                arguments.push(parser.assignment()?);
                if !parser.is(close) && !parser.is(",") {
                    return Err(parser.unexpected(&format!("`,` or `{close}`")));
                }
                if parser.eat(",") && parser.is(close) {
                    return Err(parser.unexpected("an argument"));
                }
            }
            parser.expect(close)
        })?;
        Ok(arguments)
    }

    /// Reads what stands behind `=`, or a list in braces.
    pub(super) fn initializer(&mut self) -> Result<Initializer> {
        if !self.is("{") {
            return Ok(Initializer::Expression(self.assignment()?));
        }
        let open = self.bump();
        let mut list = Vec::new();
        while !self.is("}") {
            self.refuse_any(".", "an initializer with a name")?;
            // Each element is an expression of its own.
            self.links = 0;
            list.push(self.with_greater(false, |parser| parser.nested(Self::initializer))?);
            if !self.is("}") {
                self.expect(",")?;
            }
        }
        Ok(Initializer::List(open.to(self.bump()), list))
    }

    pub(super) fn string(&mut self) -> Result<Rc<str>> {
        if self.peek().kind != Kind::Str {
            return Err(self.unexpected("a string"));
        }
        let mut bytes = Vec::new();
        while self.peek().kind == Kind::Str {
            match lex::unquote(&self.peek().text) {
                Ok(part) => bytes.extend(part),
                Err(text) => drop(self.error(self.span(), text, "")),
            }
            if bytes.len() > MAX_STRING_BYTES {
                return Err(self.error(self.span(), format!("a string has more than {MAX_STRING_BYTES} bytes"), ""));
            }
            self.bump();
        }
        Ok(String::from_utf8_lossy(&bytes).into())
    }

    fn primary(&mut self) -> Result<Expression> {
        let token = self.peek().clone();
        let span = token.span;
        match token.kind {
            Kind::Number => {
                self.bump();
                let number = lex::number(&token.text).unwrap_or_else(|text| {
                    self.error(span, text, "not a number of C++");
                    Number::Int { value: 1, suffix: String::new(), is_decimal: true }
                });
                return make(
                    span,
                    match number {
                        Number::Int { value, suffix, is_decimal } => {
                            ExpressionKind::Int { value, suffix: suffix.into(), is_decimal }
                        }
                        Number::Float { value, is_float } => ExpressionKind::Float { value, is_float },
                    },
                );
            }
            Kind::Char => {
                self.bump();
                return match lex::unquote(&token.text).as_deref() {
                    Ok([byte]) => make(span, ExpressionKind::Char(*byte)),
                    Ok(_) => Err(self.error(span, "`'…'` holds one character", "help: a string stands in `\"…\"`")),
                    Err(text) => Err(self.error(span, text, "")),
                };
            }
            Kind::Str => {
                let text = self.string()?;
                return make(span.to(self.previous()), ExpressionKind::Str(text));
            }
            _ => {}
        }
        self.refuse_any("new delete this throw typeid dynamic_cast co_await noexcept", "{}")?;
        self.refuse_any("::", "a name that begins with {}")?;
        match &*token.text {
            "(" => {
                self.bump();
                let inner = self.with_greater(false, Self::expression)?;
                make(span.to(self.expect(")")?), ExpressionKind::Parentheses(Box::new(inner)))
            }
            "[" if self.token(self.partner(self.at) + 1).is_any("( {") => {
                Err(self.refuse(span, "a lambda, `[…](…) {…}`,"))
            }
            "true" | "false" => make(self.bump(), ExpressionKind::Bool(token.is("true"))),
            "nullptr" => make(self.bump(), ExpressionKind::Nullptr),
            "static_cast" | "reinterpret_cast" | "const_cast" => self.cast(),
            "typename" => self.construct(),
            _ if token.is_any(words::SCALARS) || (self.is_type_at(self.at) && self.is_type_name(self.at)) => {
                self.construct()
            }
            _ if token.kind != Kind::Word || words::is_reserved(&token.text) => Err(self.unexpected("an expression")),
            _ => self.name_expression(),
        }
    }

    fn cast(&mut self) -> Result<Expression> {
        let kind = match &*self.peek().text {
            "static_cast" => CastKind::Static,
            "reinterpret_cast" => CastKind::Reinterpret,
            _ => CastKind::Const,
        };
        let start = self.bump();
        self.expect("<")?;
        let ty = self.with_greater(true, Self::type_id)?;
        self.expect(">")?;
        self.expect("(")?;
        let of = self.with_greater(false, Self::expression)?;
        make(start.to(self.expect(")")?), ExpressionKind::Cast(kind, ty, Box::new(of)))
    }

    /// Reads `T(a)` or `T{a, b}`.
    fn construct(&mut self) -> Result<Expression> {
        let start = self.span();
        let ty = self.specifiers()?.ty;
        let values = if self.is("{") {
            match self.initializer()? {
                Initializer::List(_, values) => values,
                other => vec![other],
            }
        } else if self.eat("(") {
            self.arguments(")")?.into_iter().map(Initializer::Expression).collect()
        } else {
            return Err(self.unexpected("`(` or `{` behind a type"));
        };
        make(start.to(self.previous()), ExpressionKind::Construct(ty, values))
    }

    /// Reads a name, its scope and its template arguments.
    fn name_expression(&mut self) -> Result<Expression> {
        let mut name = self.name()?;
        let start = name.span;
        let mut arguments = self.arguments_of(&name)?;
        let mut scope = None;
        if self.eat("::") {
            self.refuse_any("template operator", "`::` and {}")?;
            let inner = self.name()?;
            if self.meaning(&name.text).is_none() {
                let what = format!("`{}::{}`", name.text, inner.text);
                let message = Message::unsupported(start.to(inner.span), what);
                let help = format!("without `std::`, `{}` may be built in", inner.text);
                return Err(self.report(if *name.text == *"std" { message.help(help) } else { message }));
            }
            let kind = TypeKind::Named { name, arguments: arguments.unwrap_or_default() };
            scope = Some(Box::new(types::plain(start, kind)));
            name = inner;
            arguments = self.arguments_of(&name)?;
            self.refuse_any("::", "a scope inside of a scope")?;
        }
        make(start.to(self.previous()), ExpressionKind::Name { scope, name, arguments })
    }

    /// Reads `<…>` behind a name, where it is that of a template, or a call follows.
    fn arguments_of(&mut self, name: &Name) -> Result<Option<Vec<crate::tree::TemplateArgument>>> {
        let behind = self.behind_arguments(self.at);
        let is_template = match self.meaning(&name.text) {
            Some(meaning) => meaning != Meaning::Value,
            None => behind > self.at && self.token(behind).is("("),
        };
        if is_template && self.is("<") { self.template_arguments().map(Some) } else { Ok(None) }
    }
}
