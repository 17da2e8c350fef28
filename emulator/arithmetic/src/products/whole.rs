//! Products of integers and of single bits, which are exact.

/// Type of the integers in a factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WholeType {
    S8,
    U8,
    S4,
    U4,
}

/// The result of a sum that no accumulator holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Overflow {
    Wrap,
    Saturate,
}

/// Arithmetic of elements without a fraction; accumulators are `s32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Whole {
    /// Types of A and B, which have the same size.
    Integers(WholeType, WholeType, Overflow),
    /// The bits that differ are counted, 32 at a time.
    Xor,
    /// The bits that are set in both are counted, 32 at a time.
    And,
}

impl WholeType {
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "s8" => Self::S8,
            "u8" => Self::U8,
            "s4" => Self::S4,
            "u4" => Self::U4,
            _ => return None,
        })
    }

    pub const fn bits(self) -> usize {
        match self {
            Self::S8 | Self::U8 => 8,
            Self::S4 | Self::U4 => 4,
        }
    }

    /// Returns the integer in the low bits of a word.
    fn value(self, word: u32) -> i32 {
        match self {
            Self::S8 => i32::from(word as i8),
            Self::U8 => i32::from(word as u8),
            Self::S4 => (word << 28) as i32 >> 28,
            Self::U4 => (word & 15) as i32,
        }
    }
}

impl Whole {
    /// Returns elements of A (0) or B (1) as integers; single bits stay words of 32.
    pub fn decode(self, factor: usize, words: &mut [u32]) {
        if let Self::Integers(a, b, _) = self {
            let kind = [a, b][factor & 1];
            words.iter_mut().for_each(|word| *word = kind.value(*word) as u32);
        }
    }

    /// Returns the sums of products of `a` with neighbouring columns of B.
    pub fn sum<'a>(self, a: &[u32], b: impl Iterator<Item = &'a [u32; 8]>) -> [i32; 8] {
        let mut sums = [0; 8];
        for (&a, b) in a.iter().zip(b) {
            for (sum, &b) in sums.iter_mut().zip(b) {
                *sum += match self {
                    Self::Integers(..) => a as i32 * b as i32,
                    Self::Xor => (a ^ b).count_ones() as i32,
                    Self::And => (a & b).count_ones() as i32,
                };
            }
        }
        sums
    }

    pub fn add(self, accumulator: u32, sum: i32) -> u32 {
        match self {
            Self::Integers(_, _, Overflow::Saturate) => (accumulator as i32).saturating_add(sum) as u32,
            _ => accumulator.wrapping_add(sum as u32),
        }
    }
}
