//! Inputs: seeded, so that a failure can be repeated, and of two kinds.
//!
//! *Reals* lie in [−1, 1); a result on them has rounding errors, and a bound says how large they may be.
//! *Integers* are so small that every sum of their products is exact in the kernel's format, in any order: the
//! answer must be equal to the bit, which catches every wrong, missing or doubled term.

#[cfg(test)]
mod tests;

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use crate::comparison::{self, Comparison};
use crate::e4m3::E4m3;
use crate::{answer::Answer, bf16::Bf16};

/// A type that the driver copies to a device, where there is a driver.
#[cfg(not(target_family = "wasm"))]
pub use cudarc::driver::{DeviceRepr, ValidAsZeroBits};
#[cfg(target_family = "wasm")]
pub use without_driver::{DeviceRepr, ValidAsZeroBits};

/// Stands for the driver's types in a page of the web, which has none.
#[cfg(target_family = "wasm")]
mod without_driver {
    pub trait DeviceRepr {}
    impl<T> DeviceRepr for T {}
    pub trait ValidAsZeroBits {}
    impl<T> ValidAsZeroBits for T {}
}

/// A floating-point type of operands and results.
pub trait Real: DeviceRepr + ValidAsZeroBits + Copy + Default + Send + Sync + PartialEq + 'static {
    /// Up to here all sums of integers are exact where kernels make them.
    const EXACT: usize = 1 << 24;
    /// A NaN that no arithmetic makes, because it is a signalling one: what C is full of before a launch.
    const POISON: Self;
    /// The 32-bit word that it consists of, once or twice; of 16 bits, two make one.
    const POISON_WORD: u32;
    fn is_poison(self) -> bool;
    /// Returns the number of this type nearest to a value.
    fn from_f64(value: f64) -> Self;
    /// Returns the value, which `f64` holds exactly.
    fn to_f64(self) -> f64;
    /// Draws a number uniformly from [−1, 1).
    fn uniform(rng: &mut ChaCha8Rng) -> Self;
    /// Appends its bytes, the lowest first.
    fn append_to(self, bytes: &mut Vec<u8>);

    /// Draws [`elements()`] of this type.
    fn draw(data: Data, seed: u64, operand: u64, k: usize, n: usize) -> Vec<Self>;
    /// Returns the values of elements. What nobody wrote stays recognisable.
    fn widen(elements: &[Self]) -> Vec<f64>;
    /// Transposes as [`transposed()`] does.
    fn transpose(x: &[Self], rows: usize, cols: usize) -> Vec<Self>;
    /// Compares as [`compare_on_threads()`](crate::verify::compare_on_threads) does.
    fn compare(threads: usize, answer: &Answer<'_>, got: &[Self]) -> Comparison;
}

/// Methods that all types have alike. The loops over elements are among them, so that they are compiled in this crate.
macro_rules! alike {
    () => {
        fn is_poison(self) -> bool {
            self.to_bits() == Self::POISON.to_bits()
        }
        fn append_to(self, bytes: &mut Vec<u8>) {
            bytes.extend(self.to_bits().to_le_bytes());
        }
        fn draw(data: Data, seed: u64, operand: u64, k: usize, n: usize) -> Vec<Self> {
            draw(data, seed, operand, k, n)
        }
        fn widen(elements: &[Self]) -> Vec<f64> {
            elements.iter().map(widened).collect()
        }
        fn transpose(x: &[Self], rows: usize, cols: usize) -> Vec<Self> {
            turn(x, rows, cols)
        }
        fn compare(threads: usize, answer: &Answer<'_>, got: &[Self]) -> Comparison {
            comparison::compare_bands(threads, answer, got, |x| x.to_f64(), |x| x.is_poison())
        }
    };
}

fn widened<T: Real>(element: &T) -> f64 {
    if element.is_poison() { f64::POISON } else { element.to_f64() }
}

/// A type that kernels add in, one rounding after each sum.
pub trait Accumulator: Real {
    /// Largest relative error of one rounding.
    const UNIT: f64;
    /// Computes C = A · B on one core: A is m × k, B is k × n, all row-major.
    fn gemm(m: usize, k: usize, n: usize, a: &[Self], b: &[Self], c: &mut [Self]);
}

/// `matrixmultiply`'s function of a type, for whole row-major matrices.
macro_rules! gemm {
    ($function:path) => {
        fn gemm(m: usize, k: usize, n: usize, a: &[Self], b: &[Self], c: &mut [Self]) {
            assert!(a.len() >= m * k && b.len() >= k * n && c.len() >= m * n);
            let (row_of_a, row_of_b, row_of_c) = (k as isize, n as isize, n as isize);
            let (a, b, c) = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr());
            // SAFETY: the matrices are as large as said, and elements of a row lie side by side.
            unsafe { $function(m, k, n, 1.0, a, row_of_a, 1, b, row_of_b, 1, 0.0, c, row_of_c, 1) }
        }
    };
}

