//! Measurements, with everything needed to argue with them.
//!
//! A [`Record`] is one JSON file per machine under `book/data`. Runs and measurements are kept apart, because many
//! measurements share a run: a process that took them one after another on the same device. A step binary prints
//! [`Line`]s, one JSON object per line: first its run, then its measurements.

#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeSet;
use std::path::Path;

use counters::Counters;
use serde::{Deserialize, Serialize};

use catalog::shape::Shape;
use catalog::statistics::six_digits;

use crate::duel::{Duel, Earlier};
use crate::machine_code::MachineCode;
use crate::record_file::{RecordError, record_file};
use crate::{run::Run, sums::Sum};

/// Layout of the file; raised when an old reader would misunderstand a new file.
pub const SCHEMA: u32 = 1;

/// One file of `book/data`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub schema: u32,
    pub runs: Vec<Run>,
    pub measurements: Vec<Measurement>,
}

/// One kernel on one shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// [`Run::id`] of the process.
    pub run: String,
    pub step: String,
    pub kernel: String,
    pub shape: Shape,
    pub seed: u64,
    /// SHA-256 of the PTX; empty for a kernel of a library.
    pub ptx_sha256: String,
    pub outcome: Outcome,
}

impl Measurement {
    /// Copies the duel of an older measurement of the same code, unless it has its own.
    fn keep_duel(&mut self, older: Self) {
        let same_code = self.ptx_sha256 == older.ptx_sha256;
        let (Outcome::Passed(new), Outcome::Passed(old)) = (&mut self.outcome, older.outcome) else { return };
        let (Some(new), Some(old)) = (&mut new.yardstick, old.yardstick) else { return };
        if !same_code || new.duel.is_some() || new.name != old.name {
            return;
        }
        new.duel = old.duel.map(|duel| Duel {
            earlier: duel.earlier.or(Some(Earlier { run: older.run, algorithm: old.algorithm })),
            ..duel
        });
    }

    pub fn duel(&self) -> Option<&Duel> {
        match &self.outcome {
            Outcome::Passed(passed) => passed.duel(),
            _ => None,
        }
    }

    /// Ids of the processes that it refers to: its own, and that of a duel.
    fn runs(&self) -> impl Iterator<Item = &str> {
        let earlier = self.duel().and_then(|duel| duel.earlier.as_ref());
        std::iter::once(self.run.as_str()).chain(earlier.map(|earlier| earlier.run.as_str()))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The result is right, with its cost.
    Passed(Box<VerifiedRun>),
    /// The result is wrong, or a check found something.
    Failed { why: String, details: String },
    /// Not tried, or given up: too slow, does not fit, needs a GPU.
    NotRun { why: String },
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct VerifiedRun {
    /// Blocks in x, y and z; zero for a library that does not report them.
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    pub accuracy: Accuracy,
    /// Launches in one sample of `hot`, several where one is too short to time alone. A sample is the time of one.
    pub batch: u32,
    #[serde(default, rename = "by", skip_serializing_if = "Submission::is_batch")]
    pub submission: Submission,
    /// Kernel time with warm caches. `None` on the emulated device.
    pub hot: Option<Samples>,
    /// Kernel time with caches full of other data.
    pub cold: Option<Samples>,
    /// Time of the whole GPU part: allocate, copy in, run, copy out.
    pub whole: Option<Samples>,
    /// Time of the CPU's reference, in milliseconds.
    pub cpu_ms: Option<f64>,
    /// Yardstick timed in the same minutes: cuBLAS for GEMMs, a copy for transposes.
    pub yardstick: Option<Yardstick>,
    /// SM clock in MHz while timing, lowest and highest seen. `None` where it cannot be read.
    pub clock_mhz: Option<[u32; 2]>,
    /// Power and temperature of the device while timing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Power>,
    /// The emulated device's counters, of the PTX.
    pub counters: Option<Counters>,
    /// The kernel as machine code on the emulated device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_code: Option<Box<MachineCode>>,
}

impl VerifiedRun {
    /// Returns the kernel's time: the median with warm caches, or that of a CPU.
    pub fn time_ms(&self) -> Option<f64> {
        let hot = self.hot.as_ref().map(Samples::median);
        hot.or(self.cpu_ms).filter(|ms| *ms > 0.0)
    }

    pub fn duel(&self) -> Option<&Duel> {
        self.yardstick.as_ref()?.duel.as_ref()
    }

    /// Returns the kernel's speed as a part of its yardstick's: by the pieces after pauses of their duel if there is
    /// one, as its time is; else by the medians of samples that alternate.
    pub fn of_yardstick(&self) -> Option<f64> {
        let yardstick = self.yardstick.as_ref()?;
        let by_samples = || Some(yardstick.hot.median() / self.time_ms()?);
        self.duel().map(|duel| duel.burst.times).or_else(by_samples)
    }
}

/// The entry of [`Power::limited_by`] for a clock that was lowered so that the power stays below the limit.
pub const POWER_LIMIT: &str = "power";

/// Power and temperature of a device while something was timed, as NVML gives them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Power {
    /// Least and most. NVML's power is an average over about a second.
    pub watts: [u32; 2],
    pub celsius: [u32; 2],
    /// Limits that lowered the clock: [`POWER_LIMIT`], `temperature`, `hardware`.
    pub limited_by: Vec<String>,
}

/// Distance of a result from the reference.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// Largest |got − want| on random reals.
    pub max_abs_error: f64,
    /// Largest |got − want| as a part of the bound of that element: below 1 is right.
    pub max_of_bound: f64,
    /// Whether it was also bit-equal on integers, where FP32 sums are exact.
    pub exact_on_integers: bool,
}

