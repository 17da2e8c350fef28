//! Registers of a warp, and the type of the functions that work on all 32 lanes.
//!
//! A *line* holds one 32-bit value for each of the 32 lanes (16-bit values zero-extended). A 64-bit register is two
//! neighbouring lines, read as 32 `u64`. A predicate is one bit per lane. Constants are lines that all warps share.

pub const WARP: usize = 32;

/// A 32-bit value for each lane of a warp.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Line(pub [u32; WARP]);

/// Location of a source operand.
///
/// Zero and up: a line of the warp's registers. Below zero: line `!src` of the program's constants. A 64-bit operand
/// starts there and takes two lines. A predicate operand is an index into the predicates.
pub type Src = i32;

/// Location of a result: a register line, or an index into the predicates.
pub type Dst = u32;

/// Location of an operand that is absent: a destination `_`, or an unused source.
pub const NONE: i32 = i32::MIN;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// A bit per lane.
    Pred,
    /// A line. Values narrower than 32 bits are zero-extended.
    Bits32,
    /// Two neighbouring lines, read as one array of 64-bit values.
    Bits64,
}

impl Class {
    pub fn of_width(wide: bool) -> Self {
        if wide { Class::Bits64 } else { Class::Bits32 }
    }
}

/// Operands of an [`AluFn`], which knows their classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AluArgs {
    pub dst: Dst,
    /// Sources, in PTX order; unused ones are [`NONE`].
    pub src: [Src; 4],
}

/// Registers of the warp that runs, and the constants of its program.
#[derive(Debug)]
pub struct Lanes {
    pub regs: *mut Line,
    pub consts: *const Line,
    /// Mask of each predicate. Predicate 0 is constant true, 1 constant false.
    pub preds: *mut u32,
}

impl Lanes {
    /// Returns a pointer to a 32- or 64-bit source.
    ///
    /// # Safety
    /// `src` is in range, and not [`NONE`].
    #[inline(always)]
    pub unsafe fn source(&self, src: Src) -> *const Line {
        // SAFETY: the caller vouches for the range.
        unsafe { if src >= 0 { self.regs.cast_const().add(src as usize) } else { self.consts.add(!src as usize) } }
    }
}

/// A function that computes the result of every lane in `mask`; other lanes keep theirs.
///
/// # Safety
/// Every operand must be in range for `Lanes`, as `decode::passes::validate` establishes, and the CPU must have the
/// features that the function was compiled for. A destination never overlaps a source partly: it is the same register
/// or a disjoint one (32- and 64-bit registers are allocated apart).
pub type AluFn = unsafe fn(&mut Lanes, &AluArgs, mask: u32);

/// Vector instructions to use, detected at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CpuLevel {
    /// Instructions of every CPU of the target.
    Baseline,
    /// x86-64-v3: AVX2, FMA, BMI, F16C.
    Avx2,
    /// x86-64-v4: AVX-512 F, BW, CD, DQ, VL.
    Avx512,
}
