//! The committed kernels give what plain loops give, bit for bit, however they are watched.

mod common;

use common::{Arg, Device};
use simt::launch::CheckLevel;

fn ptx(name: &str) -> String {
    let path = format!("{}/../../kernels/ptx/{name}.ptx", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the PTX is committed")
}

fn numbers(n: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 - 0.5
    };
    (0..n).map(|_| next()).collect()
}

fn reference(a: &[f32], b: &[f32], n: usize) -> Vec<f32> {
    let mut c = vec![0.0f32; n * n];
    for row in 0..n {
        for k in 0..n {
            let x = a[row * n + k];
            for col in 0..n {
                c[row * n + col] = x.mul_add(b[k * n + col], c[row * n + col]);
            }
        }
    }
    c
}

#[track_caller]
fn check(name: &str, n: usize, grid: [u32; 3], block: [u32; 3]) {
    let (a, b) = (numbers(n * n, 1), numbers(n * n, 2));
    let expected = reference(&a, &b, n);
    for check_level in [CheckLevel::Off, CheckLevel::Count, CheckLevel::On, CheckLevel::Global] {
        let device = Device::new(&ptx(name)).check_level(check_level);
        let (da, db, dc) = (device.floats(&a), device.floats(&b), device.raw(4 * (n * n) as u64));
        let size = || Arg::Word(n as u32);
        let params = [size(), size(), size(), Arg::Long(da), Arg::Long(db), Arg::Long(dc)];
        let report = device.launch(grid, block, 0, &params);
        assert!(report.mistakes.is_empty(), "{check_level:?}: {:#?}", report.mistakes);
        assert!(device.read_floats(dc, n * n) == expected, "{check_level:?}: wrong result");
        if report.counted {
            assert_eq!(report.total.fmas, (n * n * n) as u64, "{check_level:?}");
        }
    }
}

#[test]
fn naive() {
    check("naive", 96, [6, 6, 1], [16, 16, 1]);
}

#[test]
fn shared_tile() {
    check("shared_tile", 96, [6, 6, 1], [16, 16, 1]);
}

#[test]
fn register_tile() {
    check("register_tile", 256, [2, 2, 1], [256, 1, 1]);
}
