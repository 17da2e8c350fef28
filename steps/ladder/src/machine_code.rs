//! What a kernel's machine code says without a GPU: counts of the hardware's own instructions, and the time that a GPU
//! would take.

use serde::{Deserialize, Serialize};

/// Of one kernel on one shape: its machine code for sm_90 on the emulated device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MachineCode {
    /// SHA-256 of the cubin.
    pub cubin_sha256: String,
    /// What the emulated device counted. `None` where it does not run this code.
    #[serde(default)]
    pub counters: Option<serde_json::Map<String, serde_json::Value>>,
    /// What the time of a launch would be.
    #[serde(flatten)]
    pub forecast: Forecast,
    /// The same of the kernel as it was before an edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Forecast>,
}

/// What is known of a launch before a GPU has run it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// Blocks on one multiprocessor. `None` where not even that is known.
    #[serde(default)]
    pub occupancy: Option<Occupancy>,
    /// The time.
    #[serde(default)]
    pub prediction: Option<Prediction>,
    /// Why there is no prediction.
    #[serde(default)]
    pub no_prediction: Option<String>,
}

/// How many blocks fit on one multiprocessor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupancy {
    /// Blocks.
    pub blocks: u32,
    /// Warps of these.
    pub warps: u32,
    /// The most warps that a multiprocessor can hold.
    pub most_warps: u32,
    /// What there is not enough of for one more block: `registers`, `shared memory`, `threads`, `blocks`.
    pub limit: String,
    /// Registers of a thread.
    pub registers: u32,
}

/// The time that a model gives for a launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Of which device: `H200`.
    pub gpu: String,
    /// Microseconds, with warm caches.
    pub us: f64,
    /// Nine in ten predictions for other kernels were wrong by less than this part of the measured time.
    pub band: f64,
    /// What each unit would need if it were the only limit, the slowest first.
    pub bounds: Vec<Bound>,
    /// Blocks of the launch.
    pub n_blocks: u64,
    /// Multiprocessors of the device.
    pub n_sms: u32,
}

/// The time that one unit needs for a launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// `instruction issue`, `shared memory`.
    pub unit: String,
    /// Microseconds.
    pub us: f64,
}

/// How two predictions compare.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// The difference is within what the model is wrong by.
    Equal,
    /// The second takes this part of the first less: 0.18 for 18 % less.
    Less(f64),
    /// The second takes this part of the first more.
    More(f64),
}

impl Prediction {
    /// How this compares with the prediction of what was there before.
    pub fn since(&self, before: &Prediction) -> Change {
        let change = self.us / before.us - 1.0;
        match change {
            c if c.is_nan() || c.abs() <= self.band.max(before.band) => Change::Equal,
            c if c < 0.0 => Change::Less(-c),
            c => Change::More(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: f64, after: f64, want: Change) {
        let of = |us| Prediction {
            gpu: "H200".into(),
            us,
            band: 0.07,
            bounds: Vec::new(),
            n_blocks: 1,
            n_sms: 132,
        };
        assert_eq!(of(after).since(&of(before)), want);
    }

    #[test]
    fn differences_within_the_band_are_none() {
        check(100.0, 75.0, Change::Less(0.25));
        check(100.0, 94.0, Change::Equal);
        check(100.0, 106.0, Change::Equal);
        check(100.0, 125.0, Change::More(0.25));
        check(0.0, 0.0, Change::Equal);
    }
}
