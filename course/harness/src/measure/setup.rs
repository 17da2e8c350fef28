//! The setup of a measurement, and its outcome.

use records::Outcome;

use crate::device::{Gpu, counters::Report};
use crate::timing::duel::Plan;

/// The purpose of a measurement, which decides how a kernel is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Verify, count on the emulated device, time on a real one.
    Bench,
    /// Verify with all checks.
    Check,
}

/// The outcome, and the emulated device's report of the last launch.
#[derive(Debug)]
pub(crate) struct KernelOutcome {
    /// Result and times, as a record keeps them.
    pub outcome: Outcome,
    /// Report of the emulated device: counters per source line, findings.
    pub report: Option<Report>,
    /// Whether the kernel broke the context: the next kernel needs another one.
    pub lost: bool,
}

impl KernelOutcome {
    pub(crate) fn not_run(why: impl Into<String>) -> Self {
        Self { outcome: Outcome::NotRun { why: why.into() }, report: None, lost: false }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Setup<'g> {
    pub gpu: &'g Gpu,
    pub purpose: Purpose,
    /// PTX that runs in place of the kernel's own.
    pub ptx: Option<&'g str>,
    pub cubins: &'g Cubins,
    /// Plan of a duel, where kernel and yardstick also run in turns.
    pub duel: Option<Plan>,
}

/// Cubins in place of a kernel's own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cubins {
    /// Machine code of [`Setup::ptx`], to predict the time of that kernel.
    pub own: Option<Vec<u8>>,
    /// Kernels before an edit, to compare predictions with.
    pub before: Vec<Vec<u8>>,
}
