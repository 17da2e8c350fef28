//! Parts that numbers of fewer bits than FP32 have in common: [`crate::Bf16`] and [`crate::E4m3`].

/// Defines a number that is kept as bits, any of which are a number or a NaN.
macro_rules! narrow {
    ($name:ident, $bits:ty) => {
        #[derive(Debug, Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $name($bits);

        // SAFETY: bits, any of which are a number or a NaN.
        #[cfg(not(target_family = "wasm"))]
        unsafe impl cudarc::driver::DeviceRepr for $name {}
        // SAFETY: bits of zero are the number 0.
        #[cfg(not(target_family = "wasm"))]
        unsafe impl cudarc::driver::ValidAsZeroBits for $name {}

        impl $name {
            pub const fn from_bits(bits: $bits) -> Self {
                Self(bits)
            }

            pub const fn to_bits(self) -> $bits {
                self.0
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.to_f64() == other.to_f64()
            }
        }
    };
}
pub(crate) use narrow;

/// Checks that between two neighbours the nearest counts, and then the even one; codes count up to `largest`.
#[cfg(test)]
pub(crate) fn check_rounding(largest: u16, sign: u16, to_f64: fn(u16) -> f64, from_f64: fn(f64) -> u16) {
    for bits in 0..largest {
        let [low, high] = [bits, bits + 1].map(to_f64);
        assert!(low < high);
        let (middle, even) = ((low + high) / 2.0, bits + bits % 2);
        assert_eq!([middle, -middle].map(from_f64), [even, even | sign]);
        let (below, above) = (middle * (1.0 - f64::EPSILON), middle * (1.0 + f64::EPSILON));
        assert_eq!([below, above].map(from_f64), [bits, bits + 1]);
    }
}
