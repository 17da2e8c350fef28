//! What the plots take from a record.

use catalog::Shape;
use catalog::text::day;
use records::record::Passed;
use records::{Outcome, Record, Run};

/// cuBLAS, as the ladder calls it.
pub(crate) const CUBLAS: &str = "cublas_sgemm";
/// Where cuBLAS was not measured as a step of its own, it was at least timed beside this one.
const BESIDE: &str = "sgemm_v07_double_buffer";

/// Where numbers come from.
pub(crate) struct Recorded<'r> {
    record: &'r Record,
}

/// One kernel on one shape, timed on a real device.
pub(crate) struct Timed {
    pub(crate) ms: f64,
    /// What the yardstick took in the same minutes.
    pub(crate) yardstick_ms: Option<f64>,
}

impl<'r> Recorded<'r> {
    /// `None` when there is no record, or it holds nothing of a real device.
    pub(crate) fn new(record: Option<&'r Record>) -> Option<Self> {
        let record = record?;
        let real = record.runs.iter().any(|run| !run.emulated);
        real.then_some(Self { record })
    }

    /// Devices and date of the record, such as `NVIDIA H200, 2026-11-21`.
    pub(crate) fn provenance(&self) -> String {
        let real = || self.record.runs.iter().filter(|run| !run.emulated);
        let mut devices: Vec<&str> = real().map(|run| run.device.as_str()).collect();
        devices.sort_unstable();
        devices.dedup();
        let date = |run: &Run| day(&run.date).to_owned();
        let mut dates: Vec<String> = real().map(date).collect();
        dates.sort_unstable();
        dates.dedup();
        let dates = match &dates[..] {
            [] => String::new(),
            [one] => one.clone(),
            [first, .., last] => format!("{first} to {last}"),
        };
        format!("{}, {dates}", devices.join(" and "))
    }

    /// The ceilings, of the last run that measured them: those that the text tells, too.
    pub(crate) fn roofline(&self) -> Option<records::record::Roofline> {
        let mut real = self.record.runs.iter().filter(|run| !run.emulated);
        real.rfind(|run| run.roofline.is_some())?.roofline
    }

    fn passed(&self, kernel: &str, shape: Shape) -> Option<&Passed> {
        let of = |m: &&records::Measurement| m.kernel == kernel && m.shape == shape;
        let mut measurements = self.record.measurements.iter().filter(of);
        measurements.find_map(|m| match &m.outcome {
            Outcome::Passed(passed) if self.record.run_of(m).is_some_and(|run| !run.emulated) => {
                Some(&**passed)
            }
            _ => None,
        })
    }

    /// With its yardstick, if that is of this name.
    pub(crate) fn timed(&self, kernel: &str, shape: Shape, yardstick: &str) -> Option<Timed> {
        let passed = self.passed(kernel, shape)?;
        let beside = passed.yardstick.as_ref().filter(|y| y.name == yardstick);
        Some(Timed {
            ms: passed.hot.as_ref()?.median(),
            yardstick_ms: beside.map(|y| y.hot.median()),
        })
    }

    /// A product beside cuBLAS; or cuBLAS.
    pub(crate) fn product(&self, kernel: &str, shape: Shape) -> Option<Timed> {
        const NAME: &str = "cuBLAS";
        self.timed(kernel, shape, NAME).or_else(|| {
            let beside = self.timed(BESIDE, shape, NAME).filter(|_| kernel == CUBLAS)?;
            Some(Timed {
                ms: beside.yardstick_ms?,
                yardstick_ms: None,
            })
        })
    }

    /// The kernel by itself, and the whole with allocation and copies: medians, in milliseconds.
    pub(crate) fn whole(&self, kernel: &str, shape: Shape) -> Option<(f64, f64)> {
        let passed = self.passed(kernel, shape)?;
        Some((passed.hot.as_ref()?.median(), passed.whole.as_ref()?.median()))
    }

    /// The median with warm caches in milliseconds, and the clock in MHz, if it was the same all the time.
    pub(crate) fn clocked(&self, kernel: &str, shape: Shape) -> Option<(f64, u32)> {
        let passed = self.passed(kernel, shape)?;
        let [low, high] = passed.clock_mhz?;
        (low == high).then_some((passed.hot.as_ref()?.median(), high))
    }

    /// How many blocks were launched.
    pub(crate) fn blocks(&self, kernel: &str, shape: Shape) -> Option<u64> {
        let passed = self.passed(kernel, shape)?;
        Some(passed.grid.into_iter().map(u64::from).product())
    }

    /// The shapes of a kernel.
    pub(crate) fn shapes(&self, kernel: &str) -> Vec<Shape> {
        let of = |m: &&records::Measurement| m.kernel == kernel;
        self.record
            .measurements
            .iter()
            .filter(of)
            .map(|m| m.shape)
            .collect()
    }

    /// The processor that measured, and when.
    pub(crate) fn host(&self, kernel: &str, shape: Shape) -> Option<String> {
        let measurement = self.record.of(kernel, shape)?;
        let run = self.record.run_of(measurement)?;
        let date = day(&run.date);
        Some(format!("{}, {date}", run.host))
    }

    /// The sizes of square products of a kernel, smallest first.
    pub(crate) fn sizes(&self, kernel: &str) -> Vec<usize> {
        let of = |m: &records::Measurement| m.kernel == kernel || (kernel == CUBLAS && m.kernel == BESIDE);
        let square =
            |m: &records::Measurement| (of(m) && m.shape == Shape::square(m.shape.m)).then_some(m.shape.m);
        let mut sizes: Vec<usize> = self.record.measurements.iter().filter_map(square).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes.retain(|size| self.product(kernel, Shape::square(*size)).is_some());
        sizes
    }
}
