//! Forms against plain Rust of another method: integers in 128 bits, floats as `f64` and the side of the result.

use super::tests::scalar;

/// A generator with a state of 64 bits (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Returns a random integer of `bits` bits: of all magnitudes and both signs, now and then an end of the range.
    fn integer(&mut self, bits: u32) -> u64 {
        let any = match self.below(8) {
            0 => 1u64 << (bits - 1),
            1 => (1u64 << (bits - 1)) - 1,
            2 => self.below(4),
            3 => u64::MAX - self.below(4),
            _ => ((self.next() as i64) >> self.below(64)) as u64,
        };
        any & mask(bits)
    }

    /// Returns a random finite float of a format: near 1, anywhere, near the smallest normal number, or a zero.
    fn float(&mut self, format: Format) -> f64 {
        let fraction = match self.below(4) {
            0 => self.below(4),
            1 => (1 << format.fraction) - 1 - self.below(4),
            _ => self.next() & ((1 << format.fraction) - 1),
        };
        let exponent = match self.below(8) {
            0 if format.lowest > -300 => format.lowest + self.below(4) as i32,
            1 if format.lowest > -300 => -(self.below(format.lowest.unsigned_abs().into()) as i32),
            2 => 0,
            _ => self.below(24) as i32 - 12,
        };
        let magnitude = (1.0 + fraction as f64 / (1u64 << format.fraction) as f64) * power(exponent);
        let magnitude = match self.below(40) {
            0 => 0.0,
            1 => fraction as f64 * power(format.lowest - format.fraction as i32),
            _ => magnitude,
        };
        if self.next() & 1 == 1 { -magnitude } else { magnitude }
    }
}

fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

fn signed(value: u64, bits: u32) -> i128 {
    i128::from((value << (64 - bits)) as i64 >> (64 - bits))
}

/// `2^exponent`, which is exact in `f64`.
fn power(exponent: i32) -> f64 {
    2f64.powi(exponent)
}

const CASES: u64 = 250;

struct Integers {
    bits: u32,
    signed: bool,
}

impl Integers {
    fn of(ty: &str) -> Integers {
        Integers { bits: ty[1..].parse().expect("a width"), signed: ty.starts_with('s') }
    }

    fn value(&self, bits: u64) -> i128 {
        if self.signed { signed(bits, self.bits) } else { i128::from(bits & mask(self.bits)) }
    }

    fn range(&self) -> (i128, i128) {
        if self.signed { (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1) } else { (0, (1 << self.bits) - 1) }
    }

    fn clamped(&self, value: i128) -> i128 {
        value.clamp(self.range().0, self.range().1)
    }
}

const ALL: [&str; 6] = ["u16", "u32", "u64", "s16", "s32", "s64"];
const SIGNED: [&str; 3] = ["s16", "s32", "s64"];

/// Checks every form `opcode.type` on random operands: `f` gives the exact result, of which the low bits count; `None`
/// where it is not defined.
#[track_caller]
fn integers(opcode: &str, types: &[&str], n: usize, f: impl Fn(&Integers, [i128; 3]) -> Option<i128>) {
    for ty in types {
        let own = Integers::of(ty);
        let wide = opcode.contains("wide");
        let mut random = Random(u64::from(own.bits) + 7 * opcode.len() as u64);
        for _ in 0..CASES {
            let mut operands = [0; 3].map(|_: u64| random.integer(own.bits));
            if wide {
                operands[2] = random.integer(2 * own.bits);
            }
            let third = Integers { bits: own.bits * if wide { 2 } else { 1 }, ..own };
            let values = [own.value(operands[0]), own.value(operands[1]), third.value(operands[2])];
            let Some(exact) = f(&own, values) else { continue };
            let mnemonic = format!("{opcode}.{ty}");
            let got = scalar(&mnemonic, &operands[..n], 0);
            let bits = if wide { 2 * own.bits } else { own.bits };
            assert_eq!(got & mask(bits), exact as u64 & mask(bits), "{mnemonic} of {values:?}");
        }
    }
}

