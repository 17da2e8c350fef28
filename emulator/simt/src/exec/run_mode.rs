//! Variants of the loop over operations: each is compiled without the work that it does not need.

use crate::exec::worker::Worker;

pub(crate) trait RunMode {
    /// The variant handles every launch, decides at run time, and alone supports observers and undefined values.
    const GENERAL: bool = false;
    const COUNTS: bool = false;
    const CHECKS: bool = false;

    #[inline(always)]
    fn counts(worker: &Worker<'_>) -> bool {
        Self::COUNTS || Self::GENERAL && worker.job.check_level.counts()
    }

    #[inline(always)]
    fn checks(worker: &Worker<'_>) -> bool {
        Self::CHECKS || Self::GENERAL && worker.job.check_level.checks()
    }
}

/// Computes results only.
pub(crate) struct Plain;
impl RunMode for Plain {}

/// Computes results and updates the counters.
pub(crate) struct Counted;
impl RunMode for Counted {
    const COUNTS: bool = true;
}

/// Computes results, updates the counters and makes all checks.
pub(crate) struct Checked;
impl RunMode for Checked {
    const COUNTS: bool = true;
    const CHECKS: bool = true;
}

/// Handles any launch, more slowly. [`Worker::needs_general_loop`] has the reasons for this variant.
pub(crate) struct General;
impl RunMode for General {
    const GENERAL: bool = true;
}
