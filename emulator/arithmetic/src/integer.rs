//! Integer arithmetic: `add` to `sad`, wrapping as the hardware does.
//!
//! PTX leaves division by zero unspecified. On hardware quotient and remainder are all ones, for signed types
//! too; the smallest integer divided by −1 gives itself, remainder 0.

#[cfg(test)]
mod tests;

use super::Form;
use super::engine::ptx_types::{s16, s32, s64};
use super::engine::{by_type, cold2, cold3, hot1, hot2, hot3};
use super::half_ops::pair2;
use crate::lanes::CpuLevel;

pub(super) fn lookup(opcode: &str, modifiers: &[&str], level: CpuLevel) -> Option<Form> {
    let (&ty, rest) = match modifiers {
        [ty, rest @ "relu"] => (ty, std::slice::from_ref(rest)),
        _ => modifiers.split_last()?,
    };
    // Names the type by its width, for operations to which signs do not matter.
    let bits = match ty {
        "s16" => "u16",
        "s32" => "u32",
        "s64" => "u64",
        "s16x2" => "u16x2",
        ty => ty,
    };
    Some(match (opcode, rest, ty) {
        ("add", [], "u16x2" | "s16x2") => cold2(|a: u32, b: u32| pair2(a, b, |a, b| a.wrapping_add(b))),
        ("add", [], _) => by_type!(bits, T in u16 u32 u64 => hot2(level, |a: T, b: T| a.wrapping_add(b))),
        ("add", ["sat"], "s32") => hot2(level, |a: i32, b: i32| a.saturating_add(b)),
        ("sub", [], "u16x2" | "s16x2") => cold2(|a: u32, b: u32| pair2(a, b, |a, b| a.wrapping_sub(b))),
        ("sub", [], _) => by_type!(bits, T in u16 u32 u64 => hot2(level, |a: T, b: T| a.wrapping_sub(b))),
        ("sub", ["sat"], "s32") => hot2(level, |a: i32, b: i32| a.saturating_sub(b)),

        ("mul", ["lo"], _) => by_type!(bits, T in u16 u32 u64 => hot2(level, |a: T, b: T| a.wrapping_mul(b))),
        ("mul", ["wide"], _) => by_type!(ty, T in u16 u32 s16 s32 => hot2(level, |a: T, b: T| a.product(b))),
        ("mul", ["hi"], "u32" | "s32") => by_type!(ty, T in u32 s32 => hot2(level, |a: T, b: T| a.high(b))),
        ("mul", ["hi"], _) => by_type!(ty, T in u16 u64 s16 s64 => cold2(|a: T, b: T| a.high(b))),
        ("mad", ["lo"], _) => by_type!(bits, T in u16 u32 u64 => {
            hot3(level, |a: T, b: T, c: T| a.wrapping_mul(b).wrapping_add(c))
        }),
        ("mad", ["wide"], _) => by_type!(ty, T in u16 u32 s16 s32 => {
            hot3(level, |a: T, b: T, c: <T as Product>::Wide| a.product(b).wrapping_add(c))
        }),
        ("mad", ["hi"], "u32" | "s32") => by_type!(ty, T in u32 s32 => {
            hot3(level, |a: T, b: T, c: T| a.high(b).wrapping_add(c))
        }),
        ("mad", ["hi"], _) => by_type!(ty, T in u16 u64 s16 s64 => {
            cold3(|a: T, b: T, c: T| a.high(b).wrapping_add(c))
        }),
        ("mad", ["hi", "sat"], "s32") => cold3(|a: i32, b: i32, c: i32| a.high(b).saturating_add(c)),

        ("mul24", ["lo"], "u32") => cold2(|a: u32, b: u32| mul24_u(a, b) as u32),
        ("mul24", ["hi"], "u32") => cold2(|a: u32, b: u32| (mul24_u(a, b) >> 16) as u32),
        ("mul24", ["lo"], "s32") => cold2(|a: i32, b: i32| mul24_s(a, b) as i32),
        ("mul24", ["hi"], "s32") => cold2(|a: i32, b: i32| (mul24_s(a, b) >> 16) as i32),
        ("mad24", ["lo"], "u32") => cold3(|a: u32, b: u32, c: u32| (mul24_u(a, b) as u32).wrapping_add(c)),
        ("mad24", ["hi"], "u32") => cold3(|a: u32, b: u32, c: u32| ((mul24_u(a, b) >> 16) as u32).wrapping_add(c)),
        ("mad24", ["lo"], "s32") => cold3(|a: i32, b: i32, c: i32| (mul24_s(a, b) as i32).wrapping_add(c)),
        ("mad24", ["hi"], "s32") => cold3(|a: i32, b: i32, c: i32| ((mul24_s(a, b) >> 16) as i32).wrapping_add(c)),
        ("mad24", ["hi", "sat"], "s32") => {
            cold3(|a: i32, b: i32, c: i32| ((mul24_s(a, b) >> 16) as i32).saturating_add(c))
        }

        ("div", [], "u32") => hot2(level, div_u32),
        ("div", [], "s32") => hot2(level, div_i32),
        ("div", [], "u64") => cold2(|a: u64, b: u64| a.checked_div(b).unwrap_or(!0)),
        ("div", [], "s64") => cold2(|a: i64, b: i64| if b == 0 { -1 } else { a.wrapping_div(b) }),
        ("div", [], "u16") => hot2(level, |a: u16, b: u16| div_u32(a as u32, b as u32) as u16),
        ("div", [], "s16") => hot2(level, |a: i16, b: i16| div_i32(a as i32, b as i32) as i16),
        ("rem", [], "u32") => hot2(level, rem_u32),
        ("rem", [], "s32") => hot2(level, rem_i32),
        ("rem", [], "u64") => cold2(|a: u64, b: u64| a.checked_rem(b).unwrap_or(!0)),
        ("rem", [], "s64") => cold2(|a: i64, b: i64| if b == 0 { -1 } else { a.wrapping_rem(b) }),
        ("rem", [], "u16") => hot2(level, |a: u16, b: u16| rem_u32(a as u32, b as u32) as u16),
        ("rem", [], "s16") => hot2(level, |a: i16, b: i16| rem_i32(a as i32, b as i32) as i16),

        ("abs", [], _) => by_type!(ty, T in s16 s32 s64 => hot1(level, |a: T| a.wrapping_abs())),
        ("neg", [], _) => by_type!(ty, T in s16 s32 s64 => hot1(level, |a: T| a.wrapping_neg())),

        ("min", [], "u16x2") => cold2(|a: u32, b: u32| pair2(a, b, |a, b| a.min(b))),
        ("max", [], "u16x2") => cold2(|a: u32, b: u32| pair2(a, b, |a, b| a.max(b))),
        ("min", [], "s16x2") => cold2(|a: u32, b: u32| signed_halves(a, b, |a, b| a.min(b))),
        ("max", [], "s16x2") => cold2(|a: u32, b: u32| signed_halves(a, b, |a, b| a.max(b))),
        ("min", ["relu"], "s16x2") => cold2(|a: u32, b: u32| signed_halves(a, b, |a, b| a.min(b).max(0))),
        ("max", ["relu"], "s16x2") => cold2(|a: u32, b: u32| signed_halves(a, b, |a, b| a.max(b).max(0))),
        ("min", ["relu"], "s32") => cold2(|a: i32, b: i32| a.min(b).max(0)),
        ("max", ["relu"], "s32") => cold2(|a: i32, b: i32| a.max(b).max(0)),
        ("min", [], _) => by_type!(ty, T in u16 u32 u64 s16 s32 s64 => hot2(level, |a: T, b: T| a.min(b))),
        ("max", [], _) => by_type!(ty, T in u16 u32 u64 s16 s32 s64 => hot2(level, |a: T, b: T| a.max(b))),
        ("sad", [], _) => by_type!(ty, T in u16 u32 u64 s16 s32 s64 => {
            cold3(|a: T, b: T, c: T| c.wrapping_add(a.abs_diff(b) as T))
        }),

        ("dp4a", ["u32"], "u32") => cold3(|a: u32, b: u32, c: u32| dot(4, a, b, c, byte_u, byte_u)),
        ("dp4a", ["u32"], "s32") => cold3(|a: u32, b: u32, c: u32| dot(4, a, b, c, byte_u, byte_s)),
        ("dp4a", ["s32"], "u32") => cold3(|a: u32, b: u32, c: u32| dot(4, a, b, c, byte_s, byte_u)),
        ("dp4a", ["s32"], "s32") => cold3(|a: u32, b: u32, c: u32| dot(4, a, b, c, byte_s, byte_s)),
        ("dp2a", ["lo", "u32"], "u32") => cold3(|a: u32, b: u32, c: u32| dot(2, a, b, c, word_u, byte_u)),
        ("dp2a", ["lo", "u32"], "s32") => cold3(|a: u32, b: u32, c: u32| dot(2, a, b, c, word_u, byte_s)),
        ("dp2a", ["lo", "s32"], "u32") => cold3(|a: u32, b: u32, c: u32| dot(2, a, b, c, word_s, byte_u)),
        ("dp2a", ["lo", "s32"], "s32") => cold3(|a: u32, b: u32, c: u32| dot(2, a, b, c, word_s, byte_s)),
        ("dp2a", ["hi", "u32"], "u32") => cold3(|a: u32, b: u32, c: u32| dot(2, a, b >> 16, c, word_u, byte_u)),
        ("dp2a", ["hi", "u32"], "s32") => cold3(|a: u32, b: u32, c: u32| dot(2, a, b >> 16, c, word_u, byte_s)),
        ("dp2a", ["hi", "s32"], "u32") => cold3(|a: u32, b: u32, c: u32| dot(2, a, b >> 16, c, word_s, byte_u)),
        ("dp2a", ["hi", "s32"], "s32") => cold3(|a: u32, b: u32, c: u32| dot(2, a, b >> 16, c, word_s, byte_s)),
        _ => return None,
    })
}

