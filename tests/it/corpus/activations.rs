//! Functions that call themselves, and calls through addresses.

use simt::check::Code;
use simt::launch::{CheckLevel, LaunchOptions};
use tests::gpu::Geometry;

use super::{assert_close, load, random_words};

fn factorial(n: u32) -> u32 {
    (2..=n).product()
}

fn fibonacci(n: u32) -> u32 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

fn ackermann(m: u32, n: u32) -> u32 {
    match m {
        0 => n + 1,
        1 => n + 2,
        _ => 2 * n + 3,
    }
}

#[test]
fn lanes_go_to_depths_of_their_own() {
    let (gpu, module) = load("recursion");
    let n = 150;
    let out = gpu.alloc::<u32>(4 * n);
    gpu.run(&module, "depths", Geometry::line(3, 64), &[out.into(), (n as i32).into()]);
    let want: Vec<u32> = (0..n as u32)
        .flat_map(|i| [factorial(i % 13), fibonacci(i % 11), ackermann(i % 3, i % 5), u32::from(i % 23 % 2 == 0)])
        .collect();
    assert_eq!(gpu.read::<u32>(out, 4 * n), want);
}

#[test]
fn quicksort_of_local_arrays() {
    let (gpu, module) = load("recursion");
    let threads = 70;
    let data: Vec<i32> = random_words(16 * threads, 4).into_iter().map(|v| v as i32 >> 20).collect();
    let buffer = gpu.upload(&data);
    gpu.run(&module, "sort16", Geometry::line(2, 35), &[buffer.into()]);
    let mut want = data;
    want.chunks_mut(16).for_each(<[i32]>::sort_unstable);
    assert_eq!(gpu.read::<i32>(buffer, 16 * threads), want);
}

#[test]
fn each_activation_has_its_own_array() {
    fn arrays(depth: u32, seed: u32) -> u32 {
        let a: [u32; 4] = std::array::from_fn(|i| seed.wrapping_mul(i as u32 + 1));
        let below = match depth {
            0 => 0,
            _ => arrays(depth - 1, seed.wrapping_add(a[depth as usize & 3])),
        };
        (0..4).fold(below, |sum, i| sum.wrapping_mul(31).wrapping_add(a[(i + depth as usize) & 3]))
    }
    let (gpu, module) = load("recursion");
    let out = gpu.alloc::<u32>(96);
    gpu.run(&module, "own_arrays", Geometry::line(1, 96), &[out.into()]);
    let want: Vec<u32> = (0..96).map(|i| arrays(i % 7, i)).collect();
    assert_eq!(gpu.read::<u32>(out, 96), want);
}

#[test]
fn structs_are_handed_over() {
    fn halves((low, high, scale): (u32, u32, f64), depth: u32) -> (u32, u32, f64) {
        if depth == 0 || low + 1 >= high {
            return (low, high, scale);
        }
        let middle = (low + high) / 2;
        let x = halves((low, middle, scale / 2.0), depth - 1);
        let y = halves((middle, high, scale * 2.0), depth - 1);
        (x.0.wrapping_add(y.0), x.1 ^ y.1, x.2 + y.2)
    }
    let (gpu, module) = load("recursion");
    let out = gpu.alloc::<f64>(64);
    gpu.run(&module, "pairs", Geometry::line(2, 32), &[out.into()]);
    let want = (0..64u32).map(|i| {
        let (low, high, scale) = halves((i, 3 * i + 7, 1.0), i % 5);
        f64::from(low) + 1000.0 * f64::from(high) + 0.125 * scale
    });
    assert_eq!(gpu.read::<f64>(out, 64), want.collect::<Vec<_>>());
}

#[test]
fn barriers_in_functions_that_call_themselves() {
    let (gpu, module) = load("recursion");
    let out = gpu.alloc::<u32>(256);
    gpu.run(&module, "barriers_in_calls", Geometry::line(2, 128), &[out.into()]);
    let sum = |block: u32| -> u32 { (0..3).map(|round| 127 * 128 / 2 + 128 * (round + block) + 127).sum() };
    let want: Vec<u32> = (0..256).map(|i| sum(i / 128)).collect();
    assert_eq!(gpu.read::<u32>(out, 256), want);
}

#[test]
fn lanes_that_exit_deep_inside() {
    let (gpu, module) = load("recursion");
    let out = gpu.alloc::<u32>(32);
    gpu.run(&module, "exits", Geometry::line(1, 32), &[out.into()]);
    let want: Vec<u32> = (0..32)
        .map(|i| {
            if i % 2 == 1 {
                5 + i % 3
            } else if i >= 3 {
                77
            } else {
                5 + i
            }
        })
        .collect();
    assert_eq!(gpu.read::<u32>(out, 32), want);
}

fn operation(which: u32, a: u32, b: u32) -> u32 {
    match which {
        0 => a.wrapping_add(b),
        1 => a.wrapping_sub(b),
        2 => a.wrapping_mul(b),
        _ => (a ^ (b << 7)).wrapping_mul(2_654_435_761),
    }
}

