//! The unit that computes reciprocals, roots, `2^x`, logarithms, sines and `tanh` (`MUFU` in machine code), bit for
//! bit as an H100 does.
//!
//! Each function is a quadratic on each of its intervals, in integers: c0 + c1·t + c2·s, where t is the place in the
//! interval and s its square without the partial products of the lower columns; the sum is cut to 24 bits. After
//! Oberman and Siu, "A High-Performance Area-Efficient Multifunction Interpolator" (ARITH 2005), who describe such a
//! unit. The coefficients, the widths and the columns left out are those with which all answers of the card agree.

use std::sync::LazyLock;

use super::float::{NAN32, flush};

#[derive(Clone, Copy)]
struct Quadratic {
    c0: i64,
    c1: i64,
    c2: i64,
}

/// The intervals of a function: a run of [`COEFFICIENTS`].
struct Function {
    first: usize,
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
const INTERVALS: usize = 627;

static COEFFICIENTS: LazyLock<[Quadratic; INTERVALS]> = LazyLock::new(|| {
    let lines = include_str!("../data/multifunction.csv").lines().filter(|line| !line.starts_with('#'));
    let all: Vec<Quadratic> = lines
        .map(|line| {
            let mut numbers = line.split(',').skip(1).map(|number| number.parse().expect("a coefficient"));
            let [c0, c1, c2] = std::array::from_fn(|_| numbers.next().expect("three coefficients"));
            Quadratic { c0, c1, c2 }
        })
        .collect();
    all.try_into().unwrap_or_else(|_| panic!("{INTERVALS} intervals"))
});

impl Function {
    /// Evaluates at a place counted in units of t from the start of the function.
    #[inline(always)]
    fn at(&self, place: u32) -> i64 {
        let Quadratic { c0, c1, c2 } = COEFFICIENTS[self.first + (place >> self.width) as usize];
        let t = place & ((1 << self.width) - 1);
        let low = self.width.div_ceil(2);
        let (h, l) = (t >> low, t & ((1 << low) - 1));
        // In units of the column above twice the lower part: its own square, and the lowest bit of the upper part's,
        // lie below; of each row of the product of both parts only what reaches that column is added.
        let rows: u32 = (1..8).map(|bit| (l >> (low - bit)) * (h >> bit & 1)).sum();
        let square = ((h * h) >> 1) + rows;
        c0 + c1 * i64::from(t) + c2 * i64::from(square)
    }

    /// Returns `value · 2^exponent` cut to 24 bits; what is too small for a normal number is 0.
    #[inline(always)]
    fn cut(&self, value: i64, exponent: i32) -> f32 {
        let top = 63 - (value | 1).leading_zeros() as i32;
        let fraction = if top > 23 { value >> (top - 23) } else { value << (23 - top) };
        match top - self.unit + exponent {
            _ if value == 0 => 0.0,
            ..-126 => 0.0,
            128.. => f32::INFINITY,
            exponent => f32::from_bits(((exponent + 127) << 23) as u32 | fraction as u32 & 0x7f_ffff),
        }
    }
}

/// Exponent and the 23 bits of the significand after the point, of a normal number.
#[inline(always)]
fn parts(x: f32) -> (i32, u32) {
    ((x.to_bits() >> 23 & 0xff) as i32 - 127, x.to_bits() & 0x7f_ffff)
}

pub(super) fn rcp(x: f32) -> f32 {
    let x = flush(x);
    if x == 0.0 || !x.is_finite() {
        return if x.is_nan() { NAN32 } else { 1.0 / x };
    }
    let (exponent, fraction) = parts(x);
    RECIPROCAL.cut(RECIPROCAL.at(fraction), -exponent).copysign(x)
}

/// Reciprocal of a number whose lower word is zero; of the result the upper word counts.
pub(super) fn rcp_wide(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return 1.0 / x;
    }
    let (exponent, fraction) = wide_parts(x);
    (RECIPROCAL.at(fraction) as f64 * 2f64.powi(-RECIPROCAL.unit) * 2f64.powi(-exponent)).copysign(x)
}

/// [`parts`] of a number whose lower word is zero.
fn wide_parts(x: f64) -> (i32, u32) {
    ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023, (x.to_bits() >> 29) as u32 & 0x7f_ffff)
}

