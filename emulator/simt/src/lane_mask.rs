//! Sets of lanes of a warp.

use std::fmt;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not};

/// A set of lanes of a warp: bit `i` stands for lane `i`.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneMask(u32);

impl LaneMask {
    pub const EMPTY: Self = Self(0);
    pub const ALL: Self = Self(u32::MAX);

    #[inline(always)]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    #[inline(always)]
    pub const fn bits(self) -> u32 {
        self.0
    }

    #[inline(always)]
    pub const fn of(lane: usize) -> Self {
        Self(1 << lane)
    }

    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[inline(always)]
    pub const fn is_all(self) -> bool {
        self.0 == u32::MAX
    }

    #[inline(always)]
    pub const fn contains(self, lane: usize) -> bool {
        self.0 >> lane & 1 != 0
    }

    #[inline(always)]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns the lowest lane; 32 if there is none.
    #[inline(always)]
    pub const fn first(self) -> usize {
        self.0.trailing_zeros() as usize
    }

    /// Returns the lanes, lowest first.
    #[inline(always)]
    pub fn iter(mut self) -> impl Iterator<Item = usize> {
        std::iter::from_fn(move || {
            if self.0 == 0 {
                return None;
            }
            let lane = self.first();
            self.0 &= self.0 - 1;
            Some(lane)
        })
    }

    /// Returns the numbers of the lanes, lowest first.
    pub fn numbers(self) -> impl Iterator<Item = u32> {
        self.iter().map(|lane| lane as u32)
    }

    #[inline(always)]
    pub(crate) fn filter(self, mut holds: impl FnMut(usize) -> bool) -> Self {
        self.iter().filter(|&lane| holds(lane)).fold(Self::EMPTY, |all, lane| all | Self::of(lane))
    }
}

impl fmt::LowerHex for LaneMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}

macro_rules! operators {
    ($($operator:ident $method:ident $assign:ident $assign_method:ident $token:tt),+) => {$(
        impl $operator for LaneMask {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0 $token other.0)
            }
        }

        impl $assign for LaneMask {
            #[inline(always)]
            fn $assign_method(&mut self, other: Self) {
                *self = *self $token other;
            }
        }
    )+};
}

operators!(BitAnd bitand BitAndAssign bitand_assign &, BitOr bitor BitOrAssign bitor_assign |);

impl Not for LaneMask {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0)
    }
}
