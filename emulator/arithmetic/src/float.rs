//! `f32` and `f64` arithmetic rounded to nearest: the hot half of floating point.

use super::Form;
use super::engine::{hot1, hot2, hot3};
use crate::lanes::CpuLevel;

/// Flushes subnormals to a zero of their sign.
#[inline(always)]
pub(super) fn flush(x: f32) -> f32 {
    let bits = x.to_bits();
    f32::from_bits(if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits })
}

/// The NaN that `f32` arithmetic makes.
pub(super) const NAN32: f32 = f32::from_bits(0x7fff_ffff);

/// Replaces NaNs by the one that the hardware writes.
#[inline(always)]
pub(super) fn canonical(x: f32) -> f32 {
    if x.is_nan() { NAN32 } else { x }
}

/// The NaN that an invalid `f64` operation makes.
pub(super) const NAN64: f64 = f64::from_bits(0xfff8_0000_0000_0000);

/// Passes a NaN operand on, quiet. The first one given here wins: by the hardware's custom the last one of the
/// instruction. (A CPU's choice depends on the order that the compiler chose.)
#[inline(always)]
pub(super) fn nan64(result: f64, operands: [f64; 3]) -> f64 {
    let quiet = |x: f64| f64::from_bits(x.to_bits() | 1 << 51);
    let [a, b, c] = operands;
    let nan = if c.is_nan() { quiet(c) } else { NAN64 };
    let nan = if b.is_nan() { quiet(b) } else { nan };
    let nan = if a.is_nan() { quiet(a) } else { nan };
    if result.is_nan() { nan } else { result }
}

/// Replaces NaNs as [`canonical`] does, for square roots: LLVM may prove that a root is NaN and undo a choice of NaNs.
#[inline(always)]
pub(super) fn canonical_root(x: f32) -> f32 {
    let mask = 0u32.wrapping_sub(x.is_nan() as u32);
    f32::from_bits((x.to_bits() | mask) & !(mask << 31))
}

#[inline(always)]
pub(super) fn flush_if<const FTZ: bool>(x: f32) -> f32 {
    if FTZ { flush(x) } else { x }
}

#[inline(always)]
fn finish<const FTZ: bool>(x: f32) -> f32 {
    canonical(flush_if::<FTZ>(x))
}

const TINY_SCALE: f32 = f32::from_bits((127 + 64) << 23);
const TINY_SCALED: f32 = f32::from_bits((127 - 126 + 64) << 23);

/// Flushes a product or sum of products. The result with its exponent unbounded decides: one below the normal numbers
/// is flushed even when rounding to a subnormal's place would make it normal. `scaled` is the result times 2^64, which
/// overflows only far from there.
#[inline(always)]
fn flush_tiny(x: f32, scaled: f32) -> f32 {
    let tiny = scaled.abs() < TINY_SCALED;
    f32::from_bits(x.to_bits() & if tiny { 0x8000_0000 } else { 0xffff_ffff })
}

#[inline(always)]
pub(super) fn mul32<const FTZ: bool>(a: f32, b: f32) -> f32 {
    if !FTZ {
        return canonical(a * b);
    }
    let (a, b) = (flush(a), flush(b));
    canonical(flush_tiny(a * b, a * TINY_SCALE * b))
}

/// Rounds to odd: an inexact `$near` with an even last bit moves one step towards the exact value, up in magnitude when
/// `$error` has the value's sign.
macro_rules! to_odd {
    ($float:ty, $bits:ty, $near:expr, $error:expr, $positive:expr) => {{
        let bits = $near.to_bits();
        let step = if ($error > 0.0) == $positive { 1 } else { <$bits>::MAX };
        let inexact = ($error > 0.0) | ($error < 0.0);
        <$float>::from_bits(if inexact & (bits & 1 == 0) { bits.wrapping_add(step) } else { bits })
    }};
}

/// Adds, rounding to odd.
macro_rules! sum_to_odd {
    ($float:ty, $bits:ty, $a:expr, $b:expr) => {{
        let (a, b) = ($a, $b);
        let sum = a + b;
        let b_part = sum - a;
        let error = (a - (sum - b_part)) + (b - b_part);
        to_odd!($float, $bits, sum, error, (sum > 0.0))
    }};
}
pub(super) use {sum_to_odd, to_odd};

/// Returns `a * b + c`, rounded once, where a call would do that lane by lane: the product is exact in `f64`.
#[cfg(any(target_family = "wasm", test))]
#[inline(always)]
pub(super) fn mul_add_by_f64(a: f32, b: f32, c: f32) -> f32 {
    sum_to_odd!(f64, u64, f64::from(a) * f64::from(b), f64::from(c)) as f32
}

#[inline(always)]
fn mul_add(a: f32, b: f32, c: f32) -> f32 {
    #[cfg(target_family = "wasm")]
    return mul_add_by_f64(a, b, c);
    #[cfg(not(target_family = "wasm"))]
    a.mul_add(b, c)
}

#[inline(always)]
fn fma32<const FTZ: bool>(a: f32, b: f32, c: f32) -> f32 {
    if !FTZ {
        return canonical(mul_add(a, b, c));
    }
    let (a, b, c) = (flush(a), flush(b), flush(c));
    canonical(flush_tiny(mul_add(a, b, c), mul_add(a * TINY_SCALE, b, c * TINY_SCALE)))
}

