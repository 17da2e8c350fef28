//! Parser: tokens to the tree of [`ast`](crate::ast), by recursive descent with one token of look-ahead.
//!
//! Time is linear in the text, and nesting is limited. Whether an instruction exists is not checked.

mod constant;
mod function;
mod module;
mod operand;
mod variable;

use crate::lex::{Lexer, Token, TokenKind};
use crate::span::Span;
use crate::{ast::Module, error::ParseError};

/// Longest input, in bytes. A tree takes up to a hundred times the memory of its text.
const MAX_BYTES: usize = 64 << 20;

/// Estimated bytes of the tree for one token, besides its text: short instructions take about that much.
const TOKEN_BYTES: u64 = 256;

/// Deepest nesting of blocks, initialisers and operands, each.
const MAX_DEPTH: usize = 200;

/// Parses one module. An error is the first place that is not PTX, with the token expected there.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    parse_within(text, u64::MAX)
}

/// Parses as [`parse`] to a tree of at most `bytes` bytes of memory, by an estimate that is on the high side.
pub fn parse_within(text: &str, bytes: u64) -> Result<Module, ParseError> {
    parse_from(text, &mut { bytes })
}

/// Parses as [`parse_within`] one of several texts, and subtracts its tree's size from the `left` bytes of all.
pub fn parse_from(text: &str, left: &mut u64) -> Result<Module, ParseError> {
    let bytes = *left;
    if text.len() > MAX_BYTES {
        let span = Span { start: 0, end: 0, line: 1, column: 1 };
        let message = format!("the text has {} bytes, more than the {MAX_BYTES} that are read", text.len());
        return Err(ParseError { span, message });
    }
    let mut lexer = Lexer::new(text);
    let token = lexer.next()?;
    let tokens = bytes.saturating_sub(text.len() as u64) / TOKEN_BYTES;
    let mut parser =
        Parser { lexer, token, last: token.span, open: Vec::new(), in_call: false, tokens_left: tokens, bytes };
    let module = parser.module();
    *left = match parser.tokens_left {
        0 => 0,
        n => bytes - text.len() as u64 - (tokens - n) * TOKEN_BYTES,
    };
    module
}

/// A bracket that is not closed yet, for the message at the end of the text.
struct OpenBracket {
    what: String,
    line: u32,
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    last: Span,
    open: Vec<OpenBracket>,
    /// True inside a `call`, where `(` opens an argument list and not a subexpression.
    in_call: bool,
    /// Tokens that still fit in a tree of `bytes`.
    tokens_left: u64,
    bytes: u64,
}

type Parsed<T> = Result<T, ParseError>;

impl<'a> Parser<'a> {
    fn bump(&mut self) -> Parsed<Token<'a>> {
        let token = self.token;
        self.token = self.lexer.next()?;
        self.last = token.span;
        if self.tokens_left == 0 {
            let bytes = self.bytes;
            return Err(self.error(format!(
                "the text up to here takes more than the {bytes} bytes of memory that there are for it"
            )));
        }
        self.tokens_left -= 1;
        Ok(token)
    }

    fn at(&self, mark: u8) -> bool {
        self.token.kind == TokenKind::Mark(mark)
    }

    fn at_dot(&self, word: &str) -> bool {
        self.token.kind == TokenKind::Dot && self.token.text == word
    }

    /// Consumes the mark if it is next.
    fn eat(&mut self, mark: u8) -> Parsed<bool> {
        let found = self.at(mark);
        if found {
            self.bump()?;
        }
        Ok(found)
    }

    fn eat_dot(&mut self, word: &str) -> Parsed<bool> {
        let found = self.at_dot(word);
        if found {
            self.bump()?;
        }
        Ok(found)
    }

    fn expect(&mut self, mark: u8) -> Parsed<Token<'a>> {
        if self.at(mark) { self.bump() } else { Err(self.expected(&format!("`{}`", mark as char))) }
    }

    fn name(&mut self, what: &str) -> Parsed<&'a str> {
        if self.token.kind == TokenKind::Name { Ok(self.bump()?.text) } else { Err(self.expected(what)) }
    }

    fn text(&mut self, what: &str) -> Parsed<&'a str> {
        if self.token.kind == TokenKind::Text { Ok(self.bump()?.text) } else { Err(self.expected(what)) }
    }

    /// Consumes an opening bracket, which errors at the end of the file then name as `what`.
    fn open(&mut self, mark: u8, what: &str) -> Parsed<()> {
        let line = self.expect(mark)?.span.line;
        self.open.push(OpenBracket { what: format!("`{}`{what}", mark as char), line });
        Ok(())
    }

    fn close(&mut self, mark: u8) -> Parsed<()> {
        self.expect(mark)?;
        self.open.pop();
        Ok(())
    }

    /// Parses one item or more, with commas between them.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut found = vec![item(self)?];
        while self.eat(b',')? {
            found.push(item(self)?);
        }
        Ok(found)
    }

    /// Returns the items in brackets, with commas between them. `what`: see [`Self::open`].
    fn bracketed<T>(
        &mut self, [open, close]: [u8; 2], what: &str, mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        self.open(open, what)?;
        let mut found = Vec::new();
        while !self.at(close) {
            found.push(item(self)?);
            if !self.eat(b',')? {
                break;
            }
        }
        self.close(close)?;
        Ok(found)
    }

    /// Returns the error "expected X, found Y" at an earlier token.
    fn expected_at(&mut self, start: Token<'a>, what: &str) -> ParseError {
        self.token = start;
        self.expected(what)
    }

    /// Returns the error "expected X, found Y" at the present token.
    fn expected(&self, what: &str) -> ParseError {
        let found = self.token.describe();
        match self.open.last() {
            Some(open) if self.token.kind == TokenKind::End => {
                let (open, line) = (&open.what, open.line);
                self.error(format!("expected {what}, found {found}: {open} (line {line}) is never closed"))
            }
            _ => self.error(format!("expected {what}, found {found}")),
        }
    }

    fn error(&self, message: String) -> ParseError {
        ParseError { span: self.token.span, message }
    }

    /// Returns the span from an earlier token to the last one.
    fn since(&self, start: Span) -> Span {
        Span { end: self.last.end, ..start }
    }

    fn deeper(&self, depth: usize) -> Parsed<usize> {
        if depth < MAX_DEPTH { Ok(depth + 1) } else { Err(self.error(format!("nested more than {MAX_DEPTH} deep"))) }
    }
}

#[cfg(test)]
mod tests;
