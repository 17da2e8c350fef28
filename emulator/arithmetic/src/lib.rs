//! Arithmetic of the emulated GPU: from a PTX mnemonic to a function on all 32 lanes of a warp.
//!
//! [`lookup`] is a table written as `match`es, one file per family; [`lanes`] defines the registers that the functions
//! work on, and [`products`] the sums of tensor cores. Instructions that need more than registers (memory, control
//! flow, other lanes) are in the crate `simt`.
//!
//! Conventions that all forms keep:
//! - 16-bit values are read from the low half of a lane and written zero-extended. A result of an 8-bit type
//!   (`cvt.s8`) is extended to 16 bits by its signedness, then zero-extended.
//! - A NaN made by `f32` arithmetic is `0x7fffffff`, by `f16` and `bf16` arithmetic `0x7fff`; `f64` passes an
//!   operand's on.
//! - The carry flag is an ordinary predicate: a last source of what reads it, and the [`ResultPart::Second`] of
//!   what writes it. Both parts read the sources, so the second must run before a source is overwritten.

mod approx;
mod bits;
mod carry;
mod compare;
mod convert;
mod convert_any;
#[cfg(test)]
mod edges;
mod engine;
mod float;
pub mod half;
mod half_ops;
mod integer;
mod lane;
pub mod lanes;
mod modes;
mod moves;
mod multifunction;
pub mod products;
mod sass;
mod soft;
#[cfg(test)]
mod tests;
mod video;

use lanes::{AluFn, Class, CpuLevel};
pub use moves::{Builtin, builtin};
pub use sass::{SassStep, Shift, step};

/// Function of an instruction, with the classes of its operands.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    pub run: AluFn,
    pub dst: Class,
    /// Classes of the sources, in PTX order.
    pub srcs: &'static [Class],
    /// Value of `src[3]` where there are fewer than four sources: rare forms share a function and choose by it.
    pub variant: i32,
}

/// Result of an instruction with one or two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultPart {
    First,
    /// `q` of `setp … p|q`, the carry-out of `add.cc` and similar.
    Second,
}

/// Looks up `opcode.modifiers`.
pub fn lookup(opcode: &str, modifiers: &[&str], part: ResultPart, level: CpuLevel) -> Option<Form> {
    let form =
        carry::lookup(opcode, modifiers, part, level).or_else(|| compare::lookup(opcode, modifiers, part, level));
    if form.is_some() || part == ResultPart::Second {
        return form;
    }
    let form = moves::lookup(opcode, modifiers, level)
        .or_else(|| integer::lookup(opcode, modifiers, level))
        .or_else(|| bits::lookup(opcode, modifiers, level))
        .or_else(|| float::lookup(opcode, modifiers, level))
        .or_else(|| approx::lookup(opcode, modifiers, level))
        .or_else(|| convert::lookup(opcode, modifiers, level))
        .or_else(|| modes::lookup(opcode, modifiers));
    if cfg!(feature = "scalar") {
        return form;
    }
    form.or_else(|| half_ops::lookup(opcode, modifiers, level)).or_else(|| video::lookup(opcode, modifiers))
}

/// Detects the widest vector instructions of the CPU that this crate was built with; callers keep the answer.
pub fn cpu_level() -> CpuLevel {
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! has {
            ($($feature:tt),*) => { true $(&& std::is_x86_feature_detected!($feature))* };
        }
        let avx2 = has!("avx2", "fma", "bmi1", "bmi2", "f16c", "lzcnt", "popcnt");
        if cfg!(any(vectors = "avx512", test))
            && avx2
            && has!("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd")
        {
            return CpuLevel::Avx512;
        }
        if cfg!(any(vectors = "avx2", test)) && avx2 {
            return CpuLevel::Avx2;
        }
    }
    CpuLevel::Baseline
}
