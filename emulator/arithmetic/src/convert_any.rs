//! Every `cvt`, with the types as run-time arguments: computed with wide integers and [`soft`].

use super::soft::{self, BF16, F16, F32, F64, Format, Mode, Round, TF32};

/// A type that `cvt` converts from or to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberKind {
    /// An integer: width in bits, and true if signed.
    Integer(u32, bool),
    Float(Format),
}

/// Types by their number in a [`CvtVariant`].
pub(super) const KINDS: [(&str, NumberKind); 13] = [
    ("u8", NumberKind::Integer(8, false)),
    ("s8", NumberKind::Integer(8, true)),
    ("u16", NumberKind::Integer(16, false)),
    ("s16", NumberKind::Integer(16, true)),
    ("u32", NumberKind::Integer(32, false)),
    ("s32", NumberKind::Integer(32, true)),
    ("u64", NumberKind::Integer(64, false)),
    ("s64", NumberKind::Integer(64, true)),
    ("f16", NumberKind::Float(F16)),
    ("bf16", NumberKind::Float(BF16)),
    ("f32", NumberKind::Float(F32)),
    ("f64", NumberKind::Float(F64)),
    ("tf32", NumberKind::Float(TF32)),
];

/// Converts a NaN. Conversions to and from `f64` keep sign and payload, as far as they fit, and so does `bf16` to
/// `f32`, which is a shift; other conversions give the canonical NaN.
fn nan_of(to: Format, bits: u64, from: Format, variant: CvtVariant) -> u64 {
    let ftz = variant.has(CvtVariant::FTZ);
    // The hardware uses a flushing `f32` operation.
    let (bits, from) = if ftz && from != F64 && to == F64 { (F32.nan(), F32) } else { (bits, from) };
    let (ours, theirs) = (to.fraction_bits, from.fraction_bits);
    let payload = bits & ((1 << theirs) - 1);
    let payload = if ours >= theirs { payload << (ours - theirs) } else { payload >> (theirs - ours) };
    let kept = to.sign(bits & from.sign(true) != 0) | to.infinity() | payload;
    match (from, to) {
        (F64, F64) if !variant.has(CvtVariant::INTEGRAL) => bits,
        (F64, _) | (_, F64) => kept | 1 << (ours - 1),
        (BF16, F32) if !ftz => kept,
        _ => to.nan(),
    }
}

impl NumberKind {
    pub(super) fn wide(self) -> bool {
        matches!(self, NumberKind::Integer(64, _) | NumberKind::Float(F64))
    }
}

/// A `cvt`, encoded in a word.
#[derive(Clone, Copy)]
pub(super) struct CvtVariant(pub(super) u32);

impl CvtVariant {
    pub(super) const FTZ: u32 = 1 << 8;
    pub(super) const SAT: u32 = 1 << 9;
    pub(super) const RELU: u32 = 1 << 10;
    pub(super) const SATFINITE: u32 = 1 << 11;
    /// Rounds to an integral value: `.rni` and so on.
    pub(super) const INTEGRAL: u32 = 1 << 12;
    pub(super) const ROUND_SHIFT: u32 = 16;

    pub(super) fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }
    pub(super) fn from(self) -> NumberKind {
        KINDS[(self.0 & 15) as usize % KINDS.len()].1
    }
    pub(super) fn to(self) -> NumberKind {
        KINDS[(self.0 >> 4 & 15) as usize % KINDS.len()].1
    }
    pub(super) fn round(self) -> u32 {
        self.0 >> Self::ROUND_SHIFT & 7
    }
}

pub(super) const ROUND_AWAY: u32 = 4;

/// Truncates `x` to an integer of `bits` bits, as a lane holds it.
fn truncate(x: i128, bits: u32, signed: bool) -> u64 {
    match (bits, signed) {
        (8, true) => x as i8 as u16 as u64,
        (64, _) => x as u64,
        _ => x as u64 & ((1 << bits) - 1),
    }
}

