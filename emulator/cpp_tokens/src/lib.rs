//! Tokens of CUDA C++, with their exact places: what the compiler, the messages, the edits of learners' kernels and the
//! comparison of submissions have in common.
//!
//! It reports nothing: what is no token becomes one of kind [`Kind::Bad`]. It knows neither directives nor macros.

#![forbid(unsafe_code)]

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Identifiers and keywords.
    Word,
    /// Anything that starts like a number.
    Number,
    /// With its quotes.
    Char,
    /// With its quotes.
    Str,
    Punct,
    /// A string, a character or a comment without its end, up to where that is missed; any other character.
    Bad,
    /// The last token, which is empty.
    End,
}

#[derive(Debug, Clone, Copy)]
pub struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
    /// Byte at which it starts.
    pub start: usize,
    pub is_first_on_line: bool,
    pub has_space_before: bool,
}

impl Token<'_> {
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Returns whether it is a word that cannot name what a programmer declares.
    pub fn is_reserved(&self) -> bool {
        RESERVED.contains(&self.text)
    }

    /// Returns whether the text holds no code: a literal in quotes, or what has no end.
    pub fn is_quoted(&self) -> bool {
        matches!(self.kind, Kind::Char | Kind::Str)
            || self.kind == Kind::Bad && (self.text.starts_with(['"', '\'']) || self.text.starts_with("/*"))
    }
}

/// Operators, longer ones before their beginnings. Some are none of C++, so that messages can name them whole.
const PUNCTUATION: [&str; 56] = [
    "===", "!==", "<<=", ">>=", "...", "..=", "->*", "::", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&",
    "||", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##", "..", "=>", "=<", ":=", "(", ")", "[", "]", "{", "}",
    ";", ",", ".", "?", ":", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "<", ">", "=",
];

/// Keywords and common names of CUDA.
#[rustfmt::skip]
const RESERVED: [&str; 64] = [
    "asm", "auto", "blockDim", "blockIdx", "bool", "break", "case", "char", "class", "const", "constexpr", "continue",
    "default", "delete", "do", "double", "else", "enum", "extern", "false", "float", "float2", "float4", "for",
    "gridDim", "half", "if", "inline", "int", "long", "new", "nullptr", "reinterpret_cast", "return", "short",
    "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "threadIdx", "true",
    "typename", "union", "unsigned", "using", "void", "volatile", "while", "__device__", "__forceinline__",
    "__global__", "__launch_bounds__", "__ldg", "__restrict__", "__shared__", "__shfl_sync", "__shfl_down_sync",
    "__shfl_xor_sync", "__syncthreads", "__syncwarp",
];

/// Returns the tokens of a text; the last is of kind [`Kind::End`].
pub fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut lexer = Lexer { text, at: 0 };
    let mut is_over = false;
    std::iter::from_fn(move || {
        if is_over {
            return None;
        }
        let (line_ended, has_space_before) = lexer.skip_space();
        let start = lexer.at;
        let kind = lexer.token();
        is_over = kind == Kind::End;
        let is_first_on_line = line_ended || start == 0;
        Some(Token { kind, text: &text[start..lexer.at], start, is_first_on_line, has_space_before })
    })
}

