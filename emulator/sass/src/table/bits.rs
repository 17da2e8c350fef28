//! Fields of an instruction's 128 bits.

/// A field of neighbouring bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bits {
    pub(crate) low: u32,
    pub(crate) width: u32,
}

impl Bits {
    pub(crate) fn new(low: u32, width: u32) -> Bits {
        Bits { low, width }
    }

    pub(crate) fn of(self, word: u128) -> u32 {
        field(word, self.low, self.width)
    }

    pub(crate) fn mask(self) -> u128 {
        ((1 << self.width) - 1) << self.low
    }
}

pub(crate) fn field(word: u128, low: u32, width: u32) -> u32 {
    (word >> low) as u32 & (u32::MAX >> (32 - width))
}
