//! CUDA C++ as tokens and brackets, with the expressions in it and the scopes of names, as a person skims it.

use std::ops::Range;

use cpp_tokens::Kind;

use super::{Change, Changes};

const CONTROL: [&str; 4] = ["for", "if", "switch", "while"];
/// Tokens that end an expression of terms.
#[rustfmt::skip]
const SEPARATORS: [&str; 29] = [
    ",", ";", "&&", "||", "<", ">", "<=", ">=", "==", "!=", "=", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", ":",
    "?", "^", "&", "|", "<<", ">>", "!", "return", "case",
];

#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'s> {
    pub(super) text: &'s str,
    pub(super) start: usize,
    /// Line number, from 0.
    pub(super) line: usize,
    /// Whether this may be the name of a variable.
    pub(super) is_name: bool,
}

pub(super) fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

pub(super) fn is_constant(text: &str) -> bool {
    text.len() > 1 && text.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

/// The construct that holds an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    Subscript,
    Argument,
    /// The parentheses of `if`, `for` or `while`.
    Header,
    Parentheses,
    Statement,
}

/// An expression without comparisons and assignments: a sum of terms.
#[derive(Debug, Clone)]
pub(super) struct Sum {
    pub(super) tokens: Range<usize>,
    /// The bracket that it lies in.
    pub(super) open: Option<usize>,
    pub(super) holder: Holder,
    pub(super) terms: Vec<Range<usize>>,
}

struct Declared<'s> {
    name: &'s str,
    /// Tokens from the declaration to the end of its scope.
    scope: Range<usize>,
}

pub(super) struct Code<'s> {
    pub(super) text: &'s str,
    pub(super) tokens: Vec<Token<'s>>,
    /// The counterpart of each bracket.
    partners: Vec<Option<usize>>,
    /// The bracket around each token.
    parents: Vec<Option<usize>>,
    declared: Vec<Declared<'s>>,
}

impl<'s> Code<'s> {
    pub(super) fn new(text: &'s str) -> Self {
        let tokens = tokens(text);
        let (mut partners, mut parents, mut open) = (vec![None; tokens.len()], Vec::new(), Vec::new());
        for (at, token) in tokens.iter().enumerate() {
            let closes = match token.text {
                ")" => "(",
                "]" => "[",
                "}" => "{",
                _ => "",
            };
            if let Some(from) = open.pop_if(|from: &mut usize| tokens[*from].text == closes) {
                (partners[at], partners[from]) = (Some(from), Some(at));
            }
            parents.push(open.last().copied());
            if matches!(token.text, "(" | "[" | "{") {
                open.push(at);
            }
        }
        let mut code = Self { text, tokens, partners, parents, declared: Vec::new() };
        for at in 0..code.tokens.len() {
            let token = code.tokens[at];
            let is_used = matches!(code.at(at + 1), "(" | "::") || at > 0 && matches!(code.at(at - 1), "." | "->");
            if token.is_name && !is_used && !code.is_known(token.text, at) {
                // One that a header declares holds everywhere.
                let is_constant = is_constant(token.text) && code.at(at + 1) != "=";
                let scope = if is_constant { 0..usize::MAX } else { at..code.scope_end(at) };
                code.declared.push(Declared { name: token.text, scope });
            }
        }
        code
    }