pub(super) fn integer_of(bits: u64, width: u32, signed: bool) -> i128 {
    match (width, signed) {
        (8, false) => bits as u8 as i128,
        (8, true) => bits as i8 as i128,
        (16, false) => bits as u16 as i128,
        (16, true) => bits as i16 as i128,
        (32, false) => bits as u32 as i128,
        (32, true) => bits as i32 as i128,
        (_, false) => bits as i128,
        (_, true) => bits as i64 as i128,
    }
}

pub(super) fn clamp(x: i128, bits: u32, signed: bool) -> i128 {
    if signed { x.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { x.clamp(0, (1 << bits) - 1) }
}

pub(super) fn to_integral64(x: f64, code: u32) -> f64 {
    match code {
        0 => x.round_ties_even(),
        1 => x.trunc(),
        2 => x.floor(),
        _ => x.ceil(),
    }
}

/// Returns the value as an `f64`, exact for every format; `None` for NaN.
pub(super) fn value_of(bits: u64, format: Format) -> Option<f64> {
    soft::convert(bits, format, F64, Round::Nearest).map(f64::from_bits)
}

pub(super) fn convert(variant: u32, bits: u64) -> u64 {
    let variant = CvtVariant(variant);
    let ftz = variant.has(CvtVariant::FTZ);
    match (variant.from(), variant.to()) {
        (NumberKind::Integer(width, signed), NumberKind::Integer(to_width, to_signed)) => {
            let x = integer_of(bits, width, signed);
            let x = if variant.has(CvtVariant::SAT) { clamp(x, to_width, to_signed) } else { x };
            truncate(x, to_width, to_signed)
        }
        (NumberKind::Integer(width, signed), NumberKind::Float(to)) => {
            let x = integer_of(bits, width, signed);
            let out = soft::from_integer(x, to, Round::from_code(variant.round()));
            saturate(variant, out, to)
        }
        (NumberKind::Float(from), NumberKind::Integer(width, signed)) => {
            match value_of(from.flush(bits, ftz), from) {
                // Values out of range go to the nearest end, with or without `.sat`.
                Some(x) => truncate(clamp(to_integral64(x, variant.round()) as i128, width, signed), width, signed),
                // NaN: 0, or only the highest bit where a 64-bit type takes part.
                None if width == 64 || from == F64 => truncate(1 << (width - 1), width, signed),
                None => 0,
            }
        }
        (NumberKind::Float(from), NumberKind::Float(to)) => {
            // `f32` to `f16` does not flush its source, with or without `.ftz`.
            let bits = from.flush(bits, ftz && to != F16);
            let mode = Mode { round: Round::from_code(variant.round()), flush: ftz && to == F32 };
            let out = match value_of(bits, from) {
                // A conversion that changes nothing is a move.
                None if from == to && from == F32 && variant.0 & !255 == 0 => bits,
                // `.rna` cuts a NaN like a number (measured on an H200); other roundings make one of their own.
                None if to == TF32 && variant.round() == ROUND_AWAY => bits >> 13,
                None => nan_of(to, bits, from, variant),
                Some(x) if variant.has(CvtVariant::INTEGRAL) => {
                    let integral = to_integral64(x, variant.round()).to_bits();
                    // Integral values of a format fit in that format.
                    soft::convert(integral, F64, to, Round::Nearest).unwrap_or(to.nan())
                }
                Some(_) => soft::convert(bits, from, to, mode).unwrap_or(to.nan()),
            };
            let out = saturate(variant, to.flush(out, ftz), to);
            // The fraction's missing bits are zero.
            if to == TF32 { out << 13 } else { out }
        }
    }
}

/// Applies `.sat`, `.relu` and `.satfinite`.
pub(super) fn saturate(variant: CvtVariant, bits: u64, format: Format) -> u64 {
    let nan = format.is_nan(bits);
    let negative = bits & format.sign(true) != 0;
    let magnitude = bits & !format.sign(true);
    if variant.has(CvtVariant::SAT) {
        // NaN and −0 become +0.
        return if nan || negative { 0 } else { bits.min(format.one()) };
    }
    if nan {
        bits
    } else if variant.has(CvtVariant::RELU) && negative {
        0
    } else if variant.has(CvtVariant::SATFINITE) && magnitude == format.infinity() {
        bits - 1
    } else {
        bits
    }
}
