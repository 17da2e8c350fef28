//! Bitmaps over memory: one bit per unit, in chunks of 1024 units.

use super::touch::AccessMark;

pub(super) const CHUNK: u64 = 1024;
/// 64-bit words for the units of a chunk.
pub(super) const WORDS: u64 = CHUNK / 64;

/// Bitmap of the units of a chunk.
pub(super) type Bits = [u64; WORDS as usize];

/// Accesses to the units of a chunk since the last barrier, by kind.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks {
    /// Bitmaps by kind of access, indexed by [`AccessMark`].
    pub(super) bits: [Bits; KINDS.len()],
    /// Kinds with a bitmap that is not empty, as bits.
    pub(super) kinds: u8,
    /// Words that hold a mark of some kind. Random accesses mark few of a chunk's words, and only those are looked at.
    words: u16,
}

/// Number of words above which whole bitmaps are processed, which is then faster than word by word.
const FEW: u32 = 4;

/// Calls `f` with the words of a set, or with all words when they are many.
#[inline(always)]
fn each_word(words: u16, mut f: impl FnMut(usize)) {
    if words.count_ones() > FEW {
        (0..WORDS as usize).for_each(f);
    } else {
        let mut rest = words;
        while rest != 0 {
            f(rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
    }
}

/// Accesses of a block to a chunk.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Chunk {
    /// Marks of the running warp.
    pub(super) own: Marks,
    /// Those of the warps before it.
    pub(super) past: Marks,
    /// Units on which a race was reported.
    pub(super) reported: Bits,
    pub(super) any_reported: bool,
}

/// Returns the kinds that race with `kind`, as a set of bits.
pub(super) const fn rivals(kind: AccessMark) -> u8 {
    use AccessMark::{Atomic, Read, StrongRead, StrongWrite, Write};
    match kind {
        Read => bit(Write) | bit(Atomic) | bit(StrongWrite),
        Write => bit(Read) | bit(Write) | bit(Atomic) | bit(StrongRead) | bit(StrongWrite),
        Atomic | StrongWrite => bit(Read) | bit(Write),
        StrongRead => bit(Write),
    }
}

pub(super) const fn bit(kind: AccessMark) -> u8 {
    1 << kind as u8
}

pub(super) const KINDS: [AccessMark; 5] =
    [AccessMark::Read, AccessMark::Write, AccessMark::Atomic, AccessMark::StrongRead, AccessMark::StrongWrite];

impl Marks {
    /// Marks units of a word; returns whether a rival of `kind` had marked one of them.
    #[inline]
    pub(super) fn mark(&mut self, kind: AccessMark, word: usize, units: u64) -> bool {
        let rivals = rivals(kind) & self.kinds;
        let hit = if rivals == 0 { 0 } else { self.rival_word(rivals, word) & units };
        self.bits[kind as usize][word] |= units;
        self.words |= 1 << word;
        self.kinds |= bit(kind);
        hit != 0
    }

    #[inline]
    pub(super) fn any(&self, kinds: u8, word: usize, units: u64) -> bool {
        let kinds = kinds & self.kinds;
        kinds != 0 && self.rival_word(kinds, word) & units != 0
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

    /// Returns the units on which these marks and `other` race.
    pub(super) fn conflicts(&self, other: &Self) -> Option<Bits> {
        let words = self.words & other.words;
        if words == 0 {
            return None;
        }
        let mut found = [0; WORDS as usize];
        for kind in KINDS {
            let rivals = rivals(kind) & other.kinds;
            if self.kinds & bit(kind) == 0 || rivals == 0 {
                continue;
            }
            each_word(words, |word| {
                found[word] |= self.bits[kind as usize][word] & other.rival_word(rivals, word);
            });
        }
        found.iter().any(|&word| word != 0).then_some(found)
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for kind in KINDS {
            if other.kinds & bit(kind) != 0 {
                let (ours, theirs) = (&mut self.bits[kind as usize], &other.bits[kind as usize]);
                each_word(other.words, |word| ours[word] |= theirs[word]);
            }
        }
        self.words |= other.words;
        self.kinds |= other.kinds;
    }

    /// Clears all marks; costs nothing for kinds that were not used.
    pub(super) fn clear(&mut self) {
        for kind in KINDS {
            if self.kinds & bit(kind) != 0 {
                let ours = &mut self.bits[kind as usize];
                each_word(self.words, |word| ours[word] = 0);
            }
        }
        self.words = 0;
        self.kinds = 0;
    }
}

/// Returns the set bits of some words, lowest first.
pub(super) fn ones(bits: &Bits, words: u16) -> impl Iterator<Item = u64> + '_ {
    each_bit(words.into()).flat_map(|index| each_bit(bits[index as usize]).map(move |at| index * 64 + at))
}

fn each_bit(mut rest: u64) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let at = (rest != 0).then_some(rest.trailing_zeros())?;
        rest &= rest - 1;
        Some(at.into())
    })
}
