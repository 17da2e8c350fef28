//! Passage of undefined bits through arithmetic.

use arithmetic::lanes::Class;

use crate::operands::AluClasses;

/// Operand classes and undefined-bit rule of an arithmetic operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AluShape {
    pub flow: Flow,
    pub dst: Class,
    pub srcs: &'static [Class],
}

impl AluShape {
    pub fn classes(self) -> AluClasses {
        AluClasses { dst: self.dst, srcs: self.srcs }
    }
}

/// Rule by which undefined source bits make result bits undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flow {
    /// Every bit of the result depends on every bit of the sources.
    #[default]
    Mixed,
    /// Bits of some sources are moved, as the other sources say.
    Moved {
        /// Mask of the sources that are moved.
        data: u8,
        /// Whether the other sources are bit counts: multiples of 8 move whole bytes.
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

/// Order of the values of [`Flow::Compared`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ordering {
    /// Unsigned integers of any width.
    Unsigned,
    /// Signed integers of this width in bits.
    Signed(u8),
    /// Floating-point numbers of this width in bits.
    Float(u8),
}
