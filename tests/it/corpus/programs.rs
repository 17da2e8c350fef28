//! Whole algorithms: softmax, histogram, scan, stencil, pipelines, flags between blocks.

use tests::gpu::{Argument, Geometry};

use super::{assert_close, floats, load, random_words};

#[test]
fn softmax() {
    let (gpu, module) = load("softmax");
    let (rows, cols) = (37, 100);
    let x = floats(rows * cols, 1);
    let (input, out) = (gpu.upload(&x), gpu.alloc::<f32>(rows * cols));
    let arguments = [Argument::from(rows as i32), (cols as i32).into(), input.into(), out.into()];
    gpu.run(&module, "softmax", Geometry::line(10, 128), &arguments);
    let mut want = Vec::new();
    for row in x.chunks(cols) {
        let largest = row.iter().fold(f32::NEG_INFINITY, |m, &v| m.max(v));
        let powers: Vec<f64> = row.iter().map(|&v| f64::from(v - largest).exp()).collect();
        let sum: f64 = powers.iter().sum();
        want.extend(powers.iter().map(|p| p / sum));
    }
    assert_close(&gpu.read(out, rows * cols), &want, 16.0);
}

#[test]
fn histogram() {
    let (gpu, module) = load("histogram");
    let data: Vec<u8> = random_words(10_000, 2).into_iter().map(|v| (v >> 24) as u8).collect();
    let (input, counts) = (gpu.upload(&data), gpu.upload(&[0u32; 64]));
    let arguments = [(data.len() as i32).into(), input.into(), counts.into()];
    gpu.run(&module, "histogram", Geometry::line(5, 96), &arguments);
    let mut want = [0u32; 64];
    data.iter().for_each(|v| want[usize::from(v % 64)] += 1);
    assert_eq!(gpu.read::<u32>(counts, 64), want);
}

#[test]
fn scan() {
    let (gpu, module) = load("scan");
    let n = 1000;
    let x: Vec<i32> = random_words(n, 3).into_iter().map(|v| (v % 100) as i32 - 50).collect();
    let (input, out) = (gpu.upload(&x), gpu.alloc::<i32>(n));
    gpu.run(&module, "scan", Geometry::line(4, 256), &[(n as i32).into(), input.into(), out.into()]);
    let running = |block: &[i32]| {
        block
            .iter()
            .scan(0, |sum, v| {
                *sum += v;
                Some(*sum)
            })
            .collect::<Vec<_>>()
    };
    let want: Vec<i32> = x.chunks(256).flat_map(running).collect();
    assert_eq!(gpu.read::<i32>(out, n), want);
}

#[test]
fn stencil() {
    let (gpu, module) = load("stencil");
    let (rows, cols) = (50i32, 70i32);
    let n = (rows * cols) as usize;
    let x = floats(n, 4);
    let (input, out) = (gpu.upload(&x), gpu.alloc::<f32>(n));
    let arguments = [Argument::from(rows), cols.into(), input.into(), out.into()];
    gpu.run(&module, "stencil", Geometry::plane([5, 4], [16, 16]), &arguments);
    let at = |r: i32, c: i32| {
        if (0..rows).contains(&r) && (0..cols).contains(&c) { x[(r * cols + c) as usize] } else { 0.0 }
    };
    let want: Vec<f32> = (0..rows)
        .flat_map(|r| (0..cols).map(move |c| (r, c)))
        .map(|(r, c)| {
            let around = (at(r - 1, c) + at(r + 1, c)) + (at(r, c - 1) + at(r, c + 1));
            (-4.0f32).mul_add(at(r, c), around)
        })
        .collect();
    assert_eq!(gpu.read::<f32>(out, n), want);
}

