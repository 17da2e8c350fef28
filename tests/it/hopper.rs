//! Kernels of v12, which multiply by tensor cores: bank conflicts, the parts of FP32 numbers, and errors of FP8.
//!
//! Each runs with C of float and of bf16, on shapes that fill no tile. The tests of the step compare bits of C.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use simt::gpu::Gpu;
use tasks::fixtures::Fixture;
use tests::asynchronous::{ALPHA, Inputs, Loaded, committed, of_bf16, pitch_of_parts, split};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    source: String,
    /// Its name, up to the type of C where there are two.
    name: String,
    block: u32,
    shared: u32,
    factors: String,
    c: Vec<String>,
    launches: Vec<String>,
}

fn plans() -> Vec<Plan> {
    let mut all: BTreeMap<String, Vec<Plan>> = toml::from_str(include_str!("hopper.toml")).expect("plans");
    all.remove("plan").expect("plans")
}

impl Plan {
    fn kernels(&self) -> Vec<(Fixture, String)> {
        let endings: &[&str] = if self.c.len() == 1 { &[""] } else { &["_f32", "_bf16"] };
        endings.iter().zip(&self.c).map(|(ending, c)| self.kernel(&format!("{}{ending}", self.name), c)).collect()
    }

    fn kernel(&self, name: &str, c: &str) -> (Fixture, String) {
        let mut head = format!(
            "// block: {}\n// shared: {}\n// product: M N K alpha {} {c}\n",
            self.block, self.shared, self.factors
        );
        for launch in &self.launches {
            let (blocks, shape) = launch.split_once(": ").expect("blocks: M N K");
            let _ = writeln!(head, "// launch: blocks {blocks} whole 0 shape {shape}");
        }
        committed(&self.source, name, &head)
    }
}

fn kernel(name: &str) -> (Fixture, String) {
    let found = plans().iter().flat_map(Plan::kernels).find(|(fixture, _)| fixture.name == name);
    found.expect("there is a plan")
}

/// Kernels whose tiles and boxes are swizzled load and store without a conflict; they are right, without a finding.
#[test]
fn swizzled_kernels_of_v12_meet_no_conflict() {
    for kernel in plans().iter().filter(|plan| plan.source != "v12_six_bf16").flat_map(Plan::kernels) {
        let name = &kernel.0.name;
        let loaded = Loaded::new(&kernel);
        assert!(!loaded.head.launches.is_empty(), "{name}");
        for &launch in &loaded.head.launches {
            let ran = loaded.run(launch, 1, Inputs::Whole);
            let texts = tests::gpu::texts(&ran.findings);
            assert!(texts.is_empty() && ran.n_wrong == 0, "{name}: {} wrong\n{texts}", ran.n_wrong);
            let counters = ran.counters;
            let (loads, stores) = (counters.shared_load_wavefronts, counters.shared_store_wavefronts);
            assert!(loads + stores > 0, "{name}");
            assert_eq!(loads, counters.shared_load_ideal, "{name} on {:?}", launch.shape);
            assert_eq!(stores, counters.shared_store_ideal, "{name} on {:?}", launch.shape);
        }
    }
}

#[test]
fn parts_add_up_to_the_element() {
    let gpu = Gpu::with_memory(1 << 26);
    let (_, ptx) = kernel("sgemm_v12_six_bf16");
    let module = gpu.load(&ptx).unwrap_or_else(|refused| panic!("{refused}"));
    for (rows, cols) in [(3, 135), (5, 64), (1, 1), (7, 36)] {
        let matrix: Vec<f32> = tests::gemm::Product::random(rows, 1, cols, 5).a;
        let parts = split(&gpu, &module, rows, cols, gpu.upload(&matrix));
        let pitch = pitch_of_parts(cols);
        let parts: Vec<u16> = gpu.read(parts, 3 * rows * pitch);
        for (row, col) in (0..rows).flat_map(|row| (0..pitch).map(move |col| (row, col))) {
            let part = |p: usize| f64::from(of_bf16(parts[(p * rows + row) * pitch + col]));
            let element = if col < cols { matrix[row * cols + col] } else { 0.0 };
            assert_eq!(part(0) + part(1) + part(2), f64::from(element), "{row} {col}");
            assert!(part(1).abs() <= part(0).abs() / 256.0 && part(2).abs() <= part(1).abs() / 256.0);
        }
    }
}

/// Returns the largest error in every 37th row of C, which has some of each tile, of the last launch of a kernel.
fn largest_error(name: &str) -> f64 {
    const INPUTS: Inputs = Inputs::Short;
    let kernel = kernel(name);
    let loaded = Loaded::new(&kernel);
    let launch = *loaded.head.launches.last().expect("a launch");
    let [m, n, k] = launch.shape;
    let found = loaded.run(launch, 1, INPUTS).c;
    let product = INPUTS.product(launch.shape);
    let places = (0..m).step_by(37).flat_map(|row| (0..n).map(move |col| (row, col)));
    let error = |(row, col)| {
        let terms = (0..k).map(|i| f64::from(product.a[row * k + i]) * f64::from(product.b[i * n + col]));
        (f64::from(found[row * n + col] / ALPHA) - terms.sum::<f64>()).abs()
    };
    places.map(error).fold(0.0, f64::max)
}

/// Sums of FP8 that go on in FP32 after 128 k have less than half of the error of those that stay in the unit.
#[test]
fn promoted_sums_are_more_exact() {
    let [fast, promoted] = ["gemm_v12_fp8_fast_f32", "gemm_v12_fp8_f32"].map(largest_error);
    assert!(promoted > 0.0 && 2.0 * promoted < fast, "{promoted} and {fast}");
}
