//! Arithmetic of `f16`, `bf16` and their pairs: computed in a wider format, rounded once.
//!
//! Sums, differences and products of `f16` are exact in `f32`, or so much more precise that rounding twice
//! is rounding once. Where that is not so (`fma`, products of `bf16`) the wider result is rounded *to odd*:
//! inexact results get an odd last bit, so that the second rounding cannot take them for a tie.

#[cfg(test)]
mod tests;

use super::engine::{hot1, hot2, hot3, moded1, moded2, moded3};
use super::float::{sum_to_odd, to_odd};
use super::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use super::modes::{FTZ as PICK_FTZ, extremum, extremum_variant};
use super::{Form, multifunction};
use crate::lanes::CpuLevel;

/// Converts to `f32`, rounding to odd. An infinite `x` has the error NaN; a finite one that overflows steps back.
#[inline(always)]
fn narrow_to_odd(x: f64) -> f32 {
    let near = x as f32;
    let error = x - near as f64;
    to_odd!(f32, u32, near, error, (x > 0.0))
}

/// Format-specific parts of the arithmetic.
trait Half: Copy + 'static {
    const EXPONENT: u16;
    const ONE: u16;
    fn read(h: u16) -> f32;
    fn write(x: f32) -> u16;
    /// Returns the product, exact or rounded to odd.
    fn product(a: f32, b: f32) -> f32;
    /// Returns `a * b + c`, rounded to odd.
    fn product_sum(a: f32, b: f32, c: f32) -> f32;
}

#[derive(Clone, Copy)]
struct F16;

impl Half for F16 {
    const EXPONENT: u16 = 0x7c00;
    const ONE: u16 = 0x3c00;
    #[inline(always)]
    fn read(h: u16) -> f32 {
        f16_to_f32(h)
    }
    #[inline(always)]
    fn write(x: f32) -> u16 {
        f32_to_f16(x)
    }
    #[inline(always)]
    fn product(a: f32, b: f32) -> f32 {
        a * b
    }
    #[inline(always)]
    fn product_sum(a: f32, b: f32, c: f32) -> f32 {
        sum_to_odd!(f32, u32, a * b, c)
    }
}

#[derive(Clone, Copy)]
struct Bf16;

impl Half for Bf16 {
    const EXPONENT: u16 = 0x7f80;
    const ONE: u16 = 0x3f80;
    #[inline(always)]
    fn read(h: u16) -> f32 {
        bf16_to_f32(h)
    }
    #[inline(always)]
    fn write(x: f32) -> u16 {
        f32_to_bf16(x)
    }
    #[inline(always)]
    fn product(a: f32, b: f32) -> f32 {
        narrow_to_odd(a as f64 * b as f64)
    }
    #[inline(always)]
    fn product_sum(a: f32, b: f32, c: f32) -> f32 {
        narrow_to_odd(sum_to_odd!(f64, u64, a as f64 * b as f64, c as f64))
    }
}

const FTZ: u32 = 1;
const SAT: u32 = 2;
const RELU: u32 = 4;

#[inline(always)]
fn flush<H: Half>(mode: u32, h: u16) -> u16 {
    if mode & FTZ != 0 && h & H::EXPONENT == 0 { h & 0x8000 } else { h }
}

#[inline(always)]
fn read<H: Half>(mode: u32, h: u16) -> f32 {
    H::read(flush::<H>(mode, h))
}

#[inline(always)]
fn finish<H: Half>(mode: u32, h: u16) -> u16 {
    let h = flush::<H>(mode, h);
    let nan = h & 0x7fff > H::EXPONENT;
    let negative = h & 0x8000 != 0;
    if mode & SAT != 0 {
        // NaN and −0 become +0.
        if nan | negative { 0 } else { h.min(H::ONE) }
    } else if mode & RELU != 0 {
        if negative & !nan { 0 } else { h }
    } else {
        h
    }
}

