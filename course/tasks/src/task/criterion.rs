//! Criteria of a task besides correctness: a measure and its limits.

use catalog::Shape;
use catalog::text::{digits, without_zeros};
use serde::{Deserialize, Serialize};

use crate::measure::Measure;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// Name within the task; it never changes, because verdicts contain it.
    pub id: String,
    /// Requirement, as a clause.
    pub what: String,
    pub measure: Measure,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// Sizes `[m, n, k]` of the counted launch; for a transpose `[rows, cols]`, optionally with a third number, 0.
    pub shape: Vec<usize>,
    /// Depth of a step of the k loop, for measures per tile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bk: Option<usize>,
    /// Explanation of a failure, as one sentence.
    pub misses: String,
}

impl Criterion {
    pub fn shape(&self) -> Shape {
        shape_of(&self.shape)
    }

    /// Returns whether a value passes. Counts are exact; a quotient of two of them is off by less than the tolerance.
    pub fn accepts(&self, value: f64) -> bool {
        const ROUNDING: f64 = 1e-9;
        self.at_most.is_none_or(|most| value <= most + ROUNDING)
            && self.at_least.is_none_or(|least| value >= least - ROUNDING)
    }

    /// Returns the limits in words, such as `at most 0.5`.
    pub fn threshold(&self) -> String {
        threshold(self.at_most, self.at_least)
    }
}

/// Returns the shape of sizes `[m, n, k]`; what is left out is 0.
pub(super) fn shape_of(sizes: &[usize]) -> Shape {
    let size = |at: usize| sizes.get(at).copied().unwrap_or(0);
    Shape { m: size(0), n: size(1), k: size(2) }
}

/// Returns the limits in words: `at most 0.5`, `from 0.25 to 0.5`, `exactly 1`. Four significant digits suffice for a
/// limit; a value that is the only one to pass is given as exactly as thresholds are.
pub(crate) fn threshold(at_most: Option<f64>, at_least: Option<f64>) -> String {
    let number = |value| without_zeros(&digits(value, 4)).to_owned();
    match (at_most, at_least) {
        (Some(most), Some(least)) if most <= least => format!("exactly {}", catalog::text::number(most, 7)),
        (Some(most), Some(least)) => format!("from {} to {}", number(least), number(most)),
        (Some(most), None) => format!("at most {}", number(most)),
        (None, Some(least)) => format!("at least {}", number(least)),
        (None, None) => "any".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::threshold;

    #[test]
    fn limits_are_short_and_single_values_exact() {
        let one_sided = [0.029296875, 0.5625, 2.5, 16384.0].map(|most| threshold(Some(most), None));
        assert_eq!(one_sided, ["at most 0.0293", "at most 0.5625", "at most 2.5", "at most 16384"]);
        assert_eq!(threshold(Some(0.140625), Some(0.0)), "from 0 to 0.1406");
        assert_eq!(threshold(Some(0.140625), Some(0.140625)), "exactly 0.140625");
    }
}
