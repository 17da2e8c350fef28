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
