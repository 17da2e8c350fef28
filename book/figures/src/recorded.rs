//! Queries of a record for the plots.

use std::collections::BTreeSet;

use anyhow::Context as _;
use catalog::{Shape, text::day};
use records::record::VerifiedRun;
use records::{Outcome, Record};

pub(crate) const CUBLAS: &str = "cublas_sgemm";
/// The kernel beside which cuBLAS was timed, at sizes where it was not measured as a step of its own.
const BESIDE: &str = "sgemm_v07_double_buffer";

/// A record of measurements, queried by kernel and shape.
pub(crate) struct Recorded<'r> {
    record: &'r Record,
}

/// One kernel at one shape, timed on a real device.
pub(crate) struct Timed {
    pub(crate) ms: f64,
    /// Speed as a part of the yardstick's.
    pub(crate) part: Option<f64>,
    /// Time of the yardstick in the same measurement.
    pub(crate) yardstick_ms: Option<f64>,
}

impl<'r> Recorded<'r> {
    pub(crate) fn new(record: &'r Record) -> Self {
        Self { record }
    }

    /// Returns devices and date of the record, such as `NVIDIA H200, 2026-11-21`.
    pub(crate) fn provenance(&self) -> String {
        let real = || self.record.runs.iter().filter(|run| !run.emulated);
        let devices: BTreeSet<&str> = real().map(|run| run.device.as_str()).collect();
        let dates: BTreeSet<&str> = real().map(|run| day(&run.date)).collect();
        let dates = match (dates.first(), dates.last()) {
            (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
            (only, _) => only.copied().unwrap_or_default().to_owned(),
        };
        format!("{}, {dates}", Vec::from_iter(devices).join(" and "))
    }

    /// Returns the ceilings of the last run that measured them, as the text quotes them.
    pub(crate) fn roofline(&self) -> anyhow::Result<records::Roofline> {
        let mut real = self.record.runs.iter().filter(|run| !run.emulated);
        real.rfind(|run| run.roofline.is_some()).and_then(|run| run.roofline).context("no run has a roofline")
    }

    fn passed(&self, kernel: &str, shape: Shape) -> Option<&VerifiedRun> {
        let of = |m: &&records::Measurement| m.kernel == kernel && m.shape == shape;
        let mut measurements = self.record.measurements.iter().filter(of);
        measurements.find_map(|m| match &m.outcome {
            Outcome::Passed(passed) if self.record.run_of(m).is_some_and(|run| !run.emulated) => Some(&**passed),
            _ => None,
        })
    }

    /// Returns the time of a kernel, with its yardstick if that has this name.
    pub(crate) fn timed(&self, kernel: &str, shape: Shape, yardstick: &str) -> Option<Timed> {
        let passed = self.passed(kernel, shape)?;
        let beside = passed.yardstick.as_ref().filter(|y| y.name == yardstick);
        Some(Timed {
            ms: passed.hot.as_ref()?.median(),
            part: passed.of_yardstick().filter(|_| beside.is_some()),
            yardstick_ms: beside.map(|y| y.hot.median()),
        })
    }

    /// Returns the time of a GEMM beside cuBLAS, or of cuBLAS itself.
    pub(crate) fn product(&self, kernel: &str, shape: Shape) -> Option<Timed> {
        const NAME: &str = "cuBLAS";
        self.timed(kernel, shape, NAME).or_else(|| {
            let beside = self.timed(BESIDE, shape, NAME).filter(|_| kernel == CUBLAS)?;
            Some(Timed { ms: beside.yardstick_ms?, part: None, yardstick_ms: None })
        })
    }

    /// Returns the median times of the kernel, and of everything with allocation and copies, in milliseconds.
    pub(crate) fn whole(&self, kernel: &str, shape: Shape) -> Option<(f64, f64)> {
        let passed = self.passed(kernel, shape)?;
        Some((passed.hot.as_ref()?.median(), passed.whole.as_ref()?.median()))
    }

    /// Returns the median with warm caches in milliseconds, and the clock in MHz if it was constant to a percent.
    pub(crate) fn clocked(&self, kernel: &str, shape: Shape) -> Option<(f64, u32)> {
        let passed = self.passed(kernel, shape)?;
        let [low, high] = passed.clock_mhz?;
        // Times of two runs differ by as much.
        ((high - low) * 100 <= high).then_some((passed.hot.as_ref()?.median(), low.midpoint(high)))
    }

    pub(crate) fn blocks(&self, kernel: &str, shape: Shape) -> Option<u64> {
        let passed = self.passed(kernel, shape)?;
        Some(passed.grid.into_iter().map(u64::from).product())
    }

    pub(crate) fn shapes(&self, kernel: &str) -> Vec<Shape> {
        let of = |m: &&records::Measurement| m.kernel == kernel;
        self.record.measurements.iter().filter(of).map(|m| m.shape).collect()
    }

    /// Returns processor and date of a measurement.
    pub(crate) fn host(&self, kernel: &str, shape: Shape) -> Option<String> {
        let measurement = self.record.measurement(kernel, shape)?;
        let run = self.record.run_of(measurement)?;
        let date = day(&run.date);
        Some(format!("{}, {date}", run.host))
    }

    /// Returns the sizes of square GEMMs of a kernel, smallest first.
    pub(crate) fn sizes(&self, kernel: &str) -> Vec<usize> {
        let of = |m: &records::Measurement| m.kernel == kernel || (kernel == CUBLAS && m.kernel == BESIDE);
        let square = |m: &records::Measurement| (of(m) && m.shape == Shape::square(m.shape.m)).then_some(m.shape.m);
        let sizes: BTreeSet<usize> = self.record.measurements.iter().filter_map(square).collect();
        sizes.into_iter().filter(|size| self.product(kernel, Shape::square(*size)).is_some()).collect()
    }
}
