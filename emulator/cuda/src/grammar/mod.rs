//! The grammar: tokens to the tree, by recursive descent.
//!
//! An error is reported where it is found, and the parser goes on at the next statement or item. What C++ has and the
//! compiler does not know is refused by name. Depth is limited, so that no source overflows the stack, here or in what
//! walks the tree.

mod balance;
mod beginner;
mod expressions;
mod items;
mod statements;
mod types;
mod words;

use std::collections::HashMap;
use std::rc::Rc;

use crate::lex::{Kind, Token};
use crate::message::{Message, Severity};
use crate::source::Span;
use crate::tree::{Expression, Name, Unit};

/// Depth of brackets, and of everything else that nests.
const MAX_DEPTH: usize = 64;
/// Operators in one expression: a chain of them is as deep as it is long.
const MAX_LINKS: usize = 400;
/// After so many errors the parser stops; more warnings are left out.
const MAX_MESSAGES: usize = 60;

/// An error that is reported already.
pub(crate) struct Failed;

type Result<T, E = Failed> = std::result::Result<T, E>;

/// The kinds of names that the grammar tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Type,
    TemplateFunction,
    Value,
}

pub(crate) struct Parser {
    tokens: Vec<Token>,
    at: usize,
    /// For each bracket the index of its partner, for other tokens their own.
    partners: Vec<u32>,
    messages: Vec<Message>,
    /// Names by scope, the innermost last.
    scopes: Vec<HashMap<Rc<str>, Meaning>>,
    depth: usize,
    links: usize,
    /// Loops and `switch` statements around.
    loops: usize,
    switches: usize,
    /// True where `>` ends a list of template arguments.
    ends_at_greater: bool,
}

/// Returns the tree of tokens that end with [`Kind::End`].
pub(crate) fn parse(tokens: &[Token], messages: &mut Vec<Message>) -> Unit {
    with_parser(tokens, messages, Parser::unit).unwrap_or_default()
}

/// Returns the expression that the tokens of a `#if` are.
pub(crate) fn condition(tokens: &[Token], messages: &mut Vec<Message>) -> Option<Expression> {
    let read = |parser: &mut Parser| {
        let condition = parser.expression()?;
        if parser.peek().kind == Kind::End { Ok(condition) } else { Err(parser.unexpected("an operator")) }
    };
    with_parser(tokens, messages, read)?.ok()
}

fn with_parser<T>(tokens: &[Token], messages: &mut Vec<Message>, read: impl FnOnce(&mut Parser) -> T) -> Option<T> {
    let (tokens, partners) = balance::balance(tokens, messages)?;
    let mut parser = Parser {
        tokens,
        at: 0,
        partners,
        messages: Vec::new(),
        scopes: vec![HashMap::new()],
        depth: 0,
        links: 0,
        loops: 0,
        switches: 0,
        ends_at_greater: false,
    };
    let result = read(&mut parser);
    messages.append(&mut parser.messages);
    Some(result)
}

/// Reading tokens.
impl Parser {
    /// Returns the token at an index, or the last.
    fn token(&self, at: usize) -> &Token {
        &self.tokens[at.min(self.tokens.len() - 1)]
    }

    fn peek(&self) -> &Token {
        self.token(self.at)
    }

    fn is(&self, text: &str) -> bool {
        self.peek().is(text)
    }

    fn next_is(&self, text: &str) -> bool {
        self.token(self.at + 1).is(text)
    }

    /// Returns whether the token here is one of a list of words.
    fn is_any(&self, list: &str) -> bool {
        self.peek().is_any(list)
    }

    fn is_word(&self) -> bool {
        self.peek().kind == Kind::Word
    }

    fn is_end(&self) -> bool {
        self.peek().kind == Kind::End
    }

    fn span(&self) -> Span {
        self.peek().span
    }

    /// Returns the place of the token before.
    fn previous(&self) -> Span {
        self.token(self.at.saturating_sub(1)).span
    }

    fn bump(&mut self) -> Span {
        let span = self.span();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        span
    }

    fn eat(&mut self, text: &str) -> bool {
        let is_there = self.is(text);
        if is_there {
            self.bump();
        }
        is_there
    }

    fn expect(&mut self, text: &str) -> Result<Span> {
        if self.is(text) { Ok(self.bump()) } else { Err(self.unexpected(&format!("`{text}`"))) }
    }

    /// Takes the `;` at an end of a statement. One that is missing there is reported, and taken as there.
    fn expect_semicolon(&mut self) -> Result<()> {
        if !self.is(";") && (self.peek().is_first_on_line || self.is("}") || self.is_end()) {
            let end = Span { start: self.previous().end, ..self.previous() };
            self.error(end, "expected `;`", "help: add `;` here");
            return Ok(());
        }
        self.expect(";").map(drop)
    }

