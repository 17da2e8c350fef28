//! Approximate instructions: `rcp.approx`, `ex2.approx` and their kin.
//!
//! PTX bounds their error; the hardware's bits are its own. Here the result is the true one rounded to
//! nearest, which lies within every bound. Special cases follow the tables of the PTX manual.

use super::engine::{cold1, hot1, hot2};
use super::float::{NAN32, canonical_root, div32, flush};
use super::{Form, elementary};
use crate::lanes::CpuLevel;

#[inline(always)]
fn read<const FTZ: bool>(x: f32) -> f32 {
    if FTZ { flush(x) } else { x }
}

#[inline(always)]
fn write<const FTZ: bool>(x: f32) -> f32 {
    let x = if FTZ { flush(x) } else { x };
    if x.is_nan() { NAN32 } else { x }
}

#[inline(always)]
fn rcp<const FTZ: bool>(a: f32) -> f32 {
    write::<FTZ>(1.0 / read::<FTZ>(a))
}

#[inline(always)]
fn sqrt<const FTZ: bool>(a: f32) -> f32 {
    canonical_root(write::<FTZ>(read::<FTZ>(a).sqrt()))
}

#[inline(always)]
fn rsqrt<const FTZ: bool>(a: f32) -> f32 {
    canonical_root(write::<FTZ>((1.0 / (read::<FTZ>(a) as f64).sqrt()) as f32))
}

/// Angle in turns, as the hardware computes it: multiplied by 1/2π and cut to an `f32`, then to 25 bits of a turn. This
/// makes most of the error of `sin.approx`, for large angles all of it.
#[inline(always)]
fn turns<const FTZ: bool>(a: f32) -> f64 {
    const UNIT: f64 = 33_554_432.0;
    let product = read::<FTZ>(a) as f64 * (std::f32::consts::FRAC_1_PI * 0.5) as f64;
    let near = product as f32;
    let beyond = (near as f64).abs() > product.abs();
    let turns = flush(f32::from_bits(near.to_bits() - beyond as u32)) as f64;
    let magnitude = turns.abs();
    let part = ((magnitude - magnitude.trunc()) * UNIT).trunc() / UNIT;
    part.copysign(turns)
}

#[inline(always)]
fn sin<const FTZ: bool>(a: f32) -> f32 {
    write::<FTZ>(elementary::sin_turns(turns::<FTZ>(a)) as f32)
}

#[inline(always)]
fn cos<const FTZ: bool>(a: f32) -> f32 {
    write::<FTZ>(elementary::cos_turns(turns::<FTZ>(a)) as f32)
}

#[inline(always)]
fn lg2<const FTZ: bool>(a: f32) -> f32 {
    write::<FTZ>(elementary::log2(read::<FTZ>(a) as f64) as f32)
}

#[inline(always)]
fn ex2<const FTZ: bool>(a: f32) -> f32 {
    write::<FTZ>(elementary::exp2(read::<FTZ>(a) as f64) as f32)
}

#[inline(always)]
fn tanh(a: f32) -> f32 {
    write::<false>(elementary::tanh(a as f64) as f32)
}

#[inline(always)]
fn div_full<const FTZ: bool>(a: f32, b: f32) -> f32 {
    div32::<FTZ>(a, b)
}

/// Divisors beyond 2^126 have a flushed reciprocal: the quotient is a zero, or NaN for an infinite dividend.
#[inline(always)]
fn div_approx<const FTZ: bool>(a: f32, b: f32) -> f32 {
    let (a, b) = (read::<FTZ>(a), read::<FTZ>(b));
    let huge = (b.abs() > f32::from_bits(253 << 23)) & (b.abs() < f32::INFINITY);
    let b = if huge { f32::INFINITY.copysign(b) } else { b };
    div32::<FTZ>(a, b)
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
        ("rcp", ["approx", "f32"]) => hot1(level, rcp::<false>),
        ("rcp", ["approx", "ftz", "f32"]) => hot1(level, rcp::<true>),
        ("rcp", ["approx", "ftz", "f64"]) => cold1(|a: f64| by_upper_word(a, |a| 1.0 / a)),
        ("sqrt", ["approx", "f32"]) => hot1(level, sqrt::<false>),
        ("sqrt", ["approx", "ftz", "f32"]) => hot1(level, sqrt::<true>),
        ("rsqrt", ["approx", "f32"]) => hot1(level, rsqrt::<false>),
        ("rsqrt", ["approx", "ftz", "f32"]) => hot1(level, rsqrt::<true>),
        ("rsqrt", ["approx", "f64"]) => cold1(|a: f64| 1.0 / a.sqrt()),
        ("rsqrt", ["approx", "ftz", "f64"]) => cold1(|a: f64| by_upper_word(a, |a| 1.0 / a.sqrt())),
        ("sin", ["approx", "f32"]) => hot1(level, sin::<false>),
        ("sin", ["approx", "ftz", "f32"]) => hot1(level, sin::<true>),
        ("cos", ["approx", "f32"]) => hot1(level, cos::<false>),
        ("cos", ["approx", "ftz", "f32"]) => hot1(level, cos::<true>),
        ("lg2", ["approx", "f32"]) => hot1(level, lg2::<false>),
        ("lg2", ["approx", "ftz", "f32"]) => hot1(level, lg2::<true>),
        ("ex2", ["approx", "f32"]) => hot1(level, ex2::<false>),
        ("ex2", ["approx", "ftz", "f32"]) => hot1(level, ex2::<true>),
        ("tanh", ["approx", "f32"]) => hot1(level, tanh),
        ("div", ["full", "f32"]) => hot2(level, div_full::<false>),
        ("div", ["full", "ftz", "f32"]) => hot2(level, div_full::<true>),
        ("div", ["approx", "f32"]) => hot2(level, div_approx::<false>),
        ("div", ["approx", "ftz", "f32"]) => hot2(level, div_approx::<true>),
        _ => return None,
    })
}
