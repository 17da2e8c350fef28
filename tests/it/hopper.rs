//! The kernels of v12, which multiply by tensor cores: right and without a finding.
//!
//! Each runs with C of float and of bf16, on shapes that fill no tile.

use std::fmt::Write as _;

use simt::gpu::Gpu;
use simt::program::mma::products::{AccumulatorType, FactorType, Factors, Product, Unit};
use tasks::fixtures::Fixture;
use tests::asynchronous::{ALPHA, Inputs, Loaded, committed, of_bf16, pitch_of_parts, split, to_e4m3};

struct Plan {
    source: &'static str,
    /// Its name, up to the type of C where there are two.
    name: &'static str,
    threads: u32,
    shared: u32,
    factors: &'static str,
    /// Parameters of C of float, and of C of bf16.
    out: [&'static str; 2],
    launches: &'static [(&'static str, [u32; 3])],
}

const fn plan(
    source: &'static str,
    name: &'static str,
    threads: u32,
    shared: u32,
    factors: &'static str,
    out: [&'static str; 2],
    launches: &'static [(&'static str, [u32; 3])],
) -> Plan {
    Plan { source, name, threads, shared, factors, out, launches }
}

/// Boxes for tiles of 128 rows, and of 64 rows.
const HIGH: &str = "A:64x128/128/bf16 B:64x64/128/bf16";
const LOW: &str = "A:64x64/128/bf16 B:64x64/128/bf16";
/// Boxes of kernels whose blocks copy half of a tile of B each.
const HALVES: &str = "A:64x128/128/bf16 B:64x32/128/bf16";
/// Boxes of FP8: B is stored with a row for each of its columns.
const FP8: &str = "A:128x128/128/e4m3 Bt:128x96/128/e4m3";

/// C that is stored from registers, and C that is copied out as boxes.
const FROM_REGISTERS: [&str; 2] = ["C", "C/bf16"];
const IN_BOXES: [&str; 2] = ["C:32x64/128", "C:64x64/128/bf16"];

/// Launches of kernels that multiply FP8: pairs of blocks with several tiles, and more k than their ring has room for.
const FP8_LAUNCHES: [(&str, [u32; 3]); 3] = [("2", [130, 264, 144]), ("4", [1, 8, 16]), ("2", [260, 200, 656])];

/// A shape on which all kernels run that sum in the order of k. It fills no tile.
const SAME: [u32; 3] = [130, 264, 136];

#[rustfmt::skip]
const PLANS: &[Plan] = &[
    plan("v12_mma_ring", "gemm_v12_mma_ring", 256, 147_456, "A/bf16 B/bf16", FROM_REGISTERS,
        &[("3x1", SAME), ("1", [1, 1, 1]), ("1x2", [260, 120, 264]), ("2x1", [127, 129, 65]), ("1", [3, 7, 5])]),
    plan("v12_wgmma", "gemm_v12_wgmma", 256, 98_336, HIGH, FROM_REGISTERS, &[("2x2", SAME), ("1", [1, 8, 8])]),
    plan("v12_ring", "gemm_v12_ring", 288, 196_672, HIGH, FROM_REGISTERS,
        &[("2x2", SAME), ("1", [1, 8, 8]), ("2x1", [120, 264, 392])]),
    plan("v12_persistent", "gemm_v12_persistent", 288, 196_672, HIGH, FROM_REGISTERS,
        &[("2", SAME), ("1", [1, 8, 8]), ("3", [1030, 264, 8])]),
    plan("v12_multicast", "gemm_v12_multicast", 288, 196_672, HALVES, FROM_REGISTERS,
        &[("2", SAME), ("2", [1, 8, 8]), ("4", [130, 264, 392])]),
    plan("v12_store", "gemm_v12_store", 288, 229_440, HALVES, IN_BOXES,
        &[("2", SAME), ("2", [1, 8, 8]), ("2", [260, 264, 200])]),
    plan("v12_store", "gemm_v12_store_192", 288, 229_440, HALVES, IN_BOXES,
        &[("2", SAME), ("2", [1, 8, 8]), ("4", [260, 200, 72])]),
    // One pair of blocks with more tiles than it has warpgroups, and more k than its ring has room for.
    plan("v12_ping_pong", "gemm_v12_ping_pong", 288, 229_472, HALVES, IN_BOXES,
        &[("2", SAME), ("2", [1, 8, 8]), ("2", [130, 392, 520])]),
    plan("v12_ping_pong", "gemm_v12_ping_pong_192", 384, 196_672, HALVES, IN_BOXES,
        &[("2", SAME), ("2", [1, 8, 8]), ("2", [130, 392, 520])]),
    plan("v12_small", "gemm_v12_small_128x128", 288, 229_488, HIGH, IN_BOXES,
        &[("6", SAME), ("1", [1, 8, 8]), ("4", [130, 136, 520])]),
    plan("v12_small", "gemm_v12_small_64x128", 160, 221_328, LOW, IN_BOXES,
        &[("9", SAME), ("1", [1, 8, 8]), ("3", [130, 72, 648])]),
    plan("v12_split", "gemm_v12_split_128x128", 288, 229_472, HIGH, FROM_REGISTERS,
        &[("2", [1, 8, 8]), ("8", [130, 136, 200])]),
    plan("v12_small", "gemm_v12_small_64x64", 160, 65_600, LOW, IN_BOXES, &[("15", SAME), ("1", [1, 8, 8])]),
    plan("v12_fp8", "gemm_v12_fp8_fast", 288, 229_440, FP8, IN_BOXES, &FP8_LAUNCHES),
    plan("v12_fp8", "gemm_v12_fp8", 384, 229_440, FP8, IN_BOXES, &FP8_LAUNCHES),
    plan("v12_split", "gemm_v12_split_64x64", 160, 73_792, LOW, FROM_REGISTERS,
        &[("2", [1, 8, 8]), ("8", [66, 72, 328])]),
];