#[test]
fn integer_arithmetic() {
    integers("add", &ALL, 2, |_, [a, b, _]| Some(a + b));
    integers("sub", &ALL, 2, |_, [a, b, _]| Some(a - b));
    integers("add.sat", &["s32"], 2, |ty, [a, b, _]| Some(ty.clamped(a + b)));
    integers("sub.sat", &["s32"], 2, |ty, [a, b, _]| Some(ty.clamped(a - b)));
    integers("mul.lo", &ALL, 2, |_, [a, b, _]| Some(a.wrapping_mul(b)));
    integers("mul.hi", &ALL, 2, |ty, [a, b, _]| {
        // Only u64 does not fit.
        Some(match (ty.signed, ty.bits) {
            (false, 64) => ((a as u128 * b as u128) >> 64) as i128,
            _ => (a * b) >> ty.bits,
        })
    });
    integers("mul.wide", &["u16", "u32", "s16", "s32"], 2, |_, [a, b, _]| Some(a * b));
    integers("mad.lo", &ALL, 3, |_, [a, b, c]| Some(a.wrapping_mul(b).wrapping_add(c)));
    integers("mad.hi", &ALL, 3, |ty, [a, b, c]| {
        Some(match (ty.signed, ty.bits) {
            (false, 64) => ((a as u128 * b as u128) >> 64) as i128 + c,
            _ => ((a * b) >> ty.bits) + c,
        })
    });
    integers("mad.wide", &["u16", "u32", "s16", "s32"], 3, |_, [a, b, c]| Some(a * b + c));
    integers("mad.hi.sat", &["s32"], 3, |ty, [a, b, c]| Some(ty.clamped(((a * b) >> 32) + c)));
    integers("mul24.lo", &["u32"], 2, |_, [a, b, _]| Some((a & 0xff_ffff) * (b & 0xff_ffff)));
    integers("mul24.hi", &["u32"], 2, |_, [a, b, _]| Some(((a & 0xff_ffff) * (b & 0xff_ffff)) >> 16));
    let low = |x: i128| signed(x as u64 & 0xff_ffff, 24);
    integers("mul24.lo", &["s32"], 2, |_, [a, b, _]| Some(low(a) * low(b)));
    integers("mul24.hi", &["s32"], 2, |_, [a, b, _]| Some((low(a) * low(b)) >> 16));
    integers("mad24.lo", &["s32"], 3, |_, [a, b, c]| Some(low(a) * low(b) + c));
    integers("mad24.hi", &["s32"], 3, |_, [a, b, c]| Some(((low(a) * low(b)) >> 16) + c));
    integers("mad24.hi.sat", &["s32"], 3, |ty, [a, b, c]| Some(ty.clamped(((low(a) * low(b)) >> 16) + c)));
    integers("sad", &ALL, 3, |_, [a, b, c]| Some((a - b).abs() + c));
    integers("div", &ALL, 2, |_, [a, b, _]| a.checked_div(b));
    integers("rem", &ALL, 2, |_, [a, b, _]| a.checked_rem(b));
    integers("abs", &SIGNED, 1, |_, [a, ..]| Some(a.abs()));
    integers("neg", &SIGNED, 1, |_, [a, ..]| Some(-a));
    integers("min", &ALL, 2, |_, [a, b, _]| Some(a.min(b)));
    integers("max", &ALL, 2, |_, [a, b, _]| Some(a.max(b)));
    integers("min.relu", &["s32"], 2, |_, [a, b, _]| Some(a.min(b).max(0)));
    integers("max.relu", &["s32"], 2, |_, [a, b, _]| Some(a.max(b).max(0)));
}

