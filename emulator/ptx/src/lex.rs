//! Text to tokens, one at a time.
//!
//! The parser holds a single token, so memory does not grow with the input. A directive or modifier is one
//! token with its dot (`.shared::cta`), which is why `1.5`, `%tid.x` and `.2d` are distinguished without context.

#[cfg(test)]
mod tests;

use crate::{error::ParseError, span::Span};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// `fma`, `%r1`, `$L__BB0_1`, `_`
    Name,
    /// `.global`, `.L2::128B`; the text is without the dot.
    Dot,
    /// `12`, `0x1F`, `0f3F800000`, `1.5`, with suffix and all.
    Number,
    /// `"…"`; the text is without the quotes.
    Text,
    /// A single character of punctuation.
    Mark(u8),
    /// Two characters of punctuation that belong together: `<<`, `>=`, `&&`.
    Operator,
    End,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Token<'a> {
    pub(crate) kind: TokenKind,
    pub(crate) text: &'a str,
    pub(crate) span: Span,
}

impl Token<'_> {
    /// Returns the name of the token in error messages.
    pub(crate) fn describe(&self) -> String {
        match self.kind {
            TokenKind::End => "the end of the file".to_owned(),
            TokenKind::Dot => format!("`.{}`", clip(self.text)),
            TokenKind::Text => format!("the string \"{}\"", clip(self.text)),
            _ => format!("`{}`", clip(self.text)),
        }
    }
}

/// Cuts to 64 characters, so that a message stays one line.
pub(crate) fn clip(text: &str) -> String {
    match text.char_indices().nth(64) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

pub(crate) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    column: u32,
    /// Offset up to which `line` and `column` are counted.
    counted: usize,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Lexer { text, at: 0, line: 1, column: 1, counted: 0 }
    }

    /// Returns the whole input, for parts that are kept as text.
    pub(crate) fn source(&self) -> &'a str {
        self.text
    }

    fn byte(&self, ahead: usize) -> u8 {
        // 0 stands for the end as well; a real NUL is refused as a character that cannot start a token.
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Moves `line` and `column` to the present position. Every byte is visited once in all.
    fn count(&mut self) {
        for &byte in &self.text.as_bytes()[self.counted..self.at] {
            if byte == b'\n' {
                self.line += 1;
                self.column = 1;
            } else if byte & 0xC0 != 0x80 {
                self.column += 1;
            }
        }
        self.counted = self.at;
    }

    fn here(&mut self) -> Span {
        self.count();
        Span { start: self.at as u32, end: self.at as u32, line: self.line, column: self.column }
    }

    fn skip_while(&mut self, keep: impl Fn(u8) -> bool) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|&byte| !keep(byte)).unwrap_or(rest.len());
    }

    fn skip_blank(&mut self) -> Result<(), ParseError> {
        loop {
            self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0B | 0x0C));
            if self.byte(0) != b'/' {
                return Ok(());
            }
            match self.byte(1) {
                b'/' => self.skip_while(|byte| byte != b'\n'),
                b'*' => {
                    let start = self.here();
                    match self.text[self.at + 2..].find("*/") {
                        Some(length) => self.at += length + 4,
                        None => {
                            let message = "this comment is never closed by `*/`".to_owned();
                            return Err(ParseError { span: start, message });
                        }
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn words(&mut self) {
        self.skip_while(is_word);
        while self.byte(0) == b':' && self.byte(1) == b':' && is_word(self.byte(2)) {
            self.at += 2;
            self.skip_while(is_word);
        }
    }

    fn number(&mut self) {
        let radix = (self.byte(0) == b'0').then(|| self.byte(1).to_ascii_lowercase());
        if matches!(radix, Some(b'x' | b'b' | b'f' | b'd')) {
            self.skip_while(is_word);
            return;
        }
        self.skip_while(|byte| byte.is_ascii_digit());
        if self.byte(0) == b'.' && self.byte(1).is_ascii_digit() {
            self.at += 1;
            self.skip_while(|byte| byte.is_ascii_digit());
        } else if self.byte(0) == b'.'
            && (!is_word(self.byte(1)) || (self.byte(1) | 0x20 == b'e' && self.byte(2).is_ascii_digit()))
        {
            self.at += 1;
        }
        let sign = matches!(self.byte(1), b'+' | b'-');
        if matches!(self.byte(0), b'e' | b'E') && self.byte(1 + usize::from(sign)).is_ascii_digit() {
            self.at += 1 + usize::from(sign);
        }
        // A number extends over all following word characters, so that `12abc` is one bad number and not two tokens.
        self.skip_while(is_word);
    }

    /// Reads the next token; after the last, always `End`.
    pub(crate) fn next(&mut self) -> Result<Token<'a>, ParseError> {
        self.skip_blank()?;
        let mut span = self.here();
        let start = self.at;
        let mut cut = (0, 0);
        let first = self.byte(0);
        let kind = match first {
            _ if start == self.text.len() => TokenKind::End,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'%' => {
                self.at += 1;
                self.skip_while(is_word);
                TokenKind::Name
            }
            b'0'..=b'9' => {
                self.number();
                TokenKind::Number
            }
            b'.' if is_word(self.byte(1)) => {
                self.at += 1;
                self.words();
                cut = (1, 0);
                TokenKind::Dot
            }
            b'"' => {
                self.string(span)?;
                cut = (1, 1);
                TokenKind::Text
            }
            _ if matches!(
                (first, self.byte(1)),
                (b'<', b'<' | b'=') | (b'>', b'>' | b'=') | (b'=' | b'!', b'=') | (b'&', b'&') | (b'|', b'|')
            ) =>
            {
                self.at += 2;
                TokenKind::Operator
            }
            _ if b"{}()[]<>,;:@!|+-=~*/&^?.".contains(&first) => {
                self.at += 1;
                TokenKind::Mark(first)
            }
            _ => {
                let found = self.text[start..].chars().next().unwrap_or('\0');
                return Err(ParseError { span, message: format!("the character {found:?} has no meaning here") });
            }
        };
        span.end = self.at as u32;
        Ok(Token { kind, text: &self.text[start + cut.0..self.at - cut.1], span })
    }

    fn string(&mut self, span: Span) -> Result<(), ParseError> {
        self.at += 1;
        loop {
            self.skip_while(|byte| !matches!(byte, b'"' | b'\\' | b'\n'));
            match self.byte(0) {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' if self.at + 1 < self.text.len() => {
                    self.at += 1;
                    // Advances by a whole character, so that the position stays on a boundary.
                    self.at += self.text[self.at..].chars().next().map_or(0, char::len_utf8);
                }
                _ => {
                    return Err(ParseError { span, message: "this string is never closed by `\"`".to_owned() });
                }
            }
        }
    }
}
