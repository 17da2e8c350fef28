//! The errors of predictions: every launch that was timed on an H200, beside its prediction.
//!
//! `data/predictions.tsv` has the numbers; `cargo run --release -p timing --example accuracy -- write` makes it.

use std::sync::LazyLock;

use crate::{Bound, Prediction, Resource};

/// A launch that was timed, with its prediction.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    pub set: Set,
    /// Entry point, or the name of the task.
    pub kernel: String,
    /// M, N and K; K is 0 where there is none.
    pub shape: [u32; 3],
    /// Median with warm caches.
    pub measured_us: f64,
    pub predicted_us: f64,
    /// Lower bound of the time, from the busiest unit alone.
    pub bound_us: f64,
    pub binds: Resource,
}

/// The part that a kernel played in building the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Set {
    /// Kernels of the book: looked at while the model was built.
    Ladder,
    /// Other kernels, compared once, when the model was finished.
    HeldOut,
    /// Kernels of the book that copy boxes or multiply on tensor cores, where the power limit did not lower the clock:
    /// no others were timed.
    Asynchronous,
    /// Kernels of the ladder with small changes, such as readers try (`v05.no-pad`), and without (`v05`): timed and
    /// compared when the model was finished.
    Versions,
    /// Kernels that use local memory, for spilled registers or arrays: not in `data/predictions.tsv`.
    Spills,
}

impl Set {
    pub fn name(self) -> &'static str {
        match self {
            Set::Ladder => "ladder",
            Set::HeldOut => "held-out",
            Set::Asynchronous => "asynchronous",
            Set::Versions => "versions",
            Set::Spills => "spills",
        }
    }
}

impl Point {
    /// Returns the relative error: (predicted - measured) / measured.
    pub fn error(&self) -> f64 {
        self.predicted_us / self.measured_us - 1.0
    }
}

/// Returns all launches that were timed on an H200, with their predictions.
pub fn points() -> &'static [Point] {
    &POINTS
}

/// What a kernel is bound by: predictions of the two kinds are not equally good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Units of the multiprocessor that the model has in detail: ports of the registers, arithmetic, shared memory.
    Arithmetic,
    /// Anything else: caches, device memory, the issue of instructions, the start of blocks.
    Memory,
}

impl Kind {
    pub const ALL: [Kind; 2] = [Kind::Arithmetic, Kind::Memory];

    /// Returns the kind of a kernel by its busiest unit.
    pub fn of(binds: Resource) -> Self {
        match binds {
            Resource::Registers
            | Resource::Fma
            | Resource::Alu
            | Resource::IntegerFma
            | Resource::Double
            | Resource::Special
            | Resource::Shared
            | Resource::SharedAndL1
            | Resource::Tensor => Kind::Arithmetic,
            Resource::Issue
            | Resource::Constants
            | Resource::L1
            | Resource::L2
            | Resource::LocalStores
            | Resource::Dram
            | Resource::Boxes
            | Resource::Blocks => Kind::Memory,
        }
    }

    /// Returns the relative error within which nine of ten predictions for new kernels of this kind stay.
    pub fn band(self) -> f64 {
        band(|point| point.set == Set::HeldOut && Kind::of(point.binds) == self)
    }
}

/// Returns the relative error within which nine of ten of these predictions are.
fn band(of: impl Fn(&Point) -> bool) -> f64 {
    nine_of_ten(points().iter().filter(|point| of(point)).map(Point::error))
}

/// Returns the times of the kernels of [`Set::Versions`] that were changed, over those without the change: predicted
/// and measured.
pub fn changes() -> impl Iterator<Item = [f64; 2]> {
    let versions = || points().iter().filter(|point| point.set == Set::Versions);
    versions().filter_map(move |point| {
        let (before, _) = point.kernel.split_once('.')?;
        let before = versions().find(|other| other.kernel == before && other.shape == point.shape)?;
        Some([point.predicted_us / before.predicted_us, point.measured_us / before.measured_us])
    })
}

/// Returns the relative error within which nine of ten of these [`changes`] are.
pub fn change_band() -> f64 {
    nine_of_ten(changes().map(|[predicted, measured]| predicted / measured - 1.0))
}

