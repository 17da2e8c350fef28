//! Results of single instructions where `tests/data/conformance`, which has those of every form on a GPU, has no rows.

use super::soft::{self, F32, Mode, Round};
use super::tests::scalar;
use crate::ResultPart;

fn check(mnemonic: &str, operands: &[u64], expected: u64) {
    let got = scalar(mnemonic, operands, ResultPart::First);
    assert_eq!(got, expected, "{mnemonic} of {operands:x?}: {got:#x}, not {expected:#x}");
}

fn f(x: f32) -> u64 {
    x.to_bits() as u64
}

fn d(x: f64) -> u64 {
    x.to_bits()
}

const NAN: u64 = 0x7fff_ffff;
const SNAN: u64 = 0xff80_0001;
const NEG0: u64 = 0x8000_0000;
const TINY: u64 = 1;
const INF: u64 = 0x7f80_0000;

/// The fast forms against the plain ones, around the smallest normal number.
#[test]
fn flushing_fast_is_flushing_slowly() {
    let mode = Mode { round: Round::Nearest, flush: true };
    let fractions = [0, 1, 2, 3, 0x40_0000, 0x3f_ffff, 0x7f_fffd, 0x7f_fffe, 0x7f_ffff, 0x2a_aaaa];
    let number = |exponent: u64, at: usize| exponent << 23 | fractions[at % fractions.len()] | (at as u64 & 1) << 31;
    for (i, j) in (0..10).flat_map(|i| (0..10).map(move |j| (i, j))) {
        for (first, off) in [(1, 0), (1, 1), (2, 2), (64, 0), (64, 1), (126, 0), (127, 0), (127, 1), (128, 2)] {
            let a = number(first, i);
            // Exponents near 1 - 127, as a product and as a quotient.
            let (factor, divisor) = (number(128 - first.min(127) + off, j), number((first + 126 - off).min(254), j));
            let sum = number(1 + off, i + j);
            let finite = |bits: Option<u64>| bits.expect("finite operands");
            check("mul.rn.ftz.f32", &[a, factor], finite(soft::mul(a, factor, F32, mode)));
            check("div.rn.ftz.f32", &[a, divisor], finite(soft::div(a, divisor, F32, mode)));
            check("fma.rn.ftz.f32", &[a, factor, sum], finite(soft::fma(a, factor, sum, F32, mode)));
            check("rcp.rn.ftz.f32", &[divisor], finite(soft::div(f(1.0), divisor, F32, mode)));
        }
    }
}

#[test]
fn fields_end_with_their_number() {
    check("bfe.u32", &[u32::MAX.into(), 28, 8], 0xf);
    check("bfe.u32", &[u32::MAX.into(), 32, 8], 0);
    check("bfe.u32", &[u32::MAX.into(), 0, 0x120], u32::MAX.into());
    check("bfe.u32", &[0xff, 0x101, 2], 3);
    check("bfe.u64", &[0xff, 0x101, 2], 0);
    check("bfe.s32", &[NEG0, 40, 3], u32::MAX.into());
    check("bfe.s32", &[NEG0, 31, 0], 0);
    check("bfe.s64", &[1 << 63, 60, 8], 0xffff_ffff_ffff_fff8);
    check("bfe.s64", &[1 << 62, 0, 64], 1 << 62);
    check("bfe.s64", &[1 << 62, 0, 63], 3 << 62);
    check("bfi.b32", &[0xff, 0, 28, 8], 0xf000_0000);
    check("bfi.b32", &[0xff, 7, 32, 8], 7);
    check("bfi.b64", &[u64::MAX, 0, 60, 255], 0xf << 60);
    check("bfi.b64", &[1, 7, 0x100, 8], 7);
}

#[test]
fn set_bits_are_counted_downwards() {
    check("fns.b32", &[0xaaaa_aaaa, 3, 2], 5);
    check("fns.b32", &[0xaaaa_aaaa, 3, 0xffff_fffe], 1);
    check("fns.b32", &[0xaaaa_aaaa, 3, 0xffff_fff0], u64::from(u32::MAX));
}

#[test]
fn approximations_at_special_values() {
    check("rcp.approx.f32", &[NEG0], INF | NEG0);
    check("rcp.approx.ftz.f32", &[TINY], INF);
    check("sqrt.approx.f32", &[f(-1.0)], NAN);
    check("rsqrt.approx.ftz.f32", &[f(-1.0)], NAN);
    check("rcp.approx.f32", &[SNAN], NAN);
    check("ex2.approx.f32", &[SNAN], NAN);
    check("rsqrt.approx.f32", &[0], INF);
    check("rsqrt.approx.f32", &[f(4.0)], f(0.5));
    check("ex2.approx.ftz.f32", &[f(-127.0)], 0);
    check("ex2.approx.f32", &[f(-127.0)], 0x003f_ffff);
    check("ex2.approx.f32", &[f(10.0)], f(1024.0));
    check("lg2.approx.f32", &[0], INF | NEG0);
    check("lg2.approx.f32", &[f(-1.0)], NAN);
    check("sin.approx.f32", &[INF], NAN);
    check("cos.approx.f32", &[0], f(1.0));
    check("tanh.approx.f32", &[INF], f(1.0));
    check("div.approx.f32", &[f(1.0), f(2f32.powi(127))], 0);
    check("div.approx.f32", &[INF, f(2f32.powi(127))], NAN);
    check("div.full.f32", &[f(1.0), f(2f32.powi(127))], 0x0040_0000);
    check("rcp.approx.ftz.f64", &[d(4.0)], d(0.25));
    check("sin.approx.f32", &[0x8000_0001], NEG0);
    check("sin.approx.f32", &[f(0.00000001)], 0);
    check("cos.approx.f32", &[0x4b00_0001], f(-1.0));
}

#[test]
fn approximations_have_the_bits_of_a_card() {
    let answers = include_str!("../data/approximate.csv").lines().filter(|line| !line.starts_with('#'));
    for line in answers {
        let mut fields = line.split(',');
        let mnemonic = fields.next().expect("a mnemonic");
        let mut numbers: Vec<u64> = fields.map(|hex| u64::from_str_radix(hex, 16).expect("a number")).collect();
        let result = numbers.pop().expect("a result");
        check(mnemonic, &numbers, result);
    }
}