/// Multiplication without overflow.
trait Product: Sized {
    type Wide;
    fn product(self, other: Self) -> Self::Wide;
    /// Returns the upper half of the product.
    fn high(self, other: Self) -> Self;
}

macro_rules! products {
    ($($ty:ty, $wide:ty;)*) => { $(
        impl Product for $ty {
            type Wide = $wide;
            #[inline(always)]
            fn product(self, other: Self) -> $wide {
                self as $wide * other as $wide
            }
            #[inline(always)]
            fn high(self, other: Self) -> Self {
                (self.product(other) >> Self::BITS) as Self
            }
        }
    )* };
}

products! {
    u16, u32;
    i16, i32;
    u32, u64;
    i32, i64;
    u64, u128;
    i64, i128;
}

/// Divides in `f64`, several in a vector: the nearest integer is the quotient or one more. Unspecified for b = 0.
#[inline(always)]
fn quotient(a: u32, b: u32) -> u32 {
    // 2^52: adding it leaves the integer in the low bits.
    const MAGIC: f64 = 4_503_599_627_370_496.0;
    let (a, b) = (a as f64, b as f64);
    let shifted = a / b + MAGIC;
    let rounded_up = (shifted - MAGIC) * b > a;
    (shifted.to_bits() as u32).wrapping_sub(rounded_up as u32)
}

