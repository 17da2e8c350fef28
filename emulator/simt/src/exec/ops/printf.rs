//! The kernel's `printf`: C's conversions, safe against any format.

#[cfg(test)]
mod tests;

use crate::lane_mask::LaneMask;
use arithmetic::lanes::{Dst, Line, Src};
use program::limits::{BLOCK_PRINTS, CUT_LINE};
use program::window;

use crate::exec::worker::Worker;

/// Longest format or string.
const LONGEST: usize = 1 << 14;
/// Widest field: formats are untrusted.
const WIDEST: usize = 1 << 10;

/// Returns a byte of the memory of a block.
fn byte_of(lines: &[Line], offset: usize) -> Option<u8> {
    let word = lines.get(offset / 128)?.0[offset % 128 / 4];
    Some(word.to_le_bytes()[offset % 4])
}

impl Worker<'_> {
    pub(crate) fn printf(&mut self, format: Src, arguments: Src, dst: Option<Dst>, pc: u32, active: LaneMask) {
        for lane in active.iter() {
            let text = self.bytes_at(self.u64_at(format, lane), lane);
            let arguments = self.u64_at(arguments, lane);
            let mut source = Arguments { worker: self, at: arguments, lane, read: Vec::new() };
            let (line, n) = render(&text, &mut source);
            let read = source.read;
            if self.job.check_level.checks() {
                let instr = self.job.instr_at(pc);
                for (at, bytes) in read {
                    self.check_printed(at, bytes, lane, instr);
                }
            }
            self.set32(dst, lane, n);
            let room = BLOCK_PRINTS.saturating_sub(self.block.printed.len());
            if room == 0 {
                self.spent += CUT_LINE;
                self.warp.left -= CUT_LINE as i64 / 32;
                continue;
            }
            if line.len() > room {
                let cut = (0..=room).rev().find(|i| line.is_char_boundary(*i)).unwrap_or(0);
                self.block.printed.push_str(&line[..cut]);
                self.block.printed.push_str("\n[this block's further output is cut]\n");
            } else {
                self.block.printed.push_str(&line);
            }
        }
    }

    pub(crate) fn bytes_at(&self, address: u64, lane: usize) -> Vec<u8> {
        let mut text = Vec::new();
        while text.len() < LONGEST {
            match self.peek(address.wrapping_add(text.len() as u64), lane) {
                Some(0) | None => break,
                Some(byte) => text.push(byte),
            }
        }
        text
    }

    /// Returns the byte at a generic address, if there is one.
    fn peek(&self, address: u64, lane: usize) -> Option<u8> {
        let address = self.seen_from_here(address);
        let offset = (address & ((1 << window::BITS) - 1)) as usize;
        match address & !((1 << window::BITS) - 1) {
            window::SHARED => byte_of(&self.block.shared, offset),
            window::LOCAL if offset < self.job.local_bytes as usize => {
                byte_of(&self.block.local, self.local_offset(lane) + offset)
            }
            window::PARAM => self.job.params.get(offset).copied(),
            _ => {
                let (allocation, offset) = self.job.table.find(address, 1)?;
                let mut byte = [0];
                allocation.bytes.read(offset, &mut byte).then_some(byte[0])
            }
        }
    }
}

trait ArgumentSource {
    /// Takes the next argument of 4 or 8 bytes, which is also its alignment.
    fn next(&mut self, bytes: usize) -> u64;
    fn text(&mut self, address: u64) -> Vec<u8>;
}

struct Arguments<'a, 'j> {
    worker: &'a Worker<'j>,
    at: u64,
    lane: usize,
    /// Address and size of each argument that was taken.
    read: Vec<(u64, u32)>,
}

impl ArgumentSource for Arguments<'_, '_> {
    fn next(&mut self, bytes: usize) -> u64 {
        self.at = self.at.wrapping_add(bytes as u64 - 1) & !(bytes as u64 - 1);
        self.read.push((self.at, bytes as u32));
        let mut value = [0; 8];
        for (i, byte) in value.iter_mut().enumerate().take(bytes) {
            *byte = self.worker.peek(self.at.wrapping_add(i as u64), self.lane).unwrap_or(0);
        }
        self.at = self.at.wrapping_add(bytes as u64);
        u64::from_le_bytes(value)
    }