    fn name(&mut self) -> Result<Name> {
        if !self.is_word() || words::is_reserved(&self.peek().text) {
            return Err(self.unexpected("a name"));
        }
        let text = self.peek().text.clone();
        Ok(Name { span: self.bump(), text })
    }

    /// Takes the first character of a token of two.
    fn split_token(&mut self) {
        let token = &mut self.tokens[self.at];
        token.text = token.text[1..].into();
        token.span.start += 1;
    }

    /// Returns the index of the bracket that closes the one at `at`.
    fn partner(&self, at: usize) -> usize {
        self.partners[at.min(self.tokens.len() - 1)] as usize
    }

    /// Goes behind a token, or a bracket with all up to its partner.
    fn skip_one(&mut self) {
        self.at = (self.partner(self.at).max(self.at) + 1).min(self.tokens.len() - 1);
    }

    /// Returns tokens as text, at most a line.
    fn text(&self, from: usize, to: usize) -> String {
        let mut text = String::new();
        for token in &self.tokens[from.min(to)..to] {
            if token.has_space_before && !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&token.text);
            if text.len() > 80 {
                return "…".to_owned();
            }
        }
        text
    }
}

/// Messages.
impl Parser {
    fn report(&mut self, message: Message) -> Failed {
        let is_warning = message.severity == Severity::Warning;
        let is_alike = |other: &&Message| (other.severity == Severity::Warning) == is_warning;
        if self.messages.iter().filter(is_alike).count() < MAX_MESSAGES {
            self.messages.push(message);
        } else if !is_warning {
            self.at = self.tokens.len() - 1;
        }
        Failed
    }

    fn error(&mut self, span: Span, text: impl Into<String>, label: impl Into<String>) -> Failed {
        self.report(Message::error(span, text).label(label))
    }

    fn warn(&mut self, span: Span, text: &str, label: &str, help: impl Into<String>) {
        let help = Some(help.into()).filter(|help| !help.is_empty());
        self.report(Message { help, ..Message::warning(span, text).label(label) });
    }

    /// Refuses `what`, which C++ has and this compiler does not know.
    fn refuse(&mut self, span: Span, what: impl Into<String>) -> Failed {
        self.report(Message::unsupported(span, what))
    }

    /// Refuses the token here, if it is one of a list of words.
    fn refuse_any(&mut self, list: &str, around: &str) -> Result<()> {
        if !self.is_any(list) {
            return Ok(());
        }
        let what = around.replace("{}", &format!("`{}`", self.peek().text));
        Err(self.refuse(self.span(), what))
    }

    fn unexpected(&mut self, wanted: &str) -> Failed {
        let found = match self.peek().kind {
            Kind::End => "the end of the source".to_owned(),
            Kind::Pragma | Kind::PragmaEnd => "`#pragma unroll`".to_owned(),
            _ => format!("`{}`", self.peek().text.chars().take(40).collect::<String>()),
        };
        let mut message = Message::error(self.span(), format!("expected {wanted}, found {found}"));
        message.help = self.help_for_unexpected();
        self.report(message.label(format!("expected {wanted}")))
    }

    /// Goes on after an error: behind the statement or item that began at `start`, which may end with a block.
    fn recover(&mut self, start: usize) {
        // Behind the brackets that it has opened.
        if let Some(open) = (start..self.at).find(|&at| self.partner(at) >= self.at) {
            self.at = (self.partner(open) + 1).min(self.tokens.len() - 1);
        }
        let error = self.at;
        while !self.is_end() && !self.is("}") {
            if self.at > error && self.peek().is_first_on_line && words::starts_statement(&self.peek().text) {
                break;
            }
            let ends = self.is_any("; {");
            self.skip_one();
            if ends {
                self.eat(";");
                break;
            }
        }
        if self.at == start {
            self.bump();
        }
    }
}

/// Limits and scopes.
impl Parser {
    /// Runs `read` one level deeper.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_DEPTH {
            return Err(self.error(self.span(), format!("the source nests more than {MAX_DEPTH} deep"), ""));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Counts an operator of the expression.
    fn link(&mut self) -> Result<()> {
        self.links += 1;
        if self.links <= MAX_LINKS {
            return Ok(());
        }
        Err(self.error(self.span(), format!("the expression has more than {MAX_LINKS} operators"), ""))
    }

    /// Runs `read` with `ends_at_greater` as given.
    fn with_greater<T>(&mut self, ends: bool, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = std::mem::replace(&mut self.ends_at_greater, ends);
        let result = read(self);
        self.ends_at_greater = before;
        result
    }

    fn scoped<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(HashMap::new());
        let result = read(self);
        self.scopes.pop();
        result
    }

    fn declare(&mut self, name: &str, meaning: Meaning) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.into(), meaning);
        }
    }

    fn meaning(&self, name: &str) -> Option<Meaning> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }
}
