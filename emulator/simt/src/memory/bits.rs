//! A set of small numbers, one bit each.

#[cfg(test)]
mod tests;

/// See the module's text. Ranges beyond its size are cut off.
#[derive(Debug, Default, Clone)]
pub(crate) struct Bits {
    words: Vec<u64>,
}

/// Bytes of a memory, known cell by cell.
#[derive(Debug, Default)]
pub(crate) struct CellBits {
    bits: Bits,
    /// Size of a cell, as a power of two: no smaller unit is ever passed.
    shift: u32,
}

impl CellBits {
    pub(crate) fn new(n_bytes: usize, shift: u32) -> Self {
        Self { bits: Bits::new((n_bytes >> shift) + 1), shift }
    }

    pub(crate) fn clear(&mut self) {
        self.bits.clear();
    }

    /// Returns the cells of the bytes `start .. start + n`.
    fn range(&self, start: usize, n: usize) -> (usize, usize) {
        let (from, to) = (start >> self.shift, (start + n).div_ceil(1 << self.shift));
        (from, to - from)
    }

    pub(crate) fn set(&mut self, start: usize, n: usize) {
        let (from, n) = self.range(start, n);
        self.bits.set(from, n);
    }

    pub(crate) fn unset(&mut self, start: usize, n: usize) {
        let (from, n) = self.range(start, n);
        self.bits.unset(from, n);
    }

    pub(crate) fn all(&self, start: usize, n: usize) -> bool {
        let (from, n) = self.range(start, n);
        self.bits.all(from, n)
    }

    /// Records an access to a range. Returns false if it reads what is not in the set.
    pub(crate) fn access(&mut self, start: usize, n: usize, writes: bool) -> bool {
        let (from, n) = self.range(start, n);
        self.bits.access(from, n, writes)
    }

    /// Clears the cells of which all bytes lie in a range.
    pub(crate) fn unset_whole(&mut self, start: usize, n: usize) {
        let (from, to) = (start.div_ceil(1 << self.shift), (start + n) >> self.shift);
        self.bits.unset(from, to.saturating_sub(from));
    }

    /// Returns the mask of up to 32 bytes in the set.
    pub(crate) fn mask(&self, start: usize, n: usize) -> u32 {
        let in_set = |byte: &usize| self.bits.mask((start + byte) >> self.shift, 1) == 1;
        (0..n.min(32)).filter(in_set).fold(0, |mask, byte| mask | 1 << byte)
    }

    /// Sets the cells of a pattern that begins at byte `start`.
    #[inline(always)]
    pub(crate) fn set_cells(&mut self, start: usize, pattern: &[u64]) {
        let words = &mut self.bits.words;
        shifted(start >> self.shift, pattern, |word, cells| {
            if let Some(w) = words.get_mut(word) {
                *w |= cells;
            }
        });
    }

    /// Returns whether all cells of a pattern that begins at byte `start` are in the set.
    #[inline(always)]
    pub(crate) fn all_cells(&self, start: usize, pattern: &[u64]) -> bool {
        let mut missing = 0;
        shifted(start >> self.shift, pattern, |word, cells| {
            missing |= cells & !self.bits.words.get(word).copied().unwrap_or(0);
        });
        missing == 0
    }

    /// Returns the bytes of `from .. to` that are in the set, as ranges, at most `limit` of them.
    pub(crate) fn ranges(&self, from: usize, to: usize, limit: usize) -> Vec<(u64, u64)> {
        let (first, n) = self.range(from, to.saturating_sub(from));
        let mut found = self.bits.ranges(first, first + n, limit);
        let bytes = |cell: u64| (cell << self.shift).clamp(from as u64, to as u64);
        found.iter_mut().for_each(|(s, e)| (*s, *e) = (bytes(*s), bytes(*e)));
        found
    }
}