fn nine_of_ten(errors: impl Iterator<Item = f64>) -> f64 {
    let mut errors: Vec<f64> = errors.map(f64::abs).collect();
    errors.sort_by(f64::total_cmp);
    errors.get(errors.len() * 9 / 10).copied().unwrap_or(1.0)
}

impl Prediction {
    /// Returns the [`Kind::band`] of the kernel; of one with work that goes on by itself, that of its set.
    pub fn band(&self) -> f64 {
        if self.has_work_beside() {
            return band(|point| point.set == Set::Asynchronous);
        }
        self.bounds.first().map_or(Kind::Memory, |bound| Kind::of(bound.resource)).band()
    }

    /// Returns the relative error within which nine of ten changes of time stay that a small change of the kernel is
    /// predicted to make. No changes were timed of kernels with work that goes on by itself.
    pub fn change_band(&self) -> f64 {
        if self.has_work_beside() { self.band() } else { change_band() }
    }

    fn has_work_beside(&self) -> bool {
        let goes_on = |bound: &Bound| matches!(bound.resource, Resource::Tensor | Resource::Boxes);
        self.bounds.iter().any(goes_on)
    }
}

/// Time that a launch needs of each unit, by the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Needs {
    pub kernel: String,
    /// M, N and K; K is 0 where there is none.
    pub shape: [u32; 3],
    pub predicted_us: f64,
    /// Lower bound of the time from each unit alone, the slowest first.
    pub bounds: Vec<(String, f64)>,
}

static PROFILED: LazyLock<Vec<Needs>> = LazyLock::new(|| {
    let needs = |[kernel, m, n, k, predicted, bounds]: [&str; 6]| {
        let bound = |text: &str| {
            let (unit, us) = text.split_once('=')?;
            Some((unit.to_owned(), us.parse().ok()?))
        };
        Some(Needs {
            kernel: kernel.to_owned(),
            shape: [m.parse().ok()?, n.parse().ok()?, k.parse().ok()?],
            predicted_us: predicted.parse().ok()?,
            bounds: bounds.split(';').map(bound).collect::<Option<_>>()?,
        })
    };
    rows(include_str!("../data/profiled.tsv"), needs).expect("a test reads the committed file")
});

/// Returns the launches that Nsight Compute profiled (`book/data/h200-busiest.json`), as the model has them:
/// `data/profiled.tsv`.
pub fn profiled() -> &'static [Needs] {
    &PROFILED
}

/// Reads a file: a line per launch, columns separated by tabs, comments after `#`.
fn rows<'t, T, const N: usize>(text: &'t str, read: impl Fn([&'t str; N]) -> Option<T>) -> Option<Vec<T>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| read(line.split('\t').collect::<Vec<_>>().try_into().ok()?)).collect()
}

static POINTS: LazyLock<Vec<Point>> = LazyLock::new(|| {
    let point = |[set, kernel, m, n, k, measured, predicted, bound, binds]: [&str; 9]| {
        Some(Point {
            set: [Set::Ladder, Set::HeldOut, Set::Asynchronous, Set::Versions]
                .into_iter()
                .find(|known| known.name() == set)?,
            kernel: kernel.to_owned(),
            shape: [m.parse().ok()?, n.parse().ok()?, k.parse().ok()?],
            measured_us: measured.parse().ok()?,
            predicted_us: predicted.parse().ok()?,
            bound_us: bound.parse().ok()?,
            binds: Resource::ALL.into_iter().find(|unit| unit.name() == binds)?,
        })
    };
    rows(include_str!("../data/predictions.tsv"), point).expect("a test reads the committed file")
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_file_is_read() {
        assert!(points().len() > 200, "{} points", points().len());
        assert!(profiled().len() > 20, "{} launches", profiled().len());
        for kind in Kind::ALL {
            assert!((0.0..0.5).contains(&kind.band()), "{kind:?}: {}", kind.band());
        }
        assert!(Kind::Arithmetic.band() < Kind::Memory.band());
        assert!(changes().count() > 100, "{} changes", changes().count());
        assert!((0.01..0.2).contains(&change_band()), "{}", change_band());
    }
}
