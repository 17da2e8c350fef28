//! Undefined values in the memory of a block, and in registers of callers.

use std::collections::HashMap;

use super::shadow::{Origin, Origins, ShadowIndex};
use crate::lane_mask::LaneMask;

/// Unwritten bytes that the last access read.
#[derive(Debug, Default)]
pub(crate) struct Fresh {
    /// Lanes that did; what is kept of the others is stale.
    pub(crate) lanes: LaneMask,
    /// Bytes of each lane's access.
    pub(crate) bytes: [u32; 32],
    /// Address of each lane, as a generic address.
    pub(crate) address: [u64; 32],
}

pub(crate) const MAX_CARRIED: usize = 1 << 16;

/// Origins of undefined values that this block has stored in memory.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    /// Origins by the number of a four-byte word.
    pub(crate) origins: HashMap<u64, Origin>,
    /// Whether a word was left out, because [`MAX_CARRIED`] were known.
    pub(crate) full: bool,
}

impl Carried {
    pub(crate) fn put(&mut self, place: u64, origin: Origin) {
        if self.origins.len() < MAX_CARRIED || self.origins.contains_key(&(place / 4)) {
            self.origins.insert(place / 4, origin);
        } else {
            self.full = true;
        }
    }
}

/// Undefined registers of callers, by thread and start of the frame.
pub(crate) type KeptUndefined = HashMap<(u32, u32), Vec<Undefined>>;

/// A register, its undefined bits, and where these come from.
pub(crate) type Undefined = (ShadowIndex, u64, Origins);