#[test]
fn bits() {
    let unsigned = ["b16", "b32", "b64"];
    let large = ["b32", "b64"];
    integers("and", &unsigned, 2, |_, [a, b, _]| Some(a & b));
    integers("or", &unsigned, 2, |_, [a, b, _]| Some(a | b));
    integers("xor", &unsigned, 2, |_, [a, b, _]| Some(a ^ b));
    integers("not", &unsigned, 1, |_, [a, ..]| Some(!a));
    integers("cnot", &unsigned, 1, |_, [a, ..]| Some(i128::from(a == 0)));
    integers("popc", &large, 1, |_, [a, ..]| Some(a.count_ones().into()));
    integers("clz", &large, 1, |ty, [a, ..]| Some(i128::from(a.leading_zeros() + ty.bits) - 128));
    integers("brev", &large, 1, |ty, [a, ..]| Some((0..ty.bits).map(|k| (a >> k & 1) << (ty.bits - 1 - k)).sum()));
    let highest = |ty: &Integers, a: i128| {
        let sign = ty.signed && a < 0;
        (0..ty.bits as i128).rev().find(|k| (a >> k & 1 == 1) != sign)
    };
    for ty in ["u32", "s32", "u64", "s64"] {
        // The result is 32 bits wide whatever the operand is.
        let low = |value: Option<i128>| Some(value.unwrap_or(0xffff_ffff));
        integers("bfind", &[ty], 1, |ty, [a, ..]| low(highest(ty, a)));
        integers("bfind.shiftamt", &[ty], 1, |ty, [a, ..]| low(highest(ty, a).map(|k| i128::from(ty.bits) - 1 - k)));
    }
    let ones =
        |first: i128, n: i128| -> i128 { (0..32).filter(|k| first <= *k && *k < first + n).map(|k| 1 << k).sum() };
    integers("bmsk.clamp", &["b32"], 2, |_, [a, b, _]| Some(ones(a, b)));
    integers("bmsk.wrap", &["b32"], 2, |_, [a, b, _]| Some(ones(a & 31, b & 31)));
    integers("szext.clamp", &["u32"], 2, |_, [a, b, _]| Some(a & ((1 << b.min(32)) - 1)));
    integers("szext.wrap", &["u32"], 2, |_, [a, b, _]| Some(a & ((1 << (b & 31)) - 1)));
    integers("dp4a.u32", &["u32"], 3, |_, [a, b, c]| {
        let byte = |x: i128, k: i32| x >> (8 * k) & 255;
        Some((0..4).map(|k| byte(a, k) * byte(b, k)).sum::<i128>() + c)
    });
    integers("dp4a.s32", &["s32"], 3, |_, [a, b, c]| {
        let byte = |x: i128, k: i32| signed((x >> (8 * k) & 255) as u64, 8);
        Some((0..4).map(|k| byte(a, k) * byte(b, k)).sum::<i128>() + c)
    });
    for (ty, half) in [("lo", 0), ("hi", 2)] {
        integers(&format!("dp2a.{ty}.s32"), &["s32"], 3, |_, [a, b, c]| {
            let word = |x: i128, k: i32| signed((x >> (16 * k) & 0xffff) as u64, 16);
            let byte = |x: i128, k: i32| signed((x >> (8 * k) & 255) as u64, 8);
            Some((0..2).map(|k| word(a, k) * byte(b, k + half)).sum::<i128>() + c)
        });
    }
    integers("prmt", &["b32"], 3, |_, [a, b, c]| {
        let bytes = a | b << 32;
        let one = |k: i32| {
            let selector = c >> (4 * k) & 15;
            let byte = bytes >> (8 * (selector & 7)) & 255;
            (if selector & 8 == 0 { byte } else { 255 * (byte >> 7) }) << (8 * k)
        };
        Some((0..4).map(one).sum())
    });
}

