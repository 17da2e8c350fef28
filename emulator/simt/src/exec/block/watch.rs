//! Warps that are watched, to see whether they are in a loop that never ends.

use std::collections::BTreeSet;

use crate::arithmetic::lanes::Line;

use crate::exec::fiber::Frame;

/// Frames and registers of a warp.
pub(crate) type State = (Vec<Frame>, Vec<Line>, Vec<u32>);

/// A warp of which some turns are watched. It runs as it does otherwise: a launch must not depend on who watches.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) warp: u32,
    pub(crate) turns: u32,
    /// The state before turn 1, 2, 4, …, until it comes back.
    pub(crate) kept: Option<State>,
    /// Positions of the operations since then.
    pub(crate) positions: BTreeSet<u32>,
}

impl Watch {
    pub(crate) fn new(warp: u32) -> Self {
        Self { warp, turns: 0, kept: None, positions: BTreeSet::new() }
    }
}
