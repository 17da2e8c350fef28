//! `2^x`, logarithm, sine, cosine and hyperbolic tangent in `f64`, good to about 40 bits.
//!
//! Enough to round to the nearest `f32` nearly always, without branches so that it vectorises, and the same
//! bits on every machine, which a platform's own functions do not promise.

// 1.5 · 2^52: adding it leaves an integer in the low bits of the fraction.
const MAGIC: f64 = 6_755_399_441_055_744.0;

/// Nearest integer, as a number and as bits; for magnitudes below 2^31.
#[inline(always)]
fn nearest(x: f64) -> (f64, i64) {
    let shifted = x + MAGIC;
    (shifted - MAGIC, shifted.to_bits() as i64)
}

#[inline(always)]
fn polynomial<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let mut sum = 0.0;
    let mut i = N;
    while i > 0 {
        i -= 1;
        sum = sum * x + coefficients[i];
    }
    sum
}

/// `2^x`; below `f32`'s subnormals 0, above its largest ∞ (once rounded).
#[inline(always)]
pub(super) fn exp2(x: f64) -> f64 {
    let clamped = if x < -200.0 { -200.0 } else { x };
    let clamped = if clamped > 200.0 { 200.0 } else { clamped };
    let (whole, bits) = nearest(clamped);
    // Taylor in (x ln 2); the part is at most 0.35, so 12 terms leave 2^-47.
    let t = (clamped - whole) * std::f64::consts::LN_2;
    let power = polynomial(
        t,
        [
            1.0,
            1.0,
            1.0 / 2.0,
            1.0 / 6.0,
            1.0 / 24.0,
            1.0 / 120.0,
            1.0 / 720.0,
            1.0 / 5040.0,
            1.0 / 40320.0,
            1.0 / 362_880.0,
            1.0 / 3_628_800.0,
            1.0 / 39_916_800.0,
        ],
    );
    let scale = f64::from_bits(((bits + 1023) << 52) as u64);
    if x.is_nan() { x } else { power * scale }
}

/// Logarithm to base 2 of a number of `f32`'s range; −∞ for zeros, NaN below.
#[inline(always)]
pub(super) fn log2(x: f64) -> f64 {
    let bits = x.to_bits();
    // Mantissa in [√½, √2): the exponent gives up as much as it gains.
    let offset = bits.wrapping_sub(0x3fe6_a09e_667f_3bcd);
    // Signed difference of the exponent, as a number: it fits in the low bits of MAGIC's fraction.
    let exponent = (offset as i64 >> 52) as i32;
    let mantissa = f64::from_bits(bits.wrapping_sub((exponent as i64 as u64) << 52));
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let series = polynomial(
        s * s,
        [1.0, 1.0 / 3.0, 1.0 / 5.0, 1.0 / 7.0, 1.0 / 9.0, 1.0 / 11.0, 1.0 / 13.0, 1.0 / 15.0, 1.0 / 17.0],
    );
    let out = exponent as f64 + s * series * (2.0 * std::f64::consts::LOG2_E);
    let out = if x == 0.0 { f64::NEG_INFINITY } else { out };
    let out = if x == f64::INFINITY { x } else { out };
    if (x < 0.0) | x.is_nan() { f64::NAN } else { out }
}

#[inline(always)]
fn sine_part(x: f64) -> f64 {
    let q = x * x;
    x * polynomial(
        q,
        [
            1.0,
            -1.0 / 6.0,
            1.0 / 120.0,
            -1.0 / 5040.0,
            1.0 / 362_880.0,
            -1.0 / 39_916_800.0,
            1.0 / 6_227_020_800.0,
            -1.0 / 1_307_674_368_000.0,
        ],
    )
}

