//! Which part of an index is outside: `row * K + k` names a row and a place in it, and each has a bound of its own.
//!
//! An index is taken apart only where its bounds are certain: each pitch is a parameter or a constant, divides the one
//! before it (at last, the number of elements), and all parts have values.

use super::{arrays::Target, case::Case, subscript::dotted};
use crate::source::{Use, expression, text::bracketed};
use program::text::split;

/// A part of an index that is outside its bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outside {
    /// The text as written: `k0 + threadIdx.x`.
    pub(crate) text: String,
    pub(crate) value: i64,
    /// End of the range of valid values, `0 .. limit`.
    pub(crate) limit: i64,
    /// The bound's name in the source, when it is a pitch.
    pub(crate) pitch: Option<String>,
    /// The pitch that this part is multiplied by, by name.
    pub(crate) factor: Option<String>,
    /// Whether this is the outermost part, whose bound follows from the size of the array.
    pub(crate) outermost: bool,
    pub(crate) several: bool,
}

/// A term of a sum: sign, what varies, and what that is multiplied by.
struct Term<'t> {
    negative: bool,
    text: &'t str,
    pitch: i64,
}

/// Splits at `+` and `-` outside brackets.
fn terms(text: &str) -> Vec<(bool, &str)> {
    let mut found = Vec::new();
    let (mut depth, mut start, mut negative) = (0, 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '+' | '-' if depth == 0 && !text[start..at].trim().is_empty() => {
                found.push((negative, text[start..at].trim()));
                start = at + 1;
                negative = c == '-';
            }
            _ => {}
        }
    }
    found.push((negative, text[start..].trim()));
    found
}

/// Returns the text without brackets around all of it.
fn bare(text: &str) -> &str {
    let text = text.trim();
    match bracketed(text) {
        Some(inside) if text.starts_with('(') && inside.len() + 2 == text.len() => bare(inside),
        _ => text,
    }
}

impl Outside {
    /// Returns the parameter that is this part's bound: the pitch, or the one integer that is as large.
    pub(crate) fn bound(&self, integers: &[(String, i64)]) -> Option<String> {
        if let Some(pitch) = &self.pitch {
            return Some(pitch.clone()).filter(|pitch| pitch.parse::<i64>().is_err());
        }
        let fits = |(name, value): &&(String, i64)| *value == self.limit && Some(name) != self.factor.as_ref();
        let mut fitting = integers.iter().filter(fits);
        match (fitting.next(), fitting.next()) {
            (Some((name, _)), None) => Some(name.clone()),
            _ => None,
        }
    }
}

