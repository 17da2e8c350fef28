//! Video instructions: distances of whole registers, of two halves and of four bytes.
//!
//! Forms that choose bytes of an operand (`a.b1`) or of the result are not here: the parser refuses them.

use super::Form;
use super::engine::{moded2, moded3};

/// Bits of a mode.
const A_SIGNED: u32 = 1;
const B_SIGNED: u32 = 2;
const D_SIGNED: u32 = 4;
const SAT: u32 = 8;
/// Operation on the distance and `c`, in two bits; without one the distance is the result.
const SECOND: u32 = 3 << 4;
const ADD: u32 = 1 << 4;
const MIN: u32 = 2 << 4;
const MAX: u32 = 3 << 4;

pub(super) fn lookup(opcode: &str, modifiers: &[&str]) -> Option<Form> {
    let [d, a, b, rest @ ..] = modifiers else { return None };
    let bits = match opcode {
        "vabsdiff" => 32,
        "vabsdiff2" => 16,
        "vabsdiff4" => 8,
        _ => return None,
    };
    let mut mode = 0;
    for (name, flag) in [(a, A_SIGNED), (b, B_SIGNED), (d, D_SIGNED)] {
        match *name {
            "u32" => {}
            "s32" => mode |= flag,
            _ => return None,
        }
    }
    let rest = match rest {
        ["sat", rest @ ..] => {
            mode |= SAT;
            rest
        }
        rest => rest,
    };
    mode |= match (rest, bits) {
        ([], _) => 0,
        (["add"], _) => ADD,
        (["min"], 32) => MIN,
        (["max"], 32) => MAX,
        _ => return None,
    };
    Some(match (bits, mode & SECOND) {
        (32, 0) => moded2(mode, |mode, a: u32, b: u32| whole(mode, a, b, 0)),
        (32, _) => moded3(mode, whole),
        (16, _) => moded3(mode, |mode, a: u32, b: u32, c: u32| parts::<16>(mode, a, b, c)),
        _ => moded3(mode, |mode, a: u32, b: u32, c: u32| parts::<8>(mode, a, b, c)),
    })
}

/// Returns the low `bits` of a register as a number.
fn number(value: u32, bits: u32, signed: bool) -> i64 {
    let up = 32 - bits;
    if signed { i64::from((value << up).cast_signed() >> up) } else { i64::from(value << up >> up) }
}

/// Returns |a - b|, one bit wider than the parts.
fn distance(mode: u32, a: u32, b: u32, bits: u32) -> i64 {
    (number(a, bits, mode & A_SIGNED != 0) - number(b, bits, mode & B_SIGNED != 0)).abs()
}

/// Clamps a distance to the result's type, with `.sat`.
fn saturated(mode: u32, distance: i64, bits: u32) -> i64 {
    let largest = (1_i64 << (bits - u32::from(mode & D_SIGNED != 0))) - 1;
    if mode & SAT == 0 { distance } else { distance.min(largest) }
}

/// Returns the distance of whole registers, combined with `c` in 33 bits. An H200 does not clamp to `u32`: 2^32 is 0.
fn whole(mode: u32, a: u32, b: u32, c: u32) -> u32 {
    let signed = mode & D_SIGNED != 0;
    let d = distance(mode, a, b, 32);
    let d = if signed { saturated(mode, d, 32) } else { d };
    let c = number(c, 32, signed);
    (match mode & SECOND {
        ADD => d + c,
        MIN => d.min(c),
        MAX => d.max(c),
        _ => d,
    }) as u32
}

/// Returns the distances part by part, or their sum and `c`.
fn parts<const BITS: u32>(mode: u32, a: u32, b: u32, c: u32) -> u32 {
    let each = (0..32 / BITS).map(|part| {
        let at = part * BITS;
        let d = distance(mode, a >> at, b >> at, BITS);
        (at, saturated(mode, d, BITS) as u32)
    });
    let ones = u32::MAX >> (32 - BITS);
    match mode & SECOND {
        0 => each.fold(0, |all, (at, d)| all | (d & ones) << at),
        _ => each.fold(c, |sum, (_, d)| sum.wrapping_add(d)),
    }
}
