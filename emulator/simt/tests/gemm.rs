//! The committed kernels give what plain loops give, bit for bit, however they are watched.

mod common;

use common::Device;
use simt::gpu::{Argument, Geometry};
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
    for check_level in [CheckLevel::Off, CheckLevel::Count, CheckLevel::Checked, CheckLevel::CheckedWithGlobalRaces] {
        let device = Device::new(&ptx(name)).check_level(check_level);
        let (da, db, dc) = (device.gpu.upload(&a), device.gpu.upload(&b), device.gpu.alloc::<f32>(n * n));
        let size = Argument::from(n as u32);
        let arguments = [size.clone(), size.clone(), size, da.into(), db.into(), dc.into()];
        let report = device.launch(Geometry { grid, block, shared: 0 }, &arguments);
        assert!(report.mistakes.is_empty(), "{check_level:?}: {:#?}", report.mistakes);
        assert!(device.gpu.read::<f32>(dc, n * n) == expected, "{check_level:?}: wrong result");
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
