//! `f32` and `f64` arithmetic in the rarer modes: directed roundings, saturation, `.NaN` and
//! `.xorsign.abs` of `min` and `max`, `copysign`.

use super::Form;
use super::engine::{cold1, cold2, cold3};
use super::float::{NAN32, flush};
use super::soft::{self, F32, F64, Round};

/// Bits of a mode: two of [`Round::from_code`], then these.
const FTZ: u8 = 4;
const SAT: u8 = 8;

fn read<const M: u8>(x: f32) -> u64 {
    (if M & FTZ != 0 { flush(x) } else { x }).to_bits() as u64
}

/// Flushing is decided after rounding; saturation takes NaNs and −0 to +0.
fn write<const M: u8>(bits: Option<u64>) -> f32 {
    let x = bits.map_or(NAN32, |bits| f32::from_bits(bits as u32));
    let x = if M & FTZ != 0 { flush(x) } else { x };
    if M & SAT == 0 {
        x
    } else if x > 0.0 {
        x.min(1.0)
    } else {
        0.0
    }
}

const fn rounding(mode: u8) -> Round {
    Round::from_code(mode & 3)
}

fn add<const M: u8>(a: f32, b: f32) -> f32 {
    write::<M>(soft::add(read::<M>(a), read::<M>(b), F32, rounding(M)))
}

fn sub<const M: u8>(a: f32, b: f32) -> f32 {
    write::<M>(soft::add(read::<M>(a), read::<M>(-b), F32, rounding(M)))
}

fn mul<const M: u8>(a: f32, b: f32) -> f32 {
    write::<M>(soft::mul(read::<M>(a), read::<M>(b), F32, rounding(M)))
}

fn fma<const M: u8>(a: f32, b: f32, c: f32) -> f32 {
    write::<M>(soft::fma(
        read::<M>(a),
        read::<M>(b),
        read::<M>(c),
        F32,
        rounding(M),
    ))
}

fn div<const M: u8>(a: f32, b: f32) -> f32 {
    write::<M>(soft::div(read::<M>(a), read::<M>(b), F32, rounding(M)))
}

fn rcp<const M: u8>(a: f32) -> f32 {
    write::<M>(soft::div(1f32.to_bits() as u64, read::<M>(a), F32, rounding(M)))
}

fn sqrt<const M: u8>(a: f32) -> f32 {
    write::<M>(soft::sqrt(read::<M>(a), F32, rounding(M)))
}

/// The NaN that an invalid `f64` operation makes.
const NAN64: u64 = 0xfff8_0000_0000_0000;

/// A NaN operand is passed on, quiet; the first one wins.
fn write64(bits: Option<u64>, operands: [f64; 3]) -> f64 {
    let nan = operands
        .into_iter()
        .find(|x| x.is_nan())
        .map_or(NAN64, |x| x.to_bits() | 1 << 51);
    f64::from_bits(bits.unwrap_or(nan))
}

fn add64<const M: u8>(a: f64, b: f64) -> f64 {
    write64(soft::add(a.to_bits(), b.to_bits(), F64, rounding(M)), [a, b, 0.0])
}

fn sub64<const M: u8>(a: f64, b: f64) -> f64 {
    write64(
        soft::add(a.to_bits(), (-b).to_bits(), F64, rounding(M)),
        [a, b, 0.0],
    )
}

fn mul64<const M: u8>(a: f64, b: f64) -> f64 {
    write64(soft::mul(a.to_bits(), b.to_bits(), F64, rounding(M)), [a, b, 0.0])
}

fn fma64<const M: u8>(a: f64, b: f64, c: f64) -> f64 {
    write64(
        soft::fma(a.to_bits(), b.to_bits(), c.to_bits(), F64, rounding(M)),
        [a, b, c],
    )
}

fn div64<const M: u8>(a: f64, b: f64) -> f64 {
    write64(soft::div(a.to_bits(), b.to_bits(), F64, rounding(M)), [a, b, 0.0])
}

fn rcp64<const M: u8>(a: f64) -> f64 {
    write64(
        soft::div(1f64.to_bits(), a.to_bits(), F64, rounding(M)),
        [a, 0.0, 0.0],
    )
}

fn sqrt64<const M: u8>(a: f64) -> f64 {
    write64(soft::sqrt(a.to_bits(), F64, rounding(M)), [a, 0.0, 0.0])
}

/// Bits of a variant of `min` and `max`.
const MAX: u8 = 1;
const NAN: u8 = 2;
const XORSIGN: u8 = 8;

/// `min` or `max` in all variants. Zeros are ordered by sign; one NaN gives the other operand unless `.NaN`.
pub(super) fn extremum<const V: u8>(a: f32, b: f32) -> f32 {
    let flushed = |x: f32| if V & FTZ != 0 { flush(x) } else { x };
    let (a, b) = (flushed(a), flushed(b));
    let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
    let (a, b) = if V & XORSIGN != 0 {
        (a.abs(), b.abs())
    } else {
        (a, b)
    };
    let picked = match (a.is_nan(), b.is_nan()) {
        (true, true) => return NAN32,
        (true, _) | (_, true) if V & NAN != 0 => return NAN32,
        (true, _) => b,
        (_, true) => a,
        _ => {
            let a_is_less = a < b || (a == b && a.is_sign_negative());
            if a_is_less == (V & MAX == 0) { a } else { b }
        }
    };
    if V & XORSIGN != 0 {
        f32::from_bits(picked.abs().to_bits() | sign)
    } else {
        picked
    }
}

