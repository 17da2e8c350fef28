//! Pinned memory that a program changes while an asynchronous copy may still read it.
//!
//! A copy is tracked until the program can observe that it is done: by a call that waits, a query, or later work whose
//! effect the host reads. Each counts for all earlier copies of the context: later changes are not reported.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use diagnostics::HostWarning;
use simt::memory::copy_on_host;

use crate::{diagnose, sync::lock};

const MAX_BYTES: usize = 64 << 20;

/// A copy, and what its source held when it was started.
struct TrackedCopy {
    queue: usize,
    ticket: u64,
    source: u64,
    bytes: Vec<u8>,
}

static TRACKED: Mutex<Vec<TrackedCopy>> = Mutex::new(Vec::new());
static N_BYTES: AtomicUsize = AtomicUsize::new(0);

/// # Safety
/// The range is readable.
unsafe fn read(address: u64, n: usize) -> Vec<u8> {
    let mut bytes = vec![0; n];
    // SAFETY: this function's requirement.
    unsafe { copy_on_host(address as usize as *const u8, bytes.as_mut_ptr(), n) };
    bytes
}

/// Tracks a copy with this ticket of a queue, before its call returns.
///
/// # Safety
/// The source is pinned memory, which is released after work that was submitted before.
pub(crate) unsafe fn track(queue: usize, ticket: u64, source: u64, n: usize) {
    let mut tracked = lock(&TRACKED);
    if N_BYTES.load(Ordering::Acquire).saturating_add(n) <= MAX_BYTES {
        // SAFETY: this function's requirement.
        tracked.push(TrackedCopy { queue, ticket, source, bytes: unsafe { read(source, n) } });
        N_BYTES.fetch_add(n, Ordering::AcqRel);
    }
}

/// Returns whether a copy is tracked: else nothing needs to be looked up for [`settle_awaited`].
pub(crate) fn is_tracking() -> bool {
    N_BYTES.load(Ordering::Acquire) != 0
}

/// Stops tracking the copies of a queue up to a ticket, which the program has observed to be done.
pub(crate) fn settle_awaited(queue: usize, ticket: u64) {
    settle(|copy| copy.queue == queue && copy.ticket <= ticket);
}

/// Stops tracking copies from a range of memory, to which other work than the program's own is about to write.
pub(crate) fn settle_before_overwrite(address: u64, n: usize) {
    let end = address.saturating_add(n as u64);
    settle(|copy| copy.source < end && address < copy.source + copy.bytes.len() as u64);
}

/// Stops tracking copies, and reports a source that has changed.
fn settle(is_over: impl Fn(&TrackedCopy) -> bool) {
    if !is_tracking() {
        return;
    }
    let mut tracked = lock(&TRACKED);
    let over: Vec<TrackedCopy> = tracked.extract_if(.., |copy| is_over(copy)).collect();
    // SAFETY: to release the memory is to wait for the copy first, which comes here.
    let is_changed = |copy: &&TrackedCopy| unsafe { read(copy.source, copy.bytes.len()) } != copy.bytes;
    let changed: Vec<&TrackedCopy> = over.iter().filter(is_changed).collect();
    // A thread that finds no copy any more may release its source.
    N_BYTES.store(tracked.iter().map(|copy| copy.bytes.len()).sum(), Ordering::Release);
    let Some(first) = changed.first() else { return };
    let n_same =
        |copies: &mut dyn Iterator<Item = &TrackedCopy>| copies.filter(|copy| copy.source == first.source).count();
    diagnose::warning_once(&HostWarning {
        code: "W-STAGING",
        title: "pinned memory was changed while an asynchronous copy may still read it".into(),
        note: format!(
            "{} of {} copies from one buffer (here of {} bytes): the program changed it before it waited for them.",
            n_same(&mut changed.iter().copied()),
            n_same(&mut over.iter()),
            first.bytes.len()
        ),
        why: "an asynchronous copy from pinned memory returns at once, and reads the memory later: it may carry \
              bytes that were written after the call."
            .into(),
        advice: "wait before the memory is written again (cuStreamSynchronize, or cuEventSynchronize of an event \
                 recorded after the copy), or use two buffers in turn, each with an event."
            .into(),
        on_gpu: "the result depends on timing: it can be right today and wrong tomorrow.",
    });
}
