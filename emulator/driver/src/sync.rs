//! Locks that survive panics, and numbers that are unique in the process.

use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use simt::lock::lock;

pub(crate) fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
