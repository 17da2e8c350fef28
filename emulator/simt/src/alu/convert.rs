//! `cvt`: between integers, floats and halves.
//!
//! Modifiers are read into a [`Request`] first; then one function per kind of pair finds the form.

use super::Form;
use super::engine::{Lane, cold1, cold2, hot1, hot2};
use super::float::{NAN32, flush};
use super::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use super::soft::{self, BF16, F16, F32, F64, Format, Round, TF32};
use crate::lanes::CpuLevel;

/// The parts of a `cvt`.
struct Request<'a> {
    /// 0 to 3: `.rn`, `.rz`, `.rm`, `.rp`; 4: `.rna`.
    round: Option<u8>,
    /// 0 to 3: `.rni`, `.rzi`, `.rmi`, `.rpi`.
    round_integer: Option<u8>,
    ftz: bool,
    sat: bool,
    relu: bool,
    satfinite: bool,
    to: &'a str,
    from: &'a str,
}

fn parse<'a>(modifiers: &[&'a str]) -> Option<Request<'a>> {
    let [flags @ .., to, from] = modifiers else {
        return None;
    };
    let mut request = Request {
        round: None,
        round_integer: None,
        ftz: false,
        sat: false,
        relu: false,
        satfinite: false,
        to,
        from,
    };
    for (position, &flag) in flags.iter().enumerate() {
        let rounding = |names: &[&str]| names.iter().position(|&name| name == flag).map(|code| code as u8);
        if position == 0 {
            request.round = rounding(&["rn", "rz", "rm", "rp", "rna"]);
            request.round_integer = rounding(&["rni", "rzi", "rmi", "rpi"]);
            if request.round.is_some() || request.round_integer.is_some() {
                continue;
            }
        }
        let seen = match flag {
            "ftz" => &mut request.ftz,
            "sat" => &mut request.sat,
            "relu" => &mut request.relu,
            "satfinite" => &mut request.satfinite,
            _ => return None,
        };
        if std::mem::replace(seen, true) {
            return None;
        }
    }
    Some(request)
}

pub(super) fn lookup(opcode: &str, modifiers: &[&str], level: CpuLevel) -> Option<Form> {
    // Packing two small integers with a carry-over is another instruction of the same name.
    if opcode != "cvt" || modifiers.first() == Some(&"pack") {
        return None;
    }
    let request = parse(modifiers)?;
    if matches!(request.to, "f16x2" | "bf16x2" | "tf32") || request.relu || request.satfinite {
        return special(&request, level);
    }
    let float = |ty: &str| matches!(ty, "f16" | "bf16" | "f32" | "f64");
    match (float(request.to), float(request.from)) {
        (false, false) => integer_to_integer(&request, level),
        (true, false) => integer_to_float(&request, level),
        (false, true) => float_to_integer(&request, level),
        (true, true) if request.to == request.from => same_format(&request, level),
        (true, true) => float_to_float(&request, level),
    }
}

/// Puts the Rust type of a PTX integer type into `$then`.
macro_rules! with_integer {
    ($name:expr, $ty:ident => $then:expr) => {
        match $name {
            "u8" => {
                type $ty = u8;
                $then
            }
            "s8" => {
                type $ty = i8;
                $then
            }
            "u16" => {
                type $ty = u16;
                $then
            }
            "s16" => {
                type $ty = i16;
                $then
            }
            "u32" => {
                type $ty = u32;
                $then
            }
            "s32" => {
                type $ty = i32;
                $then
            }
            "u64" => {
                type $ty = u64;
                $then
            }
            "s64" => {
                type $ty = i64;
                $then
            }
            _ => return None,
        }
    };
}

/// Puts a constant for a rounding 0 to 3 into `$then`.
macro_rules! with_rounding {
    ($code:expr, $name:ident => $then:expr) => {
        match $code {
            0 => {
                const $name: u8 = 0;
                $then
            }
            1 => {
                const $name: u8 = 1;
                $then
            }
            2 => {
                const $name: u8 = 2;
                $then
            }
            3 => {
                const $name: u8 = 3;
                $then
            }
            _ => return None,
        }
    };
}

