//! Logic, shifts, bit fields, counting bits, permuting bytes.

use super::Form;
use super::engine::ptx_types::{b16, b32, b64, s16, s32, s64};
use super::engine::{by_type, cold1, cold2, cold3, cold4, hot1, hot2, hot3, hot4};
use super::moves::{pred1, pred2};
use crate::lanes::CpuLevel;

pub(super) fn lookup(opcode: &str, modifiers: &[&str], level: CpuLevel) -> Option<Form> {
    Some(match (opcode, modifiers) {
        ("and", ["pred"]) => pred2(|a, b| a & b),
        ("and", [ty]) => by_type!(*ty, T in b16 b32 b64 => hot2(level, |a: T, b: T| a & b)),
        ("or", ["pred"]) => pred2(|a, b| a | b),
        ("or", [ty]) => by_type!(*ty, T in b16 b32 b64 => hot2(level, |a: T, b: T| a | b)),
        ("xor", ["pred"]) => pred2(|a, b| a ^ b),
        ("xor", [ty]) => by_type!(*ty, T in b16 b32 b64 => hot2(level, |a: T, b: T| a ^ b)),
        ("not", ["pred"]) => pred1(|a| !a),
        ("not", [ty]) => by_type!(*ty, T in b16 b32 b64 => hot1(level, |a: T| !a)),
        ("cnot", [ty]) => by_type!(*ty, T in b16 b32 b64 => cold1(|a: T| (a == 0) as T)),
        ("lop3", ["b32"]) => hot4(level, lop3),

        // Amounts are clamped at the width, which is what `checked_shl` decides.
        ("shl", [ty]) => by_type!(*ty, T in b16 b32 b64 => {
            hot2(level, |a: T, b: u32| if b < T::BITS { a << (b & (T::BITS - 1)) } else { 0 })
        }),
        ("shr", [ty @ ("s16" | "s32" | "s64")]) => by_type!(*ty, T in s16 s32 s64 => {
            hot2(level, |a: T, b: u32| a >> b.min(T::BITS - 1))
        }),
        ("shr", [ty]) => by_type!(unsigned(ty), T in u16 u32 u64 => {
            hot2(level, |a: T, b: u32| if b < T::BITS { a >> (b & (T::BITS - 1)) } else { 0 })
        }),
        ("shf", ["l", "wrap", "b32"]) => hot3(level, |a: u32, b: u32, c: u32| funnel_left(a, b, c & 31)),
        ("shf", ["l", "clamp", "b32"]) => hot3(level, |a: u32, b: u32, c: u32| funnel_left(a, b, c.min(32))),
        ("shf", ["r", "wrap", "b32"]) => hot3(level, |a: u32, b: u32, c: u32| funnel_right(a, b, c & 31)),
        ("shf", ["r", "clamp", "b32"]) => hot3(level, |a: u32, b: u32, c: u32| funnel_right(a, b, c.min(32))),

        ("popc", [ty]) => by_type!(*ty, T in b32 b64 => cold1(|a: T| a.count_ones())),
        ("clz", [ty]) => by_type!(*ty, T in b32 b64 => cold1(|a: T| a.leading_zeros())),
        ("brev", [ty]) => by_type!(*ty, T in b32 b64 => cold1(|a: T| a.reverse_bits())),
        ("bfind", ["u32"]) => cold1(|a: u32| highest(a as u64)),
        ("bfind", ["u64"]) => cold1(highest),
        ("bfind", ["s32"]) => cold1(|a: i32| highest((a ^ (a >> 31)) as u32 as u64)),
        ("bfind", ["s64"]) => cold1(|a: i64| highest((a ^ (a >> 63)) as u64)),
        ("bfind", ["shiftamt", "u32"]) => cold1(|a: u32| shift_amount(highest(a as u64), 31)),
        ("bfind", ["shiftamt", "u64"]) => cold1(|a: u64| shift_amount(highest(a), 63)),
        ("bfind", ["shiftamt", "s32"]) => cold1(|a: i32| shift_amount(highest((a ^ (a >> 31)) as u32 as u64), 31)),
        ("bfind", ["shiftamt", "s64"]) => cold1(|a: i64| shift_amount(highest((a ^ (a >> 63)) as u64), 63)),
        ("fns", ["b32"]) => cold3(nth_set),

        // Positions and lengths are bytes by the manual; on hardware only those of 32-bit fields are.
        ("bfe", ["u32"]) => hot3(level, |a: u32, b: u32, c: u32| bfe_u(a as u64, b & 0xff, c & 0xff) as u32),
        ("bfe", ["u64"]) => cold3(bfe_u),
        ("bfe", ["s32"]) => cold3(|a: i32, b: u32, c: u32| bfe_s(a as i64, b & 0xff, c & 0xff) as i32),
        ("bfe", ["s64"]) => cold3(bfe_s),
        ("bfi", ["b32"]) => {
            cold4(|a: u32, b: u32, c: u32, d: u32| bfi(a as u64, b as u64, c & 0xff, d & 0xff, 32) as u32)
        }
        ("bfi", ["b64"]) => cold4(|a: u64, b: u64, c: u32, d: u32| bfi(a, b, c, d, 64)),
        ("bmsk", ["clamp", "b32"]) => cold2(|a: u32, b: u32| bmsk(a.min(32), b.min(32))),
        ("bmsk", ["wrap", "b32"]) => cold2(|a: u32, b: u32| bmsk(a & 31, b & 31)),
        ("szext", ["clamp", "u32"]) => cold2(|a: u32, b: u32| zext(a, b.min(32))),
        ("szext", ["wrap", "u32"]) => cold2(|a: u32, b: u32| zext(a, b & 31)),
        ("szext", ["clamp", "s32"]) => cold2(|a: u32, b: u32| sext(a, b.min(32))),
        ("szext", ["wrap", "s32"]) => cold2(|a: u32, b: u32| sext(a, b & 31)),

        ("prmt", ["b32"]) => hot3(level, prmt),
        ("prmt", ["b32", "f4e"]) => cold3(|a: u32, b: u32, c: u32| funnel_right(a, b, 8 * (c & 3))),
        ("prmt", ["b32", "b4e"]) => cold3(|a: u32, b: u32, c: u32| prmt(a, b, PRMT_B4E[(c & 3) as usize])),
        ("prmt", ["b32", "rc8"]) => cold3(|a: u32, _: u32, c: u32| prmt(a, 0, 0x1111 * (c & 3))),
        ("prmt", ["b32", "rc16"]) => {
            cold3(|a: u32, _: u32, c: u32| prmt(a, 0, if c & 1 == 0 { 0x1010 } else { 0x3232 }))
        }
        ("prmt", ["b32", "ecl"]) => cold3(|a: u32, _: u32, c: u32| prmt(a, 0, PRMT_ECL[(c & 3) as usize])),
        ("prmt", ["b32", "ecr"]) => cold3(|a: u32, _: u32, c: u32| prmt(a, 0, PRMT_ECR[(c & 3) as usize])),
        _ => return None,
    })
}

