//! Arithmetic of `f16`, `bf16` and their pairs: computed in a wider format, rounded once.
//!
//! Sums, differences and products of `f16` are exact in `f32`, or so much more precise that rounding twice
//! is rounding once. Where that is not so (`fma`, products of `bf16`) the wider result is rounded *to odd*:
//! inexact results get an odd last bit, so that the second rounding cannot take them for a tie.

use super::Form;
use super::engine::{cold1, cold2, cold3, hot1, hot2, hot3};
use super::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use super::modes::extremum;
use crate::lanes::CpuLevel;

/// The sum, to odd.
#[inline(always)]
fn sum_to_odd32(a: f32, b: f32) -> f32 {
    let sum = a + b;
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    let bits = sum.to_bits();
    // Towards the true value: a larger magnitude when the error has the sum's sign.
    let step = if (error > 0.0) == (sum > 0.0) { 1 } else { u32::MAX };
    let inexact = (error > 0.0) | (error < 0.0);
    f32::from_bits(if inexact & (bits & 1 == 0) {
        bits.wrapping_add(step)
    } else {
        bits
    })
}

/// The sum, to odd.
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

/// Narrower, to odd.
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

/// What the two formats do differently.
trait Half: Copy + 'static {
    const EXPONENT: u16;
    const ONE: u16;
    fn read(h: u16) -> f32;
    fn write(x: f32) -> u16;
    fn mul(a: f32, b: f32) -> u16;
    fn fma(a: f32, b: f32, c: f32) -> u16;
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
    fn mul(a: f32, b: f32) -> u16 {
        f32_to_f16(a * b)
    }
    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> u16 {
        f32_to_f16(sum_to_odd32(a * b, c))
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
    fn mul(a: f32, b: f32) -> u16 {
        f32_to_bf16(narrow_to_odd(a as f64 * b as f64))
    }
    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> u16 {
        f32_to_bf16(narrow_to_odd(sum_to_odd64(a as f64 * b as f64, c as f64)))
    }
}

const FTZ: u8 = 1;
const SAT: u8 = 2;
const RELU: u8 = 4;

#[inline(always)]
fn flush<H: Half, const M: u8>(h: u16) -> u16 {
    if M & FTZ != 0 && h & H::EXPONENT == 0 {
        h & 0x8000
    } else {
        h
    }
}

#[inline(always)]
fn read<H: Half, const M: u8>(h: u16) -> f32 {
    H::read(flush::<H, M>(h))
}

#[inline(always)]
fn finish<H: Half, const M: u8>(h: u16) -> u16 {
    let h = flush::<H, M>(h);
    let nan = h & 0x7fff > H::EXPONENT;
    let negative = h & 0x8000 != 0;
    if M & SAT != 0 {
        // NaN and −0 become +0.
        if nan | negative { 0 } else { h.min(H::ONE) }
    } else if M & RELU != 0 {
        if negative & !nan { 0 } else { h }
    } else {
        h
    }
}

#[inline(always)]
fn add<H: Half, const M: u8>(a: u16, b: u16) -> u16 {
    finish::<H, M>(H::write(read::<H, M>(a) + read::<H, M>(b)))
}

#[inline(always)]
fn sub<H: Half, const M: u8>(a: u16, b: u16) -> u16 {
    finish::<H, M>(H::write(read::<H, M>(a) - read::<H, M>(b)))
}

#[inline(always)]
fn mul<H: Half, const M: u8>(a: u16, b: u16) -> u16 {
    finish::<H, M>(H::mul(read::<H, M>(a), read::<H, M>(b)))
}

#[inline(always)]
fn fma<H: Half, const M: u8>(a: u16, b: u16, c: u16) -> u16 {
    finish::<H, M>(H::fma(read::<H, M>(a), read::<H, M>(b), read::<H, M>(c)))
}

#[inline(always)]
fn neg<H: Half, const M: u8>(a: u16) -> u16 {
    flush::<H, M>(a) ^ 0x8000
}

#[inline(always)]
fn abs<H: Half, const M: u8>(a: u16) -> u16 {
    flush::<H, M>(a) & 0x7fff
}

/// `V` is a variant of [`extremum`], whose own flushing is for `f32`.
fn pick<H: Half, const V: u8>(a: u16, b: u16) -> u16 {
    H::write(extremum::<V>(H::read(a), H::read(b)))
}

fn pick_ftz<H: Half, const V: u8>(a: u16, b: u16) -> u16 {
    pick::<H, V>(flush::<H, FTZ>(a), flush::<H, FTZ>(b))
}

fn tanh<H: Half, const M: u8>(a: u16) -> u16 {
    H::write(narrow_to_odd((H::read(a) as f64).tanh()))
}

