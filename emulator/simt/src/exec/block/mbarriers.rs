//! Mbarriers in shared memory of a block: phases, pending arrivals and bytes.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::Waited;

#[derive(Debug, Clone, Copy)]
pub(crate) struct MbarrierState {
    /// Arrivals of each phase, and those that the current one waits for.
    pub(crate) arrivals: u32,
    pub(crate) pending: u32,
    /// Bytes that the current phase waits for; negative when they came before they were expected.
    pub(crate) bytes: i64,
    /// Phases that have ended.
    pub(crate) phase: u64,
    /// Bytes that came in the current phase, and in the one before.
    pub(crate) came: u64,
    pub(crate) brought: u64,
    /// The warp that made it. `settled`: the block has met since; `published`: a fence has shown it to the copy unit.
    pub(crate) maker: u32,
    pub(crate) settled: bool,
    pub(crate) published: bool,
}

impl MbarrierState {
    /// Ends the phase if nothing is missing.
    pub(crate) fn end_phase(&mut self) -> bool {
        let ends = self.pending == 0 && self.bytes == 0;
        if ends {
            self.phase += 1;
            self.pending = self.arrivals;
            self.brought = std::mem::take(&mut self.came);
        }
        ends
    }

    pub(crate) fn bring(&mut self, bytes: u64) {
        self.bytes -= bytes as i64;
        self.came += bytes;
    }
}

/// The barriers of a block, by their offsets in shared memory.
#[derive(Debug, Default)]
pub(crate) struct Mbarriers {
    pub(crate) states: BTreeMap<u32, MbarrierState>,
    /// The last successful waits, by barrier and thread; where mistakes are looked for.
    pub(crate) waited: BTreeMap<(u32, u32), Waited>,
    /// Threads that have arrived, by barrier.
    pub(crate) arrived: BTreeMap<u32, BTreeSet<u32>>,
    /// The barrier for which a thread waited last.
    pub(crate) last: BTreeMap<u32, u32>,
    /// A barrier was misused: its behaviour is not defined any more.
    pub(crate) misused: bool,
}

impl Mbarriers {
    pub(crate) fn clear(&mut self) {
        self.states.clear();
        self.waited.clear();
        self.last.clear();
        self.arrived.clear();
        self.misused = false;
    }

    /// A fence makes the barriers visible that were made.
    pub(crate) fn publish(&mut self) {
        for state in self.states.values_mut() {
            state.published = true;
        }
    }

    /// Threads of the block have met.
    pub(crate) fn settle(&mut self) {
        for state in self.states.values_mut() {
            state.settled = true;
        }
    }
}
