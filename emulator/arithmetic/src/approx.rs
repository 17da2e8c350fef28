//! Approximate instructions: `rcp.approx`, `ex2.approx` and similar.
//!
//! Each is one operation of the [`multifunction`] unit. Subnormals are scaled around it, as ptxas 13 does for sm_90.

use super::Form;
use super::engine::{cold1, hot1, hot2};
use super::float::{canonical, flush_if, mul32};
use super::multifunction;
use crate::lanes::CpuLevel;

/// Reciprocals of larger numbers are subnormal.
const LARGEST_WITH_NORMAL_RECIPROCAL: f32 = f32::from_bits((127 + 126) << 23);
/// Factor 2^24 that makes every subnormal number normal.
const SUBNORMAL_SCALE: f32 = 16_777_216.0;

#[inline(always)]
fn rcp(a: f32) -> f32 {
    let scale = if a.abs() > LARGEST_WITH_NORMAL_RECIPROCAL { 0.25 } else { 1.0 };
    let scale = if a.abs() < f32::MIN_POSITIVE { SUBNORMAL_SCALE } else { scale };
    canonical(multifunction::rcp(a * scale) * scale)
}

/// Applies `f` to a number that is scaled up if it is subnormal, and then `undo` to the result.
#[inline(always)]
fn scaled(a: f32, f: impl Fn(f32) -> f32, undo: impl Fn(f32) -> f32) -> f32 {
    let subnormal = a.abs() < f32::MIN_POSITIVE;
    let result = f(if subnormal { a * SUBNORMAL_SCALE } else { a });
    canonical(if subnormal { undo(result) } else { result })
}

#[inline(always)]
fn ex2(a: f32) -> f32 {
    let result = multifunction::ex2(if a < -126.0 { a * 0.5 } else { a });
    canonical(if a < -126.0 { result * result } else { result })
}

/// Converts radians to turns as the hardware does, truncating to `f32`: the largest part of `sin.approx`'s error.
#[inline(always)]
fn turns<const FTZ: bool>(a: f32) -> f32 {
    let product = flush_if::<FTZ>(a) as f64 * (std::f32::consts::FRAC_1_PI * 0.5) as f64;
    let nearest = product as f32;
    let rounded_up = (nearest as f64).abs() > product.abs();
    f32::from_bits(nearest.to_bits() - rounded_up as u32)
}

#[inline(always)]
fn div_full<const FTZ: bool>(a: f32, b: f32) -> f32 {
    let (a, b) = (flush_if::<FTZ>(a), flush_if::<FTZ>(b));
    let scale = if b.abs() > LARGEST_WITH_NORMAL_RECIPROCAL { 0.25 } else { 1.0 };
    let scale = if (b.abs() < f32::MIN_POSITIVE) & !FTZ { SUBNORMAL_SCALE } else { scale };
    mul32::<FTZ>(flush_if::<FTZ>(a * scale), multifunction::rcp(flush_if::<FTZ>(b * scale)))
}

#[inline(always)]
fn div_approx<const FTZ: bool>(a: f32, b: f32) -> f32 {
    let (a, b) = (flush_if::<FTZ>(a), flush_if::<FTZ>(b));
    let scale = if (b.abs() < f32::MIN_POSITIVE) & !FTZ { SUBNORMAL_SCALE } else { 1.0 };
    mul32::<FTZ>(a * scale, multifunction::rcp(b * scale))
}

/// Applies one step of Newton's method, as ptxas writes it, to the inverse root of the upper word.
fn rsqrt_f64(a: f64) -> f64 {
    let estimate = by_upper_word(a, multifunction::rsqrt_wide);
    if !a.is_normal() || a < 0.0 {
        return 1.0 / a.sqrt();
    }
    let error = a.mul_add(-(estimate * estimate), 1.0);
    error.mul_add(0.375, 0.5).mul_add(error * estimate, estimate)
}

/// Applies `f` to the upper word. The lower word is ignored, and zero in the result.
fn by_upper_word(a: f64, f: impl Fn(f64) -> f64) -> f64 {
    let a = f64::from_bits(a.to_bits() & !0xffff_ffff);
    let flush = |x: f64| if x.is_subnormal() { 0f64.copysign(x) } else { x };
    let x = flush(f(flush(a)));
    let bits = if x.is_nan() { 0x7fff_ffff_0000_0000 } else { x.to_bits() };
    f64::from_bits(bits & !0xffff_ffff)
}

pub(super) fn lookup(opcode: &str, modifiers: &[&str], level: CpuLevel) -> Option<Form> {
    Some(match (opcode, modifiers) {
        ("rcp", ["approx", "f32"]) => hot1(level, rcp),
        ("rcp", ["approx", "ftz", "f32"]) => hot1(level, multifunction::rcp),
        ("rcp", ["approx", "ftz", "f64"]) => cold1(|a: f64| by_upper_word(a, multifunction::rcp_wide)),
        ("sqrt", ["approx", "f32"]) => hot1(level, |a: f32| scaled(a, multifunction::sqrt, |y| y / 4096.0)),
        ("sqrt", ["approx", "ftz", "f32"]) => hot1(level, multifunction::sqrt),
        ("rsqrt", ["approx", "f32"]) => hot1(level, |a: f32| scaled(a, multifunction::rsqrt, |y| y * 4096.0)),
        ("rsqrt", ["approx", "ftz", "f32"]) => hot1(level, multifunction::rsqrt),
        ("rsqrt", ["approx", "f64"]) => cold1(rsqrt_f64),
        ("rsqrt", ["approx", "ftz", "f64"]) => cold1(|a: f64| by_upper_word(a, multifunction::rsqrt_wide)),
        ("sin", ["approx", "f32"]) => hot1(level, |a: f32| multifunction::sin(turns::<false>(a))),
        ("sin", ["approx", "ftz", "f32"]) => hot1(level, |a: f32| multifunction::sin(turns::<true>(a))),
        ("cos", ["approx", "f32"]) => hot1(level, |a: f32| multifunction::cos(turns::<false>(a))),
        ("cos", ["approx", "ftz", "f32"]) => hot1(level, |a: f32| multifunction::cos(turns::<true>(a))),
        ("lg2", ["approx", "f32"]) => hot1(level, |a: f32| scaled(a, multifunction::lg2, |y| y - 24.0)),
        ("lg2", ["approx", "ftz", "f32"]) => hot1(level, multifunction::lg2),
        ("ex2", ["approx", "f32"]) => hot1(level, ex2),
        ("ex2", ["approx", "ftz", "f32"]) => hot1(level, multifunction::ex2),
        ("tanh", ["approx", "f32"]) => hot1(level, multifunction::tanh),
        ("div", ["full", "f32"]) => hot2(level, div_full::<false>),
        ("div", ["full", "ftz", "f32"]) => hot2(level, div_full::<true>),
        ("div", ["approx", "f32"]) => hot2(level, div_approx::<false>),
        ("div", ["approx", "ftz", "f32"]) => hot2(level, div_approx::<true>),
        _ => return None,
    })
}