fn ex2<H: Half, const M: u8>(a: u16) -> u16 {
    finish::<H, M>(H::write(narrow_to_odd((read::<H, M>(a) as f64).exp2())))
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

/// Scalar or pair.
macro_rules! form1 {
    ($pair:expr, $make:ident($($level:ident)?), $f:expr) => {
        if $pair { $make($($level,)? |a: u32| pair1(a, $f)) } else { $make($($level,)? |a: u16| $f(a)) }
    };
}

macro_rules! form2 {
    ($pair:expr, $make:ident($($level:ident)?), $f:expr) => {
        if $pair {
            $make($($level,)? |a: u32, b: u32| pair2(a, b, $f))
        } else {
            $make($($level,)? |a: u16, b: u16| $f(a, b))
        }
    };
}

macro_rules! form3 {
    ($pair:expr, $make:ident($($level:ident)?), $f:expr) => {
        if $pair {
            $make($($level,)? |a: u32, b: u32, c: u32| pair3(a, b, c, $f))
        } else {
            $make($($level,)? |a: u16, b: u16, c: u16| $f(a, b, c))
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
            ("tanh", ["approx"]) => form1!(pair, cold1(), tanh::<H, 0>),
            ("ex2", ["approx"]) if !bf16 => form1!(pair, cold1(), ex2::<H, 0>),
            ("ex2", ["approx", "ftz"]) if bf16 => form1!(pair, cold1(), ex2::<H, FTZ>),
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
        ("add", 0) => form2!(pair, hot2(level), add::<H, 0>),
        ("add", FTZ) => form2!(pair, cold2(), add::<H, FTZ>),
        ("add", SAT) => form2!(pair, cold2(), add::<H, SAT>),
        ("add", _) => form2!(pair, cold2(), add::<H, { FTZ | SAT }>),
        ("sub", 0) => form2!(pair, hot2(level), sub::<H, 0>),
        ("sub", FTZ) => form2!(pair, cold2(), sub::<H, FTZ>),
        ("sub", SAT) => form2!(pair, cold2(), sub::<H, SAT>),
        ("sub", _) => form2!(pair, cold2(), sub::<H, { FTZ | SAT }>),
        ("mul", 0) => form2!(pair, hot2(level), mul::<H, 0>),
        ("mul", FTZ) => form2!(pair, cold2(), mul::<H, FTZ>),
        ("mul", SAT) => form2!(pair, cold2(), mul::<H, SAT>),
        ("mul", _) => form2!(pair, cold2(), mul::<H, { FTZ | SAT }>),
        ("fma", 0) if rounded => form3!(pair, hot3(level), fma::<H, 0>),
        ("fma", FTZ) if rounded => form3!(pair, cold3(), fma::<H, FTZ>),
        ("fma", SAT) if rounded => form3!(pair, cold3(), fma::<H, SAT>),
        ("fma", RELU) if rounded => form3!(pair, cold3(), fma::<H, RELU>),
        ("fma", 3) if rounded => form3!(pair, cold3(), fma::<H, { FTZ | SAT }>),
        ("fma", _) if rounded => form3!(pair, cold3(), fma::<H, { FTZ | RELU }>),
        ("neg", 0) if !rounded => form1!(pair, hot1(level), neg::<H, 0>),
        ("neg", FTZ) if !rounded => form1!(pair, cold1(), neg::<H, FTZ>),
        ("abs", 0) if !rounded => form1!(pair, hot1(level), abs::<H, 0>),
        ("abs", FTZ) if !rounded => form1!(pair, cold1(), abs::<H, FTZ>),
        _ => return None,
    })
}

fn extrema<H: Half>(opcode: &str, modifiers: &[&str], pair: bool) -> Option<Form> {
    let (ftz, rest) = match modifiers {
        ["ftz", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let (nan, rest) = match rest {
        ["NaN", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let xorsign = match rest {
        [] => false,
        ["xorsign", "abs"] => true,
        _ => return None,
    };
    // Bits of `extremum`: 1 max, 2 NaN, 8 xorsign.
    let variant = (opcode == "max") as u8 | (nan as u8) << 1 | (xorsign as u8) << 3;
    macro_rules! of {
        ($($v:literal)*) => {
            match (variant, ftz) {
                $( ($v, false) => form2!(pair, cold2(), pick::<H, $v>), )*
                $( ($v, true) => form2!(pair, cold2(), pick_ftz::<H, $v>), )*
                _ => return None,
            }
        };
    }
    Some(of!(0 1 2 3 8 9 10 11))
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
            prop_assert_eq!(add::<F16, 0>(a, b), soft(soft::add(x, y, F16_FORMAT, n)));
            prop_assert_eq!(sub::<F16, 0>(a, b), soft(soft::add(x, y ^ 0x8000, F16_FORMAT, n)));
            prop_assert_eq!(mul::<F16, 0>(a, b), soft(soft::mul(x, y, F16_FORMAT, n)));
            prop_assert_eq!(fma::<F16, 0>(a, b, c), soft(soft::fma(x, y, z, F16_FORMAT, n)));
            prop_assert_eq!(add::<Bf16, 0>(a, b), soft(soft::add(x, y, BF16, n)));
            prop_assert_eq!(sub::<Bf16, 0>(a, b), soft(soft::add(x, y ^ 0x8000, BF16, n)));
            prop_assert_eq!(mul::<Bf16, 0>(a, b), soft(soft::mul(x, y, BF16, n)));
            prop_assert_eq!(fma::<Bf16, 0>(a, b, c), soft(soft::fma(x, y, z, BF16, n)));
        }
    }

    #[test]
    fn saturation_and_relu_clamp() {
        assert_eq!(add::<F16, SAT>(0x3c00, 0x3c00), 0x3c00, "1 + 1");
        assert_eq!(add::<F16, SAT>(0xbc00, 0x0000), 0, "-1 + 0");
        assert_eq!(add::<F16, SAT>(0x7e00, 0x0000), 0, "NaN");
        assert_eq!(fma::<F16, RELU>(0xbc00, 0x3c00, 0), 0, "-1 · 1 + 0");
        assert_eq!(fma::<F16, RELU>(0x7e00, 0x3c00, 0), 0x7fff, "NaN");
        assert_eq!(mul::<F16, FTZ>(0x0001, 0x7bff), 0, "a subnormal operand");
    }
}
