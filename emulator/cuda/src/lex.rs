//! Tokens of a source as the preprocessor wants them, and the values of literals.
//!
//! A token of kind [`Kind::Bad`] is an error only where it is used, and not in a group that `#if` leaves out.

use std::collections::HashMap;
use std::rc::Rc;

use cpp_tokens::continuation;

use crate::source::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Identifiers and keywords.
    Word,
    /// Anything that starts like a number; [`number`] reads it.
    Number,
    /// With its quotes.
    Char,
    /// With its quotes.
    Str,
    Punct,
    /// `#pragma unroll`; what stands between it and the next [`Kind::PragmaEnd`] is its argument.
    Pragma,
    PragmaEnd,
    Bad,
    End,
}

impl From<cpp_tokens::Kind> for Kind {
    fn from(kind: cpp_tokens::Kind) -> Self {
        match kind {
            cpp_tokens::Kind::Word => Self::Word,
            cpp_tokens::Kind::Number => Self::Number,
            cpp_tokens::Kind::Char => Self::Char,
            cpp_tokens::Kind::Str => Self::Str,
            cpp_tokens::Kind::Punct => Self::Punct,
            cpp_tokens::Kind::Bad => Self::Bad,
            cpp_tokens::Kind::End => Self::End,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// As written, except that `and` is `&&`.
    pub(crate) text: Rc<str>,
    pub(crate) span: Span,
    /// Bytes before it on its line.
    pub(crate) column: u32,
    pub(crate) is_first_on_line: bool,
    pub(crate) has_space_before: bool,
    /// A macro's name inside its own expansion, which is never expanded again.
    pub(crate) is_painted: bool,
}

impl Token {
    pub(crate) fn new(kind: Kind, text: Rc<str>, span: Span) -> Self {
        Self { kind, text, span, column: 0, is_first_on_line: false, has_space_before: true, is_painted: false }
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Punct | Kind::Word) && *self.text == *text
    }

    /// Returns whether it is one of a list of words.
    pub(crate) fn is_any(&self, list: &str) -> bool {
        matches!(self.kind, Kind::Punct | Kind::Word) && one_of(&self.text, list)
    }

    /// Returns whether `next` starts where `self` ends.
    pub(crate) fn touches(&self, next: &Token) -> bool {
        self.span.end == next.span.start && self.span.file == next.span.file
    }
}

pub(crate) fn one_of(word: &str, list: &str) -> bool {
    list.split(' ').any(|other| other == word)
}

/// Words that are operators, and these.
const ALTERNATIVES: &str = "and=&& or=|| not=! xor=^ bitand=& bitor=| compl=~ not_eq=!= and_eq=&= or_eq=|= xor_eq=^=";

/// Texts of tokens, each stored once.
#[derive(Debug, Default)]
pub(crate) struct Texts(HashMap<Box<str>, Rc<str>>);

impl Texts {
    pub(crate) fn get(&mut self, text: &str) -> Rc<str> {
        if let Some(known) = self.0.get(text) {
            return known.clone();
        }
        let new: Rc<str> = text.into();
        self.0.insert(text.into(), new.clone());
        new
    }
}

/// Returns at most `most` tokens of `text`, and one of kind [`Kind::End`].
pub(crate) fn lex(text: &str, file: u16, texts: &mut Texts, most: usize) -> Vec<Token> {
    let (mut line_start, mut last_end) = (0, 0);
    let with_place = |found: cpp_tokens::Token<'_>| {
        let (start, end) = (found.start, found.end());
        line_start = text[last_end..start].rfind('\n').map_or(line_start, |at| last_end + at + 1);
        last_end = end;
        let mut alternatives = ALTERNATIVES.split(' ').filter_map(|row| row.split_once('='));
        let alternative = alternatives.find(|(word, _)| found.kind == cpp_tokens::Kind::Word && *word == found.text);
        let kind = if alternative.is_some() { Kind::Punct } else { found.kind.into() };
        let text = texts.get(alternative.map_or(found.text, |(_, punct)| punct));
        Token {
            column: (start - line_start) as u32,
            is_first_on_line: found.is_first_on_line,
            has_space_before: found.has_space_before,
            ..Token::new(kind, text, Span { file, start: start as u32, end: end as u32 })
        }
    };
    cpp_tokens::tokens(text).take(most.saturating_add(1)).map(with_place).collect()
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Number {
    Int { value: u64, suffix: String, is_decimal: bool },
    Float { value: f64, is_float: bool },
}

/// Reads a number, or returns what is wrong with it.
pub(crate) fn number(text: &str) -> Result<Number, String> {
    let digits: String = text.chars().filter(|&c| c != '\'').collect::<String>().to_lowercase();
    let hex = digits.strip_prefix("0x");
    let is_real = hex.is_none() && !digits.starts_with("0b") && digits.contains(['.', 'e']);
    if is_real {
        let end = digits.find(|c: char| !matches!(c, '0'..='9' | '.' | 'e' | '+' | '-')).unwrap_or(digits.len());
        let (real, suffix) = digits.split_at(end);
        let is_float = match suffix {
            "f" => true,
            "" | "l" => false,
            _ => return Err(bad_suffix(text, real, suffix)),
        };
        // Rounded once: a `float` is not the rounded `double`.
        let value = if is_float { real.parse::<f32>().map(f64::from) } else { real.parse::<f64>() };
        return value.map(|value| Number::Float { value, is_float }).map_err(|_| format!("`{text}` is not a number"));
    }
    let (radix, rest) = match digits.as_bytes() {
        [b'0', b'x', ..] => (16, &digits[2..]),
        [b'0', b'b', ..] => (2, &digits[2..]),
        [b'0', b'0'..=b'9', ..] => (8, &digits[1..]),
        _ => (10, &digits[..]),
    };
    let end = rest.find(|c: char| !c.is_digit(radix.max(10))).unwrap_or(rest.len());
    let (int, suffix) = rest.split_at(end);
    if radix == 10 && suffix == "f" {
        return Err(format!("`{text}` has the suffix of a `float` and no point"));
    }
    if !matches!(suffix, "" | "u" | "l" | "ul" | "lu" | "ll" | "ull" | "llu") {
        return Err(bad_suffix(text, &digits[..digits.len() - suffix.len()], suffix));
    }
    if let Some(digit) = int.chars().find(|c| !c.is_digit(radix)) {
        let kind = if radix == 8 { "an octal number, as the leading `0` says" } else { "a binary number" };
        return Err(format!("`{digit}` is not a digit of {kind}"));
    }
    let value = u64::from_str_radix(int, radix).map_err(|_| match int {
        "" => format!("`{text}` is not a number"),
        _ => format!("`{text}` does not fit into 64 bits"),
    })?;
    let (sign, length) = (if suffix.contains('u') { "u" } else { "" }, suffix.replace('u', ""));
    Ok(Number::Int { value, suffix: format!("{sign}{length}"), is_decimal: radix == 10 })
}

fn bad_suffix(text: &str, digits: &str, suffix: &str) -> String {
    let of_cpp = match suffix.trim_start_matches('_') {
        "f32" | "f" if digits.contains('.') => format!(": a `float` is `{digits}f`"),
        "f32" => format!(": a `float` is `{digits}.0f`"),
        "f64" => format!(": a `double` is `{digits}{}`", if digits.contains('.') { "" } else { ".0" }),
        "u8" | "u16" | "u32" | "usize" => format!(": an `unsigned` is `{digits}u`"),
        "i8" | "i16" | "i32" | "isize" => format!(": an `int` is `{digits}`"),
        "u64" => format!(": an `unsigned long long` is `{digits}ull`"),
        "i64" => format!(": a `long long` is `{digits}ll`"),
        rest if rest.starts_with(|c: char| c.is_ascii_digit()) => {
            ": digits are grouped by `'`, as in `1'000`".to_owned()
        }
        rest if rest.starts_with(char::is_alphabetic) => format!(": a product is `{digits} * {rest}`"),
        _ => String::new(),
    };
    format!("`{suffix}` is not a suffix of the number `{text}`{of_cpp}")
}

/// Returns what stands between the quotes of a string or a character, without escapes.
pub(crate) fn unquote(text: &str) -> Result<Vec<u8>, String> {
    let inner = text.get(1..text.len() - 1).unwrap_or_default();
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(c) = rest.chars().next() {
        if c != '\\' {
            bytes.extend_from_slice(&rest.as_bytes()[..c.len_utf8()]);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        if let Some(length) = continuation(rest) {
            rest = &rest[length..];
            continue;
        }
        rest = &rest[1..];
        let escaped = rest.chars().next().unwrap_or('\\');
        let simple = "n\nt\tr\r\\\\\"\"''a\u{7}b\u{8}f\u{c}v\u{b}??".as_bytes();
        let digits = |from: &str, radix, most: usize| {
            from.chars().take(most).take_while(|c| c.is_digit(radix)).map(|c| c.to_digit(radix).unwrap_or(0)).collect()
        };
        let (value, length) = if escaped == 'x' {
            let digits: Vec<u32> = digits(&rest[1..], 16, 2);
            (digits.iter().fold(0, |value, digit| value * 16 + digit), 1 + digits.len())
        } else if escaped.is_digit(8) {
            let digits: Vec<u32> = digits(rest, 8, 3);
            (digits.iter().fold(0, |value, digit| value * 8 + digit), digits.len())
        } else {
            let pair = simple.chunks_exact(2).find(|pair| char::from(pair[0]) == escaped);
            (u32::from(pair.ok_or_else(|| format!("`\\{escaped}` is not an escape"))?[1]), 1)
        };
        bytes.push(value as u8);
        rest = &rest[length..];
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        let tokens = lex(text, 0, &mut Texts::default(), 1000);
        tokens.iter().filter(|token| token.kind != Kind::End).map(|token| token.text.to_string()).collect()
    }

    #[test]
    fn words_that_are_operators_become_signs() {
        assert_eq!(texts("a and not b"), ["a", "&&", "!", "b"]);
    }

    #[test]
    fn numbers_have_values_and_suffixes() {
        let int = |value, suffix: &str, is_decimal| Ok(Number::Int { value, suffix: suffix.to_owned(), is_decimal });
        assert_eq!(number("1'000"), int(1000, "", true));
        assert_eq!(number("0xFFu"), int(255, "u", false));
        assert_eq!(number("017"), int(15, "", false));
        assert_eq!(number("0b101LLU"), int(5, "ull", false));
        assert_eq!(number("0"), int(0, "", true));
        assert_eq!(number("1.5e-3f"), Ok(Number::Float { value: f64::from(1.5e-3f32), is_float: true }));
        assert!(number("08").is_err_and(|text| text.contains("octal")));
        assert!(number("1.0f32").is_err_and(|text| text.contains("`1.0f`")));
        assert!(number("18446744073709551616").is_err_and(|text| text.contains("64 bits")));
    }

    #[test]
    fn escapes_are_bytes() {
        assert_eq!(unquote(r#""a\n\x41\101\\""#), Ok(b"a\nAA\\".to_vec()));
        assert!(unquote(r"'\q'").is_err());
    }
}
