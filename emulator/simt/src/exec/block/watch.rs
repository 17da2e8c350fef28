//! Warps that are watched, to see whether they are in a loop that never ends.

use std::collections::BTreeSet;

use arithmetic::lanes::Line;

use crate::exec::fiber::Frame;

/// Thread-instructions of a block after which one of its warps is watched for the first time.
pub(super) const FIRST_PROBE: u64 = 1 << 26;

/// Frames and registers of a warp.
pub(crate) type State = (Vec<Frame>, Vec<Line>, Vec<u32>);

/// A part of a warp's run: what it executed since a state that may come back.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) warp: u32,
    /// Turns that were watched.
    pub(crate) turns: u32,
    pub(crate) kept: Option<State>,
    /// Positions of the operations since then.
    pub(crate) positions: BTreeSet<u32>,
}

impl Watch {
    pub(crate) fn new(warp: u32) -> Self {
        Self { warp, turns: 0, kept: None, positions: BTreeSet::new() }
    }

    pub(crate) fn keep(&mut self, state: State) {
        self.kept = Some(state);
        self.positions.clear();
    }
}
