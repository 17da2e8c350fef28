//! bf16: the upper half of an FP32 number, with 8 significant bits. cudarc has this type by way of the crate `half`,
//! which brings ten others.

#[cfg(test)]
mod tests;

crate::narrow::narrow!(Bf16, u16);

impl Bf16 {
    /// A quiet NaN.
    pub const NAN: Self = Self(0x7fc0);

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
