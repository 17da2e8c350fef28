//! Lanes that diverge, talk to each other, or work on the same word.

use tests::gpu::{Argument, Geometry};

use super::{load, random_words};

#[test]
fn divergence() {
    let (gpu, module) = load("divergence");
    let n = 300;
    let out = gpu.alloc::<i32>(n);
    gpu.run(&module, "collatz", Geometry::line(3, 128), &[(n as i32).into(), out.into()]);
    let steps = |i: usize| {
        let (mut v, mut count) = (i as u64 + 1, 0);
        while v != 1 {
            v = if v % 2 == 1 { 3 * v + 1 } else { v / 2 };
            count += 1;
        }
        count
    };
    assert_eq!(gpu.read::<i32>(out, n), (0..n).map(steps).collect::<Vec<i32>>());

    let x: Vec<i32> = random_words(n, 20).into_iter().map(|v| (v % 1000) as i32).collect();
    let input = gpu.upload(&x);
    gpu.run(&module, "nested", Geometry::line(3, 128), &[(n as i32).into(), input.into(), out.into()]);
    assert_eq!(gpu.read::<i32>(out, n), x.iter().map(|&v| nested(v)).collect::<Vec<_>>());
}

fn nested(v: i32) -> i32 {
    let mut sum = 0;
    for a in 0..v % 5 {
        if (v + a) % 3 == 0 {
            continue;
        }
        for b in 0..(v >> a) % 7 {
            if b == 4 && a == 1 {
                break;
            }
            sum += a * 10 + b;
            if sum > 100 {
                return sum;
            }
        }
        if sum % 11 == 7 {
            return -sum;
        }
    }
    sum
}

#[test]
fn lanes_that_wait_for_lanes_make_progress() {
    let (gpu, module) = load("divergence");
    let out = gpu.alloc::<i32>(32);
    gpu.run(&module, "chain", Geometry::line(1, 32), &[out.into()]);
    assert_eq!(gpu.read::<i32>(out, 32), (0..32).map(|i| i * i).collect::<Vec<_>>());
}

#[test]
fn shuffles() {
    let (gpu, module) = load("warps");
    let x: Vec<i32> = random_words(32, 21).into_iter().map(|v| v as i32).collect();
    let (input, out) = (gpu.upload(&x), gpu.alloc::<i32>(8 * 32));
    gpu.run(&module, "shuffles", Geometry::line(1, 32), &[input.into(), out.into()]);
    let from: [&dyn Fn(usize) -> usize; 7] = [
        &|l| l * 7 % 32,
        &|l| if l >= 3 { l - 3 } else { l },
        &|l| if l + 5 < 32 { l + 5 } else { l },
        &|l| l ^ 9,
        &|l| l / 8 * 8 + (l + 1) % 8,
        &|l| if l % 16 >= 1 { l - 1 } else { l },
        &|l| if l % 4 + 2 < 4 { l + 2 } else { l },
    ];
    let got = gpu.read::<i32>(out, 8 * 32);
    for (row, from) in from.iter().enumerate() {
        let want: Vec<i32> = (0..32).map(|l| x[from(l)]).collect();
        assert_eq!(got[32 * row..32 * row + 32], want, "row {row}");
    }
    let wide: Vec<i32> = (0..32).map(|l: usize| ((i64::from(x[l ^ 1]) << 33) >> 32) as i32).collect();
    assert_eq!(got[7 * 32..], wide);
}

#[test]
fn votes_and_matches() {
    let (gpu, module) = load("warps");
    let x: Vec<i32> = (0..32).map(|i| i * 7 % 33).collect();
    let (input, out) = (gpu.upload(&x), gpu.alloc::<u32>(8 * 32));
    gpu.run(&module, "votes", Geometry::line(1, 32), &[input.into(), out.into()]);
    let ballot = |f: &dyn Fn(usize) -> bool| (0..32).filter(|&l| f(l)).fold(0u32, |m, l| m | 1 << l);
    let got = gpu.read::<u32>(out, 8 * 32);
    for l in 0..32 {
        let row = |k: usize| got[32 * k + l];
        assert_eq!(row(0), ballot(&|i| x[i] % 3 == 0));
        assert_eq!(row(1), 1);
        assert_eq!(row(2), u32::from(x.contains(&12)));
        assert_eq!(row(3), ballot(&|i| x[i] % 5 == x[l] % 5));
        assert_eq!(row(4), 0);
        assert_eq!(row(5), u32::MAX);
        assert_eq!(row(6), ballot(&|i| i % 2 == l % 2 && x[i] > 20));
        assert_eq!(row(7), (ballot(&|i| (i as i32) < x[i]) & ((1 << l) - 1)).count_ones());
    }
}

#[test]
fn reductions_of_a_warp() {
    let (gpu, module) = load("warps");
    let x: Vec<i32> = random_words(32, 22).into_iter().map(|v| v as i32).collect();
    let (input, out) = (gpu.upload(&x), gpu.alloc::<i32>(6 * 32));
    gpu.run(&module, "reductions", Geometry::line(1, 32), &[input.into(), out.into()]);
    let want = [
        x.iter().fold(0i32, |s, v| s.wrapping_add(*v)),
        *x.iter().min().unwrap_or(&0),
        *x.iter().max().unwrap_or(&0),
        x.iter().fold(-1, |s, v| s & (v | 0x100)),
        x.iter().fold(0, |s, v| s | v),
        x.iter().fold(0, |s, v| s ^ v),
    ];
    let rows: Vec<i32> = want.iter().flat_map(|v| [*v; 32]).collect();
    assert_eq!(gpu.read::<i32>(out, 6 * 32), rows);
}

