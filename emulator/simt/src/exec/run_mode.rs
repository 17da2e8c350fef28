//! Variants of the loop over operations: work that a variant does not need is not compiled in.

use super::worker::Worker;

pub(crate) trait RunMode {
    /// Decides at run time; besides, follows observers, undefined values and asynchronous products.
    const RARE: bool = false;
    fn counts(worker: &Worker<'_>) -> bool;
    fn checks(worker: &Worker<'_>) -> bool;
}

/// Computes results only.
pub(crate) struct Plain;
/// Computes results and counters.
pub(crate) struct Counted;
/// Results, counters and all checks.
pub(crate) struct Checked;
/// Any launch, with everything rare: see [`Worker::is_rare`].
pub(crate) struct Rare;

impl RunMode for Plain {
    #[inline(always)]
    fn counts(_: &Worker<'_>) -> bool {
        false
    }
    #[inline(always)]
    fn checks(_: &Worker<'_>) -> bool {
        false
    }
}

impl RunMode for Counted {
    #[inline(always)]
    fn counts(_: &Worker<'_>) -> bool {
        true
    }
    #[inline(always)]
    fn checks(_: &Worker<'_>) -> bool {
        false
    }
}

impl RunMode for Checked {
    #[inline(always)]
    fn counts(_: &Worker<'_>) -> bool {
        true
    }
    #[inline(always)]
    fn checks(_: &Worker<'_>) -> bool {
        true
    }
}

impl RunMode for Rare {
    const RARE: bool = true;
    #[inline(always)]
    fn counts(worker: &Worker<'_>) -> bool {
        worker.job.watch.counts()
    }
    #[inline(always)]
    fn checks(worker: &Worker<'_>) -> bool {
        worker.job.watch.checks()
    }
}