const TINY: f32 = f32::MIN_POSITIVE;
/// Ratio of [`TINY`] and [`TINY_SCALE`].
const TINY_DOWN: f32 = f32::from_bits((127 - 62) << 23);

/// Flushes a quotient that rounding made the smallest normal number, if it was below; both products are exact there.
#[inline(always)]
pub(super) fn div32<const FTZ: bool>(a: f32, b: f32) -> f32 {
    if !FTZ {
        return canonical(a / b);
    }
    let (a, b) = (flush(a), flush(b));
    let quotient = a / b;
    let below = (a * TINY_SCALE).abs() < (b * TINY_DOWN).abs();
    let tiny = (quotient.abs() < TINY) | ((quotient.abs() == TINY) & below);
    let bits = quotient.to_bits() & if tiny { 0x8000_0000 } else { 0xffff_ffff };
    canonical(f32::from_bits(bits))
}

#[inline(always)]
fn min32<const FTZ: bool>(a: f32, b: f32) -> f32 {
    let (a, b) = (flush_if::<FTZ>(a), flush_if::<FTZ>(b));
    let smaller = if a < b { a } else { b };
    // Zeros compare equal: the negative one is smaller.
    let smaller = if a == b { f32::from_bits(a.to_bits() | b.to_bits()) } else { smaller };
    canonical(if b.is_nan() { a } else { smaller })
}

#[inline(always)]
fn max32<const FTZ: bool>(a: f32, b: f32) -> f32 {
    let (a, b) = (flush_if::<FTZ>(a), flush_if::<FTZ>(b));
    let larger = if a > b { a } else { b };
    let larger = if a == b { f32::from_bits(a.to_bits() & b.to_bits()) } else { larger };
    canonical(if b.is_nan() { a } else { larger })
}

macro_rules! by_ftz {
    ($ftz:expr, $ftz_name:ident => $form:expr) => {
        if $ftz {
            const $ftz_name: bool = true;
            $form
        } else {
            const $ftz_name: bool = false;
            $form
        }
    };
}

pub(super) fn lookup(opcode: &str, modifiers: &[&str], level: CpuLevel) -> Option<Form> {
    let (modifiers, rn) = match modifiers {
        ["rn", rest @ ..] => (rest, true),
        rest => (rest, false),
    };
    let (modifiers, ftz) = match modifiers {
        ["ftz", rest @ ..] => (rest, true),
        rest => (rest, false),
    };
    Some(match (opcode, modifiers, rn) {
        ("add", ["f32"], _) => {
            by_ftz!(ftz, Z => hot2(level, |a: f32, b: f32| finish::<Z>(flush_if::<Z>(a) + flush_if::<Z>(b))))
        }
        ("sub", ["f32"], _) => {
            by_ftz!(ftz, Z => hot2(level, |a: f32, b: f32| finish::<Z>(flush_if::<Z>(a) - flush_if::<Z>(b))))
        }
        ("mul", ["f32"], _) => by_ftz!(ftz, Z => hot2(level, mul32::<Z>)),
        ("fma" | "mad", ["f32"], true) => by_ftz!(ftz, Z => hot3(level, fma32::<Z>)),
        ("min", ["f32"], false) => by_ftz!(ftz, Z => hot2(level, min32::<Z>)),
        ("max", ["f32"], false) => by_ftz!(ftz, Z => hot2(level, max32::<Z>)),
        ("neg", ["f32"], false) => by_ftz!(ftz, Z => hot1(level, |a: f32| finish::<Z>(-a))),
        ("abs", ["f32"], false) => by_ftz!(ftz, Z => hot1(level, |a: f32| finish::<Z>(a.abs()))),
        ("div", ["f32"], true) => by_ftz!(ftz, Z => hot2(level, div32::<Z>)),
        ("rcp", ["f32"], true) => by_ftz!(ftz, Z => hot1(level, |a: f32| finish::<Z>(1.0 / flush_if::<Z>(a)))),
        ("sqrt", ["f32"], true) => {
            by_ftz!(ftz, Z => hot1(level, |a: f32| canonical_root(flush_if::<Z>(flush_if::<Z>(a).sqrt()))))
        }
        _ if ftz => return None,
        ("add", ["f64"], _) => hot2(level, |a: f64, b: f64| nan64(a + b, [b, a, 0.0])),
        ("sub", ["f64"], _) => hot2(level, |a: f64, b: f64| nan64(a - b, [b, a, 0.0])),
        ("mul", ["f64"], _) => hot2(level, |a: f64, b: f64| nan64(a * b, [b, a, 0.0])),
        ("fma" | "mad", ["f64"], true) => hot3(level, |a: f64, b: f64, c: f64| nan64(a.mul_add(b, c), [c, b, a])),
        ("div", ["f64"], true) => hot2(level, |a: f64, b: f64| nan64(a / b, [a, b, 0.0])),
        ("rcp", ["f64"], true) => hot1(level, |a: f64| nan64(1.0 / a, [a, 0.0, 0.0])),
        ("sqrt", ["f64"], true) => hot1(level, |a: f64| nan64(a.sqrt(), [a, 0.0, 0.0])),
        ("neg", ["f64"], false) => hot1(level, |a: f64| nan64(-a, [a, 0.0, 0.0])),
        ("abs", ["f64"], false) => hot1(level, |a: f64| nan64(a.abs(), [a, 0.0, 0.0])),
        _ => return None,
    })
}