/// Inverse root of a number whose lower word is zero; of the result the upper word counts.
pub(super) fn rsqrt_wide(x: f64) -> f64 {
    if x <= 0.0 || !x.is_finite() {
        return 1.0 / x.sqrt();
    }
    let (place, half) = root_place(wide_parts(x));
    inverse_root(place) as f64 * 2f64.powi(-INVERSE_ROOT.unit) * 2f64.powi(-half)
}

/// Significand in [1, 4) as a place, and half the exponent.
#[inline(always)]
fn root_place((exponent, fraction): (i32, u32)) -> (u32, i32) {
    (((exponent & 1) as u32) << 23 | fraction, exponent >> 1)
}

/// The quadratic of the first interval begins just below 1.
fn inverse_root(place: u32) -> i64 {
    if place == 0 { 1 << INVERSE_ROOT.unit } else { INVERSE_ROOT.at(place) }
}

pub(super) fn rsqrt(x: f32) -> f32 {
    let x = flush(x);
    if x <= 0.0 || !x.is_finite() {
        return if x == 0.0 || x == f32::INFINITY { 1.0 / x } else { NAN32 };
    }
    let (place, half) = root_place(parts(x));
    INVERSE_ROOT.cut(inverse_root(place), -half)
}

pub(super) fn sqrt(x: f32) -> f32 {
    let x = flush(x);
    if x <= 0.0 || !x.is_finite() {
        return if x == 0.0 || x == f32::INFINITY { x } else { NAN32 };
    }
    let (place, half) = root_place(parts(x));
    ROOT.cut(ROOT.at(place), half)
}

pub(super) fn ex2(x: f32) -> f32 {
    if x.is_nan() {
        return NAN32;
    }
    // Cut to 23 bits after the point; beyond the clamp results are 0 or infinite.
    let magnitude = (x.abs().min(256.0) as f64 * 8_388_608.0) as i32;
    // A negative one has its bits inverted, which is one unit too little, unless it is whole.
    let fixed = match magnitude & 0x7f_ffff {
        _ if x > 0.0 => magnitude,
        0 => -magnitude,
        _ => !magnitude,
    };
    POWER.cut(POWER.at(fixed as u32 & 0x7f_ffff), fixed >> 23)
}

pub(super) fn lg2(x: f32) -> f32 {
    let x = flush(x);
    if x <= 0.0 || !x.is_finite() {
        return if x == 0.0 {
            f32::NEG_INFINITY
        } else if x == f32::INFINITY {
            x
        } else {
            NAN32
        };
    }
    if x == 1.0 {
        return 0.0;
    }
    let (exponent, fraction) = parts(x);
    let sum = ((i64::from(exponent) << LOGARITHM.unit) + LOGARITHM.at(fraction)) >> 2;
    let magnitude = LOGARITHM.cut(if sum < 0 { !sum } else { sum }, 2);
    if sum < 0 { -magnitude } else { magnitude }
}

/// Sine of an angle in turns, cut to 25 bits after the point, after `quarters` more.
fn circular(turns: f32, quarters: u32) -> f32 {
    if !turns.is_finite() {
        return NAN32;
    }
    let magnitude = f64::from(flush(turns).abs());
    let place = (magnitude.fract() * 33_554_432.0) as u32 + (quarters << 23);
    let (quarter, part) = (place >> 23, place & 0x7f_ffff);
    let part = if quarter & 1 == 1 { part ^ 0x7f_ffff } else { part };
    let value = SINE.cut(SINE.at(part), 0);
    if quarter & 2 == 2 { -value } else { value }
}

pub(super) fn sin(turns: f32) -> f32 {
    let value = circular(turns, 0);
    if turns.is_sign_negative() && !value.is_nan() { -value } else { value }
}

pub(super) fn cos(turns: f32) -> f32 {
    circular(turns, 1)
}

pub(super) fn tanh(x: f32) -> f32 {
    /// Intervals of the powers of two from 2^-8 to 4, as logarithms of their numbers.
    const INTERVALS: [u32; 11] = [0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3];
    let (exponent, fraction) = parts(x);
    match exponent {
        _ if x.is_nan() => NAN32,
        ..-8 => x,
        3.. => 1f32.copysign(x),
        _ => {
            let octave = (exponent + 8) as usize;
            let first: u32 = INTERVALS[..octave].iter().map(|bits| 1 << bits).sum();
            let place = (first << TANH.width) + (fraction >> (6 - INTERVALS[octave]));
            TANH.cut(TANH.at(place), 0).copysign(x)
        }
    }
}
