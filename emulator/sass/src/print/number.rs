//! Immediate floats, in the digits that `nvdisasm` prints.

pub(super) fn single(bits: u32) -> String {
    decimal(f64::from(f32::from_bits(bits)), bits >> 22 & 1 == 1)
}

/// Prints the double with these upper bits.
pub(super) fn double(bits: u32) -> String {
    decimal(f64::from_bits(u64::from(bits) << 32), bits >> 19 & 1 == 1)
}

/// Prints two halves, the upper one first.
pub(super) fn halves(bits: u32) -> String {
    format!("{}, {}", half(bits >> 16), half(bits & 0xffff))
}

fn half(bits: u32) -> String {
    let (sign, exponent, fraction) = (bits >> 15 & 1, bits >> 10 & 31, bits & 0x3ff);
    let magnitude = match exponent {
        0 => f64::from(fraction) * 2_f64.powi(-24),
        31 if fraction == 0 => f64::INFINITY,
        31 => f64::NAN,
        _ => f64::from(fraction | 0x400) * 2_f64.powi(exponent as i32 - 25),
    };
    let value = magnitude.copysign(if sign == 1 { -1.0 } else { 1.0 });
    decimal(value, fraction >> 9 & 1 == 1)
}

fn decimal(value: f64, quiet: bool) -> String {
    let sign = if value.is_sign_negative() { '-' } else { '+' };
    match value.abs() {
        _ if value.is_nan() => format!("{sign}{} ", if quiet { "QNAN" } else { "SNAN" }),
        0.0 => if sign == '-' { "-0.0 " } else { "0" }.to_owned(),
        f64::INFINITY => format!("{sign}INF "),
        1e9.. => exponential(value, 20),
        _ => general(value, 20),
    }
}

/// Formats as C's `%.{digits}e` does.
fn exponential(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// Formats as C's `%.{digits}g` does.
fn general(value: f64, digits: usize) -> String {
    let text = exponential(value, digits - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let trimmed = |text: &str| {
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text.to_owned() }
    };
    let power: i32 = exponent.parse().unwrap_or(0);
    if power < -4 || power >= digits as i32 {
        return format!("{}e{exponent}", trimmed(mantissa));
    }
    let decimals = usize::try_from(digits as i32 - 1 - power).unwrap_or(0);
    trimmed(&format!("{value:.decimals$}"))
}
