//! `cvt`: between integers, floats and halves.
//!
//! Common pairs are compiled for every vector width; others run [`convert`] with the types as run-time arguments.

use super::Form;
use super::convert_any::{CvtVariant, KINDS, NumberKind, ROUND_AWAY, clamp, convert};
use super::engine::ptx_types::{s8, s16, s32, s64};
use super::engine::{by_type, hot1, hot2, moded1, moded2, moded3};
use super::float::{canonical, flush};
use super::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use super::moves::{Builtin, builtin};
use super::soft::{BF16, F16, F32, F64, TF32};
use crate::lanes::CpuLevel;

#[inline(always)]
fn to_integral32(x: f32, code: u32) -> f32 {
    match code {
        0 => x.round_ties_even(),
        1 => x.trunc(),
        2 => x.floor(),
        _ => x.ceil(),
    }
}

/// Looks up `cvt.pack`, which clamps `a` and `b` and shifts them into `c` from below, `b` last.
fn pack(ty: &str, rest: &[&str]) -> Option<Form> {
    let (sign, bits) = ty.split_at_checked(1)?;
    let bits: u32 = bits.parse().ok()?;
    let variant = bits | ((sign == "s") as u32) << 8;
    let packed = |variant: u32, a: i32, b: i32, c: u32| {
        let (bits, signed) = (variant & 31, variant >> 8 != 0);
        let part = |x: i32| clamp(x as i128, bits, signed) as u32 & ((1 << bits) - 1);
        c.checked_shl(2 * bits).unwrap_or(0) | part(a) << bits | part(b)
    };
    Some(match (sign, bits, rest) {
        ("u" | "s", 16, ["s32"]) => moded2(variant, move |variant, a: i32, b: i32| packed(variant, a, b, 0)),
        ("u" | "s", 2 | 4 | 8, ["s32", "b32"]) => moded3(variant, packed),
        _ => return None,
    })
}

struct CvtRequest<'a> {
    /// 0 to 3: `.rn`, `.rz`, `.rm`, `.rp`; 4: `.rna`.
    round: Option<u32>,
    /// 0 to 3: `.rni`, `.rzi`, `.rmi`, `.rpi`.
    round_integer: Option<u32>,
    /// Flags of [`CvtVariant`], combined with or.
    flags: u32,
    to: &'a str,
    from: &'a str,
}

fn parse<'a>(modifiers: &[&'a str]) -> Option<CvtRequest<'a>> {
    let [flags @ .., to, from] = modifiers else { return None };
    let mut request = CvtRequest { round: None, round_integer: None, flags: 0, to, from };
    for (position, &flag) in flags.iter().enumerate() {
        let rounding = |names: &[&str]| names.iter().position(|&name| name == flag).map(|code| code as u32);
        if position == 0 {
            request.round = rounding(&["rn", "rz", "rm", "rp", "rna"]);
            request.round_integer = rounding(&["rni", "rzi", "rmi", "rpi"]);
            if request.round.is_some() || request.round_integer.is_some() {
                continue;
            }
        }
        let flag = match flag {
            "ftz" => CvtVariant::FTZ,
            "sat" => CvtVariant::SAT,
            "relu" => CvtVariant::RELU,
            "satfinite" => CvtVariant::SATFINITE,
            _ => return None,
        };
        if request.flags & flag != 0 {
            return None;
        }
        request.flags |= flag;
    }
    Some(request)
}

pub(super) fn lookup(opcode: &str, modifiers: &[&str], level: CpuLevel) -> Option<Form> {
    if opcode != "cvt" {
        return None;
    }
    if let ["pack", "sat", ty, rest @ ..] = modifiers {
        return pack(ty, rest);
    }
    let request = parse(modifiers)?;
    if let Some(form) = hot(&request, level) {
        return Some(form);
    }
    let (to, pair) = match request.to {
        "f16x2" => ("f16", true),
        "bf16x2" => ("bf16", true),
        to => (to, false),
    };
    let number = |name: &str| KINDS.iter().position(|(kind, _)| *kind == name);
    let (to, from) = (number(to)?, number(request.from)?);
    let rounding = rounding(&request, KINDS[to].1, KINDS[from].1, pair)?;
    let integral = if request.round_integer.is_some() { CvtVariant::INTEGRAL } else { 0 };
    let variant = from as u32 | (to as u32) << 4 | request.flags | integral | rounding << CvtVariant::ROUND_SHIFT;
    Some(match (pair, KINDS[to].1.wide(), KINDS[from].1.wide()) {
        // The first operand becomes the upper half.
        (true, ..) => moded2(variant, |variant, a: u32, b: u32| {
            (convert(variant, a as u64) as u32) << 16 | convert(variant, b as u64) as u32
        }),
        (false, false, false) => moded1(variant, |variant, a: u32| convert(variant, a as u64) as u32),
        (false, false, true) => moded1(variant, |variant, a: u64| convert(variant, a) as u32),
        (false, true, false) => moded1(variant, |variant, a: u32| convert(variant, a as u64)),
        (false, true, true) => moded1(variant, convert),
    })
}

