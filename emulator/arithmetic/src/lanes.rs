//! A warp's registers, and the shape of a function that works on all 32 lanes of them.
//!
//! Registers are kept lane by lane in *lines*: one line holds one 32-bit value for each of the 32 lanes
//! (16-bit values stand zero-extended in a 32-bit one). A 64-bit register is two neighbouring lines, read as
//! 32 `u64`. A predicate is one bit per lane. Constants are lines too, shared by all warps of a program.

/// Lanes in a warp.
pub const WARP: usize = 32;

/// One 32-bit value for each lane of a warp.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Line(pub [u32; WARP]);

/// Where a source operand is found.
///
/// Zero and up: a line of the warp's registers. Below zero: line `!src` of the program's constants.
/// A 64-bit operand starts there and takes two lines. A predicate operand is an index into the predicates.
pub type Src = i32;

/// Where a result goes: a register line, or an index into the predicates.
pub type Dst = u32;

/// No destination wanted (`_`), or no source.
pub const NONE: i32 = i32::MIN;

/// What kind of register an operand of an [`AluFn`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// One bit per lane.
    Pred,
    /// One line. Values narrower than 32 bits are zero-extended.
    Bits32,
    /// Two neighbouring lines, used as an array of one 64-bit value per lane.
    Bits64,
}

/// The operands of an [`AluFn`]; how each is read, the function knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AluArgs {
    /// Where the result goes.
    pub dst: Dst,
    /// Sources, in PTX order; unused ones are [`NONE`].
    pub src: [Src; 4],
}

/// Registers of the warp that runs, and the constants of its program.
#[derive(Debug)]
pub struct Lanes {
    /// The lines of the warp's registers.
    pub regs: *mut Line,
    /// The lines of the program's constants.
    pub consts: *const Line,
    /// One mask per predicate register. Predicate 0 is constant true, 1 constant false.
    pub preds: *mut u32,
}

impl Lanes {
    /// Where a 32- or 64-bit source starts.
    ///
    /// # Safety
    /// `src` is in range, and not [`NONE`].
    #[inline(always)]
    pub unsafe fn source(&self, src: Src) -> *const Line {
        // SAFETY: the caller vouches for the range.
        unsafe {
            if src >= 0 {
                self.regs.cast_const().add(src as usize)
            } else {
                self.consts.add(!src as usize)
            }
        }
    }
}

/// Computes one result for every lane in `mask`; the other lanes keep what they had.
///
/// # Safety
/// Every operand must be in range for `Lanes`, as `decode::passes::validate` establishes, and the
/// CPU must have the features that the function was compiled for. A destination never overlaps a source
/// partly: it is the same register or a disjoint one (32- and 64-bit registers are allocated apart).
pub type AluFn = unsafe fn(&mut Lanes, &AluArgs, mask: u32);

/// Vector instructions to use, found out at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CpuLevel {
    /// What every machine of the target has.
    Baseline,
    /// x86-64-v3: AVX2, FMA, BMI, F16C.
    Avx2,
    /// x86-64-v4: AVX-512 F, BW, CD, DQ, VL.
    Avx512,
}
