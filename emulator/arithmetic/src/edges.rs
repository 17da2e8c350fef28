//! Results of single instructions at the edges, by the PTX manual and the hardware.

use super::soft::{self, F32, Mode, Round};
use super::tests::scalar;

/// Checks the result of an instruction, given and expected as bits.
fn check(mnemonic: &str, operands: &[u64], expected: u64) {
    let got = scalar(mnemonic, operands, 0);
    assert_eq!(got, expected, "{mnemonic} of {operands:x?}: {got:#x}, not {expected:#x}");
}

fn check_second(mnemonic: &str, operands: &[u64], expected: u64) {
    let got = scalar(mnemonic, operands, 1);
    assert_eq!(got, expected, "second of {mnemonic} of {operands:x?}: {got:#x}, not {expected:#x}");
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
const ONES: u64 = 0xffff_ffff;
const MIN: u64 = 0x8000_0000;

#[test]
fn integers_wrap_and_saturate() {
    check("add.u32", &[ONES, 1], 0);
    check("add.sat.s32", &[0x7fff_ffff, 1], 0x7fff_ffff);
    check("add.sat.s32", &[MIN, ONES], MIN);
    check("sub.sat.s32", &[MIN, 1], MIN);
    check("add.s16", &[0x7fff, 1], 0x8000);
    check("sub.u16", &[0, 1], 0xffff);
    check("add.u16x2", &[0x0001_ffff, 0x0001_0001], 0x0002_0000);
    check("neg.s32", &[MIN], MIN);
    check("abs.s32", &[MIN], MIN);
    check("abs.s16", &[0x8000], 0x8000);
    check("min.s32", &[ONES, 1], ONES);
    check("max.u32", &[ONES, 1], ONES);
    check("min.relu.s32", &[ONES, 1], 0);
    check("sad.s32", &[MIN, 0x7fff_ffff, 1], 0);
    check("sad.u16", &[1, 3, 0xffff], 1);
}

#[test]
fn products_keep_the_asked_half() {
    check("mul.wide.s32", &[ONES, ONES], 1);
    check("mul.wide.u32", &[ONES, ONES], 0xffff_fffe_0000_0001);
    check("mul.wide.s16", &[0xffff, 2], 0xffff_fffe);
    check("mul.hi.u32", &[ONES, ONES], 0xffff_fffe);
    check("mul.hi.s32", &[MIN, MIN], 0x4000_0000);
    check("mul.hi.u64", &[u64::MAX, u64::MAX], u64::MAX - 1);
    check("mul.hi.s64", &[u64::MAX, 1], u64::MAX);
    check("mad.hi.sat.s32", &[0x7fff_ffff, 0x7fff_ffff, 0x7fff_ffff], 0x7fff_ffff);
    check("mad.wide.u32", &[ONES, ONES, 1 << 32], 0xffff_ffff_0000_0001);
    check("mul24.lo.u32", &[0xff00_0001, 3], 3);
    check("mul24.hi.s32", &[0x80_0000, 2], 0xffff_ff00);
    check("dp4a.s32.u32", &[0xff01_01ff, 0x0102_0304, 10], 10 - 4 + 3 + 2 - 1);
    check("dp2a.hi.u32.u32", &[0x0002_0001, 0x0403_0201, 0], 3 + 8);
}

#[test]
fn division_has_a_result_always() {
    check("div.u32", &[5, 0], ONES);
    check("rem.u32", &[5, 0], ONES);
    check("div.s32", &[5, 0], ONES);
    check("div.s32", &[MIN, ONES], MIN);
    check("rem.s32", &[MIN, ONES], 0);
    check("rem.s32", &[0xffff_fff9, 3], ONES);
    check("div.s64", &[1 << 63, u64::MAX], 1 << 63);
}

#[test]
fn carries_chain() {
    check("add.cc.u32", &[ONES, 1], 0);
    check_second("add.cc.u32", &[ONES, 1], 1);
    check("addc.u32", &[1, 1, 1], 3);
    check_second("addc.cc.u32", &[ONES, 0, 1], 1);
    check_second("sub.cc.u32", &[1, 2], 0);
    check_second("sub.cc.u32", &[2, 2], 1);
    check_second("sub.cc.u32", &[7, 0], 1);
    check("subc.u32", &[0, 0, 0], ONES);
    check("subc.u32", &[10, 3, 1], 7);
    check_second("subc.cc.u32", &[0, ONES, 1], 0);
    check_second("subc.cc.u32", &[5, 5, 1], 1);
    check_second("subc.cc.u32", &[5, 5, 0], 0);
    check("subc.u64", &[0, u64::MAX, 0], 0);
    check_second("sub.cc.u64", &[1, 2], 0);
    check_second("subc.cc.s64", &[u64::MAX, u64::MAX, 1], 1);
    check("mad.lo.cc.u32", &[3, 5, 1], 16);
    check_second("mad.lo.cc.u32", &[0x8000_0000, 1, 0x8000_0000], 1);
    check("madc.hi.u32", &[ONES, ONES, 1, 1], 0);
    check("madc.hi.s32", &[ONES, 1, 0, 0], ONES);
    check_second("add.cc.u64", &[u64::MAX, 1], 1);
}

/// Flushing looks at the result with its exponent unbounded, so that one that is made normal by rounding to a
/// subnormal's place becomes a zero.
#[test]
fn results_below_the_normal_numbers_are_flushed() {
    const MIN: u64 = 0x0080_0000;
    check("div.rn.ftz.f32", &[0xbf7f_ffff, 0x7e80_0000], NEG0);
    check("div.rn.f32", &[0xbf7f_ffff, 0x7e80_0000], MIN | NEG0);
    check("div.rn.ftz.f32", &[0xbf80_0000, 0x7e80_0000], MIN | NEG0);
    check("div.rn.ftz.f32", &[0x3f80_0001, 0x7e80_0001], MIN);
    check("div.rn.ftz.f32", &[0x3f7f_fffe, 0x7e7f_ffff], 0);
    check("div.rn.ftz.f32", &[MIN, 0x3f80_0001], 0);
    check("mul.rn.ftz.f32", &[0x3f7f_ffff, MIN], 0);
    check("fma.rn.ftz.f32", &[0x3f7f_ffff, MIN, 0], 0);
    check("rcp.rn.ftz.f32", &[0x7e80_0000], MIN);
    check("rcp.rn.ftz.f32", &[0x7e80_0001], 0);
    check("add.rn.ftz.f32", &[0x0100_0000, 0x80ff_ffff], 0);
}

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
fn shifts_clamp_at_the_width() {
    check("shl.b32", &[1, 32], 0);
    check("shl.b32", &[1, ONES], 0);
    check("shr.u32", &[ONES, 32], 0);
    check("shr.s32", &[MIN, 32], ONES);
    check("shr.s64", &[1 << 63, 200], u64::MAX);
    check("shl.b64", &[1, 63], 1 << 63);
    check("shl.b16", &[0xffff, 8], 0xff00);
    check("shr.s16", &[0x8000, 15], 0xffff);
    check("shf.l.clamp.b32", &[0x1234, 0x5678, 32], 0x1234);
    check("shf.l.wrap.b32", &[0x1234, 0x5678, 32], 0x5678);
    check("shf.r.clamp.b32", &[0x1234, 0x5678, 40], 0x5678);
    check("shf.r.wrap.b32", &[0x1234_0000, 0x5678, 16], 0x5678_1234);
}

#[test]
fn bit_fields() {
    check("bfe.u32", &[0xabcd_1234, 8, 8], 0x12);
    check("bfe.u32", &[ONES, 28, 8], 0xf);
    check("bfe.u32", &[ONES, 32, 8], 0);
    check("bfe.u32", &[ONES, 0, 0x120], ONES);
    check("bfe.s32", &[0x80, 4, 4], 0xffff_fff8);
    check("bfe.s32", &[MIN, 40, 3], ONES);
    check("bfe.s32", &[MIN, 31, 0], 0);
    check("bfe.s64", &[1 << 63, 60, 8], 0xffff_ffff_ffff_fff8);
    check("bfi.b32", &[0xff, 0, 28, 8], 0xf000_0000);
    check("bfi.b32", &[0xff, 7, 32, 8], 7);
    check("bfi.b64", &[u64::MAX, 0, 60, 255], 0xf << 60);
    check("bfi.b64", &[1, 7, 0x100, 8], 7);
    check("bfe.u64", &[0xff, 0x101, 2], 0);
    check("bfe.u32", &[0xff, 0x101, 2], 3);
    check("bmsk.clamp.b32", &[4, 8], 0xff0);
    check("bmsk.clamp.b32", &[0, 40], ONES);
    check("szext.clamp.s32", &[0x80, 8], 0xffff_ff80);
    check("szext.clamp.u32", &[0xff80, 8], 0x80);
    check("popc.b64", &[u64::MAX], 64);
    check("clz.b32", &[0], 32);
    check("clz.b64", &[1], 63);
    check("brev.b32", &[1], MIN);
    check("bfind.u32", &[0], ONES);
    check("bfind.u32", &[0x100], 8);
    check("bfind.s32", &[ONES], ONES);
    check("bfind.s32", &[0xffff_fff0], 3);
    check("bfind.shiftamt.u32", &[1], 31);
    check("bfind.shiftamt.s64", &[0], ONES);
    check("fns.b32", &[0xaaaa_aaaa, 3, 0], 3);
    check("fns.b32", &[0xaaaa_aaaa, 3, 2], 5);
    check("fns.b32", &[0xaaaa_aaaa, 3, 0xffff_fffe], 1);
    check("fns.b32", &[0xaaaa_aaaa, 3, 0xffff_fff0], ONES);
}

#[test]
fn bytes_and_logic() {
    check("prmt.b32", &[0x4433_2211, 0x8877_6655, 0x7531], 0x8866_4422);
    check("prmt.b32", &[0x0000_0080, 0, 0x8888], ONES);
    check("prmt.b32.f4e", &[0x4433_2211, 0x8877_6655, 1], 0x5544_3322);
    check("prmt.b32.b4e", &[0x4433_2211, 0x8877_6655, 1], 0x7788_1122);
    check("prmt.b32.rc8", &[0x4433_2211, 0, 2], 0x3333_3333);
    check("prmt.b32.ecl", &[0x4433_2211, 0, 1], 0x4433_2222);
    check("prmt.b32.ecr", &[0x4433_2211, 0, 1], 0x2222_2211);
    check("prmt.b32.rc16", &[0x4433_2211, 0, 1], 0x4433_4433);
    check("lop3.b32", &[0xf0, 0xcc, 0xaa, 0x80], 0x80);
    check("lop3.b32", &[0xf0, 0xcc, 0xaa, 0x96], 0xf0 ^ 0xcc ^ 0xaa);
    check("cnot.b16", &[0], 1);
    check("not.b16", &[0], 0xffff);
}

#[test]
fn comparisons_know_nan() {
    check("setp.lt.f32", &[NAN, f(1.0)], 0);
    check("setp.ltu.f32", &[NAN, f(1.0)], 1);
    check("setp.ne.f32", &[NAN, NAN], 0);
    check("setp.neu.f32", &[NAN, NAN], 1);
    check("setp.num.f32", &[f(1.0), f(2.0)], 1);
    check("setp.nan.f64", &[d(f64::NAN), d(2.0)], 1);
    check("setp.eq.f32", &[NEG0, 0], 1);
    check("setp.eq.ftz.f32", &[TINY, 0], 1);
    check("setp.lo.u32", &[1, ONES], 1);
    check("setp.lt.s32", &[1, ONES], 0);
    check("setp.lt.s16", &[0xffff, 0], 1);
    check_second("setp.lt.s32", &[1, 2], 0);
    check("setp.lt.and.s32", &[1, 2, 0], 0);
    check("setp.lt.or.s32", &[2, 1, 1], 1);
    check_second("setp.lt.xor.s32", &[2, 1, 1], 0);
    check("setp.gt.f16", &[0x3c00, 0xbc00], 1);
    check("setp.gt.f16x2", &[0x3c00_0000, 0], 0);
    check_second("setp.gt.f16x2", &[0x3c00_0000, 0], 1);
    check("set.lt.u32.f32", &[f(1.0), f(2.0)], ONES);
    check("set.lt.f32.s32", &[1, 2], f(1.0));
    check("set.geu.and.f32.f64", &[d(f64::NAN), d(0.0), 1], f(1.0));
    check("set.gt.f16x2.f16x2", &[0x3c00_0000, 0], 0x3c00_0000);
    check("set.gt.u32.bf16x2", &[0x3f80_3f80, 0], ONES);
    check("selp.b64", &[1, 2, 1], 1);
    check("slct.u32.s32", &[1, 2, ONES], 2);
    check("slct.f32.f32", &[1, 2, NEG0], 1);
    check("slct.f32.f32", &[1, 2, NAN], 2);
    check("testp.subnormal.f32", &[TINY], 1);
    check("testp.normal.f32", &[0], 1);
    check("testp.notanumber.f64", &[d(f64::NAN)], 1);
}

#[test]
fn floats_make_one_nan() {
    check("add.f32", &[INF, INF | NEG0], NAN);
    check("add.f32", &[SNAN, f(1.0)], NAN);
    check("mul.ftz.f32", &[TINY, INF], NAN);
    check("fma.rn.f32", &[INF, 0, f(1.0)], NAN);
    check("abs.f32", &[SNAN], NAN);
    check("neg.f32", &[NAN], NAN);
    check("sqrt.rn.f32", &[f(-1.0)], NAN);
    check("sqrt.rn.ftz.f32", &[f(-1.0)], NAN);
    check("sqrt.rn.f32", &[NEG0], NEG0);
    check("sqrt.rn.f64", &[d(-1.0)], 0xfff8_0000_0000_0000);
    check("div.rn.f32", &[0, 0], NAN);
    check("sub.f32", &[INF, INF], NAN);
    check("mul.f32", &[INF, 0], NAN);
    check("rcp.rn.f32", &[SNAN], NAN);
    check("add.f64", &[d(f64::INFINITY), d(f64::NEG_INFINITY)], 0xfff8_0000_0000_0000);
    check("add.f64", &[0x7ff0_0000_0000_0001, d(1.0)], 0x7ff8_0000_0000_0001);
    check("mul.f64", &[0x7ff8_0000_0000_0001, 0xfff8_0000_0000_0002], 0xfff8_0000_0000_0002);
    check("div.rn.f64", &[0x7ff8_0000_0000_0001, 0xfff8_0000_0000_0002], 0x7ff8_0000_0000_0001);
    check("neg.f64", &[0x7ff0_0000_0000_0001], 0x7ff8_0000_0000_0001);
}

#[test]
fn subnormals_flush_when_asked() {
    check("add.f32", &[TINY, TINY], 2);
    check("add.ftz.f32", &[TINY, TINY], 0);
    check("mul.ftz.f32", &[0x8080_0000, f(0.5)], NEG0);
    check("mul.f32", &[0x8080_0000, f(0.5)], 0x8040_0000);
    check("mul.ftz.f32", &[0x3f7f_ffff, 0x0080_0000], 0);
    check("mul.f32", &[0x3f7f_ffff, 0x0080_0000], 0x0080_0000);
    check("mul.rp.ftz.f32", &[0x3f7f_ffff, 0x0080_0000], 0);
    check("mul.ftz.f32", &[0x3f7f_ffff, 0x8080_0001], 0x8080_0000);
    check("fma.rn.ftz.f32", &[0x3f7f_ffff, 0x0080_0000, 0], 0);
    check("mul.ftz.f16", &[0x3bff, 0x0400], 0);
    check("fma.rn.ftz.f16", &[0x3bff, 0x0400, 0], 0);
    check("mul.ftz.f32", &[0x7f00_0000, 0x4000_0000], INF);
    check("fma.rn.ftz.f32", &[0x7f00_0000, 0x4000_0000, INF | NEG0], INF | NEG0);
    check("neg.ftz.f32", &[TINY], NEG0);
    check("max.ftz.f32", &[TINY, NEG0], 0);
    check("fma.rn.ftz.f32", &[f(1.0), 0x0080_0000, TINY], 0x0080_0000);
}

#[test]
fn roundings_differ_in_the_last_bit() {
    check("add.rn.f32", &[f(1.0), TINY], f(1.0));
    check("add.rp.f32", &[f(1.0), TINY], f(1.0) + 1);
    check("add.rm.f32", &[f(-1.0), TINY | NEG0], f(-1.0) + 1);
    check("add.rz.f32", &[f(-1.0), TINY | NEG0], f(-1.0));
    check("sub.rm.f32", &[f(1.0), f(1.0)], NEG0);
    check("div.rp.f32", &[f(1.0), f(3.0)], f(1.0 / 3.0));
    check("div.rz.f32", &[f(1.0), f(3.0)], f(1.0 / 3.0) - 1);
    check("rcp.rm.f32", &[0], INF);
    check("sqrt.rp.f32", &[f(2.0)], f(2f32.sqrt()) + 1);
    check("fma.rz.f64", &[d(1.0), d(1.0), 1 | 1 << 63], d(1.0) - 1);
    check("add.sat.f32", &[f(1.0), f(1.0)], f(1.0));
    check("add.sat.f32", &[NAN, f(1.0)], 0);
    check("fma.rn.sat.f32", &[f(-1.0), f(1.0), 0], 0);
}

#[test]
fn extrema_order_zeros_and_skip_nan() {
    check("min.f32", &[0, NEG0], NEG0);
    check("max.f32", &[NEG0, 0], 0);
    check("min.f32", &[NAN, f(1.0)], f(1.0));
    check("min.f32", &[f(1.0), SNAN], f(1.0));
    check("min.f32", &[SNAN, SNAN], NAN);
    check("min.NaN.f32", &[NAN, f(1.0)], NAN);
    check("max.xorsign.abs.f32", &[f(-3.0), f(2.0)], f(-3.0));
    check("min.xorsign.abs.f32", &[f(-3.0), f(-2.0)], f(2.0));
    check("max.f16x2", &[0x7e00_8000, 0x3c00_0000], 0x3c00_0000);
    check("min.f64", &[d(0.0), d(-0.0)], d(-0.0));
}

#[test]
fn floats_to_integers_clamp() {
    check("cvt.rzi.s32.f32", &[f(-2.7)], 0xffff_fffe);
    check("cvt.rni.s32.f32", &[f(2.5)], 2);
    check("cvt.rmi.s32.f32", &[f(-0.1)], ONES);
    check("cvt.rpi.s32.f32", &[TINY], 1);
    check("cvt.rpi.ftz.s32.f32", &[TINY], 0);
    check("cvt.rzi.u32.f32", &[f(-5.0)], 0);
    check("cvt.rzi.u32.f32", &[INF], ONES);
    check("cvt.rzi.s32.f32", &[NAN], 0);
    check("cvt.rzi.s32.f32", &[f(3e9)], 0x7fff_ffff);
    check("cvt.rzi.s64.f32", &[NAN], 1 << 63);
    check("cvt.rzi.s32.f64", &[d(f64::NAN)], MIN);
    check("cvt.rzi.u8.f32", &[f(300.0)], 255);
    check("cvt.rzi.s8.f32", &[f(-300.0)], 0xff80);
    check("cvt.rzi.u64.f64", &[d(1.8446744073709552e19)], u64::MAX);
    check("cvt.rni.s32.f16", &[0x4100], 2);
}

#[test]
fn integers_to_anything() {
    check("cvt.s32.s8", &[0x80], 0xffff_ff80);
    check("cvt.s64.s32", &[ONES], u64::MAX);
    check("cvt.u64.s32", &[ONES], u64::MAX);
    check("cvt.u64.u32", &[ONES], ONES);
    check("cvt.u16.s32", &[ONES], 0xffff);
    check("cvt.sat.u8.s32", &[ONES], 0);
    check("cvt.sat.s8.s32", &[0x1000], 0x7f);
    check("cvt.sat.u32.s64", &[1 << 40], ONES);
    check("cvt.rn.f32.u32", &[ONES], f(4294967296.0));
    check("cvt.rz.f32.u32", &[ONES], f(4294967040.0));
    check("cvt.rp.f32.s64", &[0x7fff_ffff_ffff_ffff], f(9.223372e18));
    check("cvt.rn.f16.u32", &[65520], 0x7c00);
    check("cvt.rz.f16.u32", &[65520], 0x7bff);
    check("cvt.rn.f64.u64", &[u64::MAX], d(18446744073709551616.0));
    check("cvt.pack.sat.u8.s32.b32", &[300, ONES, 0x1234], 0x1234_ff00);
    check("cvt.pack.sat.s16.s32", &[0xffff_0000, 5], 0x8000_0005);
}

#[test]
fn floats_to_floats() {
    check("cvt.rn.f32.f64", &[d(1e300)], INF);
    check("cvt.rz.f32.f64", &[d(1e300)], 0x7f7f_ffff);
    check("cvt.rn.ftz.f32.f64", &[d(1e-40)], 0);
    check("cvt.rn.f32.f64", &[0x7ff8_1234_5678_9abc], 0x7fc0_91a2);
    check("cvt.rz.f16.f64", &[0xfff0_1234_5678_9abc], 0xfe04);
    check("cvt.f64.f32", &[0xff81_2345], 0xfff8_2468_a000_0000);
    check("cvt.ftz.f64.f32", &[0xff81_2345], 0x7fff_ffff_e000_0000);
    check("cvt.rp.ftz.f16.f32", &[TINY], 1);
    check("cvt.rn.f16.f32", &[f(65520.0)], 0x7c00);
    check("cvt.rn.f16.f32", &[f(65519.0)], 0x7bff);
    check("cvt.rn.f16.f32", &[NAN], 0x7fff);
    check("cvt.rn.satfinite.f16.f32", &[INF], 0x7bff);
    check("cvt.rn.relu.bf16.f32", &[f(-3.0)], 0);
    check("cvt.rn.bf16.f32", &[0x3f80_8000], 0x3f80);
    check("cvt.rz.bf16.f32", &[0x3f80_ffff], 0x3f80);
    check("cvt.rn.f16x2.f32", &[f(1.0), f(-2.0)], 0x3c00_c000);
    check("cvt.f32.f16", &[1], f(2f32.powi(-24)));
    check("cvt.f32.bf16", &[0x7f81], 0x7f81_0000);
    check("cvt.sat.f32.f32", &[NAN], 0);
    check("cvt.sat.f32.f32", &[NEG0], 0);
    check("cvt.rni.f32.f32", &[f(-0.5)], NEG0);
    check("cvt.rmi.f64.f64", &[d(-0.5)], d(-1.0));
    check("cvt.rna.tf32.f32", &[0x3f80_1000], 0x3f80_2000);
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
fn distances_of_parts() {
    check("vabsdiff.u32.u32.u32", &[3, 10], 7);
    check("vabsdiff.s32.s32.s32", &[MIN, 1], 0x8000_0001);
    check("vabsdiff.s32.s32.s32.sat", &[MIN, 1], 0x7fff_ffff);
    check("vabsdiff.u32.u32.u32.add", &[3, 10, 5], 12);
    check("vabsdiff.u32.s32.u32", &[ONES, 2], 3);
    check("vabsdiff4.u32.u32.u32", &[0x01ff_1000, 0x0301_0020, 0], 0x02fe_1020);
    check("vabsdiff4.u32.u32.u32.add", &[0x01ff_1000, 0x0301_0020, 1], 2 + 0xfe + 0x10 + 0x20 + 1);
    check("vabsdiff4.s32.s32.s32", &[0x80, 1, 0], 0x81);
    check("vabsdiff4.s32.s32.s32.sat", &[0x80, 1, 0], 0x7f);
    check("vabsdiff2.u32.u32.u32", &[0x0001_ffff, 0x0003_0000, 0], 0x0002_ffff);
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
