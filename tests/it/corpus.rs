//! Ordinary CUDA C++ runs: kernels of `tests/data/corpus`, all checks on, against plain Rust.
//!
//! Results must be right and nothing may be found. Exact where the order of operations is fixed; the math
//! library within what its documentation allows. The others hold forms that the conformance test compares with an
//! H200 one by one; all of them load.

mod activations;
mod lanes;
mod numbers;
mod programs;

use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use simt::module::Module;
use tests::gpu::Gpu;

fn load(name: &str) -> (Gpu, Module) {
    let gpu = Gpu::default();
    let module =
        gpu.load(&tests::read(format!("tests/data/corpus/{name}.ptx"))).unwrap_or_else(|e| panic!("{name}: {e}"));
    (gpu, module)
}

/// Returns pseudorandom words, equal on all machines.
fn random_words(n: usize, seed: u32) -> Vec<u32> {
    let random = ChaCha8Rng::seed_from_u64(seed.into());
    random.random_iter().take(n).collect()
}

fn floats(n: usize, seed: u32) -> Vec<f32> {
    random_words(n, seed).into_iter().map(|v| (v >> 8) as f32 / (1 << 20) as f32 - 8.0).collect()
}

fn assert_close(got: &[f32], want: &[f64], ulps: f64) {
    assert_eq!(got.len(), want.len());
    for (i, (&g, &w)) in got.iter().zip(want).enumerate() {
        let unit = f64::from((w as f32).abs().max(f32::MIN_POSITIVE)) * f64::from(f32::EPSILON);
        assert!((f64::from(g) - w).abs() <= ulps * unit, "element {i}: {g}, expected {w}");
    }
}