    fn text(&mut self, address: u64) -> Vec<u8> {
        if address == 0 { b"(null)".to_vec() } else { self.worker.bytes_at(address, self.lane) }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Conversion {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// 1: `hh`, 2: `h`, 4, 8: `l`, `ll`, `z`, `t`, `j`.
    size: usize,
}

/// Formats the text. Returns it, and how many arguments it used.
fn render(format: &[u8], source: &mut dyn ArgumentSource) -> (String, u32) {
    let mut out = Vec::new();
    let mut used = 0;
    let mut rest = format;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut c = Conversion { size: 4, ..Conversion::default() };
        let mut next = || {
            let (&byte, tail) = rest.split_first()?;
            rest = tail;
            Some(byte)
        };
        let mut at = next();
        while let Some(flag) = at {
            match flag {
                b'-' => c.left = true,
                b'+' => c.plus = true,
                b' ' => c.space = true,
                b'#' => c.alternate = true,
                b'0' => c.zero = true,
                _ => break,
            }
            at = next();
        }
        if at == Some(b'*') {
            let width = source.next(4) as i32;
            c.left |= width < 0;
            c.width = width.unsigned_abs() as usize;
            at = next();
        }
        while let Some(digit @ b'0'..=b'9') = at {
            c.width = (c.width * 10 + usize::from(digit - b'0')).min(WIDEST);
            at = next();
        }
        c.width = c.width.min(WIDEST);
        if at == Some(b'.') {
            at = next();
            let mut precision = 0;
            if at == Some(b'*') {
                let given = source.next(4) as i32;
                c.precision = usize::try_from(given).ok().map(|p| p.min(WIDEST));
                at = next();
            } else {
                while let Some(digit @ b'0'..=b'9') = at {
                    precision = (precision * 10 + usize::from(digit - b'0')).min(WIDEST);
                    at = next();
                }
                c.precision = Some(precision);
            }
        }
        while let Some(letter) = at {
            match letter {
                b'h' => c.size = if c.size == 2 { 1 } else { 2 },
                b'l' | b'z' | b't' | b'j' | b'q' | b'L' => c.size = 8,
                _ => break,
            }
            at = next();
        }
        let Some(kind) = at else { break };
        if kind == b'%' {
            out.push(b'%');
            continue;
        }
        used += 1;
        match kind {
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => integer(&mut out, kind, c, source.next(c.size.max(4))),
            b'c' => pad(&mut out, c, b"", &[source.next(4) as u8], false),
            b'p' => {
                let digits = format!("{:x}", source.next(8));
                pad(&mut out, c, b"0x", digits.as_bytes(), false);
            }
            b's' => {
                let address = source.next(8);
                let mut text = source.text(address);
                text.truncate(c.precision.unwrap_or(usize::MAX));
                pad(&mut out, c, b"", &text, false);
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                float(&mut out, kind, c, f64::from_bits(source.next(8)));
            }
            other => {
                used -= 1;
                out.extend_from_slice(&[b'%', other]);
            }
        }
    }
    (String::from_utf8_lossy(&out).into_owned(), used)
}

/// Writes a field: sign or prefix, then digits.
fn pad(out: &mut Vec<u8>, c: Conversion, prefix: &[u8], body: &[u8], zeros: bool) {
    let fill = c.width.saturating_sub(prefix.len() + body.len());
    if !c.left && !zeros {
        out.resize(out.len() + fill, b' ');
    }
    out.extend_from_slice(prefix);
    if !c.left && zeros {
        out.resize(out.len() + fill, b'0');
    }
    out.extend_from_slice(body);
    if c.left {
        out.resize(out.len() + fill, b' ');
    }
}

fn sign(negative: bool, c: Conversion) -> &'static [u8] {
    match (negative, c.plus, c.space) {
        (true, ..) => b"-",
        (_, true, _) => b"+",
        (_, _, true) => b" ",
        _ => b"",
    }
}