/// Checks that the modifiers fit the types. Returns the rounding, 0 if there is none.
fn rounding(request: &CvtRequest<'_>, to: NumberKind, from: NumberKind, pair: bool) -> Option<u32> {
    let flag = |flag| request.flags & flag != 0;
    let clamping = flag(CvtVariant::RELU) || flag(CvtVariant::SATFINITE);
    let flushing = [to, from].contains(&NumberKind::Float(F32))
        || (flag(CvtVariant::FTZ) && [to, from].contains(&NumberKind::Float(F16)));
    if flag(CvtVariant::FTZ) && !flushing {
        return None;
    }
    if let NumberKind::Float(TF32) = from {
        return None;
    }
    // `.relu`, `.satfinite`, pairs and `tf32` come from `f32` only, to nearest or towards zero.
    let special = clamping || pair || to == NumberKind::Float(TF32);
    if special {
        let away = request.round == Some(ROUND_AWAY) && to == NumberKind::Float(TF32);
        let fits = from == NumberKind::Float(F32)
            && matches!(to, NumberKind::Float(F16 | BF16 | TF32))
            && (matches!(request.round, Some(0 | 1)) || away)
            && !flag(CvtVariant::FTZ)
            && !flag(CvtVariant::SAT);
        return if fits { request.round } else { None };
    }
    if request.round == Some(ROUND_AWAY) {
        return None;
    }
    match (from, to) {
        (NumberKind::Integer(..), NumberKind::Integer(..)) => {
            (request.round.is_none() && request.round_integer.is_none() && !flag(CvtVariant::FTZ)).then_some(0)
        }
        (NumberKind::Integer(..), NumberKind::Float(_)) => request.round,
        (NumberKind::Float(_), NumberKind::Integer(..)) => request.round_integer,
        (NumberKind::Float(a), NumberKind::Float(b)) if a == b => match (request.round, request.round_integer) {
            (None, None) => Some(0),
            (None, integral) => integral,
            _ => None,
        },
        (NumberKind::Float(a), NumberKind::Float(b)) => {
            let widening = matches!((a, b), (F16 | BF16, F32 | F64) | (F32, F64));
            match (request.round_integer, widening, request.round) {
                (None, true, None) => Some(0),
                (None, false, round) => round,
                _ => None,
            }
        }
    }
}

/// Rounds to nearest. A NaN keeps its sign and the upper part of its payload.
#[inline(always)]
fn f64_to_f32(x: f64) -> f32 {
    let bits = x.to_bits();
    let nan = (bits >> 32) as u32 & 0x8000_0000 | 0x7fc0_0000 | (bits >> 29) as u32 & 0x7f_ffff;
    let narrow = (x as f32).to_bits();
    f32::from_bits(if x.is_nan() { nan } else { narrow })
}

/// Looks up `cvt` between integers, which truncates or extends. The result's sign matters to 8-bit types only.
fn integers(to: &str, from: &str, level: CpuLevel) -> Option<Form> {
    let (bits, signed) = match from {
        "u8" => (8, false),
        "s8" => (8, true),
        "u16" => (16, false),
        "s16" => (16, true),
        "u32" => (32, false),
        "s32" => (32, true),
        "u64" | "s64" => (64, false),
        _ => return None,
    };
    let step = match (to, bits, signed) {
        ("u8", 64, _) => return Some(hot1(level, |a: u64| a as u8)),
        ("u8", ..) => return Some(hot1(level, |a: u32| a as u8)),
        ("s8", 64, _) => return Some(hot1(level, |a: u64| a as i8)),
        ("s8", ..) => return Some(hot1(level, |a: u32| a as i8)),
        ("u16" | "s16", 8, true) => return Some(hot1(level, |a: i8| a as u16)),
        ("u16" | "s16", 64, _) => Builtin::Word16Of64(0),
        ("u16" | "s16", ..) => Builtin::Zext32(bits.min(16)),
        ("u32" | "s32", 64, _) => Builtin::Lo32Of64,
        ("u32" | "s32", 32, _) => Builtin::Mov32,
        ("u32" | "s32", _, true) => Builtin::Sext32(bits),
        ("u32" | "s32", _, false) => Builtin::Zext32(bits),
        ("u64" | "s64", 64, _) => Builtin::Mov64,
        ("u64" | "s64", _, true) => Builtin::Sext64(bits),
        ("u64" | "s64", _, false) => Builtin::Zext64(bits),
        _ => return None,
    };
    Some(builtin(step, level))
}