#[inline(always)]
fn div_u32(a: u32, b: u32) -> u32 {
    if b == 0 { !0 } else { quotient(a, b) }
}

#[inline(always)]
fn rem_u32(a: u32, b: u32) -> u32 {
    if b == 0 { !0 } else { a.wrapping_sub(quotient(a, b).wrapping_mul(b)) }
}

#[inline(always)]
fn div_i32(a: i32, b: i32) -> i32 {
    let magnitude = quotient(a.unsigned_abs(), b.unsigned_abs()) as i32;
    let signed = if (a < 0) == (b < 0) { magnitude } else { magnitude.wrapping_neg() };
    if b == 0 { -1 } else { signed }
}

#[inline(always)]
fn rem_i32(a: i32, b: i32) -> i32 {
    if b == 0 { -1 } else { a.wrapping_sub(div_i32(a, b).wrapping_mul(b)) }
}

/// Returns the 48-bit product of the low 24 bits. `.lo` is its low, `.hi` its high 32 bits.
#[inline(always)]
fn mul24_u(a: u32, b: u32) -> u64 {
    (a & 0xff_ffff) as u64 * (b & 0xff_ffff) as u64
}

#[inline(always)]
fn mul24_s(a: i32, b: i32) -> i64 {
    ((a << 8) >> 8) as i64 * ((b << 8) >> 8) as i64
}

#[inline(always)]
fn signed_halves(a: u32, b: u32, f: impl Fn(i16, i16) -> i16) -> u32 {
    pair2(a, b, |a, b| f(a as i16, b as i16) as u16)
}

fn byte_u(x: u32, i: u32) -> i64 {
    (x >> (8 * i)) as u8 as i64
}

fn byte_s(x: u32, i: u32) -> i64 {
    (x >> (8 * i)) as i8 as i64
}

fn word_u(x: u32, i: u32) -> i64 {
    (x >> (16 * i)) as u16 as i64
}

fn word_s(x: u32, i: u32) -> i64 {
    (x >> (16 * i)) as i16 as i64
}

type Part = fn(u32, u32) -> i64;

/// Adds the products of `n` parts to `c`.
fn dot(n: u32, a: u32, b: u32, c: u32, part_a: Part, part_b: Part) -> u32 {
    (0..n).fold(c, |sum, i| sum.wrapping_add((part_a(a, i) * part_b(b, i)) as u32))
}
