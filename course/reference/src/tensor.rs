//! Bounds for products on tensor cores.
//!
//! The unit adds otherwise than a multiply-add does: all products of an instruction and the sum so far are lined up by
//! the largest exponent among them, each is cut off below, and the total is cut to FP32. The rule is that of compute
//! capability 9.0, measured there, and what the emulated GPU computes by (`program::mma`).

#[cfg(test)]
mod tests;

use catalog::{Format, Shape, Work};

use crate::inputs::{Accumulator as _, Data, Real};
use crate::problem::Problem;
use crate::{answer::Answer, bf16::Bf16};

/// Largest relative error of rounding to bf16: 8 significant bits.
const BF16_UNIT: f64 = 1.0 / (1u64 << 8) as f64;
/// Largest relative error of leaving out the low 13 bits of FP32: 11 significant bits stay.
const TF32_CUT: f64 = 1.0 / (1u64 << 10) as f64;
/// Largest relative error of rounding them away.
const TF32_UNIT: f64 = 1.0 / (1u64 << 11) as f64;

impl<T: Real> Problem<T> {
    /// Returns the product as an answer for a kernel that does this work.
    pub fn answer_of(&self, work: Work) -> Answer<'_> {
        match work {
            Work::Tensor { operands, result, .. } => self.answer_on_tensor_cores(operands, result),
            Work::Dgemm => self.answer_of_sums(f64::UNIT),
            _ => self.answer_of_sums(f32::UNIT),
        }
    }

    fn answer_on_tensor_cores(&self, operands: Format, result: Format) -> Answer<'_> {
        match (self.data, result) {
            (Data::Integers, Format::Bf16) => Answer::exact(self.shape.n, rounded(&self.c)),
            _ => self.answer_within(allowed(operands, result, self.shape)),
        }
    }
}

/// Sums that are exact, and rounded once.
fn rounded(c: &[f64]) -> Vec<f64> {
    c.iter().map(|exact| Bf16::from_f64(*exact).to_f64()).collect()
}

/// Returns the largest allowed error of an element of C, as a part of ‖a‖·‖b‖.
fn allowed(operands: Format, result: Format, shape: Shape) -> f64 {
    let sums = sums(operands, shape);
    let operands = match operands {
        // (1 + t)(1 + t) - 1 of each product.
        Format::Tf32 => TF32_CUT * (2.0 + TF32_CUT),
        // high + low lacks u² of an element, and the product of two of them lacks low · low.
        Format::Fp32 => TF32_UNIT * TF32_UNIT * (3.0 + TF32_UNIT),
        Format::Bf16 | Format::E4m3 => 0.0,
    };
    let result = match result {
        Format::Bf16 => BF16_UNIT,
        Format::Fp32 | Format::Tf32 | Format::E4m3 => 0.0,
    };
    let reference = shape.k as f64 * f64::EPSILON;
    (1.0 + operands) * (1.0 + sums) * (1.0 + result) - 1.0 + reference
}

/// Products that FP32 from tensor cores adds up before they leave the unit.
const PROMOTED: f64 = 16.0;

// ANCHOR: bound
/// Returns the largest error of a sum of K products on tensor cores, as a part of Σ|a·b|.
///
/// An instruction adds n products to a sum. Each of these n + 1 terms loses less than 2⁻²⁵ of the largest power of two
/// in any of them, the total less than 2⁻²³ of itself, and neither is larger than Σ|a·b|, except for the errors so far.
/// That is (n + 1)·2⁻²⁵ + 2⁻²³ for each of the ⌈K / n⌉ instructions, and two more for sums that are put together at the
/// end. Of TF32 n is 8 in `mma.sync` and 4 in what `wmma` becomes, which loses more.
///
/// FP32 in three products adds up [`PROMOTED`] k on the unit, by instructions which lose so much of no more than these
/// k's part of Σ|a·b|, and then adds in FP32, where each of the ⌈K / 16⌉ sums is rounded. Twelve instructions with n =
/// 4 lose 54·2⁻²⁴.
///
/// In six products of bf16 less is lost, and they are held to the same. Of a step of 64 k, four instructions with n =
/// 16 add products of first parts, to sums of full size: 42·2⁻²⁴. The eight before them add products that are smaller
/// by 2⁻⁸, two for each pair of elements: not even 1·2⁻²⁴; the twelve before those, nothing that counts. And there is
/// one rounding for each 64 k. What is left out, of an element's second and third part by the other's, is 2·2⁻²⁴ of
/// |a·b|.
///
/// With e4m3 an instruction of a warpgroup has 32 products. It cuts terms at 2⁻¹³ and the total to 13 bits, which is so
/// much that errors add to the sums that are cut next: (1 + ν)ⁿ − 1 for n instructions. Worst cases don't come
/// together:
/// what is found on reals is far below, and it is the integers that find a missing term. Sums that leave the unit
/// before the end lose less, and are held to the same.
fn sums(operands: Format, shape: Shape) -> f64 {
    const CUT: f64 = 1.0 / (1u64 << 25) as f64;
    const TOTAL: f64 = 1.0 / (1u64 << 23) as f64;
    const CUT_OF_E4M3: f64 = 1.0 / (1u64 << 13) as f64;
    let instruction = |n: f64| (n + 1.0) * CUT + TOTAL;
    let times = |n: f64| (shape.k as f64 / n).ceil() + 2.0;
    let nu = match operands {
        Format::E4m3 => return (1.0 + (32.0 + 1.0 + 1.0) * CUT_OF_E4M3).powf(times(32.0)) - 1.0,
        Format::Bf16 => times(16.0) * instruction(16.0),
        Format::Tf32 => times(4.0) * instruction(4.0),
        Format::Fp32 => 3.0 * PROMOTED / 4.0 * instruction(4.0) + times(PROMOTED) * f32::UNIT,
    };
    nu / (1.0 - nu)
}
// ANCHOR_END: bound