/// Shifts and fields, with amounts that are small or random.
#[test]
fn shifts_and_fields() {
    let mut random = Random(5);
    for (ty, own) in [("u16", 16), ("u32", 32), ("u64", 64), ("s16", 16), ("s32", 32), ("s64", 64)] {
        for _ in 0..CASES {
            let (a, b) = (random.integer(own), random.integer(own));
            let mut amount = || {
                if random.below(3) == 0 { random.integer(32) } else { random.below(80) }
            };
            let (n, m) = (amount(), amount());
            let ints = Integers::of(ty);
            let value = ints.value(a);
            let check = |mnemonic: &str, operands: &[u64], exact: i128| {
                let got = scalar(mnemonic, operands, 0);
                assert_eq!(got & mask(own), exact as u64 & mask(own), "{mnemonic} of {operands:x?}");
            };
            check(&format!("shr.{ty}"), &[a, n], value >> n.min(100));
            if ty.starts_with('u') {
                let clamped = if n < 64 { i128::from(a) << n } else { 0 };
                check(&format!("shl.b{own}"), &[a, n], clamped);
            }
            if own == 32 && ty == "u32" {
                let both = i128::from(a) | i128::from(b) << 32;
                check("shf.r.clamp.b32", &[a, b, n], both >> n.min(32));
                check("shf.r.wrap.b32", &[a, b, n], both >> (n & 31));
                check("shf.l.clamp.b32", &[a, b, n], both << n.min(32) >> 32);
                check("shf.l.wrap.b32", &[a, b, n], both << (n & 31) >> 32);
            }
            if own < 32 {
                continue;
            }
            // 32-bit fields take the low byte of position and length, as the manual says of both.
            let (start, length) = (n & 255, m & 255);
            let top = (start + length).min(u64::from(own)).max(start).saturating_sub(1).min(u64::from(own) - 1);
            let bit = |k: u64| i128::from(a >> k & 1);
            let sign = if ints.signed && length > 0 { bit(top.max(start.min(u64::from(own) - 1))) } else { 0 };
            let field: i128 = (0..u64::from(own))
                .map(|k| {
                    let from = start + k;
                    let inside = k < length && from < u64::from(own);
                    (if inside { bit(from) } else { sign }) << k
                })
                .sum();
            check(&format!("bfe.{ty}"), &[a, start, length], field);
            if ty.starts_with('u') {
                let inserted: i128 = (0..u64::from(own))
                    .map(|k| {
                        let inside = start <= k && k < start + length;
                        let from = if inside { a >> (k - start) } else { b >> k };
                        i128::from(from & 1) << k
                    })
                    .sum();
                check(&format!("bfi.b{own}"), &[a, b, start, length], inserted);
            }
        }
    }
}

#[test]
fn comparisons_of_integers() {
    for ty in ALL {
        let own = Integers::of(ty);
        let mut random = Random(9);
        for _ in 0..CASES {
            let (a, b) = (random.integer(own.bits), random.integer(own.bits));
            let b = if random.below(4) == 0 { a } else { b };
            let (x, y) = (own.value(a), own.value(b));
            let known = random.below(2);
            let mut all =
                vec![("eq", x == y), ("ne", x != y), ("lt", x < y), ("le", x <= y), ("gt", x > y), ("ge", x >= y)];
            if !own.signed {
                all.extend([("lo", x < y), ("ls", x <= y), ("hi", x > y), ("hs", x >= y)]);
            }
            for (name, holds) in all {
                let holds = u64::from(holds);
                let of = |mnemonic: String, operands: &[u64], part| scalar(&mnemonic, operands, part);
                assert_eq!(of(format!("setp.{name}.{ty}"), &[a, b], 0), holds, "{name}.{ty} {x} {y}");
                assert_eq!(of(format!("setp.{name}.{ty}"), &[a, b], 1), 1 - holds);
                assert_eq!(of(format!("setp.{name}.and.{ty}"), &[a, b, known], 0), holds & known);
                assert_eq!(of(format!("setp.{name}.or.{ty}"), &[a, b, known], 1), (1 - holds) | known);
                assert_eq!(of(format!("setp.{name}.xor.{ty}"), &[a, b, known], 0), holds ^ known);
                assert_eq!(of(format!("set.{name}.u32.{ty}"), &[a, b], 0), 0xffff_ffff * holds);
                assert_eq!(of(format!("set.{name}.f32.{ty}"), &[a, b], 0), 0x3f80_0000 * holds);
            }
        }
    }
}

