//! Values that a waiting block has polled: the block is run again only when one of them has changed.
//!
//! Without this, a chain of blocks that each wait for the next one costs the square of its length.

#[cfg(test)]
mod tests;

use crate::memory::relaxed;

/// The most places that are cached. A block that polls more of them is run again in any case.
const MAX_PLACES: usize = 128;

/// Values that a block has polled since it last changed anything itself.
#[derive(Debug, Default)]
pub(crate) struct PollCache {
    /// Host address, bytes and value of each polled place.
    places: Vec<(*const u8, u8, u64)>,
    /// Whether the block polled something that is not in `places`: a clock, or too many places.
    pub(crate) more: bool,
}

impl PollCache {
    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.more = false;
    }

    /// Caches the value at `at`.
    ///
    /// # Safety
    /// `at` is readable for an element of `bytes` bytes and aligned to it, for as long as the launch lasts.
    pub(crate) unsafe fn note(&mut self, at: *const u8, bytes: u8) {
        // SAFETY: `at` is readable for an element of `bytes` bytes and aligned to it.
        let now = unsafe { relaxed::load(at, bytes) };
        let known = self.places.iter_mut().find(|(known, n, _)| (*known, *n) == (at, bytes));
        if let Some((.., value)) = known {
            *value = now;
        } else if self.places.len() < MAX_PLACES {
            self.places.push((at, bytes, now));
        } else {
            self.more = true;
        }
    }

    /// Returns the host address, the bytes and the value of each polled place, as far as they are cached.
    pub(crate) fn places(&self) -> &[(*const u8, u8, u64)] {
        &self.places
    }

    /// Returns whether the block may find a different value than the last time.
    pub(crate) fn changed(&self) -> bool {
        // SAFETY: `note` was given these places by a block of this launch, which lasts.
        let differs = |&(at, bytes, value): &(*const u8, u8, u64)| unsafe { relaxed::load(at, bytes) } != value;
        self.more || self.places.is_empty() || self.places.iter().any(differs)
    }
}
