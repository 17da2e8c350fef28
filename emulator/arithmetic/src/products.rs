//! The arithmetic of tensor cores, as an H200 (sm_90) computes it, bit by bit. Other chips group and cut differently.
//!
//! One instruction computes each element `d = c + Σ a[k]·b[k]` as one fixed-point sum over all of its k, in no order:
//!
//! 1. Products are exact. The exponent of a product is the sum of its factors' exponents, without normalisation; a
//!    subnormal factor counts with the exponent of the smallest normal number.
//! 2. The largest exponent of the products and of c that are not zero, at least −133, gives the unit of the sum:
//!    2^(largest − 25), for FP8 in instructions of a warpgroup 2^(largest − 13).
//! 3. The magnitude of each term is truncated to a multiple of the unit, and the sum of these is exact.
//! 4. The sum is truncated to `f32` (FP8 of a warpgroup: to 13 bits after the point), or rounded once to the nearest
//!    `f16`, ties to even. Beyond the largest number it is infinite, and a zero is always +0.
//! 5. A NaN, 0·∞ or ∞−∞ among the terms gives `0x7fffffff` (`f16`: `0x7fff`), otherwise an infinity gives itself.
//!
//! TF32 ignores the low 13 bits of a register. `mma.sync` of FP8 is not an instruction of sm_90: ptxas expands it to
//! two sums of `f16` factors and an ordinary addition of c, in the accumulators' type ([`Unit::Warp`]). FP64 is a chain
//! of fused multiply-adds, c first. Integers ([`Whole`]) are summed exactly, then added to c, also where ptxas expands
//! an instruction. A sparse product is a sum of as many terms as A has elements.
//!
//! [`Product::multiply`] works on whole tiles. Factors are decoded once ([`Product::decode`]), eight side by side
//! ([`Factors`]), and eight neighbouring elements are computed together with vector instructions.
//!
//! The rules were measured on one H200 (driver 580, CUDA 13.0, 2026-11-22); `tests/data/mma` has 16 962 elements of it,
//! and what an H100 gave for integers, sparse tiles and FP8 with sums of `f16` (2026-11-26).

mod eight;
mod whole;

use crate::half::{f16_to_f32, f32_to_f16};
use crate::soft;
pub use crate::soft::Round;
#[cfg(target_arch = "x86_64")]
use eight::Avx2;
use eight::Eight;
pub use whole::{Overflow, Whole, WholeType};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FactorType {
    /// 8 bits of exponent, 7 after the point.
    Bf16,
    F16,
    /// The upper 19 bits of an `f32`.
    Tf32,
    /// FP8 with 4 bits of exponent and 3 after the point; no infinity.
    E4m3,
    /// FP8 with 5 bits of exponent and 2 after the point.
    E5m2,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccumulatorType {
    F32,
    F16,
}

impl FactorType {
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "bf16" => Self::Bf16,
            "f16" => Self::F16,
            "tf32" => Self::Tf32,
            "e4m3" => Self::E4m3,
            "e5m2" => Self::E5m2,
            _ => return None,
        })
    }
}

impl AccumulatorType {
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "f32" => Some(Self::F32),
            "f16" => Some(Self::F16),
            _ => None,
        }
    }
}

/// Kind of the instruction. The two differ for FP8 only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    /// `mma.sync`, of one warp.
    Warp,
    /// `wgmma`, of four warps.
    Warpgroup,
}

/// Eight factors, decoded: magnitude · 2^(exponent − bits after the point).
#[derive(Debug, Clone, Copy)]
pub struct Factors {
    /// Significand: 0 for an infinity, 1 for a NaN.
    magnitude: [i32; 8],
    /// Exponent; [`ZERO`] for a zero, [`SPECIAL`] for infinities and NaNs.
    exponent: [i32; 8],
    /// −1 for a negative number, else 0.
    sign: [i32; 8],
}