impl Case<'_> {
    /// Returns the value of a text for this thread, with what was concluded from the element.
    pub(crate) fn value(&self, text: &str) -> Option<i64> {
        let explained = self.explained.as_ref()?;
        let names = |name: &str, _: u32| match explained.values.iter().find(|(known, _)| known == name) {
            Some((_, value)) => Some(*value),
            None => self.launch.evaluate_in(explained.file, name, self.who),
        };
        expression::value(text, 0, &names)
    }

    /// Returns the value that a text would have for this thread if a variable had another value.
    pub(crate) fn with_value(&self, text: &str, (name, value): (&str, i64), depth: u32) -> Option<i64> {
        expression::value(text, depth, &|known, depth| match self.definition(known) {
            _ if known == name => Some(value),
            Some(text) => self.with_value(text, (name, value), depth).or_else(|| self.value(known)),
            None => self.value(known),
        })
    }

    /// Returns the index in `.file` of the file that has the use.
    pub(crate) fn file(&self) -> u32 {
        let of_instr = || self.launch.loc(self.instr).map_or(u32::MAX, |loc| loc.file);
        self.explained.as_ref().map_or_else(of_instr, |explained| explained.file)
    }

    /// Returns the value of a variable that is set once, as written.
    pub(crate) fn definition(&self, name: &str) -> Option<&str> {
        self.launch.source_of_file(self.file())?.definition(&self.launch.inputs.kernel.name, name)
    }

    /// Returns the value of a parameter, a constant or a number: the same for all threads, and chosen by the
    /// programmer.
    fn uniform(&self, text: &str) -> Option<i64> {
        let names = |name: &str, _: u32| self.launch.value_in(self.file(), name);
        let text = bare(text);
        if text.contains("blockDim") || text.contains("gridDim") {
            return None;
        }
        expression::value(text, 0, &names)
    }

    /// Returns the parts of the index that are outside, outermost first; empty when that is not certain.
    pub(crate) fn outside(&self, target: &Target) -> Vec<Outside> {
        let Some(explained) = self.explained.as_ref().filter(|explained| explained.overflow.is_none()) else {
            return Vec::new();
        };
        let dims = &target.element.dims;
        if explained.subscripts.len() > 1 {
            if dims.len() != explained.subscripts.len() {
                return Vec::new();
            }
            let parts = explained.subscripts.iter().zip(&explained.used.subscripts).zip(dims);
            return parts
                .enumerate()
                .filter(|(_, ((value, _), dim))| **value < 0 || **value >= **dim as i64)
                .map(|(place, ((value, text), dim))| Outside {
                    text: text.clone(),
                    value: *value,
                    limit: *dim as i64,
                    pitch: None,
                    factor: None,
                    outermost: place == 0,
                    several: true,
                })
                .collect();
        }
        let Some(subscript) = explained.used.subscripts.first() else { return Vec::new() };
        self.parts(subscript, target.element.n_elements as i64).unwrap_or_default()
    }

    fn parts(&self, subscript: &str, n: i64) -> Option<Vec<Outside>> {
        let mut text = bare(subscript);
        // `const int idx = row * K + k; A[idx]`
        if dotted(text).len() == 1
            && dotted(text)[0] == text
            && let Some(definition) = self.definition(text)
            && terms(bare(definition)).iter().any(|(_, term)| self.pitch(term).is_some())
        {
            text = bare(definition);
        }
        // The largest pitch makes rows; what is smaller is a place in one.
        let terms = terms(text).into_iter().map(|(negative, term)| (negative, term, self.pitch(term)));
        let terms: Vec<_> = terms.collect();
        let pitches = terms.iter().filter_map(|(_, _, pitch)| pitch.as_ref());
        let largest = pitches.map(|(_, name, value)| (name.clone(), *value)).max_by_key(|(_, value)| *value);
        let is_largest = |value: i64| largest.as_ref().is_some_and(|(_, largest)| value == *largest);
        let parsed = terms.into_iter().map(|(negative, term, pitch)| match pitch {
            Some((text, _, pitch)) if is_largest(pitch) => Term { negative, text, pitch },
            _ => Term { negative, text: term, pitch: 1 },
        });
        let parsed: Vec<Term<'_>> = parsed.collect();
        let mut pitches: Vec<(String, i64)> = largest.into_iter().collect();
        let several = !pitches.is_empty();
        pitches.push((String::new(), 1));
        let mut above = (None, n);
        let mut found = Vec::new();
        for (place, (name, pitch)) in pitches.iter().enumerate() {
            if above.1 % pitch != 0 {
                return None;
            }
            let limit = above.1 / pitch;
            let mut value = 0;
            let mut text = String::new();
            for term in parsed.iter().filter(|term| term.pitch == *pitch) {
                // A product that is not a pitch could contain one: `z * H * W`.
                let product = term.pitch == 1 && term.text.contains('*') && !term.text.contains("blockIdx");
                let hides = product && self.pitch(term.text).is_none_or(|(_, name, _)| !self.constant(&name));
                if several && hides {
                    return None;
                }
                let value_of_term = self.value(term.text)?;
                // A multiple of the pitch above, hidden in a part that should be smaller.
                if several && self.uniform(term.text).is_some_and(|value_of_term| value_of_term >= limit) {
                    return None;
                }
                value += if term.negative { -value_of_term } else { value_of_term };
                text += match (text.is_empty(), term.negative) {
                    (true, false) => "",
                    (true, true) => "-",
                    (false, false) => " + ",
                    (false, true) => " - ",
                };
                text += bare(term.text);
            }
            if value < 0 || value >= limit {
                found.push(Outside {
                    text,
                    value,
                    limit,
                    // The bound of a part is the pitch above it, by name when this one's own is 1.
                    pitch: above.0.clone().filter(|_| *pitch == 1),
                    factor: Some(name.clone()).filter(|name| !name.is_empty()),
                    outermost: place == 0,
                    several,
                });
            }
            above = (Some(name.clone()), *pitch);
        }
        // What is below its bound and what is above can make up for each other.
        (found.iter().all(|part| part.value >= 0) || found.len() == 1).then_some(found)
    }

    /// Splits an index `X * P + Y`, in any order, into X, P with its value, and Y.
    pub(crate) fn row_and_place(&self) -> Option<(String, (String, i64), String)> {
        let uses = match (&self.explained, &self.target) {
            (Some(explained), _) => vec![explained.used.clone()],
            (None, Some(target)) => self.launch.uses(self.instr, &target.element.name, self.access.kind),
            (None, None) => return None,
        };
        let [Use { subscripts, .. }] = &uses[..] else { return None };
        let [subscript] = &subscripts[..] else { return None };
        let [(false, a), (false, b)] = terms(bare(subscript))[..] else { return None };
        let (row, name, value, place) = match (self.pitch(a), self.pitch(b)) {
            (Some((row, name, value)), None) => (row, name, value, b),
            (None, Some((row, name, value))) => (row, name, value, a),
            _ => return None,
        };
        Some((row.to_owned(), (name, value), bare(place).to_owned()))
    }

    /// Returns whether a name is a number, or a constant of the source, but no parameter.
    fn constant(&self, name: &str) -> bool {
        name.parse::<i64>().is_ok()
            || self.launch.source_of_file(self.file()).is_some_and(|source| source.constant(name).is_some())
    }

    /// Splits a product into its text, pitch and the pitch's value: `row * K` into `row`, `K` and K's value.
    fn pitch<'t>(&self, term: &'t str) -> Option<(&'t str, String, i64)> {
        let factors = split(bare(term), '*');
        let [a, b] = factors[..] else { return None };
        let (varies, pitch) = match (self.uniform(a), self.uniform(b)) {
            (None, Some(_)) => (a, b),
            (Some(_), None) => (b, a),
            _ => return None,
        };
        let value = self.uniform(pitch).filter(|value| *value > 1)?;
        let varies = bare(varies);
        // `blockIdx.x * 256` is a place along the same axis.
        if varies.starts_with("blockIdx") && dotted(varies).len() == 1 && !varies.contains(['+', '-', '*', '/', '%']) {
            return None;
        }
        Some((varies, bare(pitch).to_owned(), value))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn sums_are_split_outside_brackets() {
        assert_eq!(
            super::terms("(a + b) * K - c[i + 1] + 2"),
            [(false, "(a + b) * K"), (true, "c[i + 1]"), (false, "2")]
        );
        assert_eq!(super::terms("-1"), [(false, "-1")]);
    }

    #[test]
    fn brackets_around_everything_go() {
        assert_eq!(super::bare("((a + b))"), "a + b");
        assert_eq!(super::bare("(a) + (b)"), "(a) + (b)");
    }
}
