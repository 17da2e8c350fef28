//! A warp-wide access as the race checks see it.

use crate::{check::AccessKind, lane_mask::LaneMask};

/// A stretch of distinct bytes that an access covers, relative to its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ByteRun {
    /// First byte, relative to [`Touch::base`]; may be below it.
    pub start: i32,
    pub bytes: u32,
}

/// Kind of an access for the race checks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessMark {
    #[default]
    Read,
    Write,
    Atomic,
    /// Volatile, relaxed or acquiring load, or one that only proposes a value to a compare-and-swap.
    StrongRead,
    /// Volatile, relaxed or releasing store.
    StrongWrite,
}

impl AccessMark {
    /// Returns the kind of an access; `excused` tells that other threads may access the same bytes meanwhile.
    pub fn new(kind: AccessKind, excused: bool) -> Self {
        match (kind, excused) {
            (AccessKind::Read, false) => Self::Read,
            (AccessKind::Write, false) => Self::Write,
            (AccessKind::Atomic, _) => Self::Atomic,
            (AccessKind::Read, true) => Self::StrongRead,
            (AccessKind::Write, true) => Self::StrongWrite,
        }
    }

    pub(super) fn is_strong(self) -> bool {
        !matches!(self, Self::Read | Self::Write)
    }

    pub fn kind(self) -> AccessKind {
        match self {
            Self::Read | Self::StrongRead => AccessKind::Read,
            Self::Write | Self::StrongWrite => AccessKind::Write,
            Self::Atomic => AccessKind::Atomic,
        }
    }
}

/// A warp-wide access, reported before it is performed.
///
/// Accesses whose lanes lie more than 2³¹ bytes apart are reported in several parts, one per group of lanes.
#[derive(Clone, Copy)]
pub struct Touch<'a> {
    pub kind: AccessMark,
    /// Whether it is an atomic, or an access that other threads see while the kernel runs.
    pub strong: bool,
    pub instr: u32,
    /// Warp in the block: the one that `Interval::enter` named last.
    pub warp: u32,
    pub mask: LaneMask,
    /// `mask` without lanes at the address of the lane of it before them: many lanes read one element.
    pub distinct: LaneMask,
    /// Address of the first active lane: an offset in shared memory, or a global address.
    pub base: u64,
    pub bytes: u32,
    /// Covered bytes: disjoint, in rising order, neighbours joined.
    pub runs: &'a [ByteRun],
    /// Covered bytes as a bitmap, where one is available.
    pub cells: Cells<'a>,
    /// Each lane's address minus `base`; lanes outside `mask` are ignored.
    pub lanes: &'a [i32; 32],
    /// Equal for touches of the same worker and instruction whose `mask`, `bytes`, `runs` and `lanes` are equal.
    /// Any number will do, as long as it changes with them.
    pub pattern: u64,
    /// Whether two lanes access the same byte.
    pub overlapping: bool,
    /// The values of a write; `None` for reads and atomics, and for writes when not available.
    pub values: Option<&'a dyn Values>,
}

/// Cells that an access covers, from the start of its first run. A cell has `1 << shift` bytes; the first one starts at
/// a multiple of that. Without bits, the runs alone tell.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cells<'a> {
    /// A bit per cell.
    pub bits: &'a [u64],
    /// Size of a cell, as a power of two.
    pub shift: u32,
}

/// Values that a store is about to write, fetched only where a race needs them.
pub trait Values {
    /// Returns the 1 to 8 bytes that `lane` is about to store at `offset` bytes into its access, zero-extended.
    fn stored(&self, lane: u32, offset: u32, bytes: u32) -> u64;
    /// Returns the bytes that memory holds there now.
    fn present(&self, lane: u32, offset: u32, bytes: u32) -> u64;
}

impl<'a> Touch<'a> {
    /// Returns a plain access of these lanes, all of them at `base`, and without the values of a write.
    pub(crate) fn of_lanes(
        kind: AccessMark, (instr, warp, mask): (u32, u32, LaneMask), base: u64, runs: &'a [ByteRun], pattern: u64,
    ) -> Self {
        Self {
            kind,
            strong: false,
            instr,
            warp,
            mask,
            distinct: mask,
            base,
            bytes: runs[0].bytes,
            runs,
            cells: Cells::default(),
            lanes: &[0; 32],
            pattern,
            overlapping: false,
            values: None,
        }
    }

    /// Returns the first unit of `1 << shift` bytes, where `cells` says which units follow.
    #[inline(always)]
    pub(super) fn first_unit(&self, shift: u32) -> Option<u64> {
        let first = self.runs.first().filter(|_| self.cells.shift == shift && !self.cells.bits.is_empty())?;
        Some(self.base.wrapping_add_signed(i64::from(first.start)) >> shift)
    }

    /// Returns the only word of units that is covered, and the units in it: most accesses have no other.
    #[inline(always)]
    pub(super) fn only_word(&self, shift: u32) -> Option<(u64, u64)> {
        let unit = self.first_unit(shift)?;
        let [units] = *self.cells.bits else { return None };
        let by = unit % 64;
        (units.leading_zeros() as u64 >= by).then_some((unit / 64, units << by))
    }

    pub(super) fn address(&self, lane: u32) -> u64 {
        self.base.wrapping_add_signed(i64::from(self.lanes[lane as usize & 31]))
    }
}