#[test]
fn votes_of_a_block() {
    let (gpu, module) = load("warps");
    let x: Vec<i32> = (0..96).map(|i| i * 5 % 97).collect();
    let (input, out) = (gpu.upload(&x), gpu.alloc::<i32>(3 * 96));
    gpu.run(&module, "block_votes", Geometry::line(1, 96), &[input.into(), out.into()]);
    let odd = x.iter().filter(|v| *v % 2 == 1).count() as i32;
    let want = [odd, 1, i32::from(x.contains(&77))].repeat(96);
    let got = gpu.read::<i32>(out, 3 * 96);
    // `__syncthreads_and` and `_or` promise "not zero", no more.
    let got: Vec<i32> = got.chunks(3).flat_map(|c| [c[0], i32::from(c[1] != 0), i32::from(c[2] != 0)]).collect();
    assert_eq!(got, want);
}

#[test]
fn atomics_on_integers() {
    let (gpu, module) = load("atomics");
    let x: Vec<i32> = random_words(256, 23).into_iter().map(|v| v as i32).collect();
    let start: Vec<i32> = vec![0, 0, i32::MAX, i32::MIN, -1, 0, -1, 0, 0, 95, 20, 0, 0];
    let (input, out) = (gpu.upload(&x), gpu.upload(&start));
    gpu.run(&module, "integers", Geometry::line(4, 64), &[input.into(), out.into()]);
    let sum = x.iter().fold(0i32, |s, v| s.wrapping_add(*v));
    let unsigned = || x.iter().map(|v| *v as u32);
    let up = (0..256).fold(95u32, |v, _| if v >= 100 { 0 } else { v + 1 });
    let down = (0..256).fold(20u32, |v, _| if v == 0 || v > 50 { 50 } else { v - 1 });
    let want = [
        sum,
        sum.wrapping_neg(),
        *x.iter().min().unwrap_or(&0),
        *x.iter().max().unwrap_or(&0),
        unsigned().min().unwrap_or(0) as i32,
        unsigned().max().unwrap_or(0) as i32,
        x.iter().fold(-1, |s, v| s & (v | 0x70)),
        x.iter().fold(0, |s, v| s | v),
        x.iter().fold(0, |s, v| s ^ v),
        up as i32,
        down as i32,
        sum,
        sum,
    ];
    assert_eq!(gpu.read::<i32>(out, 13), want);
}

#[test]
fn atomics_on_wide_integers() {
    let (gpu, module) = load("atomics");
    let (low, high) = (random_words(128, 24), random_words(128, 25));
    let x: Vec<i64> = low.iter().zip(&high).map(|(l, h)| (u64::from(*h) << 32 | u64::from(*l)) as i64).collect();
    let start: Vec<u64> = vec![0, i64::MAX as u64, i64::MIN as u64, u64::MAX, 0, u64::MAX, 0, 0];
    let (input, out) = (gpu.upload(&x), gpu.upload(&start));
    gpu.run(&module, "wide", Geometry::line(2, 64), &[input.into(), out.into()]);
    let unsigned = || x.iter().map(|v| *v as u64);
    let want = [
        unsigned().fold(0, u64::wrapping_add),
        x.iter().min().map_or(0, |v| *v as u64),
        x.iter().max().map_or(0, |v| *v as u64),
        unsigned().min().unwrap_or(0),
        unsigned().max().unwrap_or(0),
        unsigned().fold(u64::MAX, |s, v| s & (v | 0x700)),
        unsigned().fold(0, |s, v| s | v),
        unsigned().fold(0, |s, v| s ^ v),
    ];
    assert_eq!(gpu.read::<u64>(out, 8), want);
}

#[test]
fn atomics_on_floats() {
    let (gpu, module) = load("atomics");
    let x: Vec<f32> = random_words(256, 26).into_iter().map(|v| (v % 1000) as f32).collect();
    let total: f32 = x.iter().sum();
    let (input, sum, wide) = (gpu.upload(&x), gpu.upload(&[0.0f32]), gpu.upload(&[0.5f64]));
    gpu.run(&module, "floats", Geometry::line(4, 64), &[input.into(), sum.into(), wide.into()]);
    assert_eq!((gpu.read::<f32>(sum, 1)[0], gpu.read::<f64>(wide, 1)[0]), (total, f64::from(total) + 0.5));

    let best = gpu.upload(&[0i32]);
    gpu.run(&module, "cas_max", Geometry::line(4, 64), &[input.into(), best.into()]);
    let largest = x.iter().fold(0.0f32, |m, v| m.max(*v));
    assert_eq!(gpu.read::<f32>(best, 1), [largest]);
}

#[test]
fn tickets_and_locks() {
    let (gpu, module) = load("atomics");
    let (next, drawn) = (gpu.upload(&[0i32]), gpu.upload(&[0i32; 512]));
    gpu.run(&module, "tickets", Geometry::line(4, 64), &[next.into(), drawn.into()]);
    assert_eq!(gpu.read::<i32>(next, 1), [256]);
    assert_eq!(gpu.read::<i32>(drawn, 512), [[1; 256], [7; 256]].concat());

    let (lock, plain) = (gpu.upload(&[0i32]), gpu.upload(&[0i32]));
    gpu.run(&module, "locked", Geometry::line(8, 64), &[Argument::from(lock), plain.into()]);
    assert_eq!((gpu.read::<i32>(lock, 1), gpu.read::<i32>(plain, 1)), (vec![0], vec![8]));
}