#[test]
fn calls() {
    let (gpu, module) = load("calls");
    let n = 50usize;
    let body = floats(4 * n, 5);
    let (input, out) = (gpu.upload(&body), gpu.alloc::<f32>(n));
    gpu.run(&module, "bodies", Geometry::line(1, 64), &[(n as i32).into(), input.into(), out.into()]);
    let force = |i: usize| {
        (0..n).filter(|&k| k != i).fold(0.0f32, |sum, k| {
            let (a, b) = (&body[4 * i..4 * i + 4], &body[4 * k..4 * k + 4]);
            let squared = (0..3).fold(0.01f32, |s, d| (a[d] - b[d]).mul_add(a[d] - b[d], s));
            sum + a[3] * b[3] / squared
        })
    };
    assert_eq!(gpu.read::<f32>(out, n), (0..n).map(force).collect::<Vec<_>>());

    let a: Vec<i32> = random_words(n, 6).into_iter().map(|v| (v % 1000) as i32 + 1).collect();
    let b: Vec<i32> = random_words(n, 7).into_iter().map(|v| (v % 1000) as i32 + 1).collect();
    let (x, y, out) = (gpu.upload(&a), gpu.upload(&b), gpu.alloc::<i32>(4 * n));
    gpu.run(&module, "integers", Geometry::line(1, 64), &[(n as i32).into(), x.into(), y.into(), out.into()]);
    let results = |(&a, &b): (&i32, &i32)| {
        let (low, high) = (a.min(b), a.max(b));
        let (mut p, mut q, mut steps) = (high, low, 0);
        while q != 0 {
            (p, q) = (q, p % q);
            steps += 1;
        }
        [low, high, p, steps]
    };
    assert_eq!(gpu.read::<i32>(out, 4 * n), a.iter().zip(&b).flat_map(results).collect::<Vec<_>>());

    gpu.run(&module, "both", Geometry::line(1, 32), &[x.into(), y.into(), out.into()]);
    let want = |i: usize| {
        if i.is_multiple_of(3) { a[i] + b[i] } else { a[i] * b[i] }
    };
    assert_eq!(gpu.read::<i32>(out, 32), (0..32).map(want).collect::<Vec<_>>());
}

#[test]
fn local_arrays() {
    let (gpu, module) = load("local_array");
    let n = 16 * 40;
    let x: Vec<i32> = random_words(n, 8).into_iter().map(|v| v as i32).collect();
    let (input, out) = (gpu.upload(&x), gpu.alloc::<i32>(n));
    gpu.run(&module, "insertion_sort", Geometry::line(2, 32), &[(n as i32).into(), input.into(), out.into()]);
    let sorted = |chunk: &[i32]| {
        let mut v = chunk.to_vec();
        v.sort();
        v
    };
    assert_eq!(gpu.read::<i32>(out, n), x.chunks(16).flat_map(sorted).collect::<Vec<_>>());

    let x: Vec<u8> = random_words(64, 9).into_iter().map(|v| (v % 20) as u8).collect();
    let (input, out) = (gpu.upload(&x), gpu.alloc::<u8>(64));
    gpu.run(&module, "bytes", Geometry::line(1, 64), &[input.into(), out.into()]);
    let most = |t: usize| {
        let mut seen = [0u8; 64];
        (0..32).for_each(|i| seen[usize::from(x[(t + i) % 64])] += 1);
        seen.into_iter().max().unwrap_or(0)
    };
    assert_eq!(gpu.read::<u8>(out, 64), (0..64).map(most).collect::<Vec<_>>());
}

#[test]
fn switches() {
    let (gpu, module) = load("switch");
    let n = 512;
    let op: Vec<i32> = (0..n)
        .map(|i| match i % 17 {
            14 => 1000,
            15 => -5,
            k => k,
        })
        .collect();
    let x: Vec<i32> = random_words(n as usize, 10).into_iter().map(|v| v as i32).collect();
    let (ops, input, out) = (gpu.upload(&op), gpu.upload(&x), gpu.alloc::<i32>(n as usize));
    gpu.run(&module, "calculator", Geometry::line(4, 128), &[n.into(), ops.into(), input.into(), out.into()]);
    let result = |(&op, &x): (&i32, &i32)| match op {
        0 => x.wrapping_add(7),
        1 => x.wrapping_mul(3),
        2 => (x ^ 0x55).wrapping_sub(1),
        3 => x.wrapping_sub(1),
        4 => x / 5,
        5 => x % 11,
        6 => (0..4i32).fold(x, |v, k| v.wrapping_add(k.wrapping_mul(v))),
        7 => x << 2,
        8 => x >> 1,
        9 => x.count_ones() as i32,
        10 => x.leading_zeros() as i32,
        11 => x.wrapping_neg(),
        1000 => 1000,
        -5 => 5,
        _ => !x,
    };
    assert_eq!(gpu.read::<i32>(out, n as usize), op.iter().zip(&x).map(result).collect::<Vec<_>>());
}