/// Returns the unsigned integer type of a `.b` type.
fn unsigned(ty: &str) -> &str {
    match ty {
        "b16" => "u16",
        "b32" => "u32",
        "b64" => "u64",
        ty => ty,
    }
}

/// Looks up each bit: bit `n` of the table is the result where the bits of a, b and c, in this order, are `n`.
#[inline(always)]
fn lop3(a: u32, b: u32, c: u32, table: u32) -> u32 {
    let row = |i: u32| 0u32.wrapping_sub(table >> i & 1);
    (row(0) & !a & !b & !c)
        | (row(1) & !a & !b & c)
        | (row(2) & !a & b & !c)
        | (row(3) & !a & b & c)
        | (row(4) & a & !b & !c)
        | (row(5) & a & !b & c)
        | (row(6) & a & b & !c)
        | (row(7) & a & b & c)
}

/// Returns the high word of `b:a` shifted left by 0 to 32.
#[inline(always)]
fn funnel_left(a: u32, b: u32, n: u32) -> u32 {
    (((b as u64) << 32 | a as u64) << n >> 32) as u32
}

/// Returns the low word of `b:a` shifted right by 0 to 32.
#[inline(always)]
fn funnel_right(a: u32, b: u32, n: u32) -> u32 {
    (((b as u64) << 32 | a as u64) >> n) as u32
}

