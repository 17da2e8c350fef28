//! Values that a waiting block has polled: running it again is of use only when one of them has changed.
//!
//! Without this, a chain of blocks that each wait for the next one costs the square of its length.

/// Places remembered; a block that looks at more is gone back to in any case.
const MOST: usize = 64;

/// Values that a block saw, since it last changed anything itself.
#[derive(Debug, Default)]
pub(crate) struct PollCache {
    /// Address on this machine, bytes, value.
    places: Vec<(usize, u8, u64)>,
    /// The block polled more than that: a clock, or too many places.
    more: bool,
}

impl PollCache {
    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.more = false;
    }

    /// Notes a poll of something other than memory.
    pub(crate) fn other(&mut self) {
        self.more = true;
    }

    /// # Safety
    /// `at` is readable for `bytes` bytes, at most 8, for as long as the launch lasts.
    pub(crate) unsafe fn note(&mut self, at: *const u8, bytes: u8) {
        let address = at as usize;
        // SAFETY: as the caller vouches.
        let now = unsafe { read(address, bytes) };
        let known = self
            .places
            .iter_mut()
            .find(|(known, n, _)| (*known, *n) == (address, bytes));
        if let Some((.., value)) = known {
            *value = now;
        } else if self.places.len() < MOST {
            self.places.push((address, bytes, now));
        } else {
            self.more = true;
        }
    }

    /// The block may find something new.
    pub(crate) fn changed(&self) -> bool {
        // SAFETY: `note` was given these places by a block of this launch, which lasts.
        let differs = |&(at, bytes, value): &(usize, u8, u64)| unsafe { read(at, bytes) } != value;
        self.more || self.places.is_empty() || self.places.iter().any(differs)
    }
}

/// # Safety
/// `at` is readable for `bytes` bytes, at most 8.
unsafe fn read(at: usize, bytes: u8) -> u64 {
    let mut value = [0; 8];
    for (i, byte) in value.iter_mut().enumerate().take(bytes.into()) {
        // SAFETY: as the caller vouches; another thread may write the byte, and then either value will do.
        *byte = unsafe { (at as *const u8).add(i).read_volatile() };
    }
    u64::from_le_bytes(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_noticed() {
        let mut value = 5u32;
        let at = (&raw mut value).cast::<u8>();
        let mut seen = PollCache::default();
        assert!(seen.changed());
        // SAFETY: the place is there until the end of the test.
        unsafe {
            seen.note(at, 4);
            assert!(!seen.changed());
            at.write(6);
            assert!(seen.changed());
            seen.note(at, 4);
        }
        assert!(!seen.changed());
    }
}