/// Exponent of a zero: below all others, also with another exponent added.
const ZERO: i32 = -(1 << 12);
/// Exponent of infinities and NaNs: above all others, also with [`ZERO`] added.
const SPECIAL: i32 = 1 << 20;
/// Smallest exponent that gives the unit of a sum.
const FLOOR: i32 = -133;

#[derive(Debug, Clone, Copy)]
struct Factor {
    nan: bool,
    exponent: i32,
    sign: i32,
}

impl Factors {
    pub const ZERO: Self = Self { magnitude: [0; 8], exponent: [ZERO; 8], sign: [0; 8] };

    /// Shifts factors of E5M2 to as many bits after the point as those of E4M3.
    pub fn widen(&mut self) {
        for (magnitude, exponent) in self.magnitude.iter_mut().zip(self.exponent) {
            *magnitude <<= i32::from(exponent != SPECIAL);
        }
    }

    fn at(&self, i: usize) -> Factor {
        Factor {
            nan: self.exponent[i] == SPECIAL && self.magnitude[i] != 0,
            exponent: self.exponent[i],
            sign: self.sign[i],
        }
    }

    fn copy(&mut self, i: usize, from: &Self, j: usize) {
        self.magnitude[i] = from.magnitude[j];
        self.exponent[i] = from.exponent[j];
        self.sign[i] = from.sign[j];
    }

    /// Decodes numbers in the low bits of each word.
    #[inline(always)]
    fn decode<V: Eight>(bits: V, format: BitLayout) -> Self {
        let fraction = bits.and(V::splat((1 << format.behind_point) - 1));
        let biased = bits.right(format.behind_point).and(V::splat(format.largest));
        let sign = bits.right(format.sign).and(V::splat(1));
        let sign = V::splat(0).sub(sign);
        let normal = biased.exceeds(V::splat(0));
        let magnitude = fraction.or(normal.and(V::splat(1 << format.behind_point)));
        let exponent = biased.max(V::splat(1)).sub(V::splat(format.bias));
        let exponent = exponent.replace_where(magnitude.equals(V::splat(0)), V::splat(ZERO));
        let (special, nan) = if format.infinities {
            let special = biased.equals(V::splat(format.largest));
            (special, V::splat(1).replace_where(fraction.equals(V::splat(0)), V::splat(0)))
        } else {
            let ones = V::splat(format.largest << format.behind_point | ((1 << format.behind_point) - 1));
            (bits.and(ones).equals(ones), V::splat(1))
        };
        Self {
            magnitude: magnitude.replace_where(special, nan).store(),
            exponent: exponent.replace_where(special, V::splat(SPECIAL)).store(),
            sign: sign.store(),
        }
    }
}

/// Fields of a floating-point format.
#[derive(Debug, Clone, Copy)]
struct BitLayout {
    behind_point: u32,
    /// Largest biased exponent.
    largest: i32,
    bias: i32,
    sign: u32,
    /// Whether the largest exponent stands for infinities and NaNs; otherwise all ones are the only NaN.
    infinities: bool,
}

impl BitLayout {
    const fn ieee(exponent_bits: u32, behind_point: u32) -> Self {
        let largest = (1 << exponent_bits) - 1;
        Self { behind_point, largest, bias: largest >> 1, sign: exponent_bits + behind_point, infinities: true }
    }
}

const F32: BitLayout = BitLayout::ieee(8, 23);
const F16: BitLayout = BitLayout::ieee(5, 10);
const BF16: BitLayout = BitLayout::ieee(8, 7);
const TF32: BitLayout = BitLayout::ieee(8, 10);
const E5M2: BitLayout = BitLayout::ieee(5, 2);
const E4M3: BitLayout = BitLayout { infinities: false, ..BitLayout::ieee(4, 3) };

/// The arithmetic of an instruction: the types of its operands, and the unit that executes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Product {
    kind: FactorType,
    sum: AccumulatorType,
    unit: Unit,
}