/// Returns the position of the highest set bit, all ones if none is set.
fn highest(a: u64) -> u32 {
    63u32.wrapping_sub(a.leading_zeros())
}

fn shift_amount(position: u32, top: u32) -> u32 {
    if position == u32::MAX { position } else { top - position }
}

/// Returns the position of the n-th set bit from `base`, downwards for negative `n`; for `n` 0, `base` itself if its
/// bit is set. The smallest `n` gives 0 on hardware.
fn nth_set(mask: u32, base: u32, n: i32) -> u32 {
    if n == i32::MIN {
        return 0;
    }
    let base = base as i64;
    let (mut left, step) = match n {
        0 => (1, 0),
        n if n > 0 => (n as i64, 1),
        n => (-(n as i64), -1),
    };
    let mut position = base;
    while (0..32).contains(&position) {
        if mask >> position & 1 == 1 {
            left -= 1;
            if left == 0 {
                return position as u32;
            }
        }
        if step == 0 {
            break;
        }
        position += step;
    }
    u32::MAX
}

#[inline(always)]
fn bfe_u(a: u64, position: u32, length: u32) -> u64 {
    let shifted = if position < 64 { a >> (position & 63) } else { 0 };
    let keep = if length < 64 { (1u64 << (length & 63)) - 1 } else { !0 };
    shifted & keep
}

/// Extracts a bit field. Bits beyond the top are copies of the sign bit; a narrower `a` comes sign-extended.
fn bfe_s(a: i64, position: u32, length: u32) -> i64 {
    if length == 0 {
        return 0;
    }
    let shifted = a >> position.min(63);
    let unused = 64 - length.min(64);
    shifted << unused >> unused
}

fn bfi(a: u64, b: u64, position: u32, length: u32, width: u32) -> u64 {
    if position >= width || length == 0 {
        return b;
    }
    let ones = if length < 64 { (1u64 << length) - 1 } else { !0 };
    let field = ones << position;
    (b & !field) | ((a << position) & field)
}

fn ones_below(n: u32) -> u32 {
    if n < 32 { (1 << n) - 1 } else { !0 }
}

/// Returns `length` ones from bit `position` up.
fn bmsk(position: u32, length: u32) -> u32 {
    if position < 32 { ones_below(length) << position } else { 0 }
}

fn zext(a: u32, n: u32) -> u32 {
    a & ones_below(n)
}

fn sext(a: u32, n: u32) -> u32 {
    match n {
        0 => 0,
        1..=31 => ((a << (32 - n)) as i32 >> (32 - n)) as u32,
        _ => a,
    }
}

/// Selects four bytes of `b:a`, each by a nibble; if the nibble's high bit is set, the byte's sign fills the result.
#[inline(always)]
fn prmt(a: u32, b: u32, selector: u32) -> u32 {
    let bytes = (b as u64) << 32 | a as u64;
    let mut out = 0;
    for i in 0..4 {
        let nibble = selector >> (4 * i) & 0xf;
        let byte = (bytes >> (8 * (nibble & 7))) as u8;
        let byte = if nibble & 8 == 0 { byte } else { ((byte as i8) >> 7) as u8 };
        out |= (byte as u32) << (8 * i);
    }
    out
}

/// Selectors of the modes of `prmt`: backward four-byte extract, edge clamp to the left and to the right.
const PRMT_B4E: [u32; 4] = [0x5670, 0x6701, 0x7012, 0x0123];
const PRMT_ECL: [u32; 4] = [0x3210, 0x3211, 0x3222, 0x3333];
const PRMT_ECR: [u32; 4] = [0x0000, 0x1110, 0x2210, 0x3210];
