//! Values to try: the edges of each type, their cross products, and a sample of everything else.
//!
//! All of it is a function of the types alone, so that a GPU and the emulator are asked the same.

use ptx::ast::Type;

use super::BLOCK;
use catalog::split_mix::SplitMix64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Of(Type),
    /// Shift amounts, field positions and lengths.
    Amount,
    Truth,
    /// Floats whose products, quotients, sums and conversions lie around the smallest normal number.
    Tiny(Type),
    /// An input that the instruction does not read.
    Unused,
}

pub(super) fn random(seed: u64) -> SplitMix64 {
    SplitMix64(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x243F_6A88_85A3_08D3)
}

/// Inputs for one, two or three operands; each list is as long as the others and fills whole blocks.
pub(super) fn inputs(kinds: [Kind; 3]) -> [Vec<u64>; 3] {
    let [a, b, c] = kinds;
    let mut random = random(1);
    if let Kind::Tiny(ty) = a {
        return tiny(ty);
    }
    let mut rows: Vec<[u64; 3]> = Vec::new();
    match (b == Kind::Unused, c == Kind::Unused) {
        (true, true) => {
            rows.extend(edges(a).into_iter().map(|x| [x, 0, 0]));
            while rows.len() < 256 {
                rows.push([sample(a, &mut random), 0, 0]);
            }
        }
        (false, true) => {
            for x in crossed(a) {
                rows.extend(crossed(b).into_iter().map(|y| [x, y, 0]));
            }
            for _ in 0..64 {
                rows.push([sample(a, &mut random), sample(b, &mut random), 0]);
            }
        }
        _ => {
            let lists = [edges(a), edges(b), edges(c)];
            for i in 0..512 {
                let mut row = [0, 1, 2].map(|k| lists[k][random.below(lists[k].len())]);
                if i % 3 == 2 {
                    row = [sample(a, &mut random), sample(b, &mut random), sample(c, &mut random)];
                }
                // The product that the sum takes away again shows whether it was rounded in between.
                if i % 6 == 5 {
                    row[2] = cancelling(a, row);
                }
                rows.push(row);
            }
        }
    }
    while !rows.len().is_multiple_of(BLOCK as usize) {
        rows.push([sample(a, &mut random), sample(b, &mut random), sample(c, &mut random)]);
    }
    [0, 1, 2].map(|k| rows.iter().map(|row| row[k]).collect())
}

/// Returns the edges that are tried with each other: all amounts, of other kinds the first few.
fn crossed(kind: Kind) -> Vec<u64> {
    let mut list = edges(kind);
    if kind != Kind::Amount {
        list.truncate(22);
    }
    list
}

/// Returns `-(a * b)`, rounded.
fn cancelling(kind: Kind, [a, b, c]: [u64; 3]) -> u64 {
    match kind {
        Kind::Of(Type::F32) => (-(f32::from_bits(a as u32) * f32::from_bits(b as u32))).to_bits().into(),
        Kind::Of(Type::F64) => (-(f64::from_bits(a) * f64::from_bits(b))).to_bits(),
        _ => c,
    }
}

pub(super) fn edges(kind: Kind) -> Vec<u64> {
    match kind {
        Kind::Unused | Kind::Tiny(_) => vec![0],
        Kind::Truth => vec![0, 1],
        Kind::Amount => {
            (0..=40).chain([63, 64, 65, 127, 128, 255, 256, 257, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF]).collect()
        }
        Kind::Of(ty) => match ty {
            Type::Pred => vec![0, 1],
            Type::F32 => floats("f32"),
            Type::F64 => floats("f64"),
            Type::F16 => floats("f16"),
            Type::Bf16 => floats("bf16"),
            Type::F16x2 => pairs(&floats("f16")),
            Type::Bf16x2 => pairs(&floats("bf16")),
            _ => integers(8 * ty.bytes()),
        },
    }
}

/// Draws any value, with a leaning towards what matters for the type.
fn sample(kind: Kind, random: &mut SplitMix64) -> u64 {
    let bits = random.next_u64();
    match kind {
        Kind::Unused | Kind::Tiny(_) => 0,
        Kind::Truth | Kind::Of(Type::Pred) => bits & 1,
        Kind::Amount => bits % 70,
        Kind::Of(Type::F32) => float(random, 8, 23),
        Kind::Of(Type::F64) => float(random, 11, 52),
        Kind::Of(Type::F16) => float(random, 5, 10),
        Kind::Of(Type::Bf16) => float(random, 8, 7),
        Kind::Of(Type::F16x2) => float(random, 5, 10) | float(random, 5, 10) << 16,
        Kind::Of(Type::Bf16x2) => float(random, 8, 7) | float(random, 8, 7) << 16,
        // Integers of every magnitude, not only large ones.
        Kind::Of(ty) => {
            let width = 8 * ty.bytes();
            let value = ((bits as i64) >> (random.next_u64() % u64::from(width.min(63)))) as u64;
            if width == 64 { value } else { value & ((1 << width) - 1) }
        }
    }
}