/// A competitor that does the same work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Yardstick {
    /// Name in tables: `cuBLAS` or `copy`.
    pub name: String,
    #[serde(default, rename = "by", skip_serializing_if = "Submission::is_batch")]
    pub submission: Submission,
    /// Number of the cublasLt algorithm; none where the library chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<usize>,
    /// Times with warm caches.
    pub hot: Samples,
    /// Rounds against the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duel: Option<Duel>,
}

/// Submission of the launches of a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Submission {
    /// The host calls the launch once for each.
    #[default]
    Batch,
    /// Captured into a CUDA graph once, and replayed: the host has no part in the time.
    Graph,
}

impl Submission {
    /// Skips the default in files.
    fn is_batch(&self) -> bool {
        *self == Self::Batch
    }
}

/// Times in milliseconds: as they were taken, or of many their [`Samples::summary`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Samples(pub Vec<f64>);

impl Samples {
    /// Returns the least, the quartiles and the largest of more than five times: they have the median, the extent and
    /// the spread of all.
    pub fn summary(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        let all = Self(times);
        match all.0.len() {
            0..=5 => all,
            _ => Self([all.at(0.0), all.at(0.25), all.median(), all.at(0.75), all.at(1.0)].map(six_digits).to_vec()),
        }
    }

    /// Returns the time below which a part of the others lies; NaN without samples.
    fn at(&self, part: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let at = (part * sorted.len().saturating_sub(1) as f64).round();
        sorted.get(at as usize).copied().unwrap_or(f64::NAN)
    }

    /// Returns the median; NaN without samples.
    pub fn median(&self) -> f64 {
        catalog::statistics::median(self.0.clone()).unwrap_or(f64::NAN)
    }

    /// Returns the least and the largest; infinity and 0 without samples.
    pub fn extent(&self) -> [f64; 2] {
        let samples = || self.0.iter().copied();
        [samples().fold(f64::INFINITY, f64::min), samples().fold(0.0, f64::max)]
    }

    /// Returns (third quartile − first quartile) / median.
    pub fn spread(&self) -> f64 {
        (self.at(0.75) - self.at(0.25)) / self.median()
    }
}

/// A line of a step binary's `--json` output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// The process that prints: the first line.
    Run(Box<Run>),
    Measurement(Box<Measurement>),
    /// The outcome of `check` for a kernel; it refers to the process, and is not kept.
    Check(Box<Check>),
    /// One launch for a profiler; it refers to the process, and is not kept.
    Launched(Box<Launched>),
    /// The checksum of C after a launch; it goes into [`crate::sums`].
    Sum(Box<Sum>),
}

/// One launch for a profiler, neither verified nor timed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Launched {
    /// [`Run::id`] of the process.
    pub run: String,
    pub step: String,
    pub kernel: String,
    pub shape: Shape,
    pub ptx_sha256: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    pub counters: Option<Counters>,
    pub not_run: Option<String>,
}

/// Outcome of `check` for a kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// [`Run::id`] of the process.
    pub run: String,
    pub step: String,
    pub kernel: String,
    /// Number of shapes with right results and clean checks.
    pub n_passed: usize,
    /// First reason for shapes that were not tried, because they do not fit.
    pub not_run: Option<String>,
    pub failed: Option<FailedCheck>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailedCheck {
    pub shape: Shape,
    pub why: String,
    pub details: String,
}

record_file!(Record, measurements);

impl Record {
    /// Adds a line of a step. A measurement replaces that of the same kernel and shape, but for a duel that it lacks.
    pub fn add(&mut self, line: Line) {
        match line {
            Line::Run(run) => {
                self.runs.retain(|old| old.id != run.id);
                self.runs.push(*run);
            }
            Line::Measurement(mut new) => {
                let same = |old: &Measurement| old.kernel == new.kernel && old.shape == new.shape;
                if let Some(at) = self.measurements.iter().position(same) {
                    new.keep_duel(self.measurements.remove(at));
                }
                self.measurements.push(*new);
                let step = |m: &Measurement| (m.step.clone(), m.shape);
                self.measurements.sort_by_key(step);
            }
            Line::Check(_) | Line::Launched(_) | Line::Sum(_) => {}
        }
    }

    /// Drops unreferenced runs.
    pub fn tidy(&mut self) {
        let used: BTreeSet<&str> = self.measurements.iter().flat_map(Measurement::runs).collect();
        self.runs.retain(|run| used.contains(run.id.as_str()));
    }

    /// Adds lines of steps to a file; `base` is the record to start from where it is missing.
    pub fn merge_into(path: &Path, base: &Self, lines: &[Line]) -> Result<(), RecordError> {
        Self::change(base, path, |record| {
            lines.iter().for_each(|line| record.add(line.clone()));
            record.tidy();
        })
    }

    pub fn run_of(&self, measurement: &Measurement) -> Option<&Run> {
        self.run(&measurement.run)
    }

    pub fn run(&self, id: &str) -> Option<&Run> {
        self.runs.iter().find(|run| run.id == id)
    }

    /// Days of these measurements: `2026-11-22`, or `2026-11-22 to 2026-11-23`.
    pub fn days<'a>(&self, measurements: impl IntoIterator<Item = &'a Measurement>) -> String {
        let runs = measurements.into_iter().filter_map(|one| self.run_of(one));
        let days = runs.map(|run| catalog::text::day(&run.date));
        let days: BTreeSet<&str> = days.collect();
        match (days.first(), days.last()) {
            (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
            (first, _) => first.copied().unwrap_or_default().to_owned(),
        }
    }

    pub fn measurement(&self, kernel: &str, shape: Shape) -> Option<&Measurement> {
        self.measurements.iter().find(|m| m.kernel == kernel && m.shape == shape)
    }
}
