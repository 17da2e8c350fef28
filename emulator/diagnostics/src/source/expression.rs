//! The value of a C expression of integers, where every name in it has one.

#[cfg(test)]
mod tests;

use std::cell::RefCell;

use super::text::{bracketed, size_of};

/// Limit on the depth of brackets and definitions that are followed.
const MAX_DEPTH: u32 = 12;

/// Values of names; the second argument is the depth to go on with.
pub(crate) type Names<'a> = dyn Fn(&str, u32) -> Option<i64> + 'a;

/// An operation whose result does not fit in an `int`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Overflow {
    /// The text as written: `row * N`.
    pub(crate) text: String,
    pub(crate) exact: i64,
    /// The value wrapped to an `int`.
    pub(crate) wrapped: i64,
}

/// Destination of the first overflow of `int` arithmetic; `None` for exact arithmetic.
pub(crate) type Narrow<'a> = Option<&'a RefCell<Option<Overflow>>>;

/// Returns the value of `text`; `None` when it is more than arithmetic on known names.
pub(crate) fn value(text: &str, depth: u32, names: &Names<'_>) -> Option<i64> {
    evaluate(text, depth, names, None)
}

/// Returns the value of `text`; with `narrow`, as `int` arithmetic computes it: the first operation that does not fit
/// is put there.
pub(crate) fn evaluate(text: &str, depth: u32, names: &Names<'_>, narrow: Narrow<'_>) -> Option<i64> {
    if depth > MAX_DEPTH {
        return None;
    }
    let text = text.trim();
    let mut parser = Parser { text, rest: text, depth: depth + 1, names, narrow };
    let term = parser.operations(0)?;
    parser.rest.trim().is_empty().then_some(term.value)
}

/// A value, and whether it has 64 bits.
#[derive(Clone, Copy)]
struct Term {
    value: i64,
    wide: bool,
}

/// An operator as written, and its exact result.
type Operator = (&'static str, fn(i64, i64) -> Option<i64>);

/// Operators by their precedence, from those that bind least.
const LEVELS: [&[Operator]; 6] = [
    &[("|", |a, b| Some(a | b))],
    &[("^", |a, b| Some(a ^ b))],
    &[("&", |a, b| Some(a & b))],
    &[
        ("<<", |a, by| a.checked_mul(1 << u32::try_from(by).ok().filter(|by| *by < 32)?)),
        (">>", |a, by| a.checked_shr(u32::try_from(by).ok()?)),
    ],
    &[("+", i64::checked_add), ("-", i64::checked_sub)],
    &[("*", i64::checked_mul), ("/", i64::checked_div), ("%", i64::checked_rem)],
];

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    depth: u32,
    names: &'a Names<'a>,
    narrow: Narrow<'a>,
}

impl Parser<'_> {
    fn take(&mut self, operator: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(operator) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn start(&mut self) -> usize {
        self.rest = self.rest.trim_start();
        self.text.len() - self.rest.len()
    }

    /// Returns the result of an operation that began at `start`.
    fn result(&self, start: usize, wide: bool, exact: i64) -> Term {
        let mut value = exact;
        if let Some(overflow) = self.narrow.filter(|_| !wide && i32::try_from(exact).is_err()) {
            value = i64::from(exact as i32);
            let end = self.text.len() - self.rest.len();
            let text = self.text.get(start..end).unwrap_or_default().trim().to_owned();
            let wrapped = value;
            overflow.borrow_mut().get_or_insert(Overflow { text, exact, wrapped });
        }
        Term { value, wide }
    }

    /// Operations of one level of [`LEVELS`] and of those behind it, from left to right.
    fn operations(&mut self, level: usize) -> Option<Term> {
        let Some(operators) = LEVELS.get(level) else { return self.atom() };
        let start = self.start();
        let mut a = self.operations(level + 1)?;
        while let Some((text, apply)) = operators.iter().find(|(text, _)| self.take(text)) {
            let b = self.operations(level + 1)?;
            // The count of a shift has no influence on its type.
            let wide = a.wide || b.wide && !matches!(*text, "<<" | ">>");
            a = self.result(start, wide, apply(a.value, b.value)?);
        }
        Some(a)
    }

    fn atom(&mut self) -> Option<Term> {
        let narrow = |value: i64| Term { value, wide: false };
        self.rest = self.rest.trim_start();
        if self.rest.starts_with('(') {
            let inside = bracketed(self.rest)?;
            self.rest = &self.rest[inside.len() + 2..];
            if let Some(size) = size_of(inside) {
                self.depth += 1;
                let term = if self.depth > MAX_DEPTH { None } else { self.atom() }?;
                let wide = size == 8;
                return Some(Term { wide, ..term });
            }
            return evaluate(inside, self.depth, self.names, self.narrow).map(narrow);
        }
        let end =
            self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
            let wide = word[digits.len()..].to_ascii_lowercase().contains('l');
            let value = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
                Some(hex) => i64::from_str_radix(hex, 16).ok(),
                None => digits.parse().ok(),
            }?;
            return Some(Term { value, wide });
        }
        if word == "sizeof" {
            let rest = self.rest.trim_start();
            let inside = rest.starts_with('(').then(|| bracketed(rest))??;
            self.rest = &rest[inside.len() + 2..];
            let value = i64::from(size_of(inside)?);
            return Some(Term { value, wide: true });
        }
        if word.is_empty() {
            return None;
        }
        (self.names)(word, self.depth).map(narrow)
    }
}
