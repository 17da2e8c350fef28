//! Paired timing of a kernel and a yardstick in the order A B B A: the speed-up and its confidence interval.
//!
//! A GPU at its power limit has no speed of its own: its clock depends on the work of the last second. So each side
//! runs for some time before it is timed, or both after pauses, where power does not limit them; A B B A cancels a
//! drift that is as long as a round.

#[cfg(test)]
mod tests;

use catalog::statistics::six_digits;
use serde::{Deserialize, Serialize};

/// Milliseconds of one launch each: of the kernel, of the yardstick twice, and of the kernel again.
pub type Round = [f64; 4];

/// Both kinds of rounds of one kernel at one shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Duel {
    /// Rounds without pauses, in intervals that begin when the clock has followed the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sustained: Option<Speed>,
    /// Rounds in intervals of about a millisecond, each after a pause.
    pub burst: Speed,
    /// Milliseconds of an interval without pauses, 0 if there was none, and of a pause.
    pub piece_and_pause: [f64; 2],
    /// Milliseconds that a side ran, when sides had changed, before an interval without pauses. With few and a power
    /// limit, the clock of an interval is in part that of the other side.
    #[serde(default)]
    pub settle_ms: f64,
    /// Energy of a launch of the kernel and of one of the yardstick, by the device's counter over a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joules: Option<[f64; 2]>,
    /// The process that ran the rounds, where a later one took the other times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Earlier>,
}

/// Properties of a duel that differ from those of the measurement beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Earlier {
    /// [`Run::id`](crate::Run::id) of the process.
    pub run: String,
    /// Number of the cublasLt algorithm that the kernel ran against; none where the library chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<usize>,
}

/// Speed of the kernel as a multiple of the yardstick's, with a 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Speed {
    pub rounds: usize,
    /// Mean time of a launch of the kernel, and of the yardstick.
    pub kernel_ms: f64,
    pub yardstick_ms: f64,
    /// Geometric mean over the rounds.
    pub times: f64,
    pub low: f64,
    pub high: f64,
}

impl Speed {
    /// Returns the speed from at least two rounds, with Student's interval of the logarithms of their quotients.
    pub fn from_rounds(rounds: &[Round]) -> Option<Self> {
        let logarithms: Vec<f64> =
            rounds.iter().map(|[a, b, b_again, a_again]| ((b + b_again) / (a + a_again)).ln()).collect();
        let n = logarithms.len();
        if n < 2 {
            return None;
        }
        let mean = logarithms.iter().sum::<f64>() / n as f64;
        let squares: f64 = logarithms.iter().map(|one| (one - mean).powi(2)).sum();
        let half = two_sided_95(n - 1) * (squares / (n - 1) as f64 / n as f64).sqrt();
        let mean_of = |pieces: [usize; 2]| {
            let times = rounds.iter().flat_map(|round| pieces.map(|piece| round[piece]));
            six_digits(times.sum::<f64>() / (2 * n) as f64)
        };
        let [times, low, high] = [mean, mean - half, mean + half].map(|logarithm| six_digits(logarithm.exp()));
        Some(Self { rounds: n, kernel_ms: mean_of([0, 3]), yardstick_ms: mean_of([1, 2]), times, low, high })
    }

    /// Percentages with the significant digits: `104.7 % (104.4 to 105.0 %)`.
    pub fn percent(&self) -> String {
        let [times, low, high] = [self.times, self.low, self.high].map(|one| one * 100.0);
        format!("{times:.1} % ({low:.1} to {high:.1} %)")
    }
}

/// Returns the two-sided 5 % quantile of Student's t. Between two entries the larger applies: no interval is too short.
fn two_sided_95(freedom: usize) -> f64 {
    const UP_TO_30: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    ];
    match freedom {
        0 => f64::INFINITY,
        1..=30 => UP_TO_30[freedom - 1],
        31..=59 => 2.042,
        _ => 2.000,
    }
}
