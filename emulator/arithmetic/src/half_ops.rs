//! Arithmetic of `f16`, `bf16` and their pairs: computed in a wider format, rounded once.
//!
//! Sums, differences and products of `f16` are exact in `f32`, or so much more precise that rounding twice
//! is rounding once. Where that is not so (`fma`, products of `bf16`) the wider result is rounded *to odd*:
//! inexact results get an odd last bit, so that the second rounding cannot take them for a tie.

use super::engine::{hot1, hot2, hot3, moded1, moded2, moded3};
use super::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use super::modes::{MAX, NAN, XORSIGN, extremum};
use super::{Form, elementary};
use crate::lanes::CpuLevel;

/// Sum, rounded to odd.
#[inline(always)]
fn sum_to_odd32(a: f32, b: f32) -> f32 {
    let sum = a + b;
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    let bits = sum.to_bits();
    // One step towards the exact value: up in magnitude when the error has the sum's sign.
    let step = if (error > 0.0) == (sum > 0.0) { 1 } else { u32::MAX };
    let inexact = (error > 0.0) | (error < 0.0);
    f32::from_bits(if inexact & (bits & 1 == 0) {
        bits.wrapping_add(step)
    } else {
        bits
    })
}

/// Sum, rounded to odd.
#[inline(always)]
fn sum_to_odd64(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    let bits = sum.to_bits();
    let step = if (error > 0.0) == (sum > 0.0) { 1 } else { u64::MAX };
    let inexact = (error > 0.0) | (error < 0.0);
    f64::from_bits(if inexact & (bits & 1 == 0) {
        bits.wrapping_add(step)
    } else {
        bits
    })
}

/// Converts to `f32`, rounding to odd.
#[inline(always)]
fn narrow_to_odd(x: f64) -> f32 {
    let near = x as f32;
    let error = x - near as f64;
    let bits = near.to_bits();
    let step = if (error > 0.0) == (x > 0.0) { 1 } else { u32::MAX };
    let inexact = (error > 0.0) | (error < 0.0);
    // An infinite `x` has the error NaN; a finite one that became infinite steps back to the largest.
    f32::from_bits(if inexact & (bits & 1 == 0) {
        bits.wrapping_add(step)
    } else {
        bits
    })
}

/// Format-specific parts of the arithmetic.
trait Half: Copy + 'static {
    const EXPONENT: u16;
    const ONE: u16;
    fn read(h: u16) -> f32;
    fn write(x: f32) -> u16;
    /// Product, exact or rounded to odd.
    fn product(a: f32, b: f32) -> f32;
    /// Product and sum, rounded to odd.
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
        sum_to_odd32(a * b, c)
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
        narrow_to_odd(sum_to_odd64(a as f64 * b as f64, c as f64))
    }
}

const FTZ: u32 = 1;
const SAT: u32 = 2;
const RELU: u32 = 4;

#[inline(always)]
fn flush<H: Half>(mode: u32, h: u16) -> u16 {
    if mode & FTZ != 0 && h & H::EXPONENT == 0 {
        h & 0x8000
    } else {
        h
    }
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
    let x = if mode & FTZ != 0 && x.abs() < LEAST {
        0f32.copysign(x)
    } else {
        x
    };
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
    round::<H>(
        mode,
        H::product_sum(read::<H>(mode, a), read::<H>(mode, b), read::<H>(mode, c)),
    )
}

/// Hardware negates by adding, so that NaNs become the usual one.
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

/// `mode` is a variant of [`extremum`]; its flush bit means halves here.
fn pick<H: Half>(mode: u32, a: u16, b: u16) -> u16 {
    let ftz = if mode & PICK_FTZ != 0 { FTZ } else { 0 };
    H::write(extremum(
        mode & !PICK_FTZ,
        H::read(flush::<H>(ftz, a)),
        H::read(flush::<H>(ftz, b)),
    ))
}

const PICK_FTZ: u32 = 4;

fn tanh<H: Half>(_: u32, a: u16) -> u16 {
    H::write(narrow_to_odd(elementary::tanh(H::read(a) as f64)))
}

fn ex2<H: Half>(mode: u32, a: u16) -> u16 {
    finish::<H>(
        mode,
        H::write(narrow_to_odd(elementary::exp2(read::<H>(mode, a) as f64))),
    )
}

#[inline(always)]
fn pair1(a: u32, f: impl Fn(u16) -> u16) -> u32 {
    f(a as u16) as u32 | (f((a >> 16) as u16) as u32) << 16
}

#[inline(always)]
fn pair2(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    f(a as u16, b as u16) as u32 | (f((a >> 16) as u16, (b >> 16) as u16) as u32) << 16
}

#[inline(always)]
fn pair3(a: u32, b: u32, c: u32, f: impl Fn(u16, u16, u16) -> u16) -> u32 {
    let high = f((a >> 16) as u16, (b >> 16) as u16, (c >> 16) as u16);
    f(a as u16, b as u16, c as u16) as u32 | (high as u32) << 16
}

/// Form of a scalar or pair operation, vectorised or with the mode as a run-time argument.
macro_rules! form1 {
    ($pair:expr, $level:expr, $f:expr) => {
        if $pair {
            hot1($level, |a: u32| pair1(a, |a| $f(0, a)))
        } else {
            hot1($level, |a: u16| $f(0, a))
        }
    };
    ($pair:expr, mode $mode:expr, $f:expr) => {
        if $pair {
            moded1($mode, |mode, a: u32| pair1(a, |a| $f(mode, a)))
        } else {
            moded1($mode, |mode, a: u16| $f(mode, a))
        }
    };
}

