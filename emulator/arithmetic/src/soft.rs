//! Floating point in integers: any binary format up to 64 bits, any rounding, one rounding per operation.
//!
//! A number is unpacked, an operation computes its exact result (or enough of it and a note that something follows),
//! and [`round`] makes bits of that. Slow and plain: `float` and `half` have the common cases, tested against this.

#[cfg(test)]
mod tests;

/// Rounding of a result that the format cannot hold exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Round {
    /// `.rn`: to nearest, ties to even.
    Nearest,
    /// `.rz`: towards zero.
    Zero,
    /// `.rm`: towards negative infinity.
    Down,
    /// `.rp`: towards positive infinity.
    Up,
    /// `.rna`: to nearest, ties away from zero.
    NearestAway,
}

impl Round {
    /// Returns the rounding of a number in the variants of forms.
    pub(super) const fn from_code(code: u32) -> Round {
        match code {
            0 => Round::Nearest,
            1 => Round::Zero,
            2 => Round::Down,
            3 => Round::Up,
            _ => Round::NearestAway,
        }
    }
}

/// Rounding, and flushing of results below the normal numbers.
///
/// The result rounded with its exponent unbounded decides, not the subnormal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mode {
    pub(super) round: Round,
    pub(super) flush: bool,
}

impl From<Round> for Mode {
    fn from(round: Round) -> Mode {
        Mode { round, flush: false }
    }
}

/// Widths of a binary format's fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
    exponent_bits: u32,
    pub(super) fraction_bits: u32,
}

pub(super) const F16: Format = Format::new(5, 10);
pub(super) const BF16: Format = Format::new(8, 7);
/// `f32` cut to ten fraction bits; its bits are the upper 19 of an `f32`.
pub(super) const TF32: Format = Format::new(8, 10);
pub(super) const F32: Format = Format::new(8, 23);
pub(super) const F64: Format = Format::new(11, 52);

impl Format {
    const fn new(exponent_bits: u32, fraction_bits: u32) -> Format {
        Format { exponent_bits, fraction_bits }
    }
    fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }
    pub(super) fn sign(self, negative: bool) -> u64 {
        (negative as u64) << (self.exponent_bits + self.fraction_bits)
    }
    pub(super) fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.fraction_bits
    }
    /// Returns the canonical NaN, all ones but for the sign: the result of every operation that gives NaN.
    pub(super) fn nan(self) -> u64 {
        self.sign(true) - 1
    }
    pub(super) fn one(self) -> u64 {
        (self.bias() as u64) << self.fraction_bits
    }
    pub(super) fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign(true) > self.infinity()
    }
    /// Flushes subnormals to zero; does nothing for formats other than `f32`.
    pub(super) fn flush(self, bits: u64, ftz: bool) -> u64 {
        if ftz && self == F32 && bits & self.infinity() == 0 { bits & self.sign(true) } else { bits }
    }
}

/// The number `(-1)^negative · mantissa · 2^exponent`, plus less than one unit of the mantissa where `sticky`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exact {
    pub(super) negative: bool,
    pub(super) exponent: i32,
    pub(super) mantissa: u128,
    pub(super) sticky: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    Nan,
    Infinite { negative: bool },
    Finite(Exact),
}

pub(super) fn unpack(bits: u64, format: Format) -> Number {
    let negative = bits >> (format.exponent_bits + format.fraction_bits) & 1 == 1;
    let fraction = bits & ((1 << format.fraction_bits) - 1);
    let biased = bits >> format.fraction_bits & ((1 << format.exponent_bits) - 1);
    if biased == (1 << format.exponent_bits) - 1 {
        return if fraction == 0 { Number::Infinite { negative } } else { Number::Nan };
    }
    let lowest = 1 - format.bias() - format.fraction_bits as i32;
    let (mantissa, exponent) = match biased {
        0 => (fraction, lowest),
        _ => (fraction | 1 << format.fraction_bits, lowest + biased as i32 - 1),
    };
    Number::Finite(Exact { negative, exponent, mantissa: mantissa as u128, sticky: false })
}