#[test]
fn conversions_of_integers() {
    const BYTES: [&str; 8] = ["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"];
    for (from, to) in BYTES.iter().flat_map(|from| BYTES.iter().map(move |to| (from, to))) {
        let (source, target) = (Integers::of(from), Integers::of(to));
        let (low, high) = source.range();
        let fits = target.clamped(low) == low && target.clamped(high) == high;
        let mut random = Random(11);
        for _ in 0..CASES {
            let bits = random.integer(source.bits);
            let value = source.value(bits);
            let check = |mnemonic: String, exact: i128| {
                let got = scalar(&mnemonic, &[bits], 0);
                let wanted = exact as u64 & mask(target.bits);
                assert_eq!(got & mask(target.bits), wanted, "{mnemonic} of {value}");
            };
            check(format!("cvt.{to}.{from}"), value);
            if !fits {
                check(format!("cvt.sat.{to}.{from}"), target.clamped(value));
            }
        }
    }
}

/// A binary format: fraction bits, and the exponent of its smallest normal number.
#[derive(Clone, Copy)]
struct Format {
    name: &'static str,
    fraction: u32,
    lowest: i32,
    highest: i32,
}

const F16: Format = Format { name: "f16", fraction: 10, lowest: -14, highest: 15 };
const BF16: Format = Format { name: "bf16", fraction: 7, lowest: -126, highest: 127 };
const F32: Format = Format { name: "f32", fraction: 23, lowest: -126, highest: 127 };
const F64: Format = Format { name: "f64", fraction: 52, lowest: -1022, highest: 1023 };

const MODES: [&str; 4] = ["rn", "rz", "rm", "rp"];

impl Format {
    fn bits(self, value: f64) -> u64 {
        match self.name {
            "f16" => half::f16::from_f64(value).to_bits().into(),
            "bf16" => half::bf16::from_f64(value).to_bits().into(),
            "f32" => (value as f32).to_bits().into(),
            _ => value.to_bits(),
        }
    }

    /// Rounds the exact value `side` (above: 1, below: -1, exactly there: 0) of `near`; `None` where it overflows. For
    /// formats of fewer than 50 bits.
    fn round(self, near: f64, side: i32, mode: &str, flush: bool) -> Option<f64> {
        let exponent = |x: f64| ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(-1022);
        if near == 0.0 {
            return Some(near);
        }
        let grid = |lowest: i32| {
            // Just inside a power of two the grid is finer than at it.
            let inside = near.to_bits() << 12 == 0 && (side < 0) == (near > 0.0) && side != 0;
            let exponent = exponent(near) - i32::from(inside);
            let quantum = power(exponent.max(lowest) - self.fraction as i32);
            let steps = near / quantum;
            let (below, above) = (steps.floor(), steps.ceil());
            let between = steps != below || side != 0;
            let (below, above) = match side {
                1 if steps == below => (below, below + 1.0),
                -1 if steps == below => (below - 1.0, below),
                _ => (below, above),
            };
            let middle = (below + above) / 2.0;
            let up = match (mode, steps.partial_cmp(&middle)) {
                _ if !between => false,
                ("rp", _) => true,
                ("rm", _) => false,
                ("rz", _) => near < 0.0,
                (_, Some(std::cmp::Ordering::Greater)) => true,
                (_, Some(std::cmp::Ordering::Equal)) if side != 0 => side > 0,
                (_, Some(std::cmp::Ordering::Equal)) => below % 2.0 != 0.0,
                _ => false,
            };
            let steps = if up { above } else { below };
            (steps * quantum).copysign(near)
        };
        let unbounded = grid(-1000);
        if flush && unbounded.abs() < power(self.lowest) {
            return Some(0f64.copysign(near));
        }
        let result = grid(self.lowest);
        (exponent(result) <= self.highest).then_some(result)
    }
}

/// An `f64`, and the side of it on which the exact value lies.
type Exact = (f64, i32);

fn side(x: f64) -> i32 {
    i32::from(x > 0.0) - i32::from(x < 0.0)
}

/// Returns the sum of two `f64`, and its error (Knuth).
fn sum(a: f64, b: f64) -> Exact {
    let s = a + b;
    let other = s - a;
    (s, side((a - (s - other)) + (b - other)))
}

