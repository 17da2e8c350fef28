//! What the plots take from a record.

use ladder::record::Passed;
use ladder::{Outcome, Record, Run, Shape, Work};

/// cuBLAS, as the ladder calls it.
pub(crate) const CUBLAS: &str = "cublas_sgemm";
/// Where cuBLAS was not measured as a step of its own, it was at least timed beside this one.
const BESIDE: &str = "sgemm_v07_double_buffer";

/// Where numbers come from.
pub(crate) struct Recorded<'r> {
    record: &'r Record,
}

/// One kernel on one shape, measured on a real device.
pub(crate) struct Point {
    pub(crate) tflops: f64,
    /// Of cuBLAS in the same minutes; 1 is as fast.
    pub(crate) of_cublas: Option<f64>,
}

/// A transpose, measured on a real device.
pub(crate) struct Moved {
    /// Bytes read and written.
    pub(crate) gbs: f64,
    /// Of a copy of as many bytes, in the same minutes.
    pub(crate) copy_gbs: Option<f64>,
}

/// What cuBLAS took beside it, in milliseconds.
fn cublas(passed: &Passed) -> Option<f64> {
    let yardstick = passed.yardstick.as_ref()?;
    (yardstick.name == "cuBLAS").then(|| yardstick.hot.median())
}

impl<'r> Recorded<'r> {
    /// `None` when there is no record, or it holds nothing of a real device.
    pub(crate) fn new(record: Option<&'r Record>) -> Option<Self> {
        let record = record?;
        let real = record.runs.iter().any(|run| !run.emulated);
        real.then_some(Self { record })
    }

    /// `NVIDIA H200, 2026-11-21`
    pub(crate) fn provenance(&self) -> String {
        let real = || self.record.runs.iter().filter(|run| !run.emulated);
        let mut devices: Vec<&str> = real().map(|run| run.device.as_str()).collect();
        devices.sort_unstable();
        devices.dedup();
        let date = |run: &Run| run.date.split('T').next().unwrap_or_default().to_owned();
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

    /// The ceilings, of the latest run that measured them.
    pub(crate) fn roofline(&self) -> Option<ladder::record::Roofline> {
        let mut runs: Vec<&Run> = self.record.runs.iter().filter(|run| !run.emulated).collect();
        runs.sort_by(|a, b| a.date.cmp(&b.date));
        runs.iter().rev().find_map(|run| run.roofline)
    }

    fn passed(&self, kernel: &str, shape: Shape) -> Option<&Passed> {
        let of = |m: &&ladder::Measurement| m.kernel == kernel && m.shape == shape;
        let mut measurements = self.record.measurements.iter().filter(of);
        measurements.find_map(|m| match &m.outcome {
            Outcome::Passed(passed) if self.record.run_of(m).is_some_and(|run| !run.emulated) => {
                Some(&**passed)
            }
            _ => None,
        })
    }

    /// A square product.
    pub(crate) fn point(&self, kernel: &str, size: usize) -> Option<Point> {
        let shape = Shape::square(size);
        let tflops = |ms: f64| Work::Sgemm.flops(shape) / (ms * 1e9);
        let Some(passed) = self.passed(kernel, shape) else {
            let beside = self.passed(BESIDE, shape).filter(|_| kernel == CUBLAS)?;
            return Some(Point {
                tflops: tflops(cublas(beside)?),
                of_cublas: None,
            });
        };
        let ms = passed.hot.as_ref()?.median();
        Some(Point {
            tflops: tflops(ms),
            of_cublas: cublas(passed).map(|cublas| cublas / ms),
        })
    }

    /// A square transpose.
    pub(crate) fn moved(&self, kernel: &str, size: usize) -> Option<Moved> {
        let shape = Shape {
            m: size,
            n: size,
            k: 0,
        };
        let passed = self.passed(kernel, shape)?;
        let gbs = |ms: f64| Work::Transpose.bytes(shape) / (ms * 1e6);
        let copy = passed.yardstick.as_ref().filter(|y| y.name == "copy");
        Some(Moved {
            gbs: gbs(passed.hot.as_ref()?.median()),
            copy_gbs: copy.map(|copy| gbs(copy.hot.median())),
        })
    }

    /// The sizes of square products of a kernel, smallest first.
    pub(crate) fn sizes(&self, kernel: &str) -> Vec<usize> {
        let of = |m: &ladder::Measurement| m.kernel == kernel || (kernel == CUBLAS && m.kernel == BESIDE);
        let square =
            |m: &ladder::Measurement| (of(m) && m.shape == Shape::square(m.shape.m)).then_some(m.shape.m);
        let mut sizes: Vec<usize> = self.record.measurements.iter().filter_map(square).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes.retain(|size| self.point(kernel, *size).is_some());
        sizes
    }
}
