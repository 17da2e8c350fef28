//! Tasks whose idea is on the host: the geometry of a launch, the operands of a call of cuBLAS.
//!
//! What a learner writes is a small TOML file of expressions in M, N and K, so that nothing has to be compiled:
//!
//! ```toml
//! grid = ["ceil_div(N, 32)", "ceil_div(M, 32)", "1"]
//! block = ["1024", "1", "1"]
//! arguments = ["M", "N", "K", "A", "B", "C"]
//! ```

use ladder::Shape;
use serde::{Deserialize, Serialize};

/// What the host does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostCall {
    /// Launches a finished kernel; the learner writes a [`LaunchAnswer`].
    Launch {
        /// Its source under `kernels/`, without `.cu`.
        source: String,
    },
    /// Calls `cublasSgemm` for a row-major product; the learner writes a [`BlasAnswer`].
    Blas,
}

/// A number, or an expression of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Number {
    /// `32`
    Value(i64),
    /// `"ceil_div(N, 32)"`
    Expression(String),
}

impl Number {
    /// For a shape.
    ///
    /// # Errors
    /// With a sentence, when it makes no sense.
    pub fn value(&self, shape: Shape) -> Result<i64, String> {
        match self {
            Self::Value(value) => Ok(*value),
            Self::Expression(text) => evaluate(text, shape).map_err(|why| format!("`{text}`: {why}")),
        }
    }
}

/// How a kernel is launched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchAnswer {
    /// Blocks in x, y, z.
    pub grid: [Number; 3],
    /// Threads in x, y, z.
    pub block: [Number; 3],
    /// Names of the arguments, in order.
    pub arguments: Vec<String>,
}

/// The arguments of `cublasSgemm`, apart from the handle, alpha = 1, beta = 0 and C.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlasAnswer {
    /// `n` or `t`: whether the first operand is transposed.
    pub transa: String,
    /// The same of the second.
    pub transb: String,
    /// Rows of the column-major result.
    pub m: Number,
    /// Its columns.
    pub n: Number,
    /// Terms of a sum.
    pub k: Number,
    /// `A` or `B`: which matrix is the first operand.
    pub a: String,
    /// Elements from one column of it to the next.
    pub lda: Number,
    /// Which matrix is the second operand.
    pub b: String,
    /// Elements from one column of it to the next.
    pub ldb: Number,
    /// Elements from one column of C to the next.
    pub ldc: Number,
}

/// Reads an answer.
///
/// # Errors
/// With line and field.
pub fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(0, |span| {
            text[..span.start.min(text.len())].matches('\n').count() + 1
        });
        format!("line {line}: {}", error.message().trim().replace('\n', ", "))
    })
}

/// The value of an expression in M, N and K: whole numbers, `+ - * / %` as in C, parentheses, `ceil_div(a, b)`,
/// `min(a, b)`, `max(a, b)`.
///
/// # Errors
/// With a sentence.
pub fn evaluate(text: &str, shape: Shape) -> Result<i64, String> {
    let mut parser = Parser {
        rest: text,
        shape,
        depth: 0,
    };
    let value = parser.sum()?;
    match parser.rest.trim() {
        "" => Ok(value),
        rest => Err(format!("there is `{rest}` after its end")),
    }
}

struct Parser<'a> {
    rest: &'a str,
    shape: Shape,
    depth: u32,
}

/// Parentheses inside of each other.
const DEEPEST: u32 = 64;