macro_rules! with_flag {
    ($flag:expr, $name:ident => $then:expr) => {
        if $flag {
            const $name: bool = true;
            $then
        } else {
            const $name: bool = false;
            $then
        }
    };
}

// --- integers to integers

/// An integer type, as wide as can be.
trait Integer: Lane {
    fn wide(self) -> i128;
    fn clamp_from(wide: i128) -> Self;
    /// What NaN becomes: 0, or only the highest bit where a 64-bit type takes part.
    fn of_nan(wide_source: bool) -> Self;
    /// Saturating.
    fn of_float(x: f64) -> Self;
}

macro_rules! integer {
    ($($ty:ty, $bits:ty;)*) => { $(
        impl Integer for $ty {
            fn wide(self) -> i128 { self as i128 }
            fn clamp_from(wide: i128) -> Self { wide.clamp(<$ty>::MIN as i128, <$ty>::MAX as i128) as $ty }
            fn of_nan(wide_source: bool) -> Self {
                if wide_source || <$ty>::BITS == 64 { (1 as $bits << (<$ty>::BITS - 1)) as $ty } else { 0 }
            }
            fn of_float(x: f64) -> Self { x as $ty }
        }
    )* };
}

integer! { u8, u8; i8, u8; u16, u16; i16, u16; u32, u32; i32, u32; u64, u64; i64, u64; }

fn integer_to_integer(request: &Request<'_>, level: CpuLevel) -> Option<Form> {
    if request.round.is_some() || request.round_integer.is_some() || request.ftz {
        return None;
    }
    if request.sat {
        return Some(with_integer!(request.to, D => with_integer!(request.from, S => {
            cold1(|a: S| D::clamp_from(a.wide()))
        })));
    }
    // Signedness of the result matters to 8-bit types only.
    Some(match request.to {
        "u8" => with_integer!(request.from, S => hot1(level, |a: S| a as u8)),
        "s8" => with_integer!(request.from, S => hot1(level, |a: S| a as i8)),
        "u16" | "s16" => with_integer!(request.from, S => hot1(level, |a: S| a as u16)),
        "u32" | "s32" => with_integer!(request.from, S => hot1(level, |a: S| a as u32)),
        "u64" | "s64" => with_integer!(request.from, S => hot1(level, |a: S| a as u64)),
        _ => return None,
    })
}

// --- integers to floats

fn integer_to_float(request: &Request<'_>, level: CpuLevel) -> Option<Form> {
    let code = request.round?;
    if request.ftz && request.to != "f32" {
        return None;
    }
    let narrow = matches!(request.from, "u8" | "s8" | "u16" | "s16");
    let wide = matches!(request.from, "u64" | "s64");
    // Whether every value is exact, so that the rounding does not matter.
    let exact = match request.to {
        "f32" => narrow,
        "f64" => !wide,
        _ => false,
    };
    if code > 3 {
        return None;
    }
    if request.sat {
        // An integer cut to [0, 1] is its sign.
        return Some(match request.to {
            "f32" => with_integer!(request.from, S => cold1(|a: S| if a.wide() > 0 { 1f32 } else { 0.0 })),
            "f64" => with_integer!(request.from, S => cold1(|a: S| if a.wide() > 0 { 1f64 } else { 0.0 })),
            "f16" => with_integer!(request.from, S => cold1(|a: S| if a.wide() > 0 { 0x3c00u16 } else { 0 })),
            _ => return None,
        });
    }
    Some(match request.to {
        "f32" if (exact || code == 0) && !wide => {
            with_integer!(request.from, S => hot1(level, |a: S| a as f32))
        }
        "f64" if exact => with_integer!(request.from, S => hot1(level, |a: S| a as f64)),
        "f32" if code == 0 => with_integer!(request.from, S => cold1(|a: S| a as f32)),
        "f64" if code == 0 => with_integer!(request.from, S => cold1(|a: S| a as f64)),
        "f32" => with_integer!(request.from, S => with_rounding!(code, R => {
            cold1(|a: S| f32::from_bits(soft::from_integer(a.wide(), F32, Round::from_code(R)) as u32))
        })),
        "f64" => with_integer!(request.from, S => with_rounding!(code, R => {
            cold1(|a: S| f64::from_bits(soft::from_integer(a.wide(), F64, Round::from_code(R))))
        })),
        "f16" => with_integer!(request.from, S => with_rounding!(code, R => {
            cold1(|a: S| soft::from_integer(a.wide(), F16, Round::from_code(R)) as u16)
        })),
        "bf16" => with_integer!(request.from, S => with_rounding!(code, R => {
            cold1(|a: S| soft::from_integer(a.wide(), BF16, Round::from_code(R)) as u16)
        })),
        _ => return None,
    })
}

