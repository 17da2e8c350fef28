//! How undefined bits pass through arithmetic.

use arithmetic::lanes::Class;

/// The registers of an arithmetic operation, for following undefined values through it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// What becomes of undefined bits.
    pub flow: Flow,
    /// Class of the result.
    pub dst: Class,
    /// Classes of the sources.
    pub srcs: &'static [Class],
}

/// What an arithmetic operation makes of source bits that nothing has defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flow {
    /// Every bit of the result depends on every bit of the sources.
    #[default]
    Mixed,
    /// Moves bits of some sources, as the other sources say.
    Moved {
        /// Which sources are moved, one bit each.
        data: u8,
        /// The other sources are numbers of bits: a move of whole bytes when they are multiples of 8.
        shifts: bool,
    },
    /// Each bit of the result depends on that bit of the sources, and on whole predicates.
    Bitwise,
    /// Each bit of the result depends on that bit of the sources and on those below it.
    Upward,
    /// Each half of 32 bits depends on that half of the sources.
    Halves,
    /// Compares the first two sources; others are predicates that the result is combined with.
    Compared(Ordering),
}

/// How [`Flow::Compared`] orders values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ordering {
    /// As unsigned integers of any width.
    Unsigned,
    /// As signed integers of so many bits.
    Signed(u8),
    /// As floating-point numbers of so many bits.
    Float(u8),
}