/// Rounds a result that is exact or was rounded to odd. The result with its exponent unbounded decides on flushing
/// (`f16` only): one less than a quarter of a subnormal's unit below the normal numbers counts as normal.
#[inline(always)]
fn round<H: Half>(mode: u32, x: f32) -> u16 {
    const LEAST: f32 = f32::from_bits((127 - 14) << 23) * (1.0 - 1.0 / 4096.0);
    let x = if mode & FTZ != 0 && x.abs() < LEAST { 0f32.copysign(x) } else { x };
    finish::<H>(mode, H::write(x))
}

#[inline(always)]
fn add<H: Half>(mode: u32, a: u16, b: u16) -> u16 {
    finish::<H>(mode, H::write(read::<H>(mode, a) + read::<H>(mode, b)))
}

#[inline(always)]
fn sub<H: Half>(mode: u32, a: u16, b: u16) -> u16 {
    finish::<H>(mode, H::write(read::<H>(mode, a) - read::<H>(mode, b)))
}

#[inline(always)]
fn mul<H: Half>(mode: u32, a: u16, b: u16) -> u16 {
    round::<H>(mode, H::product(read::<H>(mode, a), read::<H>(mode, b)))
}

#[inline(always)]
fn fma<H: Half>(mode: u32, a: u16, b: u16, c: u16) -> u16 {
    round::<H>(mode, H::product_sum(read::<H>(mode, a), read::<H>(mode, b), read::<H>(mode, c)))
}

/// Replaces NaNs by the canonical one: the hardware negates by adding.
#[inline(always)]
fn canonical<H: Half>(h: u16) -> u16 {
    if h & 0x7fff > H::EXPONENT { 0x7fff } else { h }
}

#[inline(always)]
fn neg<H: Half>(mode: u32, a: u16) -> u16 {
    canonical::<H>(flush::<H>(mode, a) ^ 0x8000)
}

#[inline(always)]
fn abs<H: Half>(mode: u32, a: u16) -> u16 {
    canonical::<H>(flush::<H>(mode, a) & 0x7fff)
}

/// Returns the minimum or maximum. `mode` is a variant of [`extremum`]; its flush bit means halves here.
fn pick<H: Half>(mode: u32, a: u16, b: u16) -> u16 {
    let ftz = if mode & PICK_FTZ != 0 { FTZ } else { 0 };
    H::write(extremum(mode & !PICK_FTZ, H::read(flush::<H>(ftz, a)), H::read(flush::<H>(ftz, b))))
}

/// Rounds towards zero, as the results of the multifunction unit are; 2^16 is infinite as an `f16`.
fn cut<H: Half>(x: f32) -> u16 {
    let nearest = H::write(x);
    let infinite = H::EXPONENT == F16::EXPONENT && x.abs() >= 65_536.0;
    if H::read(nearest).abs() > x.abs() && !infinite { nearest - 1 } else { nearest }
}

fn tanh<H: Half>(_: u32, a: u16) -> u16 {
    cut::<H>(multifunction::tanh(H::read(a)))
}

fn ex2<H: Half>(mode: u32, a: u16) -> u16 {
    finish::<H>(mode, cut::<H>(multifunction::ex2(read::<H>(mode, a))))
}

#[inline(always)]
fn pair1(a: u32, f: impl Fn(u16) -> u16) -> u32 {
    f(a as u16) as u32 | (f((a >> 16) as u16) as u32) << 16
}

/// Applies a function to the lower and to the upper halves.
#[inline(always)]
pub(super) fn pair2(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    f(a as u16, b as u16) as u32 | (f((a >> 16) as u16, (b >> 16) as u16) as u32) << 16
}

#[inline(always)]
fn pair3(a: u32, b: u32, c: u32, f: impl Fn(u16, u16, u16) -> u16) -> u32 {
    let high = f((a >> 16) as u16, (b >> 16) as u16, (c >> 16) as u16);
    f(a as u16, b as u16, c as u16) as u32 | (high as u32) << 16
}