/// Kernels that give C in FP32 only: FP32 in six products of bf16, and TF32.
#[rustfmt::skip]
const TO_FP32: [Plan; 2] = [
    plan("v12_six_bf16", "sgemm_v12_six_bf16", 384, 229_488, "A:64x128/128/parts B:64x32/128/parts", FROM_REGISTERS,
        &[("2", SAME), ("2", [1, 1, 1]), ("2", [129, 131, 135]), ("4", [300, 131, 515])]),
    plan("v12_tf32", "gemm_v12_tf32_f32", 288, 229_440, "A:32x128/128 Bt:32x128/128", IN_BOXES,
        // The last one is so long that its warps are watched, to see whether they end.
        &[("2", [130, 264, 36]), ("4", [1, 4, 4]), ("2", [260, 260, 140]), ("2", [16, 16, 4096])]),
];

impl Plan {
    fn kernels(&self) -> [(Fixture, String); 2] {
        [("_f32", self.out[0]), ("_bf16", self.out[1])]
            .map(|(ending, out)| self.kernel(&format!("{}{ending}", self.name), out))
    }

    fn kernel(&self, name: &str, out: &str) -> (Fixture, String) {
        let mut head = format!(
            "// block: {}\n// shared: {}\n// product: M N K alpha {} {out}\n",
            self.threads, self.shared, self.factors
        );
        for (blocks, [m, n, k]) in self.launches {
            let _ = writeln!(head, "// launch: blocks {blocks} whole 0 shape {m} {n} {k}");
        }
        committed(self.source, name, &head)
    }
}

fn to_fp32() -> [(Fixture, String); 2] {
    TO_FP32.map(|plan| plan.kernel(plan.name, plan.out[0]))
}

/// The kernels are right and without a finding; where tiles and boxes are swizzled, neither loads nor stores conflict.
#[test]
fn kernels_of_v12_are_clean_and_meet_no_conflict() {
    const SWIZZLED: [&str; 6] = ["v12_mma_ring", "v12_store", "v12_ping_pong", "v12_small", "v12_fp8", "v12_tf32"];
    let with_sources = |plan: &Plan| plan.kernels().map(|kernel| (plan.source, kernel));
    let to_fp32 = to_fp32().into_iter().zip(TO_FP32).map(|(kernel, plan)| (plan.source, kernel));
    for (source, kernel) in PLANS.iter().flat_map(with_sources).chain(to_fp32) {
        let name = &kernel.0.name;
        let loaded = Loaded::new(&kernel);
        for &launch in &loaded.head.launches {
            let ran = loaded.run(launch, 1, Inputs::Whole);
            let texts = tests::gpu::texts(&ran.findings);
            assert!(texts.is_empty() && ran.n_wrong == 0, "{name}: {} wrong\n{texts}", ran.n_wrong);
            if SWIZZLED.contains(&source) {
                let counters = ran.counters;
                let (loads, stores) = (counters.shared_load_wavefronts, counters.shared_store_wavefronts);
                assert!(loads + stores > 0, "{name}");
                assert_eq!(loads, counters.shared_load_ideal, "{name} on {:?}", launch.shape);
                assert_eq!(stores, counters.shared_store_ideal, "{name} on {:?}", launch.shape);
            }
        }
    }
}

#[test]
fn parts_add_up_to_the_element() {
    let gpu = Gpu::with_memory(1 << 26);
    let [(_, ptx), _] = to_fp32();
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
    let at_a_time = BYTES / simt::program::mma::warpgroup::element_bytes(kind);
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
    let of = |name: &str| {
        let mut all = PLANS.iter().flat_map(Plan::kernels).chain(to_fp32());
        all.find(|kernel| kernel.0.name == name).expect("there is a plan")
    };
    let summed = |name, inputs, kind, bits, promoted| Summed { kernel: of(name), name, inputs, kind, bits, promoted };
    let fp8 = |name, promoted| summed(name, Inputs::Short, FactorType::E4m3, |x| u32::from(to_e4m3(x)), promoted);
    let tf32 = summed("gemm_v12_tf32_f32", Inputs::Any, FactorType::Tf32, f32::to_bits, usize::MAX);
    assert!(tf32.largest_error() > 0.0);
    let fast = fp8("gemm_v12_fp8_fast_f32", usize::MAX).largest_error();
    let promoted = fp8("gemm_v12_fp8_f32", 128).largest_error();
    assert!(promoted > 0.0 && 2.0 * promoted < fast, "{promoted} and {fast}");
}