// --- floats to integers

#[inline(always)]
fn to_integral32(x: f32, code: u8) -> f32 {
    match code {
        0 => x.round_ties_even(),
        1 => x.trunc(),
        2 => x.floor(),
        _ => x.ceil(),
    }
}

#[inline(always)]
fn to_integral64(x: f64, code: u8) -> f64 {
    match code {
        0 => x.round_ties_even(),
        1 => x.trunc(),
        2 => x.floor(),
        _ => x.ceil(),
    }
}

fn to_integer<D: Integer>(x: f64, code: u8, wide_source: bool) -> D {
    if x.is_nan() {
        D::of_nan(wide_source)
    } else {
        D::of_float(to_integral64(x, code))
    }
}

/// Out of range goes to the nearest end, with or without `.sat`.
fn float_to_integer(request: &Request<'_>, level: CpuLevel) -> Option<Form> {
    let code = request.round_integer?;
    if request.ftz && request.from != "f32" {
        return None;
    }
    Some(match (request.from, request.to) {
        ("f32", "s32") => with_rounding!(code, R => with_flag!(request.ftz, Z => {
            hot1(level, |a: f32| to_integral32(if Z { flush(a) } else { a }, R) as i32)
        })),
        ("f32", "u32") => with_rounding!(code, R => with_flag!(request.ftz, Z => {
            hot1(level, |a: f32| to_integral32(if Z { flush(a) } else { a }, R) as u32)
        })),
        ("f32", to) => with_integer!(to, D => with_rounding!(code, R => with_flag!(request.ftz, Z => {
            cold1(|a: f32| to_integer::<D>(if Z { flush(a) } else { a } as f64, R, false))
        }))),
        ("f64", to) => with_integer!(to, D => with_rounding!(code, R => {
            cold1(|a: f64| to_integer::<D>(a, R, true))
        })),
        ("f16", to) => with_integer!(to, D => with_rounding!(code, R => {
            cold1(|a: u16| to_integer::<D>(f16_to_f32(a) as f64, R, false))
        })),
        ("bf16", to) => with_integer!(to, D => with_rounding!(code, R => {
            cold1(|a: u16| to_integer::<D>(bf16_to_f32(a) as f64, R, false))
        })),
        _ => return None,
    })
}

// --- floats to floats

/// A float format, and how its values lie in lanes.
trait Kind: 'static {
    type Bits: Lane;
    const FORMAT: Format;
    /// What NaN becomes.
    const NAN: u64;
    const ONE: u64;
    /// The largest finite number.
    const MAX: u64;
    const SIGN: u64;
    /// `.ftz` means it.
    const FLUSHED: bool = false;
    fn bits(x: Self::Bits) -> u64;
    fn of(bits: u64) -> Self::Bits;
}