#[test]
fn lanes_call_through_a_table() {
    let (gpu, module) = load("indirect");
    let n = 200;
    let which = random_words(n, 9);
    let (out, input) = (gpu.alloc::<u32>(n), gpu.upload(&which));
    let arguments = [out.into(), input.into(), (n as i32).into()];
    gpu.run(&module, "through_table", Geometry::line(2, 128), &arguments);
    let one = |i: usize| (0..4).fold(i as u32, |v, round| operation(which[i] >> (2 * round) & 3, v, i as u32 + round));
    assert_eq!(gpu.read::<u32>(out, n), (0..n).map(one).collect::<Vec<_>>());
}

#[test]
fn functions_as_arguments() {
    let (gpu, module) = load("indirect");
    let a = random_words(8, 10);
    let (out, input) = (gpu.alloc::<u32>(64), gpu.upload(&a));
    gpu.run(&module, "as_argument", Geometry::line(1, 64), &[out.into(), input.into()]);
    let fold = |which: u32, n: usize| a[..n].iter().fold(1, |v, &x| operation(which, v, x));
    let want: Vec<u32> =
        (0..64u32).map(|i| fold([0, 2, 3][i as usize % 3], 5).wrapping_add(fold(1, i as usize % 4))).collect();
    assert_eq!(gpu.read::<u32>(out, 64), want);
}

#[test]
fn virtual_functions() {
    let (gpu, module) = load("indirect");
    let out = gpu.alloc::<f32>(128);
    gpu.run(&module, "virtual_functions", Geometry::line(2, 64), &[out.into()]);
    let one = |i: u32| {
        let x = f64::from(i);
        match i % 4 {
            0 => 1.5 * x * x,
            1 => 2.0 * x + 0.5 * x,
            2 => 1.5 * (x * x + 2.0 * x),
            _ => 3.0 * (x * x + 2.0 * x),
        }
    };
    assert_close(&gpu.read(out, 128), &(0..128).map(one).collect::<Vec<_>>(), 4.0);
}

#[test]
fn watching_changes_nothing() {
    let (gpu, module) = load("recursion");
    let mut seen = Vec::new();
    for check_level in [CheckLevel::Off, CheckLevel::Count, CheckLevel::Checked] {
        let out = gpu.alloc::<u32>(4 * 96);
        let options = LaunchOptions { check_level, ..LaunchOptions::default() };
        let arguments = [out.into(), 96.into()];
        let report = gpu.launch(&module, "depths", Geometry::line(1, 96), &arguments, options);
        let report = report.expect("it runs");
        seen.push((gpu.read::<u32>(out, 4 * 96), report.launch.total));
    }
    assert_eq!(seen[0].0, seen[1].0);
    assert_eq!(seen[1], seen[2]);
}

/// Recursion without end, and deeper than the stack that was asked for.
#[test]
fn the_stack_ends() {
    let text = include_str!("recursion.ptx");
    let gpu = tests::gpu::Gpu::default();
    let text = format!(".version 8.4\n.target sm_90\n.address_size 64\n{text}");
    let module = gpu.load(&text).expect("it loads");
    let check = |depth: u32, stack_bytes: u32, want: Result<u32, &str>| {
        for check_level in [CheckLevel::Off, CheckLevel::Checked] {
            let out = gpu.alloc::<u32>(1);
            let options = LaunchOptions { check_level, stack_bytes, ..LaunchOptions::default() };
            let arguments = [out.into(), depth.into()];
            let report = gpu.launch(&module, "k", Geometry::line(1, 1), &arguments, options);
            let report = report.expect("it starts");
            let found: Vec<_> = report.findings.iter().map(|f| (f.code, f.text.clone())).collect();
            match want {
                Ok(n) => {
                    assert_eq!(found, []);
                    assert_eq!(gpu.read::<u32>(out, 1), [n]);
                }
                Err(title) => {
                    assert_eq!(found[0].0, Code::Stack);
                    assert!(found[0].1.contains(title), "{}", found[0].1);
                }
            }
        }
    };
    check(0, 1024, Ok(0));
    check(100, 1024, Ok(100));
    check(u32::MAX, 1024, Err("calls deep in `down`"));
    check(1000, 1024, Err("Each thread has a stack of 1,024 bytes"));
    check(1000, 64 << 10, Ok(1000));
    check(u32::MAX, 64 << 10, Err("calls deep in `down`"));
    check(u32::MAX, u32::MAX, Err("calls deep in `down`"));
}

/// Tiles of several warps meet through reserved shared memory, which no array of the kernel touches.
#[test]
fn groups_of_several_warps() {
    let (gpu, module) = load("groups");
    let out = gpu.alloc::<i32>(256);
    gpu.run(&module, "tiles", Geometry::line(1, 256), &[out.into()]);
    let one = |i: i32| {
        let tile = i / 128 * 128;
        let sum: i32 = (tile + 1..=tile + 128).sum();
        let half = i / 64 * 64;
        let most = (half..half + 64).map(|i| i * 37 % 101).max().unwrap_or(0);
        let other = i ^ 127;
        sum + 1_000_000 * most + other * other + half + 5
    };
    assert_eq!(gpu.read::<i32>(out, 256), (0..256).map(one).collect::<Vec<_>>());
}
