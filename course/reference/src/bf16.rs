//! bf16: the upper half of an FP32 number, with 8 significant bits. cudarc has this type by way of the crate `half`,
//! which brings ten others.

use cudarc::driver::{DeviceRepr, ValidAsZeroBits};

#[derive(Debug, Clone, Copy, Default)]
#[repr(transparent)]
pub struct Bf16(u16);

// SAFETY: 16 bits, any of which are a number or a NaN.
unsafe impl DeviceRepr for Bf16 {}
// SAFETY: bits of zero are the number 0.
unsafe impl ValidAsZeroBits for Bf16 {}

impl Bf16 {
    /// A quiet NaN.
    pub const NAN: Self = Self(0x7fc0);

    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    pub const fn to_bits(self) -> u16 {
        self.0
    }

    /// Returns the nearest number; of two, the even one.
    pub const fn from_f32(value: f32) -> Self {
        if value.is_nan() {
            return Self::NAN;
        }
        let bits = value.to_bits();
        // Half a unit in the last place, or just less than that where the number below is even.
        Self(((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16)
    }

    /// Returns the nearest number; of two, the even one.
    pub fn from_f64(value: f64) -> Self {
        let short = value as f32;
        let exact = f64::from(short) == value;
        if exact || short.to_bits() & 1 == 1 || value.is_nan() {
            return Self::from_f32(short);
        }
        // Rounded to odd, so that rounding twice is rounding once.
        let is_above = f64::from(short).abs() > value.abs();
        let odd = if is_above { short.to_bits() - 1 } else { short.to_bits() + 1 };
        Self::from_f32(f32::from_bits(odd))
    }

    /// Returns the value, which `f64` holds exactly.
    pub fn to_f64(self) -> f64 {
        f64::from(f32::from_bits(u32::from(self.0) << 16))
    }
}

impl PartialEq for Bf16 {
    fn eq(&self, other: &Self) -> bool {
        self.to_f64() == other.to_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_numbers_come_back() {
        for bits in 0..=u16::MAX {
            let number = Bf16::from_bits(bits);
            let value = number.to_f64();
            if value.is_nan() {
                assert_eq!(Bf16::from_f64(value).to_bits(), Bf16::NAN.to_bits())
            } else {
                assert_eq!(Bf16::from_f64(value).to_bits(), bits);
                assert_eq!(Bf16::from_f32(value as f32).to_bits(), bits);
            }
        }
    }

    #[test]
    fn between_two_numbers_the_nearest_counts_and_then_the_even_one() {
        const LARGEST: u16 = 0x7f7f;
        for bits in 0..LARGEST {
            let [low, high] = [bits, bits + 1].map(|bits| Bf16::from_bits(bits).to_f64());
            let middle = (low + high) / 2.0;
            let even = bits + bits % 2;
            assert_eq!(Bf16::from_f64(middle).to_bits(), even);
            assert_eq!(Bf16::from_f64(-middle).to_bits(), even | 0x8000);
            assert_eq!(Bf16::from_f32(middle as f32).to_bits(), even);
            // FP32 holds neither of the two: rounded to it first, they would be the middle.
            let (below, above) = (middle * (1.0 - f64::EPSILON), middle * (1.0 + f64::EPSILON));
            assert_eq!(Bf16::from_f64(below).to_bits(), bits);
            assert_eq!(Bf16::from_f64(above).to_bits(), bits + 1);
        }
    }

    #[test]
    fn what_is_too_large_is_infinite() {
        for infinite in [f64::INFINITY, f64::MAX, 3.4e38] {
            assert_eq!(Bf16::from_f64(infinite).to_f64(), f64::INFINITY);
            assert_eq!(Bf16::from_f64(-infinite).to_f64(), f64::NEG_INFINITY);
        }
    }
}
