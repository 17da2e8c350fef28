//! The mbarriers of a block: phases, pending arrivals and bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::check::{BadBarrier, InstrThread, Waited};

/// Maximum number of bytes that a phase can wait for.
const MAX_BYTES: i64 = (1 << 20) - 1;
/// Bytes of an mbarrier.
pub(crate) const BYTES: u32 = 8;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MbarrierState {
    /// Arrivals that each phase expects.
    pub(crate) arrivals: u32,
    /// Arrivals that the current phase still waits for.
    pub(crate) pending: u32,
    /// Bytes that the current phase still waits for; negative when they arrived before they were expected.
    pub(crate) bytes: i64,
    /// Number of completed phases.
    pub(crate) phase: u64,
    /// Bytes that arrived in the current phase.
    pub(crate) phase_bytes: u64,
    /// Bytes that arrived in the phase before.
    pub(crate) last_phase_bytes: u64,
    pub(crate) init_warp: u32,
    /// Whether a barrier of the block has completed since.
    pub(crate) synced_since_init: bool,
    /// Whether a fence has made it visible to the async proxy since.
    pub(crate) fenced_to_async_proxy: bool,
    /// The first store or bulk copy to its bytes since; in checked launches.
    pub(crate) overwritten: Option<InstrThread>,
}

impl MbarrierState {
    /// Completes the phase if all arrivals and bytes are in; returns whether it did.
    pub(crate) fn end_phase(&mut self) -> bool {
        let ends = self.pending == 0 && self.bytes == 0;
        if ends {
            self.phase += 1;
            self.pending = self.arrivals;
            self.last_phase_bytes = std::mem::take(&mut self.phase_bytes);
        }
        ends
    }

    /// Counts arrivals in the current phase, without ending it: `operand` of them, or one that expects so many bytes.
    /// With `drop`, later phases no longer expect them; without `completes`, they may not be the last ones. Returns
    /// whether they count, and what is wrong with them.
    pub(crate) fn arrive(&mut self, operand: u32, [expect, drop, completes]: [bool; 3]) -> (bool, Option<BadBarrier>) {
        let (n, pending, bytes) = (if expect { 1 } else { operand }, self.pending, self.bytes);
        let problem = if expect { self.expect_bytes(operand) } else { None };
        if !(1..=pending).contains(&n) {
            return (false, Some(BadBarrier::TooManyArrivals { arrivals: n, pending, bytes, again: None }));
        }
        if n == pending && !completes {
            return (false, Some(BadBarrier::Completes(n)));
        }
        self.pending -= n;
        self.arrivals = self.arrivals.saturating_sub(if drop { n } else { 0 });
        (true, problem)
    }

    /// Makes the current phase expect more bytes (`expect_tx`); returns what is wrong with that.
    pub(crate) fn expect_bytes(&mut self, bytes: u32) -> Option<BadBarrier> {
        let sum = self.bytes + i64::from(bytes);
        if sum > MAX_BYTES {
            return Some(BadBarrier::TooManyBytes(sum as u64));
        }
        self.bytes = sum;
        None
    }

    /// Records that bytes of a copy have arrived (`complete_tx`).
    pub(crate) fn complete_bytes(&mut self, bytes: u64) {
        self.bytes -= bytes as i64;
        self.phase_bytes += bytes;
    }
}

/// Returns where the mbarriers start that have some of these bytes.
fn touching(offset: u32, bytes: u32) -> Range<u32> {
    offset.saturating_sub(BYTES - 1)..offset.saturating_add(bytes)
}

/// The mbarriers of a block, by their offsets in shared memory.
#[derive(Debug, Default)]
pub(crate) struct Mbarriers {
    pub(crate) states: BTreeMap<u32, MbarrierState>,
    /// The last successful waits, by mbarrier and thread; in checked launches.
    pub(crate) waited: BTreeMap<(u32, u32), Waited>,
    /// Threads that have arrived, by mbarrier.
    pub(crate) arrived: BTreeMap<u32, BTreeSet<u32>>,
    /// The mbarrier for which a thread waited last.
    pub(crate) last: BTreeMap<u32, u32>,
    /// Whether an mbarrier was misused: its behaviour is not defined any more.
    pub(crate) misused: bool,
}

impl Mbarriers {
    /// Returns whether bytes of shared memory are in part those of an mbarrier.
    pub(crate) fn lies_in(&self, offset: u32, bytes: u32) -> bool {
        self.states.range(touching(offset, bytes)).next().is_some()
    }

    /// Records that bytes of shared memory were written by other means than operations on mbarriers.
    pub(crate) fn overwrite(&mut self, offset: u32, bytes: u32, by: InstrThread) {
        for (_, state) in self.states.range_mut(touching(offset, bytes)) {
            state.overwritten.get_or_insert(by);
        }
    }

    /// Records a fence that makes all mbarriers visible to the async proxy.
    pub(crate) fn note_proxy_fence(&mut self) {
        for state in self.states.values_mut() {
            state.fenced_to_async_proxy = true;
        }
    }

    /// Records that a barrier of the block has completed.
    pub(crate) fn note_barrier(&mut self) {
        for state in self.states.values_mut() {
            state.synced_since_init = true;
        }
    }
}
