//! Results from a kernel's machine code without a GPU: counts of hardware instructions, and the predicted time.

#[cfg(test)]
mod tests;

use counters::Counters;
use serde::{Deserialize, Serialize};

/// Machine code of one kernel for sm_90, on one shape on the emulated device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineCode {
    pub cubin_sha256: String,
    /// Counts of the emulated device. `None` where it does not run this code.
    pub counters: Option<Counters>,
    #[serde(flatten)]
    pub predicted: PredictedLaunch,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<PredictedLaunch>,
}

/// Properties of a launch that are known before it has run on a GPU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PredictedLaunch {
    /// Blocks on one multiprocessor; `None` where unknown.
    pub occupancy: Option<Occupancy>,
    pub prediction: Option<Prediction>,
    pub no_prediction: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupancy {
    /// Blocks that a multiprocessor holds at a time.
    pub blocks: u32,
    pub warps: u32,
    /// Maximum number of warps on a multiprocessor.
    pub most_warps: u32,
    /// The resource that limits the blocks: `registers`, `shared memory`, `threads`, `blocks`.
    pub limit: String,
    pub registers: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Name of the modelled GPU, such as `H200`.
    pub gpu: String,
    /// Microseconds, with warm caches.
    pub us: f64,
    /// Relative error that nine in ten predictions for other kernels stayed below.
    pub band: f64,
    /// Relative error that nine in ten predicted times of kernels with a small change stayed below, as multiples of the
    /// time without it.
    #[serde(default)]
    pub change_band: f64,
    /// Time of each unit if it were the only limit, the slowest first.
    pub bounds: Vec<Bound>,
    /// Shares of some of these units.
    #[serde(default)]
    pub parts: Vec<Bound>,
    #[serde(default)]
    pub ghz: f64,
    pub n_blocks: u64,
    pub n_sms: u32,
}

/// Time that one unit needs for a launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// Name such as `instruction issue` or `shared memory`.
    pub unit: String,
    /// Microseconds of this unit alone.
    pub us: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// The difference is within the error of the model.
    Equal,
    /// The second takes this part of the first less: 0.18 for 18 % less.
    Less(f64),
    /// The second takes this part of the first more.
    More(f64),
}

/// Names of units, as the driver gives them.
pub mod unit {
    pub const FP32: &str = "32-bit float arithmetic";
    pub const FP64: &str = "64-bit float arithmetic";
    pub const TENSOR: &str = "tensor cores";
    pub const ISSUE: &str = "instruction issue";
    /// Issue slots, with those lost to register reads and writes.
    pub const REGISTERS: &str = "register ports";
    pub const SHARED: &str = "shared memory";
    pub const L1: &str = "L1";
    /// Shared memory and L1 together, which are one memory.
    pub const SHARED_AND_L1: &str = "shared memory and L1";
    pub const L2: &str = "L2";
    pub const DRAM: &str = "device memory";
}

/// Smallest part of the time that a binding unit is busy; Nsight Compute draws the line to latency there, too.
pub const BINDS: f64 = 0.6;

/// Ratio from which two units are level: the model is not more exact.
pub const LEVEL: f64 = 0.9;

/// Returns the first of the units, sorted by time, and those that are level with it.
pub fn level<T>(bounds: &[T], us: impl Fn(&T) -> f64) -> &[T] {
    let most = bounds.first().map_or(0.0, &us);
    let n = bounds.iter().take_while(|bound| us(bound) >= most * LEVEL);
    &bounds[..n.count()]
}

impl Prediction {
    /// Returns the longest busy unit, and those that are level with it.
    pub fn longest(&self) -> &[Bound] {
        level(&self.bounds, |bound| bound.us)
    }

    /// Returns the unit that binds. `None` where the kernel waits most of the time.
    pub fn binds(&self) -> Option<&Bound> {
        self.bounds.first().filter(|bound| self.part(bound) >= BINDS)
    }

    /// Returns the part of the time that a unit is busy.
    pub fn part(&self, bound: &Bound) -> f64 {
        bound.us / self.us
    }

    /// Returns the time of a unit, alone or as a part of another.
    pub fn of_unit(&self, unit: &str) -> Option<&Bound> {
        let mut all = self.bounds.iter().chain(&self.parts);
        all.find(|bound| bound.unit == unit)
    }

    /// Returns the reason for which the time may be too short: tensor cores can take more power than the GPU may.
    pub fn caveat(&self) -> Option<String> {
        self.of_unit(unit::TENSOR)?;
        let ghz = self.ghz;
        Some(format!(
            "at {ghz} GHz, the clock while tensor cores work; at the power limit it is lower, and the time longer"
        ))
    }

    /// Returns the time of a unit in clocks, summed over all multiprocessors.
    pub fn clocks(&self, bound: &Bound) -> f64 {
        let busy_sms = self.n_blocks.min(self.n_sms.into()) as f64;
        bound.us * 1e3 * self.ghz * busy_sms
    }

    /// Returns the relative error of this time as a multiple of another prediction's.
    pub fn change_band(&self, before: &Prediction) -> f64 {
        self.change_band.max(before.change_band)
    }

    pub fn since(&self, before: &Prediction) -> Change {
        let change = self.us / before.us - 1.0;
        match change {
            c if c.is_nan() || c.abs() <= self.change_band(before) => Change::Equal,
            c if c < 0.0 => Change::Less(-c),
            c => Change::More(c),
        }
    }
}