/// Returns a power of two that lifts errors of small numbers above the smallest one, below which they would vanish.
fn lift(x: f64) -> f64 {
    const SMALL: f64 = 1e-200;
    if x.abs() < SMALL { 2.0_f64.powi(300) } else { 1.0 }
}

fn product(a: f64, b: f64) -> Exact {
    let p = a * b;
    let (small, large) = if a.abs() < b.abs() { (a, b) } else { (b, a) };
    let up = lift(p);
    (p, side((small * up).mul_add(large, -(p * up))))
}

fn quotient(a: f64, b: f64) -> Exact {
    let q = a / b;
    let up = lift(a);
    (q, side((-(q * up)).mul_add(b, a * up)) * side(b))
}

fn root(a: f64) -> Exact {
    let q = a.sqrt();
    let up = lift(a);
    (q, side((-(q * up)).mul_add(q * up, a * up * up)))
}

/// Checks `opcode.mode{.ftz}.format` for all modes, on random operands; `f` gives the exact result.
#[track_caller]
fn floats(opcode: &str, format: Format, modes: &[&str], flushing: &[bool], n: usize, f: impl Fn([f64; 3]) -> Exact) {
    let mut random = Random(u64::from(format.fraction) + opcode.len() as u64);
    for (mode, &flush) in modes.iter().flat_map(|mode| flushing.iter().map(move |flush| (mode, flush))) {
        let ftz = if flush { ".ftz" } else { "" };
        let mnemonic = format!("{opcode}.{mode}{ftz}.{}", format.name);
        for _ in 0..2 * CASES {
            let values = [0; 3].map(|_| random.float(format));
            let operands = values.map(|value| format.bits(value));
            let read = |x: f64| {
                if flush && x.abs() < power(format.lowest) { 0f64.copysign(x) } else { x }
            };
            let exact = f(values.map(read));
            // The rules of zeros are in fixtures.
            if exact.0 == 0.0 || !exact.0.is_finite() || operands[..n].iter().zip(values).any(|(_, x)| x == 0.0) {
                continue;
            }
            let Some(wanted) = format.round(exact.0, exact.1, mode, flush) else { continue };
            let got = scalar(&mnemonic, &operands[..n], 0);
            assert_eq!(got, format.bits(wanted), "{mnemonic} of {:?}, bits {operands:x?}: {wanted:e}", &values[..n]);
        }
    }
}

#[test]
fn floating_point() {
    let both = [false, true];
    floats("add", F32, &MODES, &both, 2, |[a, b, _]| sum(a, b));
    floats("sub", F32, &MODES, &both, 2, |[a, b, _]| sum(a, -b));
    floats("mul", F32, &MODES, &both, 2, |[a, b, _]| (a * b, 0));
    floats("fma", F32, &MODES, &both, 3, |[a, b, c]| sum(a * b, c));
    floats("mad", F32, &MODES, &both, 3, |[a, b, c]| sum(a * b, c));
    floats("div", F32, &MODES, &both, 2, |[a, b, _]| quotient(a, b));
    floats("rcp", F32, &MODES, &both, 1, |[a, ..]| quotient(1.0, a));
    floats("sqrt", F32, &MODES, &both, 1, |[a, ..]| root(a.max(0.0)));
    floats("add", F16, &["rn"], &both, 2, |[a, b, _]| sum(a, b));
    floats("sub", F16, &["rn"], &both, 2, |[a, b, _]| sum(a, -b));
    floats("mul", F16, &["rn"], &both, 2, |[a, b, _]| (a * b, 0));
    floats("fma", F16, &["rn"], &both, 3, |[a, b, c]| sum(a * b, c));
    floats("fma", BF16, &["rn"], &[false], 3, |[a, b, c]| sum(a * b, c));
}