/// Alignment of the terms of a sum, and the precision of its result.
#[derive(Debug, Clone, Copy)]
struct Rule {
    /// Bits of a term below the largest exponent.
    cut: i32,
    /// Shift that moves a product's magnitude to the unit of the sum, were its exponent the largest.
    product_left: u32,
    /// Shifts for c: left, then right.
    c_left: u32,
    c_right: u32,
    /// Bits of an `f64` that an `f32` result keeps.
    keep: u64,
    sum: AccumulatorType,
}

impl Product {
    /// Describes an instruction with factors of `kind` and accumulators of `sum`, executed by `unit`.
    pub const fn new(kind: FactorType, sum: AccumulatorType, unit: Unit) -> Self {
        Self { kind, sum, unit }
    }

    /// Returns whether it is `mma.sync` of FP8: two sums of `f16` factors and an addition.
    const fn expanded(self) -> bool {
        matches!(self.kind, FactorType::E4m3 | FactorType::E5m2) && matches!(self.unit, Unit::Warp)
    }

    /// Decodes factors: the low 8, 16 or 32 bits of each word, eight words at a time.
    pub fn decode(self, bits: &[[u32; 8]], to: &mut [Factors]) {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the instructions.
            unsafe { self.decode_avx2(bits, to) };
            return;
        }
        self.decode_any::<[i32; 8]>(bits, to);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn decode_avx2(self, bits: &[[u32; 8]], to: &mut [Factors]) {
        self.decode_any::<Avx2>(bits, to);
    }

    #[inline(always)]
    fn decode_any<V: Eight>(self, bits: &[[u32; 8]], to: &mut [Factors]) {
        let format = match self.kind {
            FactorType::Bf16 => BF16,
            FactorType::Tf32 => TF32,
            FactorType::E4m3 if !self.expanded() => E4M3,
            FactorType::E5m2 if !self.expanded() => E5M2,
            FactorType::F16 | FactorType::E4m3 | FactorType::E5m2 => F16,
        };
        for (bits, to) in bits.iter().zip(to) {
            let bits = match self.kind {
                FactorType::Tf32 => bits.map(|bits| bits >> 13),
                FactorType::E4m3 if self.expanded() => bits.map(e4m3_to_f16),
                FactorType::E5m2 if self.expanded() => bits.map(|bits| bits << 8),
                _ => *bits,
            };
            *to = Factors::decode(V::load(&bits.map(|bits| bits as i32)), format);
        }
    }

    fn rule(self) -> Rule {
        let behind_point = match self.kind {
            FactorType::Bf16 => 7,
            FactorType::E4m3 if !self.expanded() => 3,
            FactorType::E5m2 if !self.expanded() => 2,
            _ => 10,
        };
        let eight_bits = matches!(self.kind, FactorType::E4m3 | FactorType::E5m2) && self.unit == Unit::Warpgroup;
        let cut = if eight_bits { 13 } else { 25 };
        let c_behind_point = match self.sum {
            AccumulatorType::F32 => 23,
            AccumulatorType::F16 => 10,
        };
        Rule {
            cut,
            product_left: cut as u32 - 2 * behind_point,
            c_left: (cut as u32).saturating_sub(c_behind_point),
            c_right: c_behind_point.saturating_sub(cut as u32),
            keep: !((1 << (52 - if eight_bits { 13 } else { 23 })) - 1),
            sum: self.sum,
        }
    }