    /// Returns the text of a token; empty after the last one.
    pub(super) fn at(&self, at: usize) -> &'s str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    pub(super) fn partner(&self, at: usize) -> Option<usize> {
        self.partners.get(at).copied().flatten()
    }

    pub(super) fn parent(&self, at: usize) -> Option<usize> {
        self.parents.get(at).copied().flatten()
    }

    /// Returns the tokens that have a text.
    pub(super) fn all<'c>(&'c self, text: &'c str) -> impl Iterator<Item = usize> + Clone + use<'c, 's> {
        (1..self.tokens.len()).filter(move |at| self.at(*at) == text)
    }

    /// Returns the bracket that closes the one at a token; the token itself where none does.
    pub(super) fn close(&self, open: usize) -> usize {
        self.partner(open).unwrap_or(open)
    }

    /// Returns the text between the bracket at a token and the one that closes it.
    pub(super) fn inside(&self, open: usize) -> &'s str {
        self.words(open + 1..self.partner(open).unwrap_or(open + 1))
    }

    /// Returns the next semicolon; the token itself where none follows.
    pub(super) fn semicolon(&self, at: usize) -> usize {
        (at..self.tokens.len()).find(|end| self.at(*end) == ";").unwrap_or(at)
    }

    /// Returns the loops whose bodies are in braces: their `for` or `while`, and the two braces.
    pub(super) fn loops(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        (0..self.tokens.len()).filter_map(|open| Some((self.header(open)?, open, self.close(open))))
    }

    /// Returns whether a token stands in the header of a `for`, outside of further brackets.
    pub(super) fn is_head(&self, at: usize) -> bool {
        self.parent(at).is_some_and(|open| open > 0 && self.at(open - 1) == "for")
    }

    pub(super) fn bytes(&self, tokens: Range<usize>) -> Range<usize> {
        let end = self.tokens.get(tokens.end.wrapping_sub(1)).map_or(0, |token| token.start + token.text.len());
        self.tokens.get(tokens.start).map_or(end, |token| token.start)..end
    }

    pub(super) fn words(&self, tokens: Range<usize>) -> &'s str {
        self.text.get(self.bytes(tokens)).unwrap_or_default()
    }

    /// Returns the text of some tokens, with another name in place of one.
    pub(super) fn with(&self, tokens: Range<usize>, name: &str, other: &str) -> String {
        let (start, text) = (self.bytes(tokens.clone()).start, self.words(tokens.clone()));
        let places = tokens.filter(|at| self.at(*at) == name).map(|at| self.tokens[at].start - start);
        let changes = places.map(|at| (at..at + name.len(), other.to_owned()));
        super::apply(text, &changes.collect())
    }

    /// Returns whether a name is declared where a token stands.
    pub(super) fn is_known(&self, name: &str, at: usize) -> bool {
        self.declared.iter().any(|known| known.name == name && known.scope.contains(&at) && known.scope.start < at)
    }

    /// Returns the names that are declared where a token stands, in the order of their declarations.
    pub(super) fn known(&self, at: usize) -> impl Iterator<Item = &'s str> {
        let here = self.declared.iter().filter(move |known| known.scope.contains(&at) && known.scope.start < at);
        here.map(|known| known.name)
    }

    /// Returns the token that declares the name at a token.
    pub(super) fn declaration(&self, at: usize) -> Option<usize> {
        let is_its = |known: &&Declared<'_>| known.name == self.at(at) && known.scope.contains(&at);
        self.declared.iter().rfind(is_its).map(|known| known.scope.start)
    }

    /// Returns the last divisor of which a variable is declared to be the remainder.
    pub(super) fn modulus(&self, variable: usize) -> Option<Range<usize>> {
        let value = self.value(self.declaration(variable)?)?;
        let is_beside = |at: &usize| self.parent(*at) == self.parent(value.start);
        let is_sign = |at: &usize| is_beside(at) && matches!(self.at(*at), "+" | "-" | "*" | "/" | "%");
        value.clone().rfind(is_sign).filter(|sign| self.at(*sign) == "%").map(|sign| sign + 1..value.end)
    }

    /// Returns what is assigned to the name at a token, up to a comma or a semicolon.
    pub(super) fn value(&self, name: usize) -> Option<Range<usize>> {
        let is_end = |at: &usize| self.parent(*at) == self.parent(name) && matches!(self.at(*at), ";" | ",");
        (self.at(name + 1) == "=").then(|| Some(name + 2..(name..self.tokens.len()).find(is_end)?)).flatten()
    }

    /// Returns the brackets or the name with its members at a token.
    pub(super) fn operand(&self, at: usize) -> Range<usize> {
        let mut end = self.partner(at).filter(|close| *close > at).unwrap_or(at) + 1;
        while self.at(end) == "." {
            end += 2;
        }
        at..end
    }

    /// Returns the brackets or the name, with what it is a member of, before a token.
    pub(super) fn operand_before(&self, at: usize) -> Range<usize> {
        let mut start = self.partner(at - 1).filter(|open| *open < at).unwrap_or(at - 1);
        while start > 1 && self.at(start - 1) == "." {
            start -= 2;
        }
        start..at
    }

    /// Returns the subscripts at a token, with their brackets.
    pub(super) fn subscripts(&self, at: usize) -> Range<usize> {
        let mut end = at;
        while let Some(close) = self.partner(end).filter(|_| self.at(end) == "[") {
            end = close + 1;
        }
        at..end
    }

    /// Returns the subscripts before a token, with their brackets.
    pub(super) fn subscripts_before(&self, at: usize) -> Range<usize> {
        let mut start = at;
        while let Some(open) =
            start.checked_sub(1).filter(|close| self.at(*close) == "]").and_then(|at| self.partner(at))
        {
            start = open;
        }
        start..at
    }

    /// Returns whether a name is a dimension of an array that is used in the loop whose header has a token.
    pub(super) fn is_dimension_in_loop(&self, name: &str, head: usize) -> bool {
        let end = (head..self.tokens.len()).find(|end| self.at(*end) == "}").unwrap_or(head);
        let declared = (head..end).filter_map(|at| self.declaration(at));
        declared.flat_map(|at| self.subscripts(at + 1)).any(|dimension| self.at(dimension) == name)
    }

    /// Returns the `for` or `while` whose body a brace opens.
    fn header(&self, brace: usize) -> Option<usize> {
        let open = self.partner(brace.checked_sub(1).filter(|_| self.at(brace) == "{")?)?;
        open.checked_sub(1).filter(|header| matches!(self.at(*header), "for" | "while"))
    }

    /// Returns the end of the scope of a name that is declared at a token.
    pub(super) fn scope_end(&self, at: usize) -> usize {
        let Some(open) = self.parents[at] else { return usize::MAX };
        let close = self.partners[open].unwrap_or(usize::MAX);
        if self.tokens[open].text != "(" {
            return close;
        }
        // A parameter, or the variable of a loop: the body, or the statement.
        let around = self.parents[open];
        let mut after = close.saturating_add(1)..self.tokens.len();
        let end = after.find(|&at| self.parents[at] == around && matches!(self.at(at), ";" | "{" | "}"));
        end.map_or(close, |end| self.partners[end].filter(|partner| *partner > end).unwrap_or(end))
    }

    /// Returns the pieces between the commas in a bracket.
    pub(super) fn pieces(&self, open: usize) -> Vec<Range<usize>> {
        let Some(close) = self.partner(open).filter(|close| *close > open + 1) else { return Vec::new() };
        let commas = (open + 1..close).filter(|at| self.at(*at) == "," && self.parents[*at] == Some(open));
        let mut start = open + 1;
        commas.chain([close]).map(|end| std::mem::replace(&mut start, end + 1)..end).collect()
    }

    /// Returns whether some tokens are an expression, and no declaration.
    pub(super) fn is_expression(&self, tokens: Range<usize>) -> bool {
        let ends_well =
            tokens.clone().next_back().is_some_and(|last| !matches!(self.at(last), "*" | "&" | "++" | "--"));
        let starts_well = !matches!(self.at(tokens.start), "++" | "--" | "/" | "%" | "&" | "const");
        let mut pairs = tokens.clone().zip(tokens.skip(1));
        ends_well && starts_well && !pairs.any(|(a, b)| is_word(self.at(a)) && is_word(self.at(b)))
    }

    /// Returns whether a token lies in a dimension of an array that is declared.
    pub(super) fn is_dimension(&self, at: usize) -> bool {
        let Some(open) = self.parent(at).filter(|open| self.at(*open) == "[") else { return false };
        let open = self.subscripts_before(open).start;
        // `float v[…]`, `float a[…], b[…]`.
        let is_declared = || self.declared.iter().any(|known| known.scope.start == open - 1);
        open >= 2 && (is_word(self.at(open - 2)) && self.at(open - 2) != "return" || is_declared())
    }

    /// Returns the first token of the statement that a token lies in.
    pub(super) fn statement(&self, at: usize) -> usize {
        (0..at).rev().find(|at| matches!(self.at(*at), ";" | "{" | "}" | ")")).map_or(0, |end| end + 1)
    }

    /// Returns the target of the assignment in the statement around a token.
    pub(super) fn target(&self, at: usize) -> Option<&'s str> {
        let start = self.statement(at);
        let sign = (start..self.tokens.len()).find(|at| matches!(self.at(*at), "=" | ";" | "{"))?;
        (self.at(sign) == "=" && start < at).then(|| self.words(start..sign))
    }

    /// Returns whether the name before a `=` says that sums are made there.
    pub(super) fn is_sum(&self, at: usize) -> bool {
        self.is_sum_named(self.statement(at))
    }

    /// Returns whether the name at a token is one that sums have.
    pub(super) fn is_sum_named(&self, at: usize) -> bool {
        ["acc", "sum", "total", "dot"].iter().any(|known| self.at(at).starts_with(known))
    }

    /// Returns the line of a byte, from 0.
    pub(super) fn line_of(&self, at: usize) -> usize {
        let next = self.tokens.partition_point(|token| token.start < at);
        let (line, start) =
            next.checked_sub(1).map_or((0, 0), |last| (self.tokens[last].line, self.tokens[last].start));
        line + self.text[start..at].matches('\n').count()
    }

    /// Returns the lines that a range of bytes lies in.
    fn lines_around(&self, range: Range<usize>) -> Range<usize> {
        let start = self.text[..range.start].rfind('\n').map_or(0, |end| end + 1);
        start..self.text[range.end..].find('\n').map_or(self.text.len(), |end| range.end + end + 1)
    }

    /// Returns the start of the line of a token.
    pub(super) fn line_start(&self, at: usize) -> usize {
        self.lines_around(self.bytes(at..at + 1)).start
    }

    /// Returns the end of the line in which a token ends.
    pub(super) fn line_end(&self, at: usize) -> usize {
        self.lines_around(self.bytes(at..at + 1)).end
    }

    /// Returns a range with its line, if nothing but a comment stands beside it there.
    pub(super) fn whole_line(&self, range: Range<usize>) -> Range<usize> {
        let Range { start, end } = self.lines_around(range.clone());
        let after = self.text[range.end..end].trim();
        let is_alone = self.text[start..range.start].trim().is_empty() && (after.is_empty() || after.starts_with("//"));
        if is_alone { start..end } else { range }
    }

    /// Returns the changes that move a part of the text to a place, the removal first: `add` orders them.
    pub(super) fn moved(&self, part: Range<usize>, place: usize) -> Changes {
        let text = self.text[part.clone()].to_owned();
        vec![(part, String::new()), (place..place, text)]
    }

    /// Splits changes where they are more than two lines apart.
    pub(super) fn near<'c>(&self, changes: &'c Changes) -> impl Iterator<Item = &'c [Change]> + use<'_, 'c, 's> {
        let line = |change: &Change| self.line_of(change.0.start);
        changes.chunk_by(move |a, b| line(a).abs_diff(line(b)) <= 2)
    }

    /// Returns whether a parenthesis encloses the arguments of a call.
    pub(super) fn is_call(&self, open: usize) -> bool {
        let before = open.checked_sub(1).map_or("", |before| self.at(before));
        let is_named = is_word(before) && !CONTROL.contains(&before) && !before.starts_with("__launch");
        let is_defined = self.partner(open).is_some_and(|close| self.at(close + 1) == "{");
        self.at(open) == "(" && is_named && !is_defined && !matches!(before, "return" | "static_assert")
    }

    /// Returns all sums, those in brackets of others, too.
    pub(super) fn sums(&self) -> Vec<Sum> {
        let opens = (0..self.tokens.len()).filter(|at| matches!(self.at(*at), "(" | "[" | "{"));
        opens
            .filter_map(|open| Some((open, self.partner(open)?)))
            .flat_map(|(open, close)| self.sums_in(open, close))
            .collect()
    }

    fn sums_in(&self, open: usize, close: usize) -> Vec<Sum> {
        let before = open.checked_sub(1).map_or("", |before| self.at(before));
        let holder = match self.at(open) {
            "[" => Holder::Subscript,
            "{" => Holder::Statement,
            _ if CONTROL.contains(&before) => Holder::Header,
            _ if self.is_call(open) => Holder::Argument,
            _ if is_word(before) || self.at(close + 1) == "{" => return Vec::new(),
            _ => Holder::Parentheses,
        };
        let mut sums = Vec::new();
        let (mut start, mut at) = (open + 1, open + 1);
        while at <= close {
            let is_brace = self.at(at) == "{";
            if at == close || is_brace || SEPARATORS.contains(&self.at(at)) {
                let before = self.at(start - 1);
                let is_value = holder != Holder::Statement
                    || SEPARATORS.contains(&before) && !matches!(before, "," | ";" | "<" | ">" | "&");
                // What is assigned to has no terms of its own.
                let is_target = self.at(at).ends_with('=') && !matches!(self.at(at), "<=" | ">=" | "==" | "!=");
                if start < at && is_value && !is_target && self.is_expression(start..at) {
                    let terms = self.terms(start..at);
                    sums.push(Sum { tokens: start..at, open: Some(open), holder, terms });
                }
                start = if is_brace { self.partner(at).unwrap_or(at) + 1 } else { at + 1 };
                at = start;
            } else {
                at = self.partner(at).filter(|partner| *partner > at).unwrap_or(at) + 1;
            }
        }
        sums
    }

    fn terms(&self, tokens: Range<usize>) -> Vec<Range<usize>> {
        let around = self.parents[tokens.start];
        let is_sign = |at: &usize| {
            matches!(self.at(*at), "+" | "-")
                && self.parents[*at] == around
                && *at > tokens.start
                && !matches!(self.at(*at - 1), "*" | "/" | "%" | "+" | "-")
        };
        let mut start = tokens.start;
        let ends = tokens.clone().filter(is_sign).chain([tokens.end]);
        ends.map(|end| std::mem::replace(&mut start, end + 1)..end).collect()
    }
}

/// Returns the code of a text, with the line of each token.
fn tokens<'s>(text: &'s str) -> Vec<Token<'s>> {
    let (mut line, mut end) = (0, 0);
    let with_line = |token: cpp_tokens::Token<'s>| {
        line += text[end..token.start].matches('\n').count();
        end = token.start;
        let is_name = token.kind == Kind::Word && !token.is_reserved() && !token.text.starts_with("__");
        Token { text: token.text, start: token.start, line, is_name }
    };
    cpp_tokens::code(text).map(with_line).collect()
}