impl Accumulator for f32 {
    const UNIT: f64 = 1.0 / (1u64 << 24) as f64;
    gemm!(matrixmultiply::sgemm);
}

impl Real for f32 {
    const POISON: Self = f32::from_bits(Self::POISON_WORD);
    const POISON_WORD: u32 = 0x7fba_dbad;
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn uniform(rng: &mut ChaCha8Rng) -> Self {
        2.0 * rng.random::<f32>() - 1.0
    }
    alike!();
}

impl Accumulator for f64 {
    const UNIT: f64 = 1.0 / (1u64 << 53) as f64;
    gemm!(matrixmultiply::dgemm);
}

impl Real for f64 {
    const POISON: Self = f64::from_bits((Self::POISON_WORD as u64) << 32 | Self::POISON_WORD as u64);
    const POISON_WORD: u32 = 0x7ff0_dbad;
    fn from_f64(value: f64) -> Self {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
    fn uniform(rng: &mut ChaCha8Rng) -> Self {
        2.0 * rng.random::<f64>() - 1.0
    }
    alike!();
}

impl Real for Bf16 {
    const POISON: Self = Bf16::from_bits(Self::POISON_WORD as u16);
    const POISON_WORD: u32 = 0x7fba_7fba;
    fn from_f64(value: f64) -> Self {
        Bf16::from_f64(value)
    }
    fn to_f64(self) -> f64 {
        Bf16::to_f64(self)
    }
    fn uniform(rng: &mut ChaCha8Rng) -> Self {
        Bf16::from_f32(f32::uniform(rng))
    }
    alike!();
}

impl Real for E4m3 {
    /// Tensor cores keep 14 bits of a sum of such products.
    const EXACT: usize = 1 << 14;
    /// The only NaN of the type, and safe as poison because no kernel has an e4m3 output.
    const POISON: Self = Self::NAN;
    const POISON_WORD: u32 = 0x7f7f_7f7f;
    fn from_f64(value: f64) -> Self {
        E4m3::from_f64(value)
    }
    fn to_f64(self) -> f64 {
        E4m3::to_f64(self)
    }
    fn uniform(rng: &mut ChaCha8Rng) -> Self {
        E4m3::from_f64(f64::uniform(rng))
    }
    alike!();
}

/// Kinds of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// Uniform in [−1, 1).
    Reals,
    /// Integers from −r to r; r is [`largest_integer`] of K.
    Integers,
}

impl Data {
    /// Returns the name that messages give to these elements.
    pub fn label(self) -> &'static str {
        match self {
            Self::Reals => "reals",
            Self::Integers => "small integers",
        }
    }
}

/// Returns the largest r up to 8 for which K products of integers up to r add up exactly: r² · K ≤ [`Real::EXACT`]. In
/// FP32, K may be up to 262144 for 8, and up to 2²⁴ for 1; above that nothing is exact, and 1 is still what is used.
pub fn largest_integer<T: Real>(k: usize) -> i32 {
    (1..=8).rev().find(|r| (r * r) as usize * k.max(1) <= T::EXACT).unwrap_or(1)
}

/// Draws `n` elements. `operand` (0 for A, 1 for B) chooses an independent stream of the same seed.
pub fn elements<T: Real>(data: Data, seed: u64, operand: u64, k: usize, n: usize) -> Vec<T> {
    T::draw(data, seed, operand, k, n)
}

fn draw<T: Real>(data: Data, seed: u64, operand: u64, k: usize, n: usize) -> Vec<T> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(2 * operand + u64::from(data == Data::Integers));
    match data {
        Data::Reals => (0..n).map(|_| T::uniform(&mut rng)).collect(),
        Data::Integers => {
            let r = largest_integer::<T>(k);
            (0..n).map(|_| T::from_f64(f64::from(rng.random_range(-r..=r)))).collect()
        }
    }
}

/// Transposes a matrix, as a transposed operand is stored.
pub fn transposed<T: Real>(x: &[T], rows: usize, cols: usize) -> Vec<T> {
    T::transpose(x, rows, cols)
}

fn turn<T: Copy>(x: &[T], rows: usize, cols: usize) -> Vec<T> {
    let mut out = Vec::with_capacity(x.len());
    for col in 0..cols {
        out.extend((0..rows).map(|row| x[row * cols + col]));
    }
    out
}
