use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

use super::*;
use arithmetic::cpu_level;
use decode::{Symbols, decode};
use program::{DecodedKernel, OpKind};

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
fn moves_and_logic_propagate_undefined_bits() {
    include_str!("exact.txt").lines().for_each(|instruction| check(instruction, true));
}

#[test]
fn arithmetic_and_comparisons_never_define_what_varies() {
    include_str!("safe.txt").lines().for_each(|instruction| check(instruction, false));
}