macro_rules! kind {
    ($name:ident, $bits:ty, $format:ident, $one:literal, $max:literal, $nan:literal, $sign:literal, $flushed:literal,
     $to:expr, $of:expr) => {
        struct $name;
        impl Kind for $name {
            type Bits = $bits;
            const FORMAT: Format = $format;
            const NAN: u64 = $nan;
            const ONE: u64 = $one;
            const MAX: u64 = $max;
            const SIGN: u64 = 1 << $sign;
            const FLUSHED: bool = $flushed;
            fn bits(x: $bits) -> u64 {
                let to: fn($bits) -> u64 = $to;
                to(x)
            }
            fn of(bits: u64) -> $bits {
                let of: fn(u64) -> $bits = $of;
                of(bits)
            }
        }
    };
}

kind!(
    K16,
    u16,
    F16,
    0x3c00,
    0x7bff,
    0x7fff,
    15,
    false,
    |x| x as u64,
    |bits| bits as u16
);
kind!(
    KB16,
    u16,
    BF16,
    0x3f80,
    0x7f7f,
    0x7fff,
    15,
    false,
    |x| x as u64,
    |bits| bits as u16
);
kind!(
    K32,
    f32,
    F32,
    0x3f80_0000,
    0x7f7f_ffff,
    0x7fff_ffff,
    31,
    true,
    |x| x.to_bits() as u64,
    |bits| f32::from_bits(bits as u32)
);
kind!(
    K64,
    f64,
    F64,
    0x3ff0_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0x7fff_ffff_ffff_ffff,
    63,
    false,
    |x| x.to_bits(),
    f64::from_bits
);

fn flush_bits<K: Kind>(bits: u64, ftz: bool) -> u64 {
    if ftz && K::FLUSHED && bits & K::FORMAT.infinity() == 0 {
        bits & K::SIGN
    } else {
        bits
    }
}

fn is_nan<K: Kind>(bits: u64) -> bool {
    bits & !K::SIGN > K::FORMAT.infinity()
}

/// NaN and −0 become +0.
fn saturate<K: Kind>(bits: u64) -> u64 {
    if is_nan::<K>(bits) || bits & K::SIGN != 0 {
        0
    } else {
        bits.min(K::ONE)
    }
}

fn resize<S: Kind, D: Kind, const R: u8, const Z: bool, const SAT: bool>(a: S::Bits) -> D::Bits {
    let a = flush_bits::<S>(S::bits(a), Z);
    let converted = soft::convert(a, S::FORMAT, D::FORMAT, Round::from_code(R)).unwrap_or(D::NAN);
    let out = flush_bits::<D>(converted, Z);
    D::of(if SAT { saturate::<D>(out) } else { out })
}

fn resize_form<S: Kind, D: Kind>(code: u8, ftz: bool, sat: bool) -> Option<Form> {
    if ftz && !S::FLUSHED && !D::FLUSHED {
        return None;
    }
    Some(with_rounding!(code, R => match (ftz, sat) {
        (false, false) => cold1(resize::<S, D, R, false, false>),
        (true, false) => cold1(resize::<S, D, R, true, false>),
        (false, true) => cold1(resize::<S, D, R, false, true>),
        (true, true) => cold1(resize::<S, D, R, true, true>),
    }))
}

/// Exact: no rounding.
fn widen_form<S: Kind, D: Kind>(request: &Request<'_>) -> Option<Form> {
    if request.round.is_some() || (request.ftz && !S::FLUSHED && !D::FLUSHED) {
        return None;
    }
    Some(match (request.ftz, request.sat) {
        (false, false) => cold1(resize::<S, D, 0, false, false>),
        (true, false) => cold1(resize::<S, D, 0, true, false>),
        (false, true) => cold1(resize::<S, D, 0, false, true>),
        (true, true) => cold1(resize::<S, D, 0, true, true>),
    })
}

fn canonical(x: f32) -> f32 {
    if x.is_nan() { NAN32 } else { x }
}

