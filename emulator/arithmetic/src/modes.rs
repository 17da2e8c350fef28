//! `f32` and `f64` arithmetic in the rarer modes: directed roundings, saturation, `.NaN` and
//! `.xorsign.abs` of `min` and `max`, `copysign`.

use super::Form;
use super::engine::{cold2, moded1, moded2, moded3};
use super::float::{NAN32, flush, nan64};
use super::soft::{self, F32, F64, Format, Mode, Round};

/// Bits of a mode, above the two of [`Round::from_code`].
pub(super) const FTZ: u32 = 4;
const SAT: u32 = 8;

fn read(mode: u32, x: f32) -> u64 {
    (if mode & FTZ != 0 { flush(x) } else { x }).to_bits() as u64
}

/// Makes an `f32` of a result. Saturation replaces NaNs and −0 by +0.
fn write(mode: u32, bits: Option<u64>) -> f32 {
    let x = bits.map_or(NAN32, |bits| f32::from_bits(bits as u32));
    if mode & SAT == 0 {
        x
    } else if x > 0.0 {
        x.min(1.0)
    } else {
        0.0
    }
}

fn rounding(mode: u32) -> Mode {
    Mode { round: Round::from_code(mode & 3), flush: mode & FTZ != 0 }
}

/// Form of an operation of [`soft`] on `f32`.
macro_rules! narrow {
    ($moded:ident, $mode:expr, $operation:path, $($x:ident),+) => {
        $moded($mode, |mode, $($x: f32),+| write(mode, $operation($(read(mode, $x),)+ F32, rounding(mode))))
    };
}

/// Form of an operation of [`soft`] on `f64`; the last operands are those of [`nan64`].
macro_rules! wide {
    ($moded:ident, $mode:expr, $operation:path, ($($x:ident),+), $operands:expr) => {
        $moded($mode, |mode, $($x: f64),+| write64($operation($($x.to_bits(),)+ F64, rounding(mode)), $operands))
    };
}

/// Subtracts: adds what is negated.
fn sub(a: u64, b: u64, format: Format, mode: Mode) -> Option<u64> {
    soft::add(a, b ^ format.sign(true), format, mode)
}

fn reciprocal(a: u64, format: Format, mode: Mode) -> Option<u64> {
    soft::div(format.one(), a, format, mode)
}

fn write64(bits: Option<u64>, operands: [f64; 3]) -> f64 {
    nan64(bits.map_or(f64::NAN, f64::from_bits), operands)
}

/// Bits of a variant of `min` and `max`.
pub(super) const MAX: u32 = 1;
pub(super) const NAN: u32 = 2;
pub(super) const XORSIGN: u32 = 8;

/// Returns the minimum or maximum. Zeros are ordered by sign; a NaN gives the other operand, without `.NaN`.
pub(super) fn extremum(variant: u32, a: f32, b: f32) -> f32 {
    let flushed = |x: f32| if variant & FTZ != 0 { flush(x) } else { x };
    let (a, b) = (flushed(a), flushed(b));
    let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
    let (a, b) = if variant & XORSIGN != 0 { (a.abs(), b.abs()) } else { (a, b) };
    let picked = match (a.is_nan(), b.is_nan()) {
        (true, true) => return NAN32,
        (true, _) | (_, true) if variant & NAN != 0 => return NAN32,
        (true, _) => b,
        (_, true) => a,
        _ => {
            let a_is_less = a < b || (a == b && a.is_sign_negative());
            if a_is_less == (variant & MAX == 0) { a } else { b }
        }
    };
    if variant & XORSIGN != 0 { f32::from_bits(picked.abs().to_bits() | sign) } else { picked }
}

fn extremum64(a: f64, b: f64, a_wins: impl Fn() -> bool) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => nan64(b, [b, b, b]),
        (true, _) => b,
        (_, true) => a,
        _ if a_wins() => a,
        _ => b,
    }
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
    let code: u32 = match round {
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
        ("add", ["f32"]) => narrow!(moded2, mode, soft::add, a, b),
        ("sub", ["f32"]) => narrow!(moded2, mode, sub, a, b),
        ("mul", ["f32"]) => narrow!(moded2, mode, soft::mul, a, b),
        ("fma" | "mad", ["f32"]) => narrow!(moded3, mode, soft::fma, a, b, c),
        _ if sat != 0 => return None,
        ("div", ["f32"]) => narrow!(moded2, mode, soft::div, a, b),
        ("rcp", ["f32"]) => narrow!(moded1, mode, reciprocal, a),
        ("sqrt", ["f32"]) => narrow!(moded1, mode, soft::sqrt, a),
        _ if ftz != 0 => return None,
        ("add", ["f64"]) => wide!(moded2, mode, soft::add, (a, b), [b, a, 0.0]),
        ("sub", ["f64"]) => wide!(moded2, mode, sub, (a, b), [b, a, 0.0]),
        ("mul", ["f64"]) => wide!(moded2, mode, soft::mul, (a, b), [b, a, 0.0]),
        ("fma" | "mad", ["f64"]) => wide!(moded3, mode, soft::fma, (a, b, c), [c, b, a]),
        ("div", ["f64"]) => wide!(moded2, mode, soft::div, (a, b), [a, b, 0.0]),
        ("rcp", ["f64"]) => wide!(moded1, mode, reciprocal, (a), [a, 0.0, 0.0]),
        ("sqrt", ["f64"]) => wide!(moded1, mode, soft::sqrt, (a), [a, 0.0, 0.0]),
        _ => return None,
    })
}

/// Returns the variant of a `min` or `max` with these modifiers, and those that follow.
pub(super) fn extremum_variant<'a, 'm>(opcode: &str, modifiers: &'a [&'m str]) -> (u32, &'a [&'m str]) {
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
    (variant, rest)
}

fn extrema(opcode: &str, modifiers: &[&str]) -> Option<Form> {
    let (variant, rest) = extremum_variant(opcode, modifiers);
    Some(match (rest, opcode) {
        (["f32"], _) => moded2(variant, extremum),
        (["f64"], "min") if variant == 0 => {
            cold2(|a: f64, b: f64| extremum64(a, b, || a < b || (a == b && a.is_sign_negative())))
        }
        (["f64"], _) if variant == MAX => {
            cold2(|a: f64, b: f64| extremum64(a, b, || a > b || (a == b && b.is_sign_negative())))
        }
        _ => return None,
    })
}
