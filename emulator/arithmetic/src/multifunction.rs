//! The unit for reciprocals, roots, `2^x`, logarithms, sines and `tanh` (`MUFU`), bit for bit as an H100's.
//!
//! Each function is a quadratic on each of its intervals, in integers: c0 + c1·t + c2·s, where t is the place in the
//! interval and s its square without the partial products of the lower columns; the sum is cut to 24 bits. After
//! Oberman and Siu, "A High-Performance Area-Efficient Multifunction Interpolator" (ARITH 2005), who describe such a
//! unit. The coefficients, the widths and the columns left out are those with which all answers of the card agree.
//!
//! The integers stay far below 2^53, so they are computed as `f64`, without branches: this vectorises.

use super::float::{NAN32, flush};

#[derive(Clone, Copy)]
struct Quadratic {
    c0: f64,
    c1: f64,
    c2: f64,
}

/// The intervals of a function: a run of [`COEFFICIENTS`].
struct Function {
    first: u32,
    /// Bits of t.
    width: u32,
    /// The result's unit is 2 to the power of minus this.
    unit: i32,
}

const RECIPROCAL: Function = Function { first: 0, width: 16, unit: 39 };
/// The two halves are for significands in [1, 2) and [2, 4), as for the square root.
const INVERSE_ROOT: Function = Function { first: 128, width: 17, unit: 40 };
const ROOT: Function = Function { first: 256, width: 17, unit: 40 };
const POWER: Function = Function { first: 384, width: 17, unit: 39 };
const LOGARITHM: Function = Function { first: 448, width: 17, unit: 38 };
const SINE: Function = Function { first: 512, width: 17, unit: 38 };
const TANH: Function = Function { first: 576, width: 17, unit: 39 };

/// All intervals, and as many more as make the number a power of two.
static COEFFICIENTS: [Quadratic; 1024] = coefficients(include_bytes!("../data/multifunction.csv"));

/// Parses lines of a name and three numbers.
const fn coefficients(text: &[u8]) -> [Quadratic; 1024] {
    let mut all = [Quadratic { c0: 0.0, c1: 0.0, c2: 0.0 }; 1024];
    let (mut line, mut at) = (0, 0);
    while at < text.len() {
        let mut numbers = [0i64; 4];
        let (mut field, mut sign, comment) = (0, 1, text[at] == b'#');
        while text[at] != b'\n' {
            match text[at] {
                b',' => (field, sign) = (field + 1, 1),
                b'-' => sign = -1,
                digit @ b'0'..=b'9' if field > 0 && !comment => {
                    numbers[field] = numbers[field] * 10 + sign * (digit - b'0') as i64;
                }
                _ => {}
            }
            at += 1;
        }
        at += 1;
        if !comment {
            all[line] = Quadratic { c0: numbers[1] as f64, c1: numbers[2] as f64, c2: numbers[3] as f64 };
            line += 1;
        }
    }
    all
}

/// Returns `2^exponent`, which must be a normal number.
#[inline(always)]
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

impl Function {
    /// Evaluates at a place counted in units of t from the start of the function.
    #[inline(always)]
    fn at(&self, place: u32) -> f64 {
        let Quadratic { c0, c1, c2 } = COEFFICIENTS[((self.first + (place >> self.width)) & 1023) as usize];
        let t = place & ((1 << self.width) - 1);
        let low = self.width.div_ceil(2);
        let (h, l) = (t >> low, t & ((1 << low) - 1));
        // In units of the column above twice the lower part: its own square, and the lowest bit of the upper part's,
        // lie below; of each row of the product of both parts only what reaches that column is added.
        let mut square = (h * h) >> 1;
        for bit in 1..8 {
            square += (l >> (low - bit)) & 0u32.wrapping_sub((h >> bit) & 1);
        }
        c0 + c1 * f64::from(t as i32) + c2 * f64::from(square as i32)
    }

    /// Truncates `value · 2^exponent` to 24 bits; a result below the normal numbers is 0.
    #[inline(always)]
    fn cut(&self, value: f64, exponent: i32) -> f32 {
        let bits = value.to_bits() >> 29 << 29;
        let result = f64::from_bits(bits) * power_of_two(exponent - self.unit);
        if result < f64::from(f32::MIN_POSITIVE) { 0.0 } else { result as f32 }
    }
}

/// Returns the exponent of a normal number, and the 23 bits of its significand after the point.
#[inline(always)]
fn parts(x: f32) -> (i32, u32) {
    (((x.to_bits() >> 23) & 0xff) as i32 - 127, x.to_bits() & 0x7f_ffff)
}

#[inline(always)]
pub(super) fn rcp(x: f32) -> f32 {
    let x = flush(x);
    let (exponent, fraction) = parts(x);
    let result = RECIPROCAL.cut(RECIPROCAL.at(fraction), -exponent);
    let result = if x == 0.0 { f32::INFINITY } else { result };
    let result = if x.abs() == f32::INFINITY { 0.0 } else { result };
    if x.is_nan() { NAN32 } else { result.copysign(x) }
}

/// Returns the reciprocal of a number whose lower word is zero; only the upper word of the result is significant.
pub(super) fn rcp_wide(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return 1.0 / x;
    }
    let (exponent, fraction) = wide_parts(x);
    (RECIPROCAL.at(fraction) * power_of_two(-RECIPROCAL.unit) * 2f64.powi(-exponent)).copysign(x)
}

/// Returns the [`parts`] of a number whose lower word is zero.
fn wide_parts(x: f64) -> (i32, u32) {
    (((x.to_bits() >> 52) & 0x7ff) as i32 - 1023, (x.to_bits() >> 29) as u32 & 0x7f_ffff)
}