impl Parser<'_> {
    fn takes(&mut self, c: char) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(c) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Result<i64, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("it is too deep".into());
        }
        let mut value = self.product()?;
        loop {
            value = if self.takes('+') {
                within(value.checked_add(self.product()?))?
            } else if self.takes('-') {
                within(value.checked_sub(self.product()?))?
            } else {
                self.depth -= 1;
                return Ok(value);
            };
        }
    }

    fn product(&mut self) -> Result<i64, String> {
        let mut value = self.factor()?;
        loop {
            value = if self.takes('*') {
                within(value.checked_mul(self.factor()?))?
            } else if self.takes('/') {
                divided(value, self.factor()?, i64::checked_div)?
            } else if self.takes('%') {
                divided(value, self.factor()?, i64::checked_rem)?
            } else {
                return Ok(value);
            };
        }
    }

    fn factor(&mut self) -> Result<i64, String> {
        if self.takes('(') {
            let value = self.sum()?;
            return self.closed(value);
        }
        let rest = self.rest.trim_start();
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        self.rest = after;
        let size = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        match word {
            "" => Err(match rest.chars().next() {
                Some(c) => format!("`{c}` is not understood"),
                None => "it ends too early".into(),
            }),
            "M" | "rows" => Ok(size(self.shape.m)),
            "N" | "cols" => Ok(size(self.shape.n)),
            "K" => Ok(size(self.shape.k)),
            "ceil_div" | "min" | "max" => {
                if !self.takes('(') {
                    return Err(format!("{word} takes two numbers in parentheses"));
                }
                let first = self.sum()?;
                if !self.takes(',') {
                    return Err(format!("{word} takes two numbers in parentheses"));
                }
                let second = self.sum()?;
                let value = match word {
                    "min" => first.min(second),
                    "max" => first.max(second),
                    _ => {
                        let above = within(first.checked_add(second))? - 1;
                        divided(above, second, i64::checked_div)?
                    }
                };
                self.closed(value)
            }
            number if number.starts_with(|c: char| c.is_ascii_digit()) => number
                .parse()
                .map_err(|_| format!("`{number}` is no whole number")),
            "ceil" => Err("numbers are whole here, and / cuts: write ceil_div(a, b)".into()),
            other => Err(format!(
                "`{other}` is not known; there are M, N, K, ceil_div, min and max"
            )),
        }
    }

    fn closed(&mut self, value: i64) -> Result<i64, String> {
        match self.takes(')') {
            true => Ok(value),
            false => Err("a parenthesis is not closed".into()),
        }
    }
}

fn within(value: Option<i64>) -> Result<i64, String> {
    value.ok_or_else(|| "the number is too large".to_owned())
}

fn divided(a: i64, b: i64, by: fn(i64, i64) -> Option<i64>) -> Result<i64, String> {
    match b {
        0 => Err("this divides by zero".into()),
        b => within(by(a, b)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { m: 100, n: 33, k: 7 };

    #[test]
    fn expressions_are_those_of_c() {
        let value = |text| evaluate(text, SHAPE);
        assert_eq!(value("(N + 31) / 32"), Ok(2));
        assert_eq!(value("ceil_div(M, 32) * 2 - 1"), Ok(7));
        assert_eq!(value("M - N - K * 2 % 4"), Ok(65));
        assert_eq!(value("max(min(M, N), K)"), Ok(33));
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        let why = |text: &str| evaluate(text, SHAPE).expect_err("refused");
        assert_eq!(why("M / 0"), "this divides by zero");
        assert_eq!(
            why("ceil(M / 32)"),
            "numbers are whole here, and / cuts: write ceil_div(a, b)"
        );
        assert_eq!(why("(M"), "a parenthesis is not closed");
        assert_eq!(why("M +"), "it ends too early");
        assert_eq!(
            why("P"),
            "`P` is not known; there are M, N, K, ceil_div, min and max"
        );
        assert_eq!(why("M 3"), "there is `3` after its end");
        assert_eq!(why(&"(".repeat(1000)), "it is too deep");
        assert_eq!(why("9223372036854775807 + 1"), "the number is too large");
        assert_eq!(why("ceil_div(M, 0)"), "this divides by zero");
        assert!(why("M & 3").contains("after its end"));
    }

    #[test]
    fn an_answer_has_its_fields_and_no_others() {
        let text = "grid = [1, \"M\", 1]\nblock = [32, 1, 1]\narguments = [\"M\"]\n";
        let answer: LaunchAnswer = read(text).expect("an answer");
        assert_eq!(answer.grid[1].value(SHAPE), Ok(100));
        let why = read::<LaunchAnswer>(&text.replace("block", "blocks")).expect_err("refused");
        assert!(why.starts_with("line 2: unknown field `blocks`"), "{why}");
    }
}
