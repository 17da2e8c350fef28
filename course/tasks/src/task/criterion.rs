//! What a kernel must do besides being right: a measure, and how large or small it may be.

use catalog::Shape;
use serde::{Deserialize, Serialize};

use crate::measure::Measure;

/// A threshold of a measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// Name within the task, which verdicts use; it never changes.
    pub id: String,
    /// What is required, as a clause.
    pub what: String,
    /// The measure that is compared with the threshold.
    pub measure: Measure,
    /// Largest value that passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Smallest value that passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// `[m, n, k]` of the launch that is counted; of a transpose `[rows, cols]`, or with a third number that is 0.
    pub shape: Vec<usize>,
    /// Depth of a step of the k loop, for measures per tile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bk: Option<usize>,
    /// What it means when it fails, as one sentence.
    pub misses: String,
}

impl Criterion {
    /// Sizes of the launch that is counted.
    pub fn shape(&self) -> Shape {
        let size = |at: usize| self.shape.get(at).copied().unwrap_or(0);
        Shape {
            m: size(0),
            n: size(1),
            k: size(2),
        }
    }

    /// Whether a value passes. Counts are exact; the quotients of two of them are off by less than this.
    pub fn accepts(&self, value: f64) -> bool {
        const ROUNDING: f64 = 1e-9;
        self.at_most.is_none_or(|most| value <= most + ROUNDING)
            && self.at_least.is_none_or(|least| value >= least - ROUNDING)
    }

    /// The threshold in words, such as `at most 0.5`.
    pub fn threshold(&self) -> String {
        threshold(self.at_most, self.at_least)
    }
}

/// `at most 0.5`, `from 0.25 to 0.5`
pub(crate) fn threshold(at_most: Option<f64>, at_least: Option<f64>) -> String {
    // As many digits as thresholds are given with.
    let number = |value| catalog::text::number(value, 7);
    match (at_most, at_least) {
        (Some(most), Some(least)) => format!("from {} to {}", number(least), number(most)),
        (Some(most), None) => format!("at most {}", number(most)),
        (None, Some(least)) => format!("at least {}", number(least)),
        (None, None) => "any".into(),
    }
}
