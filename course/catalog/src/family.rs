//! Families of works that compute the same from the same inputs, so that one yardstick is for all of them.

use std::fmt;

use crate::{Format, STEPS, Work, distinct};

/// A family of works, whose times can stand in one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// C = op(A) · op(B), from matrices in one format to one in another.
    Products {
        /// Format of A and B in the multiplication.
        operands: Format,
        /// Format of C in memory.
        result: Format,
    },
    /// C = A · B in FP64.
    Doubles,
    /// out = inᵀ.
    Transposes,
    /// C = A · B by the CPU.
    Cpu,
}

impl Family {
    /// Products in FP32, whatever computes them: on tensor cores, in three products of parts.
    pub const FP32: Self = Family::Products { operands: Format::Fp32, result: Format::Fp32 };

    /// Returns the families of the ladder's kernels, in the order of their first kernels.
    pub fn all() -> Vec<Self> {
        let kernels = STEPS.iter().flat_map(|step| step.kernels);
        distinct(kernels.map(|kernel| kernel.work.family()))
    }
}

impl fmt::Display for Family {
    /// Formats the family as in "C = A · B in …".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Family::Products { operands, result } if operands == result => f.write_str(operands.name()),
            // TF32 is a format of operands only: FP32 with bits that do not count.
            Family::Products { operands: Format::Tf32, .. } => f.write_str("TF32"),
            Family::Products { operands, result } => write!(f, "{}, C in {}", operands.name(), result.name()),
            Family::Doubles => f.write_str("FP64"),
            Family::Transposes => f.write_str("FP32"),
            Family::Cpu => f.write_str("FP32 on the CPU"),
        }
    }
}

impl Work {
    pub fn family(self) -> Family {
        match self {
            Work::Sgemm | Work::SgemmTransposed { .. } | Work::Cublas => Family::FP32,
            Work::Tensor { operands, result, .. } => Family::Products { operands, result },
            Work::Dgemm => Family::Doubles,
            Work::Transpose => Family::Transposes,
            Work::Cpu => Family::Cpu,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_told_by_what_goes_in_and_comes_out() {
        let names: Vec<String> = Family::all().iter().map(Family::to_string).collect();
        let mut different = names.clone();
        different.dedup();
        assert_eq!(names, different);
        let formats = ["FP32", "TF32", "bf16", "bf16, C in FP32", "e4m3, C in FP32", "e4m3, C in bf16", "FP64"];
        for name in formats.into_iter().chain(["FP32 on the CPU"]) {
            assert!(names.iter().any(|known| known == name), "{name} in {names:?}");
        }
        let three = crate::find("v10").ok().and_then(|step| step.kernel("sgemm_v10_three_tf32"));
        assert_eq!(three.map(|kernel| kernel.work.family()), Some(Family::FP32));
    }
}