fn integer(out: &mut Vec<u8>, kind: u8, c: Conversion, raw: u64) {
    let signed = match c.size {
        1 => i64::from(raw as i8),
        2 => i64::from(raw as i16),
        8 => raw as i64,
        _ => i64::from(raw as i32),
    };
    let unsigned = match c.size {
        1 => u64::from(raw as u8),
        2 => u64::from(raw as u16),
        8 => raw,
        _ => u64::from(raw as u32),
    };
    let (prefix, digits): (&[u8], String) = match kind {
        b'd' | b'i' => (sign(signed < 0, c), signed.unsigned_abs().to_string()),
        b'o' if c.alternate => (b"0", format!("{unsigned:o}")),
        b'o' => (b"", format!("{unsigned:o}")),
        b'x' if c.alternate && unsigned != 0 => (b"0x", format!("{unsigned:x}")),
        b'x' => (b"", format!("{unsigned:x}")),
        b'X' if c.alternate && unsigned != 0 => (b"0X", format!("{unsigned:X}")),
        b'X' => (b"", format!("{unsigned:X}")),
        _ => (b"", unsigned.to_string()),
    };
    let digits = match c.precision {
        Some(0) if raw == 0 => String::new(),
        Some(least) => format!("{digits:0>least$}"),
        None => digits,
    };
    pad(out, c, prefix, digits.as_bytes(), c.zero && c.precision.is_none());
}

fn float(out: &mut Vec<u8>, kind: u8, c: Conversion, value: f64) {
    let prefix = sign(value.is_sign_negative() && !value.is_nan(), c);
    let v = value.abs();
    if !v.is_finite() {
        let name = if v.is_nan() { "nan" } else { "inf" };
        let name = if kind.is_ascii_uppercase() { name.to_uppercase() } else { name.to_owned() };
        return pad(out, c, prefix, name.as_bytes(), false);
    }
    let body = match kind.to_ascii_lowercase() {
        b'f' => with_point(format!("{v:.*}", c.precision.unwrap_or(6)), c),
        b'e' => exponent(v, c.precision.unwrap_or(6), c),
        b'g' => general(v, c),
        _ => hexadecimal(v, c),
    };
    let body = if kind.is_ascii_uppercase() { body.to_uppercase() } else { body };
    pad(out, c, prefix, body.as_bytes(), c.zero);
}

fn with_point(digits: String, c: Conversion) -> String {
    if c.alternate && !digits.contains('.') { digits + "." } else { digits }
}

/// Formats `%e`: a number such as `1.5e+00`.
fn exponent(v: f64, precision: usize, c: Conversion) -> String {
    let text = format!("{v:.precision$e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, power) = match power.strip_prefix('-') {
        Some(p) => ('-', p),
        None => ('+', power),
    };
    format!("{}e{sign}{power:0>2}", with_point(digits.to_owned(), c))
}

fn general(v: f64, c: Conversion) -> String {
    let precision = c.precision.unwrap_or(6).max(1);
    let rounded = format!("{v:.*e}", precision - 1);
    let power: i64 = rounded.split_once('e').and_then(|(_, p)| p.parse().ok()).unwrap_or(0);
    let strip = |text: String| {
        if text.contains('.') && !c.alternate {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    };
    if power < -4 || power >= precision as i64 {
        let text = exponent(v, precision - 1, c);
        let (digits, power) = text.split_once('e').unwrap_or((&text, "+00"));
        format!("{}e{power}", strip(digits.to_owned()))
    } else {
        let after = (precision as i64 - 1 - power).max(0) as usize;
        strip(with_point(format!("{v:.after$}"), c))
    }
}

/// Formats `%a`: a number such as `0x1.8p+0`.
fn hexadecimal(v: f64, c: Conversion) -> String {
    let bits = v.to_bits();
    let (mut power, mut fraction) = ((bits >> 52) as i64 - 1023, bits & ((1 << 52) - 1));
    let mut lead = 1u64;
    if power == -1023 {
        (lead, power) = (0, if fraction == 0 { 0 } else { -1022 });
    }
    let mut n = 13;
    if let Some(p) = c.precision.filter(|p| *p < 13) {
        let drop = 4 * (13 - p as u32);
        let whole = lead << 52 | fraction;
        let (half, rest) = (1u64 << (drop - 1), whole & ((1 << drop) - 1));
        let up = rest > half || (rest == half && whole >> drop & 1 == 1);
        let whole = ((whole >> drop) + u64::from(up)) << drop;
        (lead, fraction, n) = (whole >> 52, whole & ((1 << 52) - 1), p);
    }
    let digits = format!("{fraction:013x}");
    let mut digits = digits[..n].to_owned();
    match c.precision {
        None => digits.truncate(digits.trim_end_matches('0').len()),
        Some(p) => digits = format!("{digits:0<p$}"),
    }
    let point = if digits.is_empty() && !c.alternate { "" } else { "." };
    format!("0x{lead}{point}{digits}p{power:+}")
}