    /// Computes D = A·B + D of a tile.
    ///
    /// `a` has the factors of each row by k, eight at a time: `k.div_ceil(8)` entries for each row, of which the last
    /// may be partly used. `b` has `k` entries for each eight columns. `d` has the bits of the accumulators row by
    /// row: as many columns as `b`, and as many rows as `a`; an `f16` is in the low half.
    ///
    /// `k` is that of the instruction: another k is another sum.
    pub fn multiply(self, a: &[Factors], b: &[Factors], k: usize, d: &mut [u32]) {
        if !self.expanded() {
            return tile(self.rule(), a, b, k, d);
        }
        // ptxas sums the elements of the lower halves of the registers first.
        let mut sums = vec![0; d.len()];
        for half in [0, 2] {
            let mut a_half = vec![Factors::ZERO; a.len().div_ceil(2)];
            let mut b_half = Vec::with_capacity(b.len() / 2);
            for (row, a) in a_half.chunks_mut(k / 2 / 8).zip(a.chunks(k / 8)) {
                let chosen = (0..k).filter(|k| k % 4 / 2 * 2 == half);
                chosen.enumerate().for_each(|(i, k)| row[i / 8].copy(i % 8, &a[k / 8], k % 8));
            }
            b_half.extend((0..b.len()).filter(|i| i % 4 / 2 * 2 == half).map(|i| b[i]));
            tile(self.rule(), &a_half, &b_half, k / 2, &mut sums);
        }
        for (d, sum) in d.iter_mut().zip(sums) {
            *d = match self.sum {
                AccumulatorType::F32 => canonical(f32::from_bits(*d) + f32::from_bits(sum)),
                AccumulatorType::F16 => add_f16(*d, sum),
            };
        }
    }
}

/// Computes D = A·B + D of a tile of `f64`: `a` has `k` numbers for each row, `b` for each column, `d` is row by row.
pub fn multiply_f64(a: &[f64], b: &[f64], k: usize, d: &mut [f64], round: Round) {
    if round != Round::Nearest {
        return tile_f64(a, b, k, d, |a, b, c| {
            let bits = soft::fma(a.to_bits(), b.to_bits(), c.to_bits(), soft::F64, round);
            bits.map_or_else(|| a.mul_add(b, c), f64::from_bits)
        });
    }
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has the instructions.
        unsafe { tile_f64_fma(a, b, k, d) };
        return;
    }
    tile_f64(a, b, k, d, f64::mul_add);
}

