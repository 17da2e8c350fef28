//! e4m3: numbers of 8 bits, which tensor cores multiply. A sign, 4 bits of exponent, 3 behind the point; no infinity.

#[cfg(test)]
mod tests;

crate::narrow::narrow!(E4m3, u8);

/// Exponent of the smallest normal number; denormal ones have it too.
const SMALLEST: i32 = -6;
/// Bits behind the point.
const FRACTION: i32 = 3;
/// The largest number: 448. The code after it is the NaN.
const LARGEST: u8 = 0x7e;

impl E4m3 {
    /// The only NaN.
    pub const NAN: Self = Self(LARGEST + 1);

    /// Returns the nearest number, of two the even one; beyond the largest, that one.
    pub fn from_f64(value: f64) -> Self {
        if value.is_nan() {
            return Self::NAN;
        }
        let size = value.abs().min(Self(LARGEST).to_f64());
        // The bits of a float above those of its fraction are its exponent plus 1023.
        let exponent = ((size.to_bits() >> 52) as i32 - 1023).max(SMALLEST);
        let steps = (size / 2.0_f64.powi(exponent - FRACTION)).round_ties_even();
        let code = steps as i32 + ((exponent - SMALLEST) << FRACTION);
        Self(code as u8 | u8::from(value.is_sign_negative()) << 7)
    }

    pub fn to_f64(self) -> f64 {
        let code = i32::from(self.0 & 0x7f);
        if code > i32::from(LARGEST) {
            return f64::NAN;
        }
        // A normal number has a 1 before the point; a subnormal one does not.
        let exponent = (code >> FRACTION).max(1);
        let steps = code - ((exponent - 1) << FRACTION);
        let size = f64::from(steps) * 2.0_f64.powi(exponent - 1 + SMALLEST - FRACTION);
        size.copysign(if self.0 >> 7 == 0 { 1.0 } else { -1.0 })
    }
}