/// Returns the bits of a number in a format. A mantissa of zero is a zero.
pub(super) fn round(value: Exact, format: Format, mode: impl Into<Mode>) -> u64 {
    let Mode { round: mode, flush } = mode.into();
    let sign = format.sign(value.negative);
    if value.mantissa == 0 {
        return sign;
    }
    let away = match mode {
        Round::Nearest | Round::NearestAway => None,
        Round::Zero => Some(false),
        Round::Down => Some(value.negative),
        Round::Up => Some(!value.negative),
    };
    let overflow = sign | (format.infinity() - (away == Some(false)) as u64);
    // The highest bit goes to 127, so that at least one bit is always shifted out below.
    let up = value.mantissa.leading_zeros();
    let mantissa = value.mantissa << up;
    let exponent = value.exponent - up as i32;
    let scale = exponent + 127;
    if scale > format.bias() {
        return overflow;
    }
    let lowest = 1 - format.bias();
    if flush && scale == lowest - 1 {
        // The last binade where rounding can make the result normal.
        let up = Exact { exponent: value.exponent + 2, ..value };
        let least_normal = (3 << format.fraction_bits) | sign;
        if round(up, format, mode) < least_normal {
            return sign;
        }
    } else if flush && scale < lowest {
        return sign;
    }
    let shift = (scale.max(lowest) - format.fraction_bits as i32 - exponent) as u32;
    let (kept, rest, half) = match shift {
        0..=127 => (mantissa >> shift, mantissa & ((1 << shift) - 1), 1u128 << (shift - 1)),
        128 => (0, mantissa, 1 << 127),
        // Far below half of the smallest number.
        _ => (0, 1, 1 << 127),
    };
    let kept = kept as u64;
    let inexact = rest != 0 || value.sticky;
    let increment = match (away, mode) {
        (Some(away), _) => inexact && away,
        (None, Round::NearestAway) => rest >= half,
        (None, _) => rest > half || (rest == half && (value.sticky || kept & 1 == 1)),
    };
    // The carry of a rounding up moves into the exponent by itself.
    let magnitude =
        if scale < lowest { kept } else { kept + (((scale + format.bias() - 1) as u64) << format.fraction_bits) }
            + increment as u64;
    if magnitude >= format.infinity() { overflow } else { sign | magnitude }
}

/// Returns `a · b + c`, rounded once; `None` for an invalid operation or a NaN operand.
pub(super) fn fma(a: u64, b: u64, c: u64, format: Format, mode: impl Into<Mode>) -> Option<u64> {
    let mode = mode.into();
    let c_number = unpack(c, format);
    let product = match (unpack(a, format), unpack(b, format)) {
        (Number::Nan, _) | (_, Number::Nan) => return None,
        (Number::Finite(a), Number::Finite(b)) => Number::Finite(product(a, b)),
        (a, b) if is_zero(a) || is_zero(b) => return None,
        (a, b) => Number::Infinite { negative: is_negative(a) != is_negative(b) },
    };
    Some(match (product, c_number) {
        (_, Number::Nan) | (Number::Nan, _) => return None,
        (Number::Infinite { negative }, Number::Infinite { negative: other }) if negative != other => return None,
        (Number::Infinite { negative }, _) | (_, Number::Infinite { negative }) => {
            format.sign(negative) | format.infinity()
        }
        (Number::Finite(p), Number::Finite(c)) => round(sum(p, c, mode.round), format, mode),
    })
}

/// `fma` and `fmaf` of C, which `mul_add` calls where no instruction is chosen. Those of mingw-w64 round twice: to the
/// 80 bits of x87, then to the type. The linker prefers these.
#[cfg(all(windows, target_env = "gnu"))]
mod c {
    use super::{F32, F64, Round, fma};

    #[unsafe(export_name = "fma")]
    extern "C" fn fma64(a: f64, b: f64, c: f64) -> f64 {
        fma(a.to_bits(), b.to_bits(), c.to_bits(), F64, Round::Nearest).map_or(f64::NAN, f64::from_bits)
    }

    #[unsafe(export_name = "fmaf")]
    extern "C" fn fma32(a: f32, b: f32, c: f32) -> f32 {
        let [a, b, c] = [a, b, c].map(|x| u64::from(x.to_bits()));
        fma(a, b, c, F32, Round::Nearest).map_or(f32::NAN, |bits| f32::from_bits(bits as u32))
    }
}

/// Returns `a + b`, or `None` where the result is NaN, as the functions below do.
pub(super) fn add(a: u64, b: u64, format: Format, mode: impl Into<Mode>) -> Option<u64> {
    fma(a, format.one(), b, format, mode)
}

pub(super) fn mul(a: u64, b: u64, format: Format, mode: impl Into<Mode>) -> Option<u64> {
    // A zero of the product's sign changes nothing.
    fma(a, b, (a ^ b) & format.sign(true), format, mode)
}