/// `f64` has no wider type to compute in: the nearest result and its error give the others.
#[test]
fn floating_point_of_64_bits() {
    let check = |opcode: &str, n: usize, f: &dyn Fn([f64; 3]) -> Exact| {
        let mut random = Random(3 + opcode.len() as u64);
        for mode in MODES {
            for _ in 0..2 * CASES {
                let values = [0; 3].map(|_| random.float(F64));
                let (nearest, side) = f(values);
                if nearest == 0.0 || !nearest.is_finite() {
                    continue;
                }
                let inward = (side < 0) == (nearest > 0.0);
                let wanted = match (mode, side) {
                    (_, 0) | ("rn", _) => nearest,
                    ("rz", _) if inward => {
                        if nearest > 0.0 {
                            nearest.next_down()
                        } else {
                            nearest.next_up()
                        }
                    }
                    ("rm", -1) => nearest.next_down(),
                    ("rp", 1) => nearest.next_up(),
                    _ => nearest,
                };
                let operands = values.map(f64::to_bits);
                let got = scalar(&format!("{opcode}.{mode}.f64"), &operands[..n], 0);
                assert_eq!(f64::from_bits(got), wanted, "{opcode}.{mode}.f64 of {values:?}");
            }
        }
    };
    check("add", 2, &|[a, b, _]| sum(a, b));
    check("sub", 2, &|[a, b, _]| sum(a, -b));
    check("mul", 2, &|[a, b, _]| product(a, b));
    check("div", 2, &|[a, b, _]| quotient(a, b));
    check("rcp", 1, &|[a, ..]| quotient(1.0, a));
    check("sqrt", 1, &|[a, ..]| root(a));
}

#[test]
fn conversions_of_floats() {
    for (to, from) in [(F32, F64), (F16, F32), (BF16, F32), (F16, F64), (BF16, F64)] {
        let mut random = Random(17);
        for mode in MODES {
            let mnemonic = format!("cvt.{mode}.{}.{}", to.name, from.name);
            for _ in 0..4 * CASES {
                // Around the range of the narrow format.
                let wide = random.float(to) * (1.0 + random.float(F64).abs().min(1.0) * power(-(to.fraction as i32)));
                let value = if from.name == "f32" { f64::from(wide as f32) } else { wide };
                if value == 0.0 {
                    continue;
                }
                let Some(wanted) = to.round(value, 0, mode, false) else { continue };
                let got = scalar(&mnemonic, &[from.bits(value)], 0);
                assert_eq!(got, to.bits(wanted), "{mnemonic} of {value:e}");
            }
        }
    }
}

#[test]
fn conversions_between_integers_and_floats() {
    for ty in ["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"] {
        let own = Integers::of(ty);
        let mut random = Random(19);
        for (mode, _) in MODES.iter().flat_map(|mode| (0..CASES).map(move |k| (mode, k))) {
            let bits = random.integer(own.bits);
            let value = own.value(bits);
            let near = value as f64;
            let missing = side((value - near as i128) as f64);
            for format in [F32, F16] {
                let Some(wanted) = format.round(near, missing, mode, false) else { continue };
                let mnemonic = format!("cvt.{mode}.{}.{ty}", format.name);
                let got = scalar(&mnemonic, &[bits], 0);
                assert_eq!(got, format.bits(wanted), "{mnemonic} of {value}");
            }
            let to_integer = [
                ("rni", f64::round_ties_even as fn(f64) -> f64),
                ("rzi", f64::trunc),
                ("rmi", f64::floor),
                ("rpi", f64::ceil),
            ];
            for (rounding, whole) in to_integer {
                for format in [F16, F32, F64] {
                    let magnitude = power(random.below(u64::from(own.bits) + 3) as i32 - 2);
                    let x = random.float(format) * if format.name == "f16" { 1.0 } else { magnitude };
                    let x = if format.name == "f32" { f64::from(x as f32) } else { x };
                    let exact = whole(x);
                    let wanted =
                        own.clamped(if exact.abs() < 1e30 { exact as i128 } else { i128::MAX * side(exact) as i128 });
                    let mnemonic = format!("cvt.{rounding}.{ty}.{}", format.name);
                    let got = scalar(&mnemonic, &[format.bits(x)], 0);
                    assert_eq!(got & mask(own.bits), wanted as u64 & mask(own.bits), "{mnemonic} of {x:e}");
                }
            }
        }
    }
}
