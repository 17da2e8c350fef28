//! Sizes of a problem, and the one way to write them: on command lines, in chapters of the book, in tables.

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Work, distinct};

/// Maximum number of elements of a matrix: kernels compute indices in an `int`.
const MAX_ELEMENTS: usize = i32::MAX as usize;

/// Examples of sizes, for the end of a message.
const EXAMPLES: &str = "sizes look like 1024 (M = N = K), 1025x1023x1021 (MxNxK) or, of a transpose, 30000x333 (MxN)";

/// Sizes of a problem. A transpose is of `m` rows and `n` columns, and has no `k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Shape {
    /// Rows of A and C.
    pub m: usize,
    /// Columns of B and C.
    pub n: usize,
    /// Columns of A, rows of B.
    pub k: usize,
}

impl Shape {
    pub const fn square(size: usize) -> Self {
        Self { m: size, n: size, k: size }
    }

    /// Returns the distinct sizes that a command line asks for: those of `--size`, or the one of `--m`, `--n` and
    /// `--k`.
    ///
    /// # Errors
    /// Returns an error if some of the three are missing, or the matrices would be too large.
    pub fn from_options(sizes: &[Self], sides: [Option<usize>; 3]) -> Result<Vec<Self>, WrongSize> {
        let mut asked = distinct(sizes.iter().copied());
        match sides {
            [None, None, None] => {}
            [Some(m), Some(n), Some(k)] => asked.push(Self { m, n, k }.check_indexable()?),
            sides => {
                let names = ["--m", "--n", "--k"].into_iter().zip(sides);
                let missing: Vec<&str> = names.filter(|(_, side)| side.is_none()).map(|(name, _)| name).collect();
                let missing = format!("{} {}", missing.join(" and "), if missing.len() > 1 { "are" } else { "is" });
                return Err(WrongSize(format!(
                    "--m, --n and --k go together, and {missing} missing; as one option: --size 1025x1023x1021"
                )));
            }
        }
        Ok(asked)
    }

    /// Checks that this size suits at least one of `works`. `owner` names their step or kernel, for the message.
    pub fn check_suits(self, owner: &str, works: impl IntoIterator<Item = Work>) -> Result<(), WrongSize> {
        if works.into_iter().any(|work| work.shape(self).is_some()) {
            Ok(())
        } else {
            Err(WrongSize::no_depth(self, owner))
        }
    }

    /// Formats the shape as a command line takes it: `4096`, `1025x1023x1021`, and of a transpose `30000x333`.
    pub fn typed(self) -> String {
        if self.m == self.n && self.n == self.k { self.m.to_string() } else { self.to_string() }
    }

    /// Formats the shape for a text: `4096`, `1025×1023×1021`, and of a transpose `30000×333`.
    pub fn short(self) -> String {
        let is_square = self.m == self.n && (self.k == self.m || self.k == 0);
        if is_square { self.m.to_string() } else { self.to_string().replace('x', "×") }
    }

    /// Returns the multiply-adds of a product, or the elements of a transpose.
    pub fn volume(self) -> f64 {
        self.m as f64 * self.n as f64 * self.k.max(1) as f64
    }

    /// Returns the thread-instructions after which a launch on the emulated GPU counts as runaway: many times what the
    /// slowest kernel of the ladder needs, so that a loop without an end is reported in seconds.
    pub fn budget(self) -> u64 {
        const MINIMUM: f64 = 1e8;
        const PER_MULTIPLY_ADD: f64 = 400.0;
        (MINIMUM + PER_MULTIPLY_ADD * self.volume()) as u64
    }

    /// Returns the shape when an `int` can index the elements of each matrix, and an error otherwise.
    fn check_indexable(self) -> Result<Self, WrongSize> {
        let Self { m, n, k } = self;
        let matrices = match k {
            0 => vec![("the matrix", m, n)],
            _ => vec![("A", m, k), ("B", k, n), ("C", m, n)],
        };
        let too_large = |(_, rows, columns): &(_, usize, usize)| {
            rows.checked_mul(*columns).is_none_or(|elements| elements > MAX_ELEMENTS)
        };
        let Some((matrix, rows, columns)) = matrices.into_iter().find(too_large) else { return Ok(self) };
        Err(WrongSize(format!(
            "`{}` is too large: {matrix} would have {rows} x {columns} elements, and kernels index with an int, \
             which ends at {MAX_ELEMENTS}; the largest square is 46340",
            self.typed()
        )))
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { m, n, k } = self;
        match *k {
            0 => write!(f, "{m}x{n}"),
            _ => write!(f, "{m}x{n}x{k}"),
        }
    }
}

/// A sentence about a size that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WrongSize(pub String);

impl WrongSize {
    /// Refuses a size of a transpose for a step or kernel that multiplies matrices.
    pub fn no_depth(size: Shape, owner: &str) -> Self {
        Self(format!("`{size}` is a size of a transpose, and {owner} multiplies matrices; {EXAMPLES}"))
    }
}

/// Parses one number of a size, from 1 to the largest `int`.
pub fn side(text: &str) -> Result<usize, String> {
    let part = text.trim();
    // `parse` would take a plus too.
    let is_number = part.bytes().all(|letter| letter.is_ascii_digit());
    match part.parse() {
        Ok(side) if is_number && (1..=MAX_ELEMENTS).contains(&side) => Ok(side),
        _ => Err(format!("`{part}` is not a whole number from 1 to {MAX_ELEMENTS}")),
    }
}

/// `4096`, `1025x1023x1021`, and of a transpose `30000x333`; also with `X` or `×`, and with spaces around numbers.
///
/// ```
/// use catalog::Shape;
///
/// let shape: Shape = "1025x1023x1021".parse().unwrap();
/// assert_eq!((shape.m, shape.n, shape.k), (1025, 1023, 1021));
/// ```
impl FromStr for Shape {
    type Err = WrongSize;

    fn from_str(text: &str) -> Result<Self, WrongSize> {
        let (size, wrong) = (text.trim(), |why: String| WrongSize(format!("{why}; {EXAMPLES}")));
        if size.is_empty() {
            return Err(wrong("a size is missing".into()));
        }
        let parts: Vec<&str> = text.split(['x', 'X', '×']).collect();
        if parts.iter().any(|part| part.trim().is_empty()) {
            return Err(wrong(format!("`{size}` lacks a number before or after an x")));
        }
        let sides: Vec<usize> = parts.iter().map(|part| side(part)).collect::<Result<_, _>>().map_err(wrong)?;
        let shape = match sides.as_slice() {
            [size] => Self::square(*size),
            [m, n] => Self { m: *m, n: *n, k: 0 },
            [m, n, k] => Self { m: *m, n: *n, k: *k },
            more => return Err(wrong(format!("`{size}` has {} numbers", more.len()))),
        };
        shape.check_indexable()
    }
}