/// Returns the inverse root of a number whose lower word is zero; only the upper word of the result is significant.
pub(super) fn rsqrt_wide(x: f64) -> f64 {
    if x <= 0.0 || !x.is_finite() {
        return 1.0 / x.sqrt();
    }
    let (place, half) = root_place(wide_parts(x));
    inverse_root(place) * power_of_two(-INVERSE_ROOT.unit) * 2f64.powi(-half)
}

/// Returns the significand in [1, 4) as a place, and half the exponent.
#[inline(always)]
fn root_place((exponent, fraction): (i32, u32)) -> (u32, i32) {
    (((exponent & 1) as u32) << 23 | fraction, exponent >> 1)
}

/// Evaluates the inverse root. The quadratic of the first interval begins just below 1.
#[inline(always)]
fn inverse_root(place: u32) -> f64 {
    if place == 0 { power_of_two(INVERSE_ROOT.unit) } else { INVERSE_ROOT.at(place) }
}

#[inline(always)]
pub(super) fn rsqrt(x: f32) -> f32 {
    let x = flush(x);
    let (place, half) = root_place(parts(x));
    let result = INVERSE_ROOT.cut(inverse_root(place), -half);
    let result = if x == 0.0 { f32::INFINITY.copysign(x) } else { result };
    let result = if x == f32::INFINITY { 0.0 } else { result };
    if (x < 0.0) | x.is_nan() { NAN32 } else { result }
}

#[inline(always)]
pub(super) fn sqrt(x: f32) -> f32 {
    let x = flush(x);
    let (place, half) = root_place(parts(x));
    let result = ROOT.cut(ROOT.at(place), half);
    let result = if (x == 0.0) | (x == f32::INFINITY) { x } else { result };
    if (x < 0.0) | x.is_nan() { NAN32 } else { result }
}

#[inline(always)]
pub(super) fn ex2(x: f32) -> f32 {
    // Cut to 23 bits after the point; beyond the limit results are 0 or infinite.
    let magnitude = x.abs();
    let magnitude = (if magnitude < 256.0 { magnitude } else { 256.0 } * 8_388_608.0) as i32;
    // A negative one has its bits inverted, which is one unit too little, unless it is whole.
    let whole = magnitude & 0x7f_ffff == 0;
    let negative = !magnitude + i32::from(whole);
    let fixed = if x > 0.0 { magnitude } else { negative };
    let result = POWER.cut(POWER.at(fixed as u32 & 0x7f_ffff), fixed >> 23);
    if x.is_nan() { NAN32 } else { result }
}

#[inline(always)]
pub(super) fn lg2(x: f32) -> f32 {
    // 1.5 · 2^52: adding it rounds to an integer.
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    let x = flush(x);
    let (exponent, fraction) = parts(x);
    // In units of 2^-36, rounded down; of a negative one the bits are inverted.
    let sum = f64::from(exponent) * power_of_two(LOGARITHM.unit - 2) + LOGARITHM.at(fraction) * 0.25;
    let sum = (sum - 0.375) + MAGIC - MAGIC;
    let magnitude = LOGARITHM.cut(if sum < 0.0 { -1.0 - sum } else { sum }, 2);
    let result = if sum < 0.0 { -magnitude } else { magnitude };
    let result = if x == 1.0 { 0.0 } else { result };
    let result = if x == 0.0 { f32::NEG_INFINITY } else { result };
    let result = if x == f32::INFINITY { x } else { result };
    if (x < 0.0) | x.is_nan() { NAN32 } else { result }
}

/// Returns the sine of an angle in turns, truncated to 25 bits after the point, plus `quarters` quarter turns.
#[inline(always)]
fn circular(turns: f32, quarters: i32) -> f32 {
    let magnitude = f64::from(flush(turns).abs());
    let place = ((magnitude - magnitude.trunc()) * 33_554_432.0) as i32 + (quarters << 23);
    let (quarter, part) = (place >> 23, place & 0x7f_ffff);
    let part = part ^ (0x7f_ffff & -(quarter & 1));
    let value = SINE.cut(SINE.at(part as u32), 0);
    let value = if quarter & 2 == 2 { -value } else { value };
    if turns.abs() < f32::INFINITY { value } else { NAN32 }
}

#[inline(always)]
pub(super) fn sin(turns: f32) -> f32 {
    let value = circular(turns, 0);
    f32::from_bits(value.to_bits() ^ if turns.abs() < f32::INFINITY { turns.to_bits() & 0x8000_0000 } else { 0 })
}

#[inline(always)]
pub(super) fn cos(turns: f32) -> f32 {
    circular(turns, 1)
}

#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    /// Intervals of the powers of two from 2^-8 to 4: the first, and the logarithm of their number.
    const OCTAVES: [(u32, u32); 16] = {
        let (mut octaves, mut first, mut octave) = ([(0, 0); 16], 0, 0);
        while octave < 11 {
            let bits = [0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3][octave];
            octaves[octave] = (first, bits);
            first += 1 << bits;
            octave += 1;
        }
        octaves
    };
    let (exponent, fraction) = parts(x);
    let (first, bits) = OCTAVES[(exponent + 8) as usize & 15];
    let place = (first << TANH.width) + (fraction >> (6 - bits));
    let result = TANH.cut(TANH.at(place), 0);
    let result = if exponent < -8 { x } else { result };
    let result = if exponent >= 3 { 1.0 } else { result };
    if x.is_nan() { NAN32 } else { result.copysign(x) }
}
