//! The ladder's kernels for tensor cores as machine code: the same bits and the same products as from PTX.

use catalog::{Format, STEPS, Work};
use counters::Counters;
use simt::module::Module;
use tests::asynchronous::to_bf16;
use tests::gpu::{Geometry, Gpu};
use tests::recorded::{arguments, kernel, load, machine_code};

/// Kernels, their threads, and their bytes of dynamic shared memory. A block owns at least 128 x 128 of C; blocks that
/// own nothing leave C alone.
#[rustfmt::skip]
const LAUNCHES: [(&str, u32, u32); 13] = [
    ("bf16gemm_v10_wmma", 256, 0), ("tf32gemm_v10_wmma", 256, 0), ("bf16gemm_v10_shared", 256, 0),
    ("tf32gemm_v10_shared", 256, 0), ("bf16gemm_v10_large_warps", 128, 0),
    ("tf32gemm_v10_large_warps", 128, 0), ("bf16gemm_v10_ahead", 256, 104_448),
    ("tf32gemm_v10_ahead", 256, 103_424), ("bf16gemm_v10_parts", 256, 108_544),
    ("tf32gemm_v10_parts", 256, 107_520), ("sgemm_v10_three_tf32", 256, 0),
    ("gemm_v12_mma_ring_f32", 256, 147_456), ("gemm_v12_mma_ring_bf16", 256, 147_456),
];

/// M, N and K. Rows that start on 16 bytes, and rows that do not.
const SHAPES: [[usize; 3]; 3] = [[130, 136, 72], [93, 95, 97], [1, 1, 1]];

pub(super) fn runs(name: &str) -> bool {
    LAUNCHES.iter().any(|(known, ..)| *known == name)
}

fn product(gpu: &Gpu, module: &Module, launch: (&str, u32, u32), shape: [usize; 3]) -> (Vec<u32>, Counters) {
    let (name, threads, shared) = launch;
    let Work::Tensor { operands, result, .. } = kernel(name).work else { panic!("{name} multiplies tiles") };
    let [m, n, k] = shape;
    let numbers = |n, seed| super::machine_code::numbers(n, seed);
    let upload = |numbers: Vec<f32>, format| match format {
        Format::Bf16 => gpu.upload(&numbers.into_iter().map(to_bf16).collect::<Vec<u16>>()),
        _ => gpu.upload(&numbers),
    };
    let places =
        [upload(numbers(m * k, 1), operands), upload(numbers(k * n, 2), operands), upload(numbers(m * n, 3), result)];
    let arguments = arguments(module, name, &shape, &places);
    let grid = [n.div_ceil(128) as u32, m.div_ceil(128) as u32, 1];
    let shape = Geometry { grid, block: [threads, 1, 1], dynamic_shared: shared };
    let report = gpu.run(module, name, shape, &arguments);
    let c = match result {
        Format::Bf16 => gpu.read::<u16>(places[2], m * n).into_iter().map(u32::from).collect(),
        _ => gpu.read(places[2], m * n),
    };
    (c, report.total)
}

#[test]
fn products_of_tensor_cores_are_the_same_from_machine_code() {
    let gpu = Gpu::with_memory(1 << 26);
    for launch in LAUNCHES {
        let (name, ..) = launch;
        let (code, ptx) = (machine_code(&gpu, kernel(name)), load(&gpu, kernel(name)));
        for shape in SHAPES {
            let (ours, counted) = product(&gpu, &code, launch, shape);
            let (want, wanted) = product(&gpu, &ptx, launch, shape);
            let differs = ours.iter().zip(&want).position(|(ours, want)| ours != want);
            assert_eq!(differs, None, "{name} on {shape:?}");
            let of = |counters: &Counters| {
                [
                    counters.tensor_products,
                    counters.shared_load_bytes,
                    counters.shared_load_wavefronts,
                    counters.shared_store_bytes,
                ]
            };
            assert_eq!(of(&counted), of(&wanted), "{name} on {shape:?}");
        }
    }
}

/// The list is whole, with that of kernels that multiply by warpgroups.
#[test]
fn machine_code_of_every_product_of_tensor_cores_is_run() {
    for kernel in STEPS.iter().flat_map(|step| step.kernels) {
        let multiplies = matches!(kernel.work, Work::Tensor { .. }) && kernel.source.is_some();
        assert!(!multiplies || runs(kernel.name) || super::hopper::runs(kernel.name), "{}", kernel.name);
    }
}