fn float_to_float(request: &Request<'_>, level: CpuLevel) -> Option<Form> {
    if request.round_integer.is_some() {
        return None;
    }
    if !request.ftz && !request.sat {
        match (request.to, request.from, request.round) {
            ("f64", "f32", None) => return Some(hot1(level, |a: f32| a as f64)),
            ("f32", "f64", Some(0)) => return Some(hot1(level, |a: f64| canonical(a as f32))),
            ("f32", "f16", None) => return Some(hot1(level, |a: u16| canonical(f16_to_f32(a)))),
            ("f32", "bf16", None) => return Some(hot1(level, |a: u16| canonical(bf16_to_f32(a)))),
            ("f16", "f32", Some(0)) => return Some(hot1(level, f32_to_f16)),
            ("bf16", "f32", Some(0)) => return Some(hot1(level, f32_to_bf16)),
            _ => {}
        }
    }
    let narrow = |form: fn(u8, bool, bool) -> Option<Form>| form(request.round?, request.ftz, request.sat);
    match (request.from, request.to) {
        ("f16", "f32") => widen_form::<K16, K32>(request),
        ("f16", "f64") => widen_form::<K16, K64>(request),
        ("bf16", "f32") => widen_form::<KB16, K32>(request),
        ("bf16", "f64") => widen_form::<KB16, K64>(request),
        ("f32", "f64") => widen_form::<K32, K64>(request),
        ("f32", "f16") => narrow(resize_form::<K32, K16>),
        ("f32", "bf16") => narrow(resize_form::<K32, KB16>),
        ("f64", "f32") => narrow(resize_form::<K64, K32>),
        ("f64", "f16") => narrow(resize_form::<K64, K16>),
        ("f64", "bf16") => narrow(resize_form::<K64, KB16>),
        ("f16", "bf16") => narrow(resize_form::<K16, KB16>),
        ("bf16", "f16") => narrow(resize_form::<KB16, K16>),
        _ => None,
    }
}

// --- a float to an integral value of its own format, or only flushed or cut

/// `R` above 3 leaves the value.
fn integral<K: Kind, const R: u8, const Z: bool, const SAT: bool>(a: K::Bits) -> K::Bits {
    let a = flush_bits::<K>(K::bits(a), Z);
    // `f64` holds every format's numbers, and integral values of each are numbers of each.
    let out = match soft::convert(a, K::FORMAT, F64, Round::Nearest) {
        None => K::NAN,
        Some(_) if R > 3 => a,
        Some(x) => {
            let integral = to_integral64(f64::from_bits(x), R).to_bits();
            soft::convert(integral, F64, K::FORMAT, Round::Nearest).unwrap_or(K::NAN)
        }
    };
    K::of(if SAT { saturate::<K>(out) } else { out })
}

fn integral_form<K: Kind>(request: &Request<'_>) -> Option<Form> {
    if request.ftz && !K::FLUSHED {
        return None;
    }
    macro_rules! of {
        ($r:expr) => {
            match (request.ftz, request.sat) {
                (false, false) => cold1(integral::<K, { $r }, false, false>),
                (true, false) => cold1(integral::<K, { $r }, true, false>),
                (false, true) => cold1(integral::<K, { $r }, false, true>),
                (true, true) => cold1(integral::<K, { $r }, true, true>),
            }
        };
    }
    Some(match request.round_integer {
        None => of!(4),
        Some(0) => of!(0),
        Some(1) => of!(1),
        Some(2) => of!(2),
        Some(_) => of!(3),
    })
}

fn same_format(request: &Request<'_>, level: CpuLevel) -> Option<Form> {
    if request.round.is_some() {
        return None;
    }
    if let ("f32", Some(code), false) = (request.to, request.round_integer, request.sat) {
        return Some(with_rounding!(code, R => with_flag!(request.ftz, Z => {
            hot1(level, |a: f32| canonical(to_integral32(if Z { flush(a) } else { a }, R)))
        })));
    }
    match request.to {
        "f32" => integral_form::<K32>(request),
        "f64" => integral_form::<K64>(request),
        "f16" => integral_form::<K16>(request),
        _ => integral_form::<KB16>(request),
    }
}

