//! Variants of the loop over operations: work that a variant does not need is not compiled in.

use super::worker::Worker;

pub(crate) trait RunMode {
    /// Decides at run time; besides, follows observers, undefined values and asynchronous products.
    const RARE: bool = false;
    const COUNTS: bool = false;
    const CHECKS: bool = false;

    #[inline(always)]
    fn counts(worker: &Worker<'_>) -> bool {
        Self::COUNTS || Self::RARE && worker.job.watch.counts()
    }

    #[inline(always)]
    fn checks(worker: &Worker<'_>) -> bool {
        Self::CHECKS || Self::RARE && worker.job.watch.checks()
    }
}

/// Computes results only.
pub(crate) struct Plain;
impl RunMode for Plain {}

/// Computes results and counters.
pub(crate) struct Counted;
impl RunMode for Counted {
    const COUNTS: bool = true;
}

/// Results, counters and all checks.
pub(crate) struct Checked;
impl RunMode for Checked {
    const COUNTS: bool = true;
    const CHECKS: bool = true;
}

/// Any launch, with everything rare: see [`Worker::is_rare`].
pub(crate) struct Rare;
impl RunMode for Rare {
    const RARE: bool = true;
}
