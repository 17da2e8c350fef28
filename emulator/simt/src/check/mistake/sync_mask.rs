//! Lane masks of warp-wide instructions.

use crate::lane_mask::LaneMask;

/// Wrong mask of a warp-wide instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncMask {
    /// Lanes that the instruction names, in the first lane of [`super::Mistake::mask`].
    pub named: LaneMask,
    /// Lanes that execute the instruction.
    pub present: LaneMask,
    pub exited: LaneMask,
    pub wrong: WrongMask,
    /// The warp's lanes that do not execute it, in groups: the instruction at which a group is, and its lanes.
    pub elsewhere: Vec<(u32, LaneMask)>,
}

/// Disagreement of a lane mask and the lanes that execute the instruction; see [`SyncMask`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrongMask {
    /// Named lanes never come.
    Missing,
    /// A lane that executes it is not named by itself.
    CallerNotNamed,
    /// Lanes that execute it together name different masks; this is the other one.
    Differs(LaneMask),
    /// A shuffle reads from this lane, which is named and does not execute it.
    SourceMissing(Astray),
    /// A shuffle reads from this lane, which is not named. The value is used.
    SourceNotNamed(Astray),
    /// The mask fits, but the distance of the shuffle is a multiple of 32: each lane reads its own value, and adds it.
    OwnValue { distance: u32 },
}

/// The value that a lane shuffles from where none is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Astray {
    /// The lane that it comes from.
    pub from: u32,
    /// The instruction that uses it; the shuffle itself for a lane that went another way.
    pub used: u32,
}
