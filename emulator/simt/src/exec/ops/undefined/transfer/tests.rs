use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

use super::*;
use crate::arithmetic::cpu_level;
use crate::decode::{Symbols, decode};
use crate::program::{DecodedKernel, OpKind};

/// Returns the kernel of one instruction over registers that stand for anything.
fn kernel(instruction: &str) -> DecodedKernel {
    let text = format!(
        ".version 8.4\n.target sm_90\n.address_size 64\n.entry k() {{\n\
         .reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %d<8>;\n{instruction}\n\
         mov.u32 %r7, %r0; mov.b64 %d7, %d0; mov.pred %p3, %p0; exit; }}"
    );
    let module = ptx::parse(&text).expect("it parses");
    let mut program = decode(&module, &Symbols::default(), cpu_level(), &Default::default()).expect("it decodes");
    program.kernels.swap_remove(0)
}

/// Returns a mask: often whole bytes, often nothing.
fn mask(random: &mut ChaCha8Rng) -> u64 {
    let bytes: u8 = random.random();
    match random.random_range(0..4) {
        0 => 0,
        1 => (0..8).filter(|i| bytes >> i & 1 == 1).fold(0, |m, i| m | 0xFF << (8 * i)),
        2 => 1 << (bytes % 64),
        _ => random.random::<u64>() & random.random::<u64>(),
    }
}

fn number(random: &mut ChaCha8Rng) -> u64 {
    match random.random_range(0..4) {
        0 => random.random_range(0..9),
        1 => u64::MAX - random.random_range(0..3),
        _ => random.random(),
    }
}

/// Compares with the bits found by trying: those that differ must be undefined, and with `exact` no others.
#[track_caller]
fn check(instruction: &str, exact: bool) {
    let kernel = kernel(instruction);
    let (pc, run, args) = kernel
        .ops
        .iter()
        .enumerate()
        .find_map(|(pc, op)| match &op.kind {
            OpKind::Alu { run, args } => Some((pc, *run, *args)),
            _ => None,
        })
        .expect("arithmetic");
    let shape = kernel.shapes[pc];
    let n = shape.srcs.len();
    let constant = |src: i32, class: Class| -> u64 {
        let line = |i: usize| kernel.consts[!src as usize + i].0;
        match class {
            Class::Bits64 => u64::from(line(0)[0]) | u64::from(line(0)[1]) << 32,
            _ => line(0)[0].into(),
        }
    };
    let mut random = ChaCha8Rng::seed_from_u64(instruction.len() as u64);
    for _ in 0..60 {
        let mut sources = Sources { values: [[0; 32]; 4], undefined: [[0; 32]; 4], same: [0, 1, 2, 3] };
        for (i, &class) in shape.srcs.iter().enumerate() {
            let steers = matches!(shape.flow, Flow::Moved { data, .. } if data >> i & 1 == 0);
            for lane in 0..32 {
                let all = all_bits(class);
                if args.src[i] < 0 {
                    sources.values[i][lane] = constant(args.src[i], class);
                    continue;
                }
                sources.values[i][lane] = number(&mut random) & all;
                if !(exact && steers) {
                    sources.undefined[i][lane] = mask(&mut random) & all;
                }
            }
        }
        let result = alu(run, &args, shape, &sources, LaneMask::ALL);
        let mut bench = Bench::new(run, &args, shape);
        let base = bench.eval(&sources.values, LaneMask::ALL);
        let mut varied = [0; 32];
        for trial in 0..(if exact { 64 * n + 2 } else { 96 }) {
            let mut inputs = sources.values;
            for (i, input) in inputs.iter_mut().enumerate().take(n) {
                for (value, open) in input.iter_mut().zip(&sources.undefined[i]) {
                    let flip = match trial {
                        0 => u64::MAX,
                        1 => *value,
                        _ if exact => u64::from((trial - 2) / 64 == i) << ((trial - 2) % 64),
                        _ => number(&mut random),
                    };
                    *value ^= flip & open;
                }
            }
            let other = bench.eval(&inputs, LaneMask::ALL);
            (0..32).for_each(|lane| varied[lane] |= other[lane] ^ base[lane]);
        }
        for (lane, (&claimed, &seen)) in result.undefined.iter().zip(&varied).enumerate() {
            let given: Vec<_> = (0..n).map(|i| (sources.values[i][lane], sources.undefined[i][lane])).collect();
            assert!(seen & !claimed == 0, "{instruction} of {given:x?}: {seen:x} varies, {claimed:x} is undefined");
            assert!(
                !exact || claimed & !seen == 0,
                "{instruction} of {given:x?}: only {seen:x} varies, {claimed:x} is undefined"
            );
        }
    }
}