macro_rules! form2 {
    ($pair:expr, $level:expr, $f:expr) => {
        if $pair {
            hot2($level, |a: u32, b: u32| pair2(a, b, |a, b| $f(0, a, b)))
        } else {
            hot2($level, |a: u16, b: u16| $f(0, a, b))
        }
    };
    ($pair:expr, mode $mode:expr, $f:expr) => {
        if $pair {
            moded2($mode, |mode, a: u32, b: u32| pair2(a, b, |a, b| $f(mode, a, b)))
        } else {
            moded2($mode, |mode, a: u16, b: u16| $f(mode, a, b))
        }
    };
}

macro_rules! form3 {
    ($pair:expr, $level:expr, $f:expr) => {
        if $pair {
            hot3($level, |a: u32, b: u32, c: u32| {
                pair3(a, b, c, |a, b, c| $f(0, a, b, c))
            })
        } else {
            hot3($level, |a: u16, b: u16, c: u16| $f(0, a, b, c))
        }
    };
    ($pair:expr, mode $mode:expr, $f:expr) => {
        if $pair {
            moded3($mode, |mode, a: u32, b: u32, c: u32| {
                pair3(a, b, c, |a, b, c| $f(mode, a, b, c))
            })
        } else {
            moded3($mode, |mode, a: u16, b: u16, c: u16| $f(mode, a, b, c))
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
            ("tanh", ["approx"]) => form1!(pair, mode 0, tanh::<H>),
            ("ex2", ["approx"]) if !bf16 => form1!(pair, mode 0, ex2::<H>),
            ("ex2", ["approx", "ftz"]) if bf16 => form1!(pair, mode FTZ, ex2::<H>),
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
        ("add", 0) => form2!(pair, level, add::<H>),
        ("add", _) => form2!(pair, mode mode, add::<H>),
        ("sub", 0) => form2!(pair, level, sub::<H>),
        ("sub", _) => form2!(pair, mode mode, sub::<H>),
        ("mul", 0) => form2!(pair, level, mul::<H>),
        ("mul", _) => form2!(pair, mode mode, mul::<H>),
        ("fma", 0) if rounded => form3!(pair, level, fma::<H>),
        ("fma", _) if rounded => form3!(pair, mode mode, fma::<H>),
        ("neg", 0) if !rounded => form1!(pair, level, neg::<H>),
        ("neg", FTZ) if !rounded => form1!(pair, mode FTZ, neg::<H>),
        ("abs", 0) if !rounded => form1!(pair, level, abs::<H>),
        ("abs", FTZ) if !rounded => form1!(pair, mode FTZ, abs::<H>),
        _ => return None,
    })
}

fn extrema<H: Half>(opcode: &str, modifiers: &[&str], pair: bool) -> Option<Form> {
    let mut variant = if opcode == "max" { MAX } else { 0 };
    let mut rest = modifiers;
    for (name, bit) in [("ftz", PICK_FTZ), ("NaN", NAN)] {
        if let [first, after @ ..] = rest
            && *first == name
        {
            variant |= bit;
            rest = after;
        }
    }
    variant |= match rest {
        [] => 0,
        ["xorsign", "abs"] => XORSIGN,
        _ => return None,
    };
    if variant & PICK_FTZ != 0 && H::EXPONENT != F16::EXPONENT {
        return None;
    }
    Some(form2!(pair, mode variant, pick::<H>))
}

#[cfg(test)]
mod tests {
    use super::super::soft::{self, BF16, F16 as F16_FORMAT, Round};
    use super::*;
    use proptest::prelude::*;

    fn soft(bits: Option<u64>) -> u16 {
        bits.map_or(0x7fff, |bits| bits as u16)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100_000, failure_persistence: None, ..Default::default() })]
        #[test]
        fn one_rounding(a in any::<u16>(), b in any::<u16>(), c in any::<u16>()) {
            let (x, y, z) = (a as u64, b as u64, c as u64);
            let n = Round::Nearest;
            prop_assert_eq!(add::<F16>(0, a, b), soft(soft::add(x, y, F16_FORMAT, n)));
            prop_assert_eq!(sub::<F16>(0, a, b), soft(soft::add(x, y ^ 0x8000, F16_FORMAT, n)));
            prop_assert_eq!(mul::<F16>(0, a, b), soft(soft::mul(x, y, F16_FORMAT, n)));
            prop_assert_eq!(fma::<F16>(0, a, b, c), soft(soft::fma(x, y, z, F16_FORMAT, n)));
            prop_assert_eq!(add::<Bf16>(0, a, b), soft(soft::add(x, y, BF16, n)));
            prop_assert_eq!(sub::<Bf16>(0, a, b), soft(soft::add(x, y ^ 0x8000, BF16, n)));
            prop_assert_eq!(mul::<Bf16>(0, a, b), soft(soft::mul(x, y, BF16, n)));
            prop_assert_eq!(fma::<Bf16>(0, a, b, c), soft(soft::fma(x, y, z, BF16, n)));
        }
    }

    #[test]
    fn saturation_and_relu_clamp() {
        assert_eq!(add::<F16>(SAT, 0x3c00, 0x3c00), 0x3c00, "1 + 1");
        assert_eq!(add::<F16>(SAT, 0xbc00, 0x0000), 0, "-1 + 0");
        assert_eq!(add::<F16>(SAT, 0x7e00, 0x0000), 0, "NaN");
        assert_eq!(fma::<F16>(RELU, 0xbc00, 0x3c00, 0), 0, "-1 · 1 + 0");
        assert_eq!(fma::<F16>(RELU, 0x7e00, 0x3c00, 0), 0x7fff, "NaN");
        assert_eq!(mul::<F16>(FTZ, 0x0001, 0x7bff), 0, "a subnormal operand");
    }
}