/// Returns a float near 1 (in the range of halves and of integers), often with a mantissa that ends in a tie.
fn float(random: &mut SplitMix64, exponent_bits: u32, mantissa_bits: u32) -> u64 {
    let bits = random.next_u64();
    let bias = (1u64 << (exponent_bits - 1)) - 1;
    let spread = (bias / 2).min(66);
    let exponent = match bits % 8 {
        0 => random.next_u64() % (2 * bias + 1),
        1 => bias + random.next_u64() % spread,
        _ => bias + spread / 3 - random.next_u64() % (2 * spread / 3).max(1),
    };
    let mut mantissa = random.next_u64() & ((1 << mantissa_bits) - 1);
    let keep = [0, 7, 8, 10, 11, 23, 24, 2][(bits >> 8) as usize % 8].min(mantissa_bits);
    mantissa &= !0 << (mantissa_bits - keep);
    if (bits >> 16) & 7 == 0 {
        mantissa = random.next_u64() & ((1 << mantissa_bits) - 1);
    }
    let sign = (bits >> 32) & 1;
    sign << (exponent_bits + mantissa_bits) | exponent << mantissa_bits | mantissa
}

/// Returns the rows of three floats whose product, quotient, or sum of product and third lies around the smallest
/// normal number, where flushing and rounding meet: exponents chosen so, fractions at and beside their ends.
///
/// `f64` stands for sources of conversions to `f32`: around the smallest normal number of that.
fn tiny(ty: Type) -> [Vec<u64>; 3] {
    let mut random = random(3);
    let (exponent_bits, fraction_bits, lanes) = match ty {
        Type::F16 => (5, 10, 1),
        Type::F16x2 => (5, 10, 2),
        _ => (8, 23, 1),
    };
    let mut rows: Vec<[u64; 3]> = Vec::new();
    while rows.len() < 384 {
        let mut row = [0; 3];
        for lane in 0..lanes {
            let one = match ty {
                Type::F64 => [around(&mut random), 0, 0],
                _ => near_smallest(&mut random, exponent_bits, fraction_bits, rows.len()),
            };
            row.iter_mut().zip(one).for_each(|(word, bits)| *word |= bits << (16 * lane));
        }
        rows.push(row);
    }
    [0, 1, 2].map(|k| rows.iter().map(|row| row[k]).collect())
}

/// Returns a fraction of all zeros, all ones, nearly so, or any.
fn fraction(random: &mut SplitMix64, bits: u32) -> u64 {
    let all = (1 << bits) - 1;
    match random.below(8) {
        0 | 1 => 0,
        2 => all,
        3 => random.below(4) as u64,
        4 => all - random.below(4) as u64,
        5 => 1 << random.below(bits as usize),
        6 => all & !(1 << random.below(bits as usize)),
        _ => random.next_u64() & all,
    }
}

fn near_smallest(random: &mut SplitMix64, exponent_bits: u32, fraction_bits: u32, row: usize) -> [u64; 3] {
    let bias = (1i64 << (exponent_bits - 1)) - 1;
    let lowest = 1 - bias;
    let make = |exponent: i64, random: &mut SplitMix64| {
        let sign = random.next_u64() & 1;
        let biased = (exponent + bias).clamp(0, 2 * bias) as u64;
        sign << (exponent_bits + fraction_bits) | biased << fraction_bits | fraction(random, fraction_bits)
    };
    let span = 2 * bias as usize;
    let first = lowest + random.below(span) as i64;
    let off = random.below(4) as i64 - 2;
    // In turn: a product, a quotient, a reciprocal or a sum that lies there.
    let (a, b) = match row % 4 {
        0 | 3 => (first.min(0), lowest - first.min(0) + off),
        1 => (first.min(1), first.min(1) - lowest + off),
        _ => (-lowest + off.min(1), first),
    };
    let third = match row % 8 {
        3 => 0,
        _ => lowest - random.below(3) as i64 + 1,
    };
    let mut bits = [make(a, random), make(b, random), make(third, random)];
    if row % 8 == 3 {
        bits[2] = 0;
    }
    bits
}

/// Returns an `f64` around the smallest normal `f32`, often half a unit of its last place away from it.
fn around(random: &mut SplitMix64) -> u64 {
    let smallest = u64::from(f32::MIN_POSITIVE.to_bits() >> 23).wrapping_sub(127).wrapping_add(1023) << 52;
    let sign = (random.next_u64() & 1) << 63;
    let bits = match random.below(3) {
        0 => smallest.wrapping_sub(1 << random.below(31)).wrapping_sub(random.next_u64() & 1),
        1 => smallest.wrapping_add(1 << random.below(31)).wrapping_sub(random.next_u64() & 1),
        _ => smallest.wrapping_sub(2 << 52).wrapping_add(random.next_u64() & ((3 << 52) - 1)),
    };
    sign | bits
}

fn integers(width: u32) -> Vec<u64> {
    let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
    let top = 1 << (width - 1);
    let half = 1 << (width / 2);
    let mut list = vec![0, 1, 2, 3, 7, 10, 100];
    list.extend([top, top - 1, top + 1, mask, mask - 1, mask - 6, half, half - 1, half + 1]);
    list.extend([0x5555_5555_5555_5555, 0xAAAA_AAAA_AAAA_AAAA, 0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210]);
    list.into_iter().map(|v: u64| v & mask).collect()
}

/// Returns each edge in the lower half, beside another one in the upper half.
fn pairs(list: &[u64]) -> Vec<u64> {
    let other = |i: usize| list[(i * 7 + 3) % list.len()];
    list.iter().enumerate().map(|(i, low)| low | other(i) << 16).collect()
}

/// Returns the edges of a type of floats from `edges.txt`.
fn floats(name: &str) -> Vec<u64> {
    let rows = include_str!("edges.txt").lines().filter_map(|row| row.strip_prefix(name)?.strip_prefix(": "));
    let words = rows.flat_map(|row| row.split_once("  #").map_or(row, |(bits, _)| bits).split(' '));
    words.map(|bits| u64::from_str_radix(&bits.replace('_', ""), 16).expect("bits")).collect()
}