// --- pairs of halves, `.relu`, `.satfinite`, `tf32`

const RELU: u8 = 1;
const SATFINITE: u8 = 2;

fn clamp<K: Kind, const M: u8>(bits: u64) -> u64 {
    if is_nan::<K>(bits) {
        K::NAN
    } else if M & RELU != 0 && bits & K::SIGN != 0 {
        0
    } else if M & SATFINITE != 0 && bits & !K::SIGN > K::MAX {
        bits & K::SIGN | K::MAX
    } else {
        bits
    }
}

fn to_half<K: Kind, const R: u8, const M: u8>(a: f32) -> u16 {
    let bits = a.to_bits() as u64;
    clamp::<K, M>(soft::convert(bits, F32, K::FORMAT, Round::from_code(R)).unwrap_or(K::NAN)) as u16
}

/// The first operand becomes the upper half.
fn to_pair<K: Kind, const R: u8, const M: u8>(a: f32, b: f32) -> u32 {
    (to_half::<K, R, M>(a) as u32) << 16 | to_half::<K, R, M>(b) as u32
}

/// The upper 19 bits of an `f32`; those below are zero.
fn to_tf32<K: Kind<Bits = f32>, const R: u8, const M: u8>(a: f32) -> u32 {
    let Some(bits) = soft::convert(K::bits(a), K::FORMAT, TF32, Round::from_code(R)) else {
        return 0x7fff_ffff;
    };
    let bits = (bits as u32) << 13;
    let magnitude = bits & 0x7fff_ffff;
    if M & RELU != 0 && bits >> 31 == 1 {
        0
    } else if M & SATFINITE != 0 && magnitude >= 0x7f80_0000 {
        bits & 0x8000_0000 | 0x7f7f_e000
    } else {
        bits
    }
}

/// A form for each rounding in the list and each of four modes.
macro_rules! by_mode {
    ($code:expr, $mode:expr, $cold:ident, $f:ident, $k:ident, $($r:literal)*) => {
        match ($code, $mode) {
            $(
                ($r, 0) => $cold($f::<$k, $r, 0>),
                ($r, 1) => $cold($f::<$k, $r, 1>),
                ($r, 2) => $cold($f::<$k, $r, 2>),
                ($r, 3) => $cold($f::<$k, $r, 3>),
            )*
            _ => return None,
        }
    };
}

fn special(request: &Request<'_>, level: CpuLevel) -> Option<Form> {
    let code = request.round?;
    if request.from != "f32" || request.ftz || request.sat {
        return None;
    }
    let mode = request.relu as u8 * RELU | request.satfinite as u8 * SATFINITE;
    Some(match (request.to, code, mode) {
        ("f16x2", 0, 0) => hot2(level, |a: f32, b: f32| {
            (f32_to_f16(a) as u32) << 16 | f32_to_f16(b) as u32
        }),
        ("bf16x2", 0, 0) => hot2(level, |a: f32, b: f32| {
            (f32_to_bf16(a) as u32) << 16 | f32_to_bf16(b) as u32
        }),
        ("f16x2", ..) => by_mode!(code, mode, cold2, to_pair, K16, 0 1),
        ("bf16x2", ..) => by_mode!(code, mode, cold2, to_pair, KB16, 0 1),
        ("f16", ..) => by_mode!(code, mode, cold1, to_half, K16, 0 1),
        ("bf16", ..) => by_mode!(code, mode, cold1, to_half, KB16, 0 1),
        ("tf32", ..) => by_mode!(code, mode, cold1, to_tf32, K32, 0 1 4),
        _ => return None,
    })
}