pub(super) fn div(a: u64, b: u64, format: Format, mode: impl Into<Mode>) -> Option<u64> {
    let (a, b) = (unpack(a, format), unpack(b, format));
    let negative = is_negative(a) != is_negative(b);
    let sign = format.sign(negative);
    Some(match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) | (Number::Infinite { .. }, Number::Infinite { .. }) => return None,
        (Number::Infinite { .. }, _) => sign | format.infinity(),
        (_, Number::Infinite { .. }) => sign,
        (Number::Finite(a), Number::Finite(b)) => match (a.mantissa, b.mantissa) {
            (0, 0) => return None,
            (_, 0) => sign | format.infinity(),
            (0, _) => sign,
            (n, d) => {
                // 127 bits over at most 64: the quotient has more bits than any format.
                let up = n.leading_zeros() - 1;
                let n = n << up;
                let quotient = Exact {
                    negative,
                    exponent: a.exponent - up as i32 - b.exponent,
                    mantissa: n / d,
                    sticky: n % d != 0,
                };
                round(quotient, format, mode)
            }
        },
    })
}

pub(super) fn sqrt(a: u64, format: Format, mode: impl Into<Mode>) -> Option<u64> {
    match unpack(a, format) {
        Number::Nan => None,
        Number::Infinite { negative } => (!negative).then_some(format.infinity()),
        Number::Finite(x) if x.mantissa == 0 => Some(a),
        Number::Finite(x) if x.negative => None,
        Number::Finite(x) => {
            let mut up = x.mantissa.leading_zeros();
            if (x.exponent - up as i32) % 2 != 0 {
                up -= 1;
            }
            let n = x.mantissa << up;
            let root = n.isqrt();
            let exact = Exact {
                negative: false,
                exponent: (x.exponent - up as i32) / 2,
                mantissa: root,
                sticky: root * root != n,
            };
            Some(round(exact, format, mode))
        }
    }
}

pub(super) fn convert(a: u64, from: Format, to: Format, mode: impl Into<Mode>) -> Option<u64> {
    match unpack(a, from) {
        Number::Nan => None,
        Number::Infinite { negative } => Some(to.sign(negative) | to.infinity()),
        Number::Finite(x) => Some(round(x, to, mode)),
    }
}

pub(super) fn from_integer(a: i128, to: Format, mode: impl Into<Mode>) -> u64 {
    let exact = Exact { negative: a < 0, exponent: 0, mantissa: a.unsigned_abs(), sticky: false };
    round(exact, to, mode)
}

fn is_zero(a: Number) -> bool {
    matches!(a, Number::Finite(Exact { mantissa: 0, .. }))
}

fn is_negative(a: Number) -> bool {
    matches!(a, Number::Infinite { negative: true } | Number::Finite(Exact { negative: true, .. }))
}

fn product(a: Exact, b: Exact) -> Exact {
    Exact {
        negative: a.negative != b.negative,
        exponent: a.exponent + b.exponent,
        mantissa: a.mantissa * b.mantissa,
        sticky: false,
    }
}

/// Returns the sum of two exact numbers of at most 106 bits.
fn sum(a: Exact, b: Exact, mode: Round) -> Exact {
    match (a.mantissa, b.mantissa) {
        (0, 0) => {
            return Exact { negative: zero_sign(a.negative, b.negative, mode), ..a };
        }
        (0, _) => return b,
        (_, 0) => return a,
        _ => {}
    }
    // Highest bits to position 124: space for a carry, and the lost bits of 106 are too small to cancel.
    let normal = |x: Exact| {
        let up = x.mantissa.leading_zeros() - 3;
        Exact { exponent: x.exponent - up as i32, mantissa: x.mantissa << up, ..x }
    };
    let (a, b) = (normal(a), normal(b));
    let larger = (a.exponent, a.mantissa) >= (b.exponent, b.mantissa);
    let (large, small) = if larger { (a, b) } else { (b, a) };
    let distance = (large.exponent - small.exponent) as u32;
    let (shifted, sticky) = match distance {
        0..=127 => (small.mantissa >> distance, small.mantissa & ((1 << distance) - 1) != 0),
        _ => (0, true),
    };
    if a.negative == b.negative {
        return Exact { mantissa: large.mantissa + shifted, sticky, ..large };
    }
    let mantissa = large.mantissa - shifted - sticky as u128;
    if mantissa == 0 {
        return Exact { negative: zero_sign(true, false, mode), mantissa, ..large };
    }
    Exact { mantissa, sticky, ..large }
}

fn zero_sign(a: bool, b: bool, mode: Round) -> bool {
    if a == b { a } else { mode == Round::Down }
}