#[test]
fn printing() {
    let (gpu, module) = load("print");
    let report = gpu.run(&module, "print_all", Geometry::line(2, 2), &[3i32.into()]);
    insta::assert_snapshot!(report.printed, @r"
    plain text, 100%
    0     0|0     |0000.000|0|a|even|0
    -1    10|11    |0001.500|0.25|b|odd|1099511627776
    -2    20|22    |0003.000|0.5|c|even|2199023255552
    ");
}

#[test]
fn asynchronous_copies() {
    let (gpu, module) = load("async_copy");
    let tiles = 5;
    let x = floats(tiles * 512, 11);
    let (input, out) = (gpu.upload(&x), gpu.alloc::<f32>(128));
    gpu.run(&module, "pipeline", Geometry::line(1, 128), &[(tiles as i32).into(), input.into(), out.into()]);
    let sum = |t: usize| (0..tiles * 4).fold(0.0f32, |s, k| s + x[k / 4 * 512 + (t + k % 4 * 33) % 512]);
    assert_eq!(gpu.read::<f32>(out, 128), (0..128).map(sum).collect::<Vec<_>>());
}

#[test]
fn time_passes() {
    let (gpu, module) = load("clocks");
    let out = gpu.alloc::<i32>(64);
    gpu.run(&module, "clocks", Geometry::line(1, 64), &[out.into()]);
    assert_eq!(gpu.read::<i32>(out, 64), [1; 64]);
}

#[test]
fn dynamic_shared_memory() {
    let (gpu, module) = load("dynamic_shared");
    let n = 100usize;
    let x = floats(n, 12);
    let (input, out) = (gpu.upload(&x), gpu.alloc::<f32>(n));
    let shape = Geometry { dynamic_shared: 8 * n as u32, ..Geometry::line(1, 128) };
    gpu.run(&module, "carve", shape, &[(n as i32).into(), input.into(), out.into()]);
    assert_eq!(gpu.read::<f32>(out, n), x.iter().rev().copied().collect::<Vec<_>>());
}

#[test]
fn constants_and_variables() {
    let (gpu, module) = load("constants");
    let n = 100usize;
    let x = floats(n, 13);
    let (input, out) = (gpu.upload(&x), gpu.alloc::<f32>(n));
    gpu.run(&module, "convolve", Geometry::line(1, 128), &[(n as i32).into(), input.into(), out.into()]);
    let filter = [0.0625f32, 0.25, 0.375, 0.25, 0.0625];
    let want = |i: usize| {
        (0..5).filter(|&k| (2..n + 2).contains(&(i + k))).fold(0.0f32, |s, k| filter[k].mul_add(x[i + k - 2], s))
    };
    assert_eq!(gpu.read::<f32>(out, n), (0..n).map(want).collect::<Vec<_>>());

    let out = gpu.alloc::<i32>(33);
    gpu.run(&module, "lookup", Geometry::line(1, 32), &[out.into()]);
    let table = [[1, -2, 3], [400, -500, 600]];
    let want = |i: usize| {
        let from = if i % 2 == 1 { (i % 5) as f32 * 2.0 } else { filter[i % 5] };
        table[i % 2][i % 3] + (from * 16.0) as i32
    };
    assert_eq!(gpu.read::<i32>(out, 32), (0..32).map(want).collect::<Vec<_>>());
    assert_eq!(gpu.read::<i32>(out + 128, 1), [42]);
}

#[test]
fn flags_between_blocks() {
    let (gpu, module) = load("flags");
    let n = 1000;
    let x: Vec<i32> = (0..n).collect();
    let input = gpu.upload(&x);
    let (partial, arrived, total) = (gpu.upload(&[0i32; 6]), gpu.upload(&[0u32]), gpu.upload(&[0i32]));
    let arguments = [Argument::from(n), input.into(), partial.into(), arrived.into(), total.into()];
    gpu.run(&module, "last_block", Geometry::line(6, 32), &arguments);
    assert_eq!(gpu.read::<i32>(total, 1), [x.iter().sum::<i32>()]);
    assert_eq!(gpu.read::<u32>(arrived, 1), [0]);

    let (flag, value) = (gpu.upload(&[0i32; 9]), gpu.upload(&[0i32; 9]));
    gpu.run(&module, "relay", Geometry::line(9, 32), &[flag.into(), value.into()]);
    let want: Vec<i32> = (0..9)
        .scan(0, |sum, b| {
            *sum += b * b;
            Some(*sum)
        })
        .collect();
    assert_eq!(gpu.read::<i32>(value, 9), want);
}