#[inline(always)]
fn cosine_part(x: f64) -> f64 {
    polynomial(
        x * x,
        [
            1.0,
            -1.0 / 2.0,
            1.0 / 24.0,
            -1.0 / 720.0,
            1.0 / 40320.0,
            -1.0 / 3_628_800.0,
            1.0 / 479_001_600.0,
            -1.0 / 87_178_291_200.0,
            1.0 / 20_922_789_888_000.0,
        ],
    )
}

/// Sine or cosine of a part of a turn, −1 to 1, plus `quarter` turns.
#[inline(always)]
fn circular(turns: f64, quarter: i64) -> f64 {
    let (n, bits) = nearest(turns * 4.0);
    let rest = (turns * 4.0 - n) * std::f64::consts::FRAC_PI_2;
    let n = bits + quarter;
    let part = if n & 1 == 0 { sine_part(rest) } else { cosine_part(rest) };
    if n & 2 == 0 { part } else { -part }
}

/// Sine of `x` turns; NaN for NaN.
#[inline(always)]
pub(super) fn sin_turns(turns: f64) -> f64 {
    let out = circular(turns, 0);
    // Keeps the sign of zeros.
    if turns == 0.0 { turns } else { out }
}

/// Cosine of `x` turns; NaN for NaN.
#[inline(always)]
pub(super) fn cos_turns(turns: f64) -> f64 {
    circular(turns, 1)
}

#[inline(always)]
pub(super) fn tanh(x: f64) -> f64 {
    let power = exp2(x * (2.0 * std::f64::consts::LOG2_E));
    let large = 1.0 - 2.0 / (power + 1.0);
    // Near zero the difference above loses digits; the series does not.
    let small = x * (1.0 - x * x * (1.0 / 3.0));
    if x.abs() < 0.000_5 { small } else { large }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Checks the error relative to the larger of the value and `floor`.
    fn close(ours: f64, truth: f64, floor: f64) {
        let off = (ours - truth).abs() / truth.abs().max(floor);
        assert!(off < 1e-11 || ours == truth, "{ours:e} {truth:e}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..Default::default() })]
        #[test]
        fn close_to_the_platforms(x in -150f64..150.0, scale in -30i32..1) {
            let x = x * 2f64.powi(scale);
            close(exp2(x), x.exp2(), 0.0);
            let turns = x / 150.0;
            close(sin_turns(turns), (turns * std::f64::consts::TAU).sin(), 1e-3);
            close(cos_turns(turns), (turns * std::f64::consts::TAU).cos(), 1e-3);
            close(tanh(x), x.tanh(), 0.0);
            let positive = x.abs() + 1e-40;
            close(log2(positive), positive.log2(), 0.0);
        }
    }

    #[test]
    fn special_values() {
        assert_eq!(exp2(f64::NEG_INFINITY) as f32, 0.0);
        assert_eq!(exp2(f64::INFINITY) as f32, f32::INFINITY);
        assert!(exp2(f64::NAN).is_nan());
        assert_eq!(exp2(3.0), 8.0);
        assert_eq!(log2(0.0), f64::NEG_INFINITY);
        assert_eq!(log2(f64::INFINITY), f64::INFINITY);
        assert!(log2(-1.0).is_nan());
        assert_eq!(log2(8.0), 3.0);
        assert_eq!(log2(1.0), 0.0);
        assert_eq!(log2(f32::from_bits(1) as f64), -149.0);
        assert_eq!(sin_turns(-0.0).to_bits(), (-0.0f64).to_bits());
        assert!(cos_turns(f64::NAN).is_nan());
        assert_eq!(cos_turns(0.0), 1.0);
        assert_eq!(cos_turns(0.5), -1.0);
        assert_eq!(sin_turns(-0.25), -1.0);
        assert_eq!(tanh(f64::NEG_INFINITY), -1.0);
        assert_eq!(tanh(f64::INFINITY), 1.0);
        assert!(tanh(f64::NAN).is_nan());
        assert_eq!(tanh(-0.0).to_bits(), (-0.0f64).to_bits());
    }
}