/// Passes the bits of a pattern, moved up by `from`, to `each`, word by word.
#[inline(always)]
pub(crate) fn shifted(from: usize, pattern: &[u64], mut each: impl FnMut(usize, u64)) {
    let (mut word, by) = (from / 64, from % 64);
    let mut carried = 0;
    for bits in pattern {
        each(word, bits << by | carried);
        // In two steps, since all bits leave the word where `by` is 0.
        carried = bits >> 1 >> (63 - by);
        word += 1;
    }
    if carried != 0 {
        each(word, carried);
    }
}

/// Returns the bits `from .. to` of one word.
#[inline(always)]
fn span(from: usize, n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { ((1u64 << n) - 1) << from }
}

/// Calls `f` with each word that a range of bits touches, and the bits of the range in it.
#[inline(always)]
pub(crate) fn each_word(start: usize, n: usize, mut f: impl FnMut(usize, u64)) {
    let (mut at, end) = (start, start + n);
    while at < end {
        let bit = at & 63;
        let take = (64 - bit).min(end - at);
        f(at >> 6, span(bit, take));
        at += take;
    }
}

impl Bits {
    pub(crate) fn new(n: usize) -> Self {
        Self { words: vec![0; n.div_ceil(64)] }
    }

    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, start: usize, n: usize) {
        each_word(start, n, |word, bits| {
            if let Some(w) = self.words.get_mut(word) {
                *w |= bits;
            }
        });
    }

    #[inline(always)]
    pub(crate) fn unset(&mut self, start: usize, n: usize) {
        each_word(start, n, |word, bits| {
            if let Some(w) = self.words.get_mut(word) {
                *w &= !bits;
            }
        });
    }

    #[inline(always)]
    pub(crate) fn all(&self, start: usize, n: usize) -> bool {
        let mut missing = 0;
        each_word(start, n, |word, bits| missing |= bits & !self.words.get(word).copied().unwrap_or(0));
        missing == 0
    }

    /// Records an access to a range. Returns false if it reads what is not in the set.
    #[inline(always)]
    pub(crate) fn access(&mut self, start: usize, n: usize, writes: bool) -> bool {
        if writes {
            self.set(start, n);
        }
        writes || self.all(start, n)
    }

    /// Returns the mask of up to 32 numbers in the set.
    pub(crate) fn mask(&self, start: usize, n: usize) -> u32 {
        mask(start, n, |i| self.words.get(i).copied().unwrap_or(0))
    }

    /// Returns the members in `from .. to` as ranges, at most `limit` of them.
    pub(crate) fn ranges(&self, from: usize, to: usize, limit: usize) -> Vec<(u64, u64)> {
        ranges(from, to, limit, |i| self.words.get(i).copied().unwrap_or(0))
    }
}

/// Returns up to 32 bits from `start` on of the words that `word` gives.
pub(crate) fn mask(start: usize, n: usize, word: impl Fn(usize) -> u64) -> u32 {
    let (at, by) = (start / 64, start % 64);
    let low = word(at) >> by;
    let high = if by == 0 { 0 } else { word(at + 1) << (64 - by) };
    (low | high) as u32 & span(0, n) as u32
}

/// Ranges of set bits in `from .. to` of the words that `word` gives, at most `limit`.
pub(crate) fn ranges(from: usize, to: usize, limit: usize, word: impl Fn(usize) -> u64) -> Vec<(u64, u64)> {
    let mut found: Vec<(u64, u64)> = Vec::new();
    let mut at = from;
    while at < to {
        let bits = word(at / 64) >> (at % 64);
        if bits == 0 {
            at = (at / 64 + 1) * 64;
            continue;
        }
        at += bits.trailing_zeros() as usize;
        let n = (!(bits >> bits.trailing_zeros())).trailing_zeros() as usize;
        let end = (at + n.max(1)).min((at / 64 + 1) * 64).min(to);
        if at >= end {
            break;
        }
        let joins = found.last().is_some_and(|last| last.1 == at as u64);
        if !joins && found.len() == limit {
            break;
        }
        match found.last_mut() {
            Some(last) if joins => last.1 = end as u64,
            _ => found.push((at as u64, end as u64)),
        }
        at = end;
    }
    found
}