#[test]
fn moves_are_followed_bit_by_bit() {
    for instruction in [
        "mov.b64 %d0, {%r1, %r2};",
        "mov.b32 %r0, {%h1, %h2};",
        "mov.b64 %d0, {%h1, %h2, %h3, %h4};",
        "mov.b64 {%r0, _}, %d1;",
        "mov.b64 {_, %r0}, %d1;",
        "mov.b32 {_, %h0}, %r1;",
        "not.pred %p0, %p1;",
        "cvt.u64.u32 %d0, %r1;",
        "cvt.s64.s32 %d0, %r1;",
        "cvt.u32.u64 %r0, %d1;",
        "cvt.u32.u16 %r0, %h1;",
        "cvt.s32.s16 %r0, %h1;",
        "cvt.u32.u8 %r0, %r1;",
        "shl.b32 %r0, %r1, %r2;",
        "shr.u32 %r0, %r1, 8;",
        "shr.s32 %r0, %r1, %r2;",
        "shr.s64 %d0, %d1, 24;",
        "shf.l.wrap.b32 %r0, %r1, %r2, %r3;",
        "bfe.u32 %r0, %r1, 8, 8;",
        "bfe.s32 %r0, %r1, %r2, %r3;",
        "bfi.b32 %r0, %r1, %r2, 16, 8;",
        "bfi.b64 %d0, %d1, %d2, %r3, %r4;",
        "prmt.b32 %r0, %r1, %r2, %r3;",
        "prmt.b32 %r0, %r1, %r2, 0x7610;",
    ] {
        check(instruction, true);
    }
}

#[test]
fn logic_is_followed_bit_by_bit() {
    for instruction in [
        "and.b32 %r0, %r1, %r2;",
        "and.b32 %r0, %r1, 0xff00ff;",
        "or.b64 %d0, %d1, %d2;",
        "xor.b32 %r0, %r1, %r2;",
        "not.b32 %r0, %r1;",
        "lop3.b32 %r0, %r1, %r2, %r3, 0xca;",
        "and.pred %p0, %p1, %p2;",
        "or.pred %p0, %p1, %p2;",
        "xor.pred %p0, %p1, %p2;",
        "selp.b32 %r0, %r1, %r2, %p1;",
        "selp.b64 %d0, %d1, %d2, %p1;",
        "selp.u32 %r0, 1, 0, %p1;",
    ] {
        check(instruction, true);
    }
}

#[test]
fn arithmetic_never_defines_what_varies() {
    for instruction in [
        "add.u32 %r0, %r1, %r2;",
        "add.s64 %d0, %d1, %d2;",
        "add.u16 %h0, %h1, %h2;",
        "sub.s32 %r0, %r1, %r2;",
        "neg.s32 %r0, %r1;",
        "mul.lo.u32 %r0, %r1, %r2;",
        "mul.wide.s32 %d0, %r1, %r2;",
        "mul.hi.u32 %r0, %r1, %r2;",
        "mad.lo.u32 %r0, %r1, %r2, %r3;",
        "mad.wide.u32 %d0, %r1, %r2, %d3;",
        "min.s32 %r0, %r1, %r2;",
        "abs.s32 %r0, %r1;",
        "div.u32 %r0, %r1, %r2;",
        "popc.b32 %r0, %r1;",
        "clz.b64 %r0, %d1;",
        "brev.b32 %r0, %r1;",
        "add.f32 %r0, %r1, %r2;",
        "fma.rn.f64 %d0, %d1, %d2, %d3;",
        "add.f16x2 %r0, %r1, %r2;",
        "fma.rn.bf16x2 %r0, %r1, %r2, %r3;",
        "cvt.rn.f32.s32 %r0, %r1;",
        "cvt.sat.u8.s32 %r0, %r1;",
        "slct.b32.s32 %r0, %r1, %r2, %r3;",
        "shl.b32 %r0, %r1, %r2;",
        "prmt.b32 %r0, %r1, %r2, %r3;",
        "dp4a.s32.s32 %r0, %r1, %r2, %r3;",
    ] {
        check(instruction, false);
    }
}

#[test]
fn comparisons_never_define_what_varies() {
    for instruction in [
        "setp.lt.s32 %p0, %r1, %r2;",
        "setp.ge.s64 %p0, %d1, %d2;",
        "setp.hi.u32 %p0, %r1, %r2;",
        "setp.le.u16 %p0, %h1, %h2;",
        "setp.gt.s16 %p0, %h1, %h2;",
        "setp.eq.b32 %p0, %r1, %r2;",
        "setp.ne.b64 %p0, %d1, 0;",
        "setp.lt.and.s32 %p0, %r1, %r2, %p1;",
        "setp.eq.or.s32 %p0, %r1, %r2, %p1;",
        "setp.lt.f32 %p0, %r1, %r2;",
        "setp.neu.f64 %p0, %d1, %d2;",
        "setp.gt.or.f16 %p0, %h1, %h2, %p1;",
        "set.lt.u32.s32 %r0, %r1, %r2;",
    ] {
        check(instruction, false);
    }
}
