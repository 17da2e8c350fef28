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
    let term = parser.bits()?;
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

    /// Returns the result of an operation on `a` and `b` that began at `start`.
    fn result(&self, start: usize, a: Term, b: Term, exact: Option<i64>) -> Option<Term> {
        let exact = exact?;
        let wide = a.wide || b.wide;
        let mut value = exact;
        if let Some(overflow) = self.narrow.filter(|_| !wide && i32::try_from(exact).is_err()) {
            value = i64::from(exact as i32);
            let end = self.text.len() - self.rest.len();
            let text = self.text.get(start..end).unwrap_or_default().trim().to_owned();
            let wrapped = value;
            overflow.borrow_mut().get_or_insert(Overflow { text, exact, wrapped });
        }
        Some(Term { value, wide })
    }

    fn bits(&mut self) -> Option<Term> {
        let and = |parser: &mut Self| parser.operations(&[("&", |a, b| Some(a & b))], Self::shift);
        let xor = |parser: &mut Self| parser.operations(&[("^", |a, b| Some(a ^ b))], and);
        self.operations(&[("|", |a, b| Some(a | b))], xor)
    }

    fn shift(&mut self) -> Option<Term> {
        let start = self.start();
        let mut a = self.sum()?;
        loop {
            if self.take("<<") {
                let b = self.sum()?;
                let exact = u32::try_from(b.value).ok().filter(|by| *by < 32);
                a = self.result(start, a, a, exact.and_then(|by| a.value.checked_mul(1 << by)))?;
            } else if self.take(">>") {
                let b = self.sum()?;
                let exact = a.value.checked_shr(u32::try_from(b.value).ok()?);
                a = self.result(start, a, a, exact)?;
            } else {
                return Some(a);
            }
        }
    }

    fn sum(&mut self) -> Option<Term> {
        self.operations(&[("+", i64::checked_add), ("-", i64::checked_sub)], Self::product)
    }

    fn product(&mut self) -> Option<Term> {
        let operators: [Operator; 3] = [("*", i64::checked_mul), ("/", i64::checked_div), ("%", i64::checked_rem)];
        self.operations(&operators, Self::atom)
    }

    /// Operations of one precedence, from left to right.
    fn operations(&mut self, operators: &[Operator], operand: impl Fn(&mut Self) -> Option<Term>) -> Option<Term> {
        let start = self.start();
        let mut a = operand(self)?;
        while let Some((_, apply)) = operators.iter().find(|(text, _)| self.take(text)) {
            let b = operand(self)?;
            a = self.result(start, a, b, apply(a.value, b.value))?;
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
