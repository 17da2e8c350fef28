//! Counts of the emulated device per multiply-add, compared with the rates of a real SM.
//!
//! Counts divided by rates give a bound, not a simulation: latency, dependencies and caches are left out.

#[cfg(test)]
mod tests;

use ::counters::{Counters, TENSOR_PRODUCT, WARP};
use catalog::{Format, Work};
use serde::Deserialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Fp32,
    Fp64,
    /// Tensor cores, on operands of a format.
    Tensor(Format),
}

impl Arithmetic {
    pub(crate) fn of_work(work: Work) -> Self {
        match work {
            Work::Dgemm => Arithmetic::Fp64,
            Work::Tensor { operands, .. } => Arithmetic::Tensor(operands),
            Work::Cpu | Work::Sgemm | Work::SgemmTransposed { .. } | Work::Transpose | Work::Cublas => Arithmetic::Fp32,
        }
    }

    pub(crate) fn multiply_adds(self, counters: &Counters) -> f64 {
        let n = match self {
            Arithmetic::Fp32 | Arithmetic::Fp64 => counters.fmas,
            Arithmetic::Tensor(_) => counters.tensor_products,
        };
        n as f64
    }

    /// Returns the multiply-adds in units of [`Arithmetic::at_a_time`].
    pub(crate) fn times(self, counters: &Counters) -> f64 {
        self.multiply_adds(counters) / self.at_a_time()
    }

    /// Returns the clocks that each unit of an SM needs at least, whichever SM does the work.
    pub(crate) fn clocks(self, counters: &Counters) -> [(Unit, f64); 4] {
        let sectors = counters.global_sectors() as f64 / SECTORS;
        [
            (self.unit(), self.times(counters) / self.per_clock()),
            (Unit::Issue, counters.warp_instructions as f64 / ISSUES),
            (Unit::Shared, counters.wavefronts() as f64 / WAVEFRONTS),
            (Unit::L1, sectors.max(counters.global_requests() as f64)),
        ]
    }

    /// Returns the unit in which tables count multiply-adds: those of a warp, or of one `mma.sync` on bf16.
    pub(crate) fn at_a_time(self) -> f64 {
        match self {
            Arithmetic::Fp32 | Arithmetic::Fp64 => WARP,
            Arithmetic::Tensor(_) => TENSOR_PRODUCT,
        }
    }

    /// Returns the number of multiply-adds that compute one of the GEMM: three with FP32 split into bf16.
    pub(crate) fn for_one(self) -> f64 {
        match self {
            Arithmetic::Tensor(Format::Fp32) => 3.0,
            _ => 1.0,
        }
    }

    /// Returns the units of [`Arithmetic::at_a_time`] that an SM computes per clock.
    fn per_clock(self) -> f64 {
        match self {
            Arithmetic::Fp32 => FP32_FMAS,
            Arithmetic::Fp64 => FP64_FMAS,
            Arithmetic::Tensor(Format::Bf16) => BF16_PRODUCTS,
            Arithmetic::Tensor(Format::E4m3) => E4M3_PRODUCTS,
            Arithmetic::Tensor(Format::Tf32 | Format::Fp32) => TF32_PRODUCTS,
        }
    }

    fn unit(self) -> Unit {
        match self {
            Arithmetic::Fp32 | Arithmetic::Fp64 => Unit::Fma,
            Arithmetic::Tensor(_) => Unit::Tensor,
        }
    }
}

/// A unit of an SM; the variants name its throughput per clock, by NVIDIA's figures for compute capability 9.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// 128 FP32 lanes, 64 FP64 lanes.
    Fma,
    /// Four tensor cores.
    Tensor,
    /// Four schedulers, an instruction each.
    Issue,
    /// 32 banks of four bytes.
    Shared,
    /// A request at least, and at most 128 bytes, from the first-level cache.
    L1,
}

/// Warp-wide FP32 multiply-adds per clock: 128 lanes.
pub(crate) const FP32_FMAS: f64 = 4.0;
/// Warp-wide FP64 multiply-adds per clock: 64 lanes.
pub(crate) const FP64_FMAS: f64 = 2.0;
/// MMA products of bf16 per clock: 4096 floating-point operations.
pub(crate) const BF16_PRODUCTS: f64 = 1.0;
/// MMA products of TF32 per clock.
pub(crate) const TF32_PRODUCTS: f64 = 0.5;
/// MMA products of e4m3 per clock, a rate that only `wgmma` reaches.
pub(crate) const E4M3_PRODUCTS: f64 = 2.0;
/// Warp instructions that a multiprocessor issues per clock.
pub(crate) const ISSUES: f64 = 4.0;
/// Wavefronts of shared memory per clock.
pub(crate) const WAVEFRONTS: f64 = 1.0;
/// Sectors that L1 of a multiprocessor serves per clock.
pub(crate) const SECTORS: f64 = 4.0;

impl Unit {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Unit::Fma => "multiply-adds",
            Unit::Tensor => "tensor cores",
            Unit::Issue => "instruction issue",
            Unit::Shared => "shared memory",
            Unit::L1 => "L1",
        }
    }
}

/// Returns the unit that is busy longest; among equals the first, so that arithmetic wins.
pub(crate) fn binding(clocks: impl IntoIterator<Item = (Unit, f64)>) -> Option<(Unit, f64)> {
    clocks.into_iter().filter(|(_, n)| *n > 0.0).fold(None, |best: Option<(Unit, f64)>, next| match best {
        Some(best) if best.1 >= next.1 => Some(best),
        _ => Some(next),
    })
}

/// The emulated device's report, as far as the page and the records use it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Report {
    /// Sums over the launch.
    pub total: Counters,
    pub lines: Vec<Line>,
    pub findings: Vec<Finding>,
}

/// One source line and its share.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Line {
    /// Path of the file, such as `kernels/v05_….cu`.
    pub file: String,
    /// Number of the line, from 1.
    #[serde(rename = "line")]
    pub number: u32,
    pub counters: Counters,
}

/// A mistake, for messages.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Finding {
    /// One line.
    pub title: String,
    /// All of it.
    pub text: String,
}

impl Report {
    /// Reads the report of a launch. `None` of a launch that was predicted instead of run.
    ///
    /// # Errors
    /// Returns an error if a counter is missing or unknown: the emulated device is of another build.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>, String> {
        /// A prediction has none of these; a launch has all.
        #[derive(Deserialize)]
        struct Fields {
            total: Option<Counters>,
            lines: Option<Vec<Line>>,
            findings: Option<Vec<Finding>>,
        }
        // The position in the JSON text means nothing to the reader, so it is left out.
        let message = |error: serde_json::Error| match error.to_string().split_once(" at line ") {
            Some((what, _)) => what.to_owned(),
            None => error.to_string(),
        };
        let Fields { total: Some(total), lines, findings } = serde_json::from_str(text).map_err(message)? else {
            return Ok(None);
        };
        let lines = lines.ok_or("missing field `lines`")?;
        let findings = findings.ok_or("missing field `findings`")?;
        Ok(Some(Self { total, lines, findings }))
    }

    /// Returns the lines that keep an SM busy longest, longest first.
    pub(crate) fn hottest(&self, of: Arithmetic, n: usize) -> Vec<&Line> {
        let busy = |line: &Line| binding(of.clocks(&line.counters)).map_or(0.0, |(_, clocks)| clocks);
        let mut lines: Vec<&Line> = self.lines.iter().collect();
        lines.sort_by(|a, b| busy(b).total_cmp(&busy(a)));
        lines.truncate(n);
        lines
    }
}