fn min64(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a < b || (a == b && a.is_sign_negative()) => a,
        _ => b,
    }
}

fn max64(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a > b || (a == b && b.is_sign_negative()) => a,
        _ => b,
    }
}

/// A form for each mode there can be.
macro_rules! by_mode {
    ($mode:expr, $cold:ident, $f:ident) => {
        match $mode {
            0 => $cold($f::<0>),
            1 => $cold($f::<1>),
            2 => $cold($f::<2>),
            3 => $cold($f::<3>),
            4 => $cold($f::<4>),
            5 => $cold($f::<5>),
            6 => $cold($f::<6>),
            7 => $cold($f::<7>),
            8 => $cold($f::<8>),
            9 => $cold($f::<9>),
            10 => $cold($f::<10>),
            11 => $cold($f::<11>),
            12 => $cold($f::<12>),
            13 => $cold($f::<13>),
            14 => $cold($f::<14>),
            _ => $cold($f::<15>),
        }
    };
}

macro_rules! by_rounding {
    ($mode:expr, $cold:ident, $f:ident) => {
        match $mode {
            0 => $cold($f::<0>),
            1 => $cold($f::<1>),
            2 => $cold($f::<2>),
            _ => $cold($f::<3>),
        }
    };
}

macro_rules! by_ftz_rounding {
    ($mode:expr, $cold:ident, $f:ident) => {
        match $mode & 7 {
            0 => $cold($f::<0>),
            1 => $cold($f::<1>),
            2 => $cold($f::<2>),
            3 => $cold($f::<3>),
            4 => $cold($f::<4>),
            5 => $cold($f::<5>),
            6 => $cold($f::<6>),
            _ => $cold($f::<7>),
        }
    };
}

pub(super) fn lookup(opcode: &str, modifiers: &[&str]) -> Option<Form> {
    match opcode {
        "min" | "max" => return extrema(opcode, modifiers),
        "copysign" => {
            // The sign of the first operand, the magnitude of the second.
            return Some(match modifiers {
                ["f32"] => cold2(|a: u32, b: u32| (a & 0x8000_0000) | (b & 0x7fff_ffff)),
                ["f64"] => cold2(|a: u64, b: u64| (a & 1 << 63) | (b & !(1 << 63))),
                _ => return None,
            });
        }
        _ => {}
    }
    let (round, rest) = match modifiers {
        ["rn", rest @ ..] => (Some(0), rest),
        ["rz", rest @ ..] => (Some(1), rest),
        ["rm", rest @ ..] => (Some(2), rest),
        ["rp", rest @ ..] => (Some(3), rest),
        rest => (None, rest),
    };
    // Only these have a rounding by default.
    let code: u8 = match round {
        Some(code) => code,
        None if matches!(opcode, "add" | "sub" | "mul") => 0,
        None => return None,
    };
    let (ftz, rest) = match rest {
        ["ftz", rest @ ..] => (FTZ, rest),
        rest => (0, rest),
    };
    let (sat, rest) = match rest {
        ["sat", rest @ ..] => (SAT, rest),
        rest => (0, rest),
    };
    let mode = code | ftz | sat;
    Some(match (opcode, rest) {
        ("add", ["f32"]) => by_mode!(mode, cold2, add),
        ("sub", ["f32"]) => by_mode!(mode, cold2, sub),
        ("mul", ["f32"]) => by_mode!(mode, cold2, mul),
        ("fma" | "mad", ["f32"]) => by_mode!(mode, cold3, fma),
        _ if sat != 0 => return None,
        ("div", ["f32"]) => by_ftz_rounding!(mode, cold2, div),
        ("rcp", ["f32"]) => by_ftz_rounding!(mode, cold1, rcp),
        ("sqrt", ["f32"]) => by_ftz_rounding!(mode, cold1, sqrt),
        _ if ftz != 0 => return None,
        ("add", ["f64"]) => by_rounding!(mode, cold2, add64),
        ("sub", ["f64"]) => by_rounding!(mode, cold2, sub64),
        ("mul", ["f64"]) => by_rounding!(mode, cold2, mul64),
        ("fma" | "mad", ["f64"]) => by_rounding!(mode, cold3, fma64),
        ("div", ["f64"]) => by_rounding!(mode, cold2, div64),
        ("rcp", ["f64"]) => by_rounding!(mode, cold1, rcp64),
        ("sqrt", ["f64"]) => by_rounding!(mode, cold1, sqrt64),
        _ => return None,
    })
}

fn extrema(opcode: &str, modifiers: &[&str]) -> Option<Form> {
    let mut variant = if opcode == "max" { MAX } else { 0 };
    let mut rest = modifiers;
    for (name, bit) in [("ftz", FTZ), ("NaN", NAN)] {
        if let [first, after @ ..] = rest
            && *first == name
        {
            variant |= bit;
            rest = after;
        }
    }
    if let ["xorsign", "abs", after @ ..] = rest {
        variant |= XORSIGN;
        rest = after;
    }
    Some(match (rest, opcode) {
        (["f32"], _) => by_mode!(variant, cold2, extremum),
        (["f64"], "min") if variant == 0 => cold2(min64),
        (["f64"], _) if variant == MAX => cold2(max64),
        _ => return None,
    })
}
