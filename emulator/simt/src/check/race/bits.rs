//! Bitmaps over memory: one bit per unit, in chunks of 1024 units.

use crate::check::AccessKind;

/// Units in a chunk.
pub(super) const CHUNK: u64 = 1024;
const WORDS: usize = CHUNK as usize / 64;

/// One bit per unit of a chunk.
pub(super) type Bits = [u64; WORDS];

/// What was done to the units of a chunk since the last barrier: read, written, atomically changed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks {
    /// By [`AccessKind`].
    pub(super) bits: [Bits; 3],
    /// Which of them are not empty: a bit per kind.
    pub(super) kinds: u8,
}

/// A chunk: what the running warp did, what the others did, and what was already told.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Chunk {
    pub(super) own: Marks,
    pub(super) past: Marks,
    pub(super) told: Bits,
}

/// The kinds that race with `kind`, as a set of bits.
pub(super) const fn rivals(kind: AccessKind) -> u8 {
    match kind {
        AccessKind::Read => bit(AccessKind::Write) | bit(AccessKind::Atomic),
        AccessKind::Write => bit(AccessKind::Read) | bit(AccessKind::Write) | bit(AccessKind::Atomic),
        AccessKind::Atomic => bit(AccessKind::Read) | bit(AccessKind::Write),
    }
}

/// A set of one kind.
pub(super) const fn bit(kind: AccessKind) -> u8 {
    1 << kind as u8
}

/// All kinds.
pub(super) const KINDS: [AccessKind; 3] = [AccessKind::Read, AccessKind::Write, AccessKind::Atomic];

/// The words that hold units `from .. to` of a chunk, each with the mask of those units.
pub(super) fn words(from: u64, to: u64) -> impl Iterator<Item = (usize, u64)> {
    (from / 64..to.div_ceil(64)).map(move |word| {
        let low = from.saturating_sub(word * 64);
        let high = (to - word * 64).min(64);
        let mask = (u64::MAX >> (64 - (high - low))) << low;
        (word as usize, mask)
    })
}

impl Marks {
    /// Marks units `from .. to`; tells whether a rival of `kind` had marked one of them.
    #[inline]
    pub(super) fn mark(&mut self, kind: AccessKind, from: u64, to: u64) -> bool {
        let rivals = rivals(kind) & self.kinds;
        let mut hit = 0;
        self.kinds |= bit(kind);
        let word = (from / 64) as usize;
        if rivals == 0 && word == ((to - 1) / 64) as usize && word < WORDS {
            self.bits[kind as usize][word] |= (u64::MAX >> (64 - (to - from))) << (from % 64);
            return false;
        }
        if rivals == 0 {
            for (word, mask) in words(from, to) {
                self.bits[kind as usize][word] |= mask;
            }
        } else {
            for (word, mask) in words(from, to) {
                hit |= self.rival_word(rivals, word) & mask;
                self.bits[kind as usize][word] |= mask;
            }
        }
        hit != 0
    }

    /// Some of units `from .. to` is marked by a kind in `kinds`.
    pub(super) fn any(&self, kinds: u8, from: u64, to: u64) -> bool {
        let kinds = kinds & self.kinds;
        kinds != 0 && words(from, to).any(|(word, mask)| self.rival_word(kinds, word) & mask != 0)
    }

    fn rival_word(&self, kinds: u8, word: usize) -> u64 {
        let mut all = 0;
        for kind in KINDS {
            if kinds & bit(kind) != 0 {
                all |= self.bits[kind as usize][word];
            }
        }
        all
    }

    /// Units on which these marks and `other` race.
    pub(super) fn conflicts(&self, other: &Self) -> Option<Bits> {
        let mut found = [0; WORDS];
        for kind in KINDS {
            let rivals = rivals(kind) & other.kinds;
            if self.kinds & bit(kind) == 0 || rivals == 0 {
                continue;
            }
            for (word, slot) in found.iter_mut().enumerate() {
                *slot |= self.bits[kind as usize][word] & other.rival_word(rivals, word);
            }
        }
        found.iter().any(|&word| word != 0).then_some(found)
    }

    /// Adds `other`'s marks.
    pub(super) fn merge(&mut self, other: &Self) {
        for kind in KINDS {
            if other.kinds & bit(kind) != 0 {
                let theirs = &other.bits[kind as usize];
                for (ours, theirs) in self.bits[kind as usize].iter_mut().zip(theirs) {
                    *ours |= theirs;
                }
            }
        }
        self.kinds |= other.kinds;
    }

    /// Forgets everything; costs nothing for kinds that were not used.
    pub(super) fn clear(&mut self) {
        for kind in KINDS {
            if self.kinds & bit(kind) != 0 {
                self.bits[kind as usize] = [0; WORDS];
            }
        }
        self.kinds = 0;
    }
}

/// The set bits, lowest first.
pub(super) fn ones(bits: &Bits) -> impl Iterator<Item = u64> + '_ {
    bits.iter().enumerate().flat_map(|(index, &word)| {
        std::iter::successors((word != 0).then_some(word), |rest| {
            let next = rest & (rest - 1);
            (next != 0).then_some(next)
        })
        .map(move |rest| index as u64 * 64 + u64::from(rest.trailing_zeros()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_cover_exactly_the_units() {
        for (from, to) in [(0, 1), (0, 64), (63, 65), (5, 200), (1000, 1024), (64, 128)] {
            let mut bits = [0; WORDS];
            for (word, mask) in words(from, to) {
                bits[word] |= mask;
            }
            assert_eq!(ones(&bits).collect::<Vec<_>>(), (from..to).collect::<Vec<_>>());
        }
    }

    #[test]
    fn reads_do_not_conflict_with_reads_nor_atomics_with_atomics() {
        for kind in [AccessKind::Read, AccessKind::Atomic] {
            let mut marks = Marks::default();
            assert!(!marks.mark(kind, 0, 8));
            assert!(!marks.mark(kind, 4, 12));
            assert!(marks.conflicts(&marks).is_none());
        }
    }
}