/// Evaluates `$then` with the rounding (0 to 3) and `.ftz` as constants; `.ftz` changes nothing for 0 and 1.
macro_rules! with_rounding {
    ($code:expr, $ftz:expr, $r:ident, $z:ident => $then:expr) => {
        with_rounding!(@ ($code, $ftz && $code >= 2), $r, $z, $then, (0, false) (1, false) (2, false) (3, false) (2, true) (3, true))
    };
    (@ $key:expr, $r:ident, $z:ident, $then:expr, $(($code:literal, $flag:literal))*) => {
        match $key {
            $( ($code, $flag) => { const $r: u32 = $code; const $z: bool = $flag; $then } )*
            _ => return None,
        }
    };
}

/// Returns the vectorised form of a conversion that kernels use often.
fn hot(request: &CvtRequest<'_>, level: CpuLevel) -> Option<Form> {
    let CvtRequest { round, round_integer, flags, to, from } = *request;
    let ftz = flags == CvtVariant::FTZ;
    if flags & !CvtVariant::FTZ != 0 {
        return None;
    }
    if round.is_none() && round_integer.is_none() && !ftz {
        let form = integers(to, from, level);
        if form.is_some() {
            return form;
        }
    }
    Some(match (to, from, round, round_integer) {
        // `.ftz` changes nothing where no subnormal can be.
        ("f32", "u8" | "s8" | "u16" | "s16" | "u32" | "s32" | "u64" | "s64", Some(0), None) => {
            by_type!(from, T in u8 s8 u16 s16 u32 s32 u64 s64 => hot1(level, |a: T| a as f32))
        }
        ("s32", "f32", None, Some(code)) => with_rounding!(code, ftz, R, Z => {
            hot1(level, |a: f32| to_integral32(if Z { flush(a) } else { a }, R) as i32)
        }),
        ("u32", "f32", None, Some(code)) => with_rounding!(code, ftz, R, Z => {
            hot1(level, |a: f32| to_integral32(if Z { flush(a) } else { a }, R) as u32)
        }),
        ("f32", "f32", None, Some(code)) => with_rounding!(code, ftz, R, Z => {
            hot1(level, |a: f32| canonical(to_integral32(if Z { flush(a) } else { a }, R)))
        }),
        _ if ftz => return None,
        ("f64", "u32" | "s32" | "u64" | "s64", Some(0), None) => {
            by_type!(from, T in u32 s32 u64 s64 => hot1(level, |a: T| a as f64))
        }
        ("s32", "f64", None, Some(1)) => hot1(level, |a: f64| if a.is_nan() { i32::MIN } else { a as i32 }),
        ("f64", "f32", None, None) => hot1(level, |a: f32| a as f64),
        ("f32", "f64", Some(0), None) => hot1(level, f64_to_f32),
        ("f32", "f16", None, None) => hot1(level, |a: u16| canonical(f16_to_f32(a))),
        ("f32", "bf16", None, None) => hot1(level, bf16_to_f32),
        ("f16", "f32", Some(0), None) => hot1(level, f32_to_f16),
        ("bf16", "f32", Some(0), None) => hot1(level, f32_to_bf16),
        ("f16x2", "f32", Some(0), None) => {
            hot2(level, |a: f32, b: f32| (f32_to_f16(a) as u32) << 16 | f32_to_f16(b) as u32)
        }
        ("bf16x2", "f32", Some(0), None) => {
            hot2(level, |a: f32, b: f32| (f32_to_bf16(a) as u32) << 16 | f32_to_bf16(b) as u32)
        }
        _ => return None,
    })
}
