//! The value of a C expression of integers, where every name in it has one.

use super::text::{bracketed, size_of};

/// Nesting of brackets and definitions that is followed.
const MAX_DEPTH: u32 = 12;

/// Values of names; the second argument is the depth to go on with.
pub(crate) type Names<'a> = dyn Fn(&str, u32) -> Option<i64> + 'a;

/// The value of `text`; `None` when it is more than sums, products, shifts and known names.
pub(crate) fn value(text: &str, depth: u32, names: &Names<'_>) -> Option<i64> {
    if depth > MAX_DEPTH {
        return None;
    }
    let mut parser = Parser {
        rest: text.trim(),
        depth: depth + 1,
        names,
    };
    let value = parser.shift()?;
    parser.rest.trim().is_empty().then_some(value)
}

struct Parser<'a> {
    rest: &'a str,
    depth: u32,
    names: &'a Names<'a>,
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

    fn shift(&mut self) -> Option<i64> {
        let mut value = self.sum()?;
        loop {
            if self.take("<<") {
                value = value.checked_shl(u32::try_from(self.sum()?).ok()?)?;
            } else if self.take(">>") {
                value = value.checked_shr(u32::try_from(self.sum()?).ok()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        loop {
            if self.take("+") {
                value = value.checked_add(self.product()?)?;
            } else if self.take("-") {
                value = value.checked_sub(self.product()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.atom()?;
        loop {
            if self.take("*") {
                value = value.checked_mul(self.atom()?)?;
            } else if self.take("/") {
                value = value.checked_div(self.atom()?)?;
            } else if self.take("%") {
                value = value.checked_rem(self.atom()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn atom(&mut self) -> Option<i64> {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with('(') {
            let inside = bracketed(self.rest)?;
            self.rest = &self.rest[inside.len() + 2..];
            if size_of(inside).is_some() {
                self.depth += 1;
                return if self.depth > MAX_DEPTH { None } else { self.atom() };
            }
            return value(inside, self.depth, self.names);
        }
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.')
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
            return match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
                Some(hex) => i64::from_str_radix(hex, 16).ok(),
                None => digits.parse().ok(),
            };
        }
        if word == "sizeof" {
            let rest = self.rest.trim_start();
            let inside = rest.starts_with('(').then(|| bracketed(rest))??;
            self.rest = &rest[inside.len() + 2..];
            return size_of(inside).map(i64::from);
        }
        if word.is_empty() {
            return None;
        }
        (self.names)(word, self.depth)
    }
}

#[cfg(test)]
mod tests {
    #[track_caller]
    fn check(text: &str, expected: Option<i64>) {
        let names = |name: &str, _| (name == "threadIdx.x").then_some(5);
        assert_eq!(super::value(text, 0, &names), expected, "{text}");
    }

    #[test]
    fn expressions_have_the_values_of_c() {
        check("2 + 3 * 4 - 1", Some(13));
        check("(int)threadIdx.x * (1 << 4) % 7", Some(80 % 7));
        check("8 * sizeof(float4)", Some(128));
        check("0x10u / 3", Some(5));
        check("other + 1", None);
        check("1 / 0", None);
        check("a ? b : c", None);
        check(&"(".repeat(10_000), None);
    }
}
