//! Sizes of a problem, and the one way to write them: on command lines, in chapters of the book, in tables.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Work;

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
        let mut asked: Vec<Self> = Vec::new();
        for size in sizes {
            if !asked.contains(size) {
                asked.push(*size);
            }
        }
        match sides {
            [None, None, None] => {}
            [Some(m), Some(n), Some(k)] => asked.push(Self { m, n, k }.check_indexable()?),
            sides => {
                let names = ["--m", "--n", "--k"].into_iter().zip(sides);
                let missing = names.filter(|(_, side)| side.is_none()).map(|(name, _)| name);
                return Err(WrongSize::Incomplete { missing: missing.collect::<Vec<_>>().join(" and ") });
            }
        }
        Ok(asked)
    }

    /// Checks that this size suits at least one of `works`. `owner` names their step or kernel, for the message.
    pub fn check_suits(self, owner: &str, works: impl IntoIterator<Item = Work>) -> Result<(), WrongSize> {
        if works.into_iter().any(|work| work.shape(self).is_some()) {
            Ok(())
        } else {
            Err(WrongSize::NoDepth { size: self, owner: owner.to_owned() })
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
        match matrices.into_iter().find(too_large) {
            None => Ok(self),
            Some((matrix, rows, columns)) => Err(WrongSize::TooManyElements { size: self, matrix, rows, columns }),
        }
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

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WrongSize {
    #[error("a size is missing; {EXAMPLES}")]
    Empty,
    #[error("`{size}` lacks a number before or after an x; {EXAMPLES}")]
    Missing { size: String },
    #[error("{0}; {EXAMPLES}")]
    Side(WrongSide),
    #[error("`{size}` has {n} numbers; {EXAMPLES}")]
    TooManySides { size: String, n: usize },
    #[error(
        "`{size}` is too large: {matrix} would have {rows} x {columns} elements, and kernels index with an int, \
         which ends at {MAX_ELEMENTS}; the largest square is 46340",
        size = .size.typed()
    )]
    TooManyElements { size: Shape, matrix: &'static str, rows: usize, columns: usize },
    #[error("`{size}` is a size of a transpose, and {owner} multiplies matrices; {EXAMPLES}")]
    NoDepth {
        size: Shape,
        /// The step or kernel that has the works.
        owner: String,
    },
    #[error(
        "--m, --n and --k go together, and {missing} {verb} missing; as one option: --size 1025x1023x1021",
        verb = if .missing.contains(' ') { "are" } else { "is" }
    )]
    Incomplete { missing: String },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{part}` is not a whole number from 1 to {MAX_ELEMENTS}")]
pub struct WrongSide {
    pub part: String,
}

/// Parses one number of a size, from 1 to the largest `int`.
pub fn side(text: &str) -> Result<usize, WrongSide> {
    let part = text.trim();
    // `parse` would take a plus too.
    let is_number = part.bytes().all(|letter| letter.is_ascii_digit());
    match part.parse() {
        Ok(side) if is_number && (1..=MAX_ELEMENTS).contains(&side) => Ok(side),
        _ => Err(WrongSide { part: part.to_owned() }),
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
        if text.trim().is_empty() {
            return Err(WrongSize::Empty);
        }
        let parts: Vec<&str> = text.split(['x', 'X', '×']).collect();
        if parts.iter().any(|part| part.trim().is_empty()) {
            return Err(WrongSize::Missing { size: text.trim().to_owned() });
        }
        let sides: Vec<usize> =
            parts.iter().map(|part| side(part)).collect::<Result<_, _>>().map_err(WrongSize::Side)?;
        let shape = match sides.as_slice() {
            [size] => Self::square(*size),
            [m, n] => Self { m: *m, n: *n, k: 0 },
            [m, n, k] => Self { m: *m, n: *n, k: *k },
            more => {
                return Err(WrongSize::TooManySides { size: text.trim().to_owned(), n: more.len() });
            }
        };
        shape.check_indexable()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, wanted: Result<[usize; 3], &str>) {
        match (text.parse::<Shape>(), wanted) {
            (Ok(Shape { m, n, k }), Ok(wanted)) => {
                assert_eq!([m, n, k], wanted, "{text}");
                let shape = Shape { m, n, k };
                assert_eq!(shape.typed().parse(), Ok(shape), "what is shown can be typed");
            }
            (Err(error), Err(wanted)) => {
                let error = error.to_string();
                assert!(error.starts_with(wanted), "{text}: {error}");
                let example = if wanted.contains("would have") { "46340" } else { "1025x1023x1021" };
                assert!(error.contains(example), "{text}: no right size in: {error}");
            }
            (got, wanted) => panic!("{text}: {got:?}, expected {wanted:?}"),
        }
    }

    #[test]
    fn a_size_is_one_two_or_three_numbers() {
        for (text, wanted) in [
            ("4096", [4096, 4096, 4096]),
            ("1", [1, 1, 1]),
            ("0064", [64, 64, 64]),
            ("1025x1023x1021", [1025, 1023, 1021]),
            ("1025X1023X1021", [1025, 1023, 1021]),
            ("1025×1023×1021", [1025, 1023, 1021]),
            (" 1025 x 1023 x 1021 ", [1025, 1023, 1021]),
            ("30000x333", [30000, 333, 0]),
            ("512x512", [512, 512, 0]),
            ("512x512x512", [512, 512, 512]),
            ("46340", [46340, 46340, 46340]),
            ("2147483647x1", [2147483647, 1, 0]),
        ] {
            check(text, Ok(wanted));
        }
    }

    #[test]
    fn what_is_no_size_is_refused_by_the_part_that_is_wrong() {
        for (text, wanted) in [
            ("", "a size is missing; "),
            ("  ", "a size is missing; "),
            ("x", "`x` lacks a number before or after an x; "),
            ("64x", "`64x` lacks a number before or after an x; "),
            ("64xx64", "`64xx64` lacks a number before or after an x; "),
            ("64xmanyx64", "`many` is not a whole number from 1 to 2147483647; "),
            ("64x64x0", "`0` is not a whole number from 1 to 2147483647; "),
            ("30000x0", "`0` is not a whole number from 1 to 2147483647; "),
            ("1x2x3x4", "`1x2x3x4` has 4 numbers; "),
            ("46341", "`46341` is too large: A would have 46341 x 46341 elements"),
            ("1x50000x50000", "`1x50000x50000` is too large: B would have 50000 x 50000 elements"),
            ("50000x50000x1", "`50000x50000x1` is too large: C would have 50000 x 50000 elements"),
            ("50000x50000", "`50000x50000` is too large: the matrix would have 50000 x 50000 elements"),
        ] {
            check(text, Err(wanted));
        }
        let numbers = ["many", "-5", "+5", "1e3", "1_000", "1024.0", "512,1024", "5 12", "٣", "0"];
        for text in numbers.into_iter().chain(["2147483648", "99999999999999999999999"]) {
            check(text, Err(&format!("`{text}` is not a whole number from 1 to 2147483647; ")));
        }
    }

    #[test]
    fn a_size_without_k_is_one_of_transposes_alone() {
        let flat = Shape { m: 30, n: 3, k: 0 };
        for (step, size, suits) in [
            ("v08", flat, true),
            ("v05", flat, false),
            ("v00", flat, false),
            ("v08", Shape::square(8), true),
            ("v05", Shape::square(8), true),
        ] {
            let works = crate::find(step).expect("a step").kernels.iter().map(|kernel| kernel.work);
            let said = size.check_suits(step, works);
            assert_eq!(said.is_ok(), suits, "{step}: {said:?}");
        }
        assert_eq!(Work::Transpose.shape(Shape::square(8)), Some(Shape { m: 8, n: 8, k: 0 }));
    }
}