#[inline(always)]
fn tile_f64(a: &[f64], b: &[f64], k: usize, d: &mut [f64], fma: impl Fn(f64, f64, f64) -> f64) {
    if k == 0 || b.is_empty() {
        return;
    }
    let columns = b.len() / k;
    for (row, d) in a.chunks_exact(k).zip(d.chunks_exact_mut(columns)) {
        for (column, d) in b.chunks_exact(k).zip(d) {
            *d = row.iter().zip(column).fold(*d, |sum, (a, b)| fma(*a, *b, sum));
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "fma")]
fn tile_f64_fma(a: &[f64], b: &[f64], k: usize, d: &mut [f64]) {
    tile_f64(a, b, k, d, f64::mul_add);
}

/// Returns the bits of `x`, with the GPU's only NaN.
fn canonical(x: f32) -> u32 {
    if x.is_nan() { NAN } else { x.to_bits() }
}

/// Returns the sum of two `f16`, with the GPU's only NaN.
fn add_f16(x: u32, y: u32) -> u32 {
    let sum = f16_to_f32(x as u16) + f16_to_f32(y as u16);
    if sum.is_nan() { NAN_F16 } else { u32::from(f32_to_f16(sum)) }
}

const NAN: u32 = 0x7fff_ffff;
const NAN_F16: u32 = 0x7fff;

fn e4m3_to_f16(bits: u32) -> u32 {
    let sign = (bits & 0x80) << 8;
    if bits & 0x7f == 0x7f {
        return sign | NAN_F16;
    }
    // The exponent's bias differs by 8; the product takes subnormals along.
    let scaled = f16_to_f32(((bits & 0x7f) << 7) as u16) * 256.0;
    sign | u32::from(f32_to_f16(scaled))
}

fn tile(rule: Rule, a: &[Factors], b: &[Factors], k: usize, d: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the instructions.
        unsafe { tile_avx2(rule, a, b, k, d) };
        return;
    }
    tile_any::<[i32; 8]>(rule, a, b, k, d);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn tile_avx2(rule: Rule, a: &[Factors], b: &[Factors], k: usize, d: &mut [u32]) {
    tile_any::<Avx2>(rule, a, b, k, d);
}

#[inline(always)]
fn tile_any<V: Eight>(rule: Rule, a: &[Factors], b: &[Factors], k: usize, d: &mut [u32]) {
    if k == 0 || b.len() < k {
        return;
    }
    let columns = b.len() / k * 8;
    for (row, d) in a.chunks_exact(k.div_ceil(8)).zip(d.chunks_exact_mut(columns)) {
        for (columns, d) in b.chunks_exact(k).zip(d.chunks_exact_mut(8)) {
            if let Ok(d) = d.try_into() {
                eight::<V>(rule, row, columns, d);
            }
        }
    }
}

/// Computes eight neighbouring elements of a row.
#[inline(always)]
fn eight<V: Eight>(rule: Rule, a: &[Factors], b: &[Factors], d: &mut [u32; 8]) {
    let c = Factors::decode(V::load(&d.map(|bits| bits as i32)), rule.sum_format());
    let mut largest = V::splat(FLOOR).max(V::load(&c.exponent));
    for (a, b) in a.iter().zip(b.chunks(8)) {
        for (a, b) in a.exponent.iter().zip(b) {
            largest = largest.max(V::splat(*a).add(V::load(&b.exponent)));
        }
    }
    let exponents = largest.store();
    if exponents.iter().fold(false, |any, &e| any | (e > SPECIAL / 2)) {
        return with_specials(rule, a, b, &c, d);
    }
    let sums = finite::<V>(rule, a, b, &c, largest);
    rule.results(&sums, &exponents, d);
}

/// Returns the sums of eight elements, in units.
#[inline(always)]
fn finite<V: Eight>(rule: Rule, a: &[Factors], b: &[Factors], c: &Factors, largest: V) -> [f64; 8] {
    let signed = |term: V, sign: V| term.xor(sign).sub(sign);
    let below = largest.sub(V::load(&c.exponent));
    let term = V::load(&c.magnitude).left(rule.c_left).right(rule.c_right);
    let mut part = signed(term.right_by(below), V::load(&c.sign));
    let mut sums = [0.0; 8];
    // A term is below 2^27, so eight of them and c fit.
    for (a, b) in a.iter().zip(b.chunks(8)) {
        for (k, b) in b.iter().enumerate() {
            let below = largest.sub(V::splat(a.exponent[k]).add(V::load(&b.exponent)));
            let product = V::splat(a.magnitude[k]).mul(V::load(&b.magnitude));
            let term = product.left(rule.product_left).right_by(below);
            part = part.add(signed(term, V::splat(a.sign[k]).xor(V::load(&b.sign))));
        }
        let whole = part.store();
        for i in 0..8 {
            sums[i] += f64::from(whole[i]);
        }
        part = V::splat(0);
    }
    sums
}

/// Writes the results as `f32`, rounded toward zero.
#[inline(always)]
fn truncate(rule: Rule, exact: &[f64; 8], d: &mut [u32; 8]) {
    let mut subnormal = false;
    for i in 0..8 {
        subnormal |= exact[i].abs() < f64::from(f32::MIN_POSITIVE) && exact[i] != 0.0;
        // Beyond the largest `f32` the conversion gives an infinity, and otherwise it is exact.
        d[i] = (f64::from_bits(exact[i].to_bits() & rule.keep) as f32).to_bits();
    }
    if subnormal {
        truncate_subnormals(exact, d);
    }
}

#[cold]
fn truncate_subnormals(exact: &[f64; 8], d: &mut [u32; 8]) {
    for (exact, d) in exact.iter().zip(d) {
        if exact.abs() < f64::from(f32::MIN_POSITIVE) {
            let magnitude = (exact.abs() * f64::from_bits((149 + 1023) << 52)) as u32;
            let sign = u32::from(*exact < 0.0 && magnitude != 0) << 31;
            *d = sign | magnitude;
        }
    }
}

/// Returns a result as `f16`, rounded to nearest even; a zero is +0.
#[inline(always)]
fn round_to_f16(exact: f64) -> u32 {
    let magnitude = exact.abs();
    let rounded = if magnitude < f64::from_bits((1023 - 14) << 52) {
        // The last bit of the larger number is that of subnormals.
        let aligned = f64::from(1 << 28);
        (magnitude + aligned) - aligned
    } else {
        let bits = magnitude.to_bits();
        let odd = bits >> 42 & 1;
        f64::from_bits((bits + ((1 << 41) - 1) + odd) & !((1 << 42) - 1))
    };
    let sign = u32::from(exact < 0.0 && rounded != 0.0) << 15;
    sign | u32::from(f32_to_f16(rounded as f32))
}

/// Computes eight elements, some with infinities or NaNs.
#[cold]
fn with_specials(rule: Rule, a: &[Factors], b: &[Factors], c: &Factors, d: &mut [u32; 8]) {
    let mut largest = [FLOOR; 8];
    let mut special = [None; 8];
    for i in 0..8 {
        let row = (0..b.len()).map(|k| a[k / 8].at(k % 8));
        special[i] = special_sum(row.clone().zip(b.iter().map(|b| b.at(i))), c.at(i));
        largest[i] = match special[i] {
            // Above all exponents: the terms vanish.
            Some(_) => 3 * SPECIAL,
            None => {
                let products = row.zip(b).map(|(a, b)| a.exponent + b.exponent[i]);
                products.fold(FLOOR.max(c.exponent[i]), i32::max)
            }
        };
    }
    let sums = finite::<[i32; 8]>(rule, a, b, c, largest);
    let largest = largest.map(|e| if e > SPECIAL { 0 } else { e });
    rule.results(&sums, &largest, d);
    for (d, special) in d.iter_mut().zip(special) {
        *d = match (special, rule.sum) {
            (None, _) => *d,
            (Some(Special::Nan), AccumulatorType::F32) => NAN,
            (Some(Special::Nan), AccumulatorType::F16) => NAN_F16,
            (Some(Special::Infinity(sign)), AccumulatorType::F32) => 0x7f80_0000 | (sign as u32 & 1) << 31,
            (Some(Special::Infinity(sign)), AccumulatorType::F16) => 0x7c00 | (sign as u32 & 1) << 15,
        };
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Special {
    Nan,
    Infinity(i32),
}

/// Returns the sum if a term is not finite.
fn special_sum(products: impl Iterator<Item = (Factor, Factor)>, c: Factor) -> Option<Special> {
    let products = products.filter_map(|(a, b)| {
        let special = a.exponent.max(b.exponent) == SPECIAL;
        let nan = a.nan || b.nan || a.exponent.min(b.exponent) == ZERO;
        special.then_some(if nan { Special::Nan } else { Special::Infinity(a.sign ^ b.sign) })
    });
    let c = (c.exponent == SPECIAL).then_some(if c.nan { Special::Nan } else { Special::Infinity(c.sign) });
    products.chain(c).reduce(|one, other| if one == other { one } else { Special::Nan })
}

impl Rule {
    #[inline(always)]
    fn sum_format(self) -> BitLayout {
        match self.sum {
            AccumulatorType::F32 => F32,
            AccumulatorType::F16 => F16,
        }
    }

    #[inline(always)]
    fn results(self, sums: &[f64; 8], largest: &[i32; 8], d: &mut [u32; 8]) {
        let mut exact = [0.0; 8];
        for i in 0..8 {
            exact[i] = sums[i] * f64::from_bits(((largest[i] - self.cut + 1023) as u64) << 52);
        }
        match self.sum {
            AccumulatorType::F32 => truncate(self, &exact, d),
            AccumulatorType::F16 => *d = exact.map(round_to_f16),
        }
    }
}