/// Returns the words, numbers and operators of a text, without directives and literals.
pub fn code(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut in_directive = false;
    tokens(text).filter(move |token| {
        in_directive = if token.is_first_on_line { token.text == "#" } else { in_directive };
        !in_directive && !token.is_quoted() && token.kind != Kind::End
    })
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_while(&mut self, accept: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !accept(c)).unwrap_or(rest.len());
    }

    /// Skips white space and comments; returns whether a line ended, and whether there was any.
    fn skip_space(&mut self) -> (bool, bool) {
        let start = self.at;
        let mut line_ended = false;
        loop {
            let rest = self.rest();
            if rest.starts_with('\n') {
                line_ended = true;
                self.at += 1;
            } else if let Some(length) = continuation(rest) {
                self.at += length;
            } else if rest.starts_with("//") {
                // A comment goes on after a line that ends with a backslash.
                loop {
                    self.skip_while(|c| c != '\n');
                    let is_continued = self.text[..self.at].trim_end_matches('\r').ends_with('\\');
                    if !is_continued || self.at == self.text.len() {
                        break;
                    }
                    self.at += 1;
                }
            } else if let Some(comment) = rest.strip_prefix("/*") {
                match comment.find("*/") {
                    Some(length) => self.at += length + 4,
                    None => break,
                }
            } else if rest.starts_with([' ', '\t', '\r', '\u{b}', '\u{c}', '\u{feff}']) {
                self.skip_while(|c| matches!(c, ' ' | '\t' | '\r' | '\u{b}' | '\u{c}' | '\u{feff}'));
            } else {
                break;
            }
        }
        (line_ended, self.at > start)
    }

    fn token(&mut self) -> Kind {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Kind::End };
        if rest.starts_with("/*") {
            self.at = self.text.len();
            return Kind::Bad;
        }
        if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
            self.number();
            return Kind::Number;
        }
        if first == '_' || first.is_alphabetic() {
            self.skip_while(|c| c == '_' || c.is_alphanumeric());
            return Kind::Word;
        }
        if first == '"' || first == '\'' {
            return self.quoted(first);
        }
        match PUNCTUATION.iter().find(|punct| rest.starts_with(**punct)) {
            Some(punct) => {
                self.at += punct.len();
                Kind::Punct
            }
            None => {
                self.at += first.len_utf8();
                if first == '#' { Kind::Punct } else { Kind::Bad }
            }
        }
    }

    fn number(&mut self) {
        let is_hex = self.rest().starts_with("0x") || self.rest().starts_with("0X");
        let mut before = ' ';
        while let Some(c) = self.rest().chars().next() {
            let is_sign =
                matches!(c, '+' | '-') && (matches!(before, 'p' | 'P') || (!is_hex && matches!(before, 'e' | 'E')));
            let next = self.rest()[c.len_utf8()..].chars().next().unwrap_or(' ');
            let is_part = match c {
                // `0..n` is a range of Rust.
                '.' => next != '.',
                '\'' => next.is_ascii_alphanumeric(),
                _ => c == '_' || c.is_alphanumeric() || is_sign,
            };
            if !is_part {
                break;
            }
            before = c;
            self.at += c.len_utf8();
        }
    }

    fn quoted(&mut self, quote: char) -> Kind {
        self.at += 1;
        while let Some(c) = self.rest().chars().next() {
            match c {
                '\n' => return Kind::Bad,
                '\\' => match continuation(self.rest()) {
                    Some(length) => self.at += length,
                    None => self.at += 1 + self.rest()[1..].chars().next().map_or(0, char::len_utf8),
                },
                _ => self.at += c.len_utf8(),
            }
            if c == quote {
                return if quote == '"' { Kind::Str } else { Kind::Char };
            }
        }
        Kind::Bad
    }
}

/// Returns the length of a backslash that ends a line, with the end.
pub fn continuation(rest: &str) -> Option<usize> {
    ["\\\n", "\\\r\n"].iter().find(|end| rest.starts_with(**end)).map(|end| end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        tokens(text).filter(|token| token.kind != Kind::End).map(|token| token.text).collect()
    }

    #[test]
    fn operators_are_as_long_as_possible() {
        assert_eq!(texts("a>>=b<<<c...d"), ["a", ">>=", "b", "<<", "<", "c", "...", "d"]);
        assert_eq!(texts("0..BLOCK"), ["0", "..", "BLOCK"]);
    }

    #[test]
    fn comments_and_continued_lines_are_space() {
        assert_eq!(texts("a /* b\n */ c // d \\\n e\nf \\\n g"), ["a", "c", "f", "g"]);
        let first: Vec<bool> = tokens("a\n b \\\n c").map(|token| token.is_first_on_line).collect();
        assert_eq!(first, [true, true, false, false]);
    }

    #[test]
    fn what_has_no_end_is_one_token() {
        let kinds = |text| tokens(text).map(|token| (token.kind, token.text)).collect::<Vec<_>>();
        let end = (Kind::End, "");
        assert_eq!(kinds("\"a\nb"), [(Kind::Bad, "\"a"), (Kind::Word, "b"), end]);
        assert_eq!(kinds("1'000 /* a\nb"), [(Kind::Number, "1'000"), (Kind::Bad, "/* a\nb"), end]);
        assert_eq!(kinds(r"'\'' ''"), [(Kind::Char, r"'\''"), (Kind::Char, "''"), end]);
    }
}
