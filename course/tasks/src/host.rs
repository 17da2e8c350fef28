//! Tasks whose idea is on the host: the geometry of a launch, the operands of a cuBLAS call.
//!
//! The learner writes a small TOML file of expressions in M, N and K, so that nothing has to be compiled:
//!
//! ```toml
//! grid = ["ceil_div(N, 32)", "ceil_div(M, 32)", "1"]
//! block = ["1024", "1", "1"]
//! arguments = ["M", "N", "K", "A", "B", "C"]
//! ```

use std::path::{Path, PathBuf};

use catalog::Shape;
use serde::{Deserialize, Serialize};

use crate::expression;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostCall {
    /// Launches a finished kernel; the learner writes a [`LaunchAnswer`].
    Launch {
        /// Kernel source under `kernels/`, without `.cu`.
        source: String,
    },
    /// Calls `cublasSgemm` for a row-major product; the learner writes a [`BlasAnswer`].
    Blas,
}

impl HostCall {
    /// Returns the path of the launched kernel, from the root of the checkout.
    pub fn kernel(&self) -> Option<PathBuf> {
        match self {
            Self::Launch { source } => Some(Path::new("kernels").join(source).with_extension("cu")),
            Self::Blas => None,
        }
    }
}

/// Id and requirement of the criterion that every launch task has.
pub const NO_IDLE_BLOCKS: (&str, &str) = ("no-idle-blocks", "every block has something to do");

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Number {
    Value(i64),
    /// An expression in M, N and K, such as `"ceil_div(N, 32)"`.
    Expression(String),
}

impl Number {
    pub fn value(&self, shape: Shape) -> Result<i64, String> {
        match self {
            Self::Value(value) => Ok(*value),
            Self::Expression(text) => evaluate(text, shape).map_err(|why| format!("`{text}`: {why}")),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchAnswer {
    pub grid: [Number; 3],
    pub block: [Number; 3],
    /// Argument names, in order.
    pub arguments: Vec<String>,
}

/// The arguments of `cublasSgemm`, apart from the handle, alpha = 1, beta = 0 and C.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlasAnswer {
    /// `n` or `t`: `t` transposes the first operand.
    pub transa: String,
    /// `n` or `t`: `t` transposes the second operand.
    pub transb: String,
    /// Rows of the column-major result.
    pub m: Number,
    /// Columns of the column-major result.
    pub n: Number,
    /// Length of the dot products.
    pub k: Number,
    /// The matrix that is the first operand, `A` or `B`.
    pub a: String,
    /// Elements from one column of the first operand to the next.
    pub lda: Number,
    /// The matrix that is the second operand, `A` or `B`.
    pub b: String,
    /// Elements from one column of the second operand to the next.
    pub ldb: Number,
    /// Elements from one column of C to the next.
    pub ldc: Number,
}

/// Evaluates an expression in M, N and K, or rows and cols.
fn evaluate(text: &str, shape: Shape) -> Result<i64, String> {
    let size = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let (m, n, k) = (size(shape.m), size(shape.n), size(shape.k));
    let names = [("M", m), ("N", n), ("K", k), ("rows", m), ("cols", n)];
    expression::evaluate(text, &names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TomlError;

    const SHAPE: Shape = Shape { m: 100, n: 33, k: 7 };

    #[test]
    fn an_answer_has_its_fields_and_no_others() {
        let text = "grid = [1, \"M\", 1]\nblock = [32, 1, 1]\narguments = [\"M\"]\n";
        let answer: LaunchAnswer = TomlError::read(text).expect("an answer");
        assert_eq!(answer.grid[1].value(SHAPE), Ok(100));
        let why = TomlError::read::<LaunchAnswer>(&text.replace("block", "blocks")).expect_err("refused").to_string();
        assert!(why.starts_with("line 2: unknown field `blocks`"), "{why}");
    }
}
