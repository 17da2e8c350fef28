//! The kernels of v12, which multiply by tensor cores: right and without a finding.
//!
//! Each runs with C of float and of bf16, on shapes that fill no tile.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use arithmetic::products::{AccumulatorType, FactorType, Factors, Product, Unit};
use counters::Counters;
use simt::gpu::Gpu;
use tasks::fixtures::Fixture;
use tests::asynchronous::{ALPHA, Inputs, Loaded, committed, of_bf16, pitch_of_parts, split, to_e4m3};

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

pub(super) fn runs(name: &str) -> bool {
    plans().iter().flat_map(Plan::kernels).any(|(fixture, _)| fixture.name == name)
}

fn kernel(name: &str) -> (Fixture, String) {
    let found = plans().iter().flat_map(Plan::kernels).find(|(fixture, _)| fixture.name == name);
    found.expect("there is a plan")
}

/// The kernels are right and without a finding; where tiles and boxes are swizzled, neither loads nor stores conflict.
#[test]
fn kernels_of_v12_are_clean_and_meet_no_conflict() {
    const SWIZZLED: [&str; 6] = ["v12_mma_ring", "v12_store", "v12_ping_pong", "v12_small", "v12_fp8", "v12_tf32"];
    for (source, kernel) in plans().iter().flat_map(|plan| plan.kernels().into_iter().map(|one| (&plan.source, one))) {
        let name = &kernel.0.name;
        let loaded = Loaded::new(&kernel);
        assert!(!loaded.head.launches.is_empty(), "{name}");
        for &launch in &loaded.head.launches {
            let ran = loaded.run(launch, 1, Inputs::Whole);
            let texts = tests::gpu::texts(&ran.findings);
            assert!(texts.is_empty() && ran.n_wrong == 0, "{name}: {} wrong\n{texts}", ran.n_wrong);
            if SWIZZLED.contains(&source.as_str()) {
                let counters = ran.counters;
                let (loads, stores) = (counters.shared_load_wavefronts, counters.shared_store_wavefronts);
                assert!(loads + stores > 0, "{name}");
                assert_eq!(loads, counters.shared_load_ideal, "{name} on {:?}", launch.shape);
                assert_eq!(stores, counters.shared_store_ideal, "{name} on {:?}", launch.shape);
            }
        }
    }
}

/// Machine code computes the same bits as the PTX, multiplies as often, and no check finds anything.
#[test]
fn machine_code_of_v12_computes_what_ptx_does() {
    for kernel in plans().iter().flat_map(Plan::kernels) {
        let name = &kernel.0.name;
        let (code, ptx) = (Loaded::of_machine_code(&kernel), Loaded::new(&kernel));
        for &launch in &code.head.launches {
            let texts = tests::gpu::texts(&code.run(launch, 1, Inputs::Whole).findings);
            assert_eq!(texts, "", "{name} on {:?}", launch.shape);
            let [ours, want] = [&code, &ptx].map(|loaded| loaded.run(launch, 1, Inputs::Short));
            let bits = |c: &[f32]| c.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
            assert!(bits(&ours.c) == bits(&want.c), "{name} on {:?}", launch.shape);
            let of = |counters: &Counters| [counters.tensor_products, counters.shared_store_bytes];
            assert_eq!(of(&ours.counters), of(&want.counters), "{name} on {:?}", launch.shape);
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

/// Multiplies a row of A by all columns of B as the unit does, from sums of zero on. `bits` encodes an element for it.
fn row_of_unit(kind: FactorType, bits: fn(f32) -> u32, a: &[f32], b: &[Vec<f32>]) -> Vec<f32> {
    const BYTES: usize = 32;
    let product = Product::new(kind, AccumulatorType::F32, Unit::Warpgroup);
    let at_a_time = BYTES / program::mma::warpgroup::element_bytes(kind);
    let mut d = vec![0; b[0].len().next_multiple_of(8)];
    for (a, b) in a.chunks(at_a_time).zip(b.chunks(at_a_time)) {
        let mut row = vec![[0; 8]; at_a_time / 8];
        let mut columns = vec![[0; 8]; at_a_time * d.len() / 8];
        a.iter().enumerate().for_each(|(k, a)| row[k / 8][k % 8] = bits(*a));
        for (k, b) in b.iter().enumerate() {
            for (col, b) in b.iter().enumerate() {
                columns[col / 8 * at_a_time + k][col % 8] = bits(*b);
            }
        }
        let mut factors = [vec![Factors::ZERO; row.len()], vec![Factors::ZERO; columns.len()]];
        product.decode(&row, &mut factors[0]);
        product.decode(&columns, &mut factors[1]);
        product.multiply(&factors[0], &factors[1], at_a_time, &mut d);
    }
    d.into_iter().map(f32::from_bits).collect()
}

struct Summed<'a> {
    name: &'a str,
    kernel: (Fixture, String),
    inputs: Inputs,
    kind: FactorType,
    bits: fn(f32) -> u32,
    /// Number of k that the unit sums before the sum is added in FP32.
    promoted: usize,
}

impl Summed<'_> {
    /// Returns the largest error of its C, which has the bits that it should have.
    fn largest_error(&self) -> f64 {
        let loaded = Loaded::new(&self.kernel);
        let launch = loaded.head.launches[2];
        let [m, n, k] = launch.shape;
        let found = loaded.run(launch, 1, self.inputs).c;
        let product = self.inputs.product(launch.shape);
        let b: Vec<Vec<f32>> = product.b.chunks(n).map(<[f32]>::to_vec).collect();
        let mut largest = 0.0_f64;
        // Every 37th row: some of each tile.
        for row in (0..m).step_by(37) {
            let a = &product.a[row * k..(row + 1) * k];
            let mut sums = vec![0.0; n];
            for (a, b) in a.chunks(self.promoted).zip(b.chunks(self.promoted)) {
                let more = row_of_unit(self.kind, self.bits, a, b);
                sums.iter_mut().zip(more).for_each(|(sum, more): (&mut f32, f32)| *sum += more);
            }
            for (col, sum) in sums.into_iter().enumerate() {
                let found = found[row * n + col];
                assert_eq!(found, ALPHA * sum, "{}: row {row}, column {col}", self.name);
                let exact: f64 = (0..k).map(|k| f64::from(a[k]) * f64::from(b[k][col])).sum();
                largest = largest.max((f64::from(found / ALPHA) - exact).abs());
            }
        }
        largest
    }
}

/// The unit sums as many k of FP8 and TF32 as the sources say, and FP32 the rest, bit by bit.
#[test]
fn sums_leave_the_unit_when_they_should() {
    let summed =
        |name, inputs, kind, bits, promoted| Summed { kernel: kernel(name), name, inputs, kind, bits, promoted };
    let fp8 = |name, promoted| summed(name, Inputs::Short, FactorType::E4m3, |x| u32::from(to_e4m3(x)), promoted);
    let tf32 = summed("gemm_v12_tf32_f32", Inputs::Any, FactorType::Tf32, f32::to_bits, usize::MAX);
    assert!(tf32.largest_error() > 0.0);
    let fast = fp8("gemm_v12_fp8_fast_f32", usize::MAX).largest_error();
    let promoted = fp8("gemm_v12_fp8_f32", 128).largest_error();
    assert!(promoted > 0.0 && 2.0 * promoted < fast, "{promoted} and {fast}");
}
