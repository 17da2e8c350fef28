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
            Type::F32 => F32.iter().map(|&bits| u64::from(bits)).collect(),
            Type::F64 => F64.to_vec(),
            Type::F16 => F16.iter().map(|&bits| u64::from(bits)).collect(),
            Type::Bf16 => BF16.iter().map(|&bits| u64::from(bits)).collect(),
            Type::F16x2 => pairs(F16),
            Type::Bf16x2 => pairs(BF16),
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
fn pairs(list: &[u16]) -> Vec<u64> {
    let other = |i: usize| list[(i * 7 + 3) % list.len()];
    list.iter().enumerate().map(|(i, &low)| u64::from(low) | u64::from(other(i)) << 16).collect()
}

#[rustfmt::skip]
const F32: &[u32] = &[
    0x0000_0000, 0x8000_0000, // zeros
    0x3F80_0000, 0xBF80_0000, // 1, -1
    0x3F80_0001, 0x3F7F_FFFF, // neighbours of 1
    0x0000_0001, 0x807F_FFFF, // smallest and largest subnormal
    0x0080_0000, 0x8080_0001, // smallest normal
    0x7F7F_FFFF, 0xFF7F_FFFF, // largest
    0x7F80_0000, 0xFF80_0000, // infinities
    0x7FC1_2345, 0xFF81_2345, // quiet and signalling NaN with payloads
    0x3300_0000, 0xB380_0000, // 2^-25, -2^-24: halves of a unit in the last place of 1
    0x3F00_0000, 0x4020_0000, // 0.5, 2.5: ties between whole numbers
    0xC060_0000, 0x4B00_0001, // -3.5, 2^23 + 1
    0x4EFF_FFFF, 0x4F00_0000, // around 2^31
    0x4F7F_FFFF, 0xCF00_0001, // below 2^32, below -2^31
    0x5F00_0000, 0x437F_8000, // 2^63, 255.5
    0x3DCC_CCCD, 0x4049_0FDB, // 0.1, pi
];

#[rustfmt::skip]
const F64: &[u64] = &[
    0x0000_0000_0000_0000, 0x8000_0000_0000_0000, 0x3FF0_0000_0000_0000, 0xBFF0_0000_0000_0000,
    0x3FF0_0000_0000_0001, 0x3FEF_FFFF_FFFF_FFFF, 0x0000_0000_0000_0001, 0x800F_FFFF_FFFF_FFFF,
    0x0010_0000_0000_0000, 0x8010_0000_0000_0001, 0x7FEF_FFFF_FFFF_FFFF, 0xFFEF_FFFF_FFFF_FFFF,
    0x7FF0_0000_0000_0000, 0xFFF0_0000_0000_0000, 0x7FF8_1234_5678_9ABC, 0xFFF0_1234_5678_9ABC,
    0x3CA0_0000_0000_0000, 0xBCB0_0000_0000_0000,
    0x3FE0_0000_0000_0000, 0x4004_0000_0000_0000, // 0.5, 2.5
    0xC00C_0000_0000_0000, 0x4330_0000_0000_0001, // -3.5, 2^52 + 1
    0x41DF_FFFF_FFFF_FFFF, 0x41E0_0000_0000_0000, // around 2^31
    0x43E0_0000_0000_0000, 0xC3E0_0000_0000_0001, // around 2^63
    0x3FF0_0000_1000_0000, 0x36A0_0000_0000_0000, // a tie of f32, half of its smallest
    0x47EF_FFFF_F000_0000, 0x3FB9_9999_9999_999A, // where f32 overflows, 0.1
];

const F16: &[u16] = &[
    0x0000, 0x8000, 0x3C00, 0xBC00, 0x3C01, 0x3BFF, 0x0001, 0x83FF, 0x0400, 0x8401, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00,
    0x7E12, 0xFD01, 0x1000, 0x9400, 0x3800, 0x4100, 0xC300, 0x6401, 0x5BF8, 0x2E66,
];

const BF16: &[u16] = &[
    0x0000, 0x8000, 0x3F80, 0xBF80, 0x3F81, 0x3F7F, 0x0001, 0x807F, 0x0080, 0x8081, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80,
    0x7FC1, 0xFF81, 0x3B80, 0xBC00, 0x3F00, 0x4020, 0xC060, 0x4301, 0x4F00, 0x3DCD,
];