/// Form of an operation on scalars or pairs: compiled for each vector width, or with the mode as a run-time argument.
macro_rules! form {
    ($pair:expr, $level:expr, $mode:expr, $f:ident(a)) => {
        form!(@ hot1, moded1, pair1, $f, $pair, $level, $mode, a)
    };
    ($pair:expr, $level:expr, $mode:expr, $f:ident(a, b)) => {
        form!(@ hot2, moded2, pair2, $f, $pair, $level, $mode, a, b)
    };
    ($pair:expr, $level:expr, $mode:expr, $f:ident(a, b, c)) => {
        form!(@ hot3, moded3, pair3, $f, $pair, $level, $mode, a, b, c)
    };
    (cold $pair:expr, $mode:expr, $f:ident(a)) => {
        form!(@ moded1, pair1, $f, $pair, $mode, a)
    };
    (cold $pair:expr, $mode:expr, $f:ident(a, b)) => {
        form!(@ moded2, pair2, $f, $pair, $mode, a, b)
    };
    (@ $hot:ident, $moded:ident, $halves:ident, $f:ident, $pair:expr, $level:expr, $mode:expr, $($x:ident),*) => {
        match $mode {
            0 if $pair => $hot($level, |$($x: u32),*| $halves($($x,)* |$($x),*| $f::<H>(0, $($x),*))),
            0 => $hot($level, |$($x: u16),*| $f::<H>(0, $($x),*)),
            mode => form!(@ $moded, $halves, $f, $pair, mode, $($x),*),
        }
    };
    (@ $moded:ident, $halves:ident, $f:ident, $pair:expr, $mode:expr, $($x:ident),*) => {
        if $pair {
            $moded($mode, |mode, $($x: u32),*| $halves($($x,)* |$($x),*| $f::<H>(mode, $($x),*)))
        } else {
            $moded($mode, |mode, $($x: u16),*| $f::<H>(mode, $($x),*))
        }
    };
}

pub(super) fn lookup(opcode: &str, modifiers: &[&str], level: CpuLevel) -> Option<Form> {
    let (&ty, rest) = modifiers.split_last()?;
    match ty {
        "f16" => form::<F16>(opcode, rest, false, level),
        "f16x2" => form::<F16>(opcode, rest, true, level),
        "bf16" => form::<Bf16>(opcode, rest, false, level),
        "bf16x2" => form::<Bf16>(opcode, rest, true, level),
        _ => None,
    }
}

fn form<H: Half>(opcode: &str, rest: &[&str], pair: bool, level: CpuLevel) -> Option<Form> {
    let bf16 = H::EXPONENT != F16::EXPONENT;
    if matches!(opcode, "min" | "max") {
        return extrema::<H>(opcode, rest, pair);
    }
    if matches!(opcode, "tanh" | "ex2") {
        return Some(match (opcode, rest) {
            ("tanh", ["approx"]) => form!(cold pair, 0, tanh(a)),
            ("ex2", ["approx"]) if !bf16 => form!(cold pair, 0, ex2(a)),
            ("ex2", ["approx", "ftz"]) if bf16 => form!(cold pair, FTZ, ex2(a)),
            _ => return None,
        });
    }
    let (rounded, rest) = match rest {
        ["rn", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let mode = match rest {
        [] => 0,
        ["ftz"] => FTZ,
        ["sat"] => SAT,
        ["ftz", "sat"] => FTZ | SAT,
        ["relu"] if opcode == "fma" => RELU,
        ["ftz", "relu"] if opcode == "fma" => FTZ | RELU,
        _ => return None,
    };
    if bf16 && mode & !RELU != 0 {
        return None;
    }
    Some(match (opcode, mode) {
        ("add", _) => form!(pair, level, mode, add(a, b)),
        ("sub", _) => form!(pair, level, mode, sub(a, b)),
        ("mul", _) => form!(pair, level, mode, mul(a, b)),
        ("fma", _) if rounded => form!(pair, level, mode, fma(a, b, c)),
        ("neg", 0 | FTZ) if !rounded => form!(pair, level, mode, neg(a)),
        ("abs", 0 | FTZ) if !rounded => form!(pair, level, mode, abs(a)),
        _ => return None,
    })
}

fn extrema<H: Half>(opcode: &str, modifiers: &[&str], pair: bool) -> Option<Form> {
    let (variant, rest) = extremum_variant(opcode, modifiers);
    if !rest.is_empty() || (variant & PICK_FTZ != 0 && H::EXPONENT != F16::EXPONENT) {
        return None;
    }
    Some(form!(cold pair, variant, pick(a, b)))
}
