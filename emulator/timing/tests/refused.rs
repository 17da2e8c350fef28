//! Launches without a prediction say why.

use std::fs;
use std::path::Path;

use simt::gpu::{Argument, Gpu};
use simt::launch::{LaunchOptions, LaunchRequest};
use simt::module::Module;
use timing::{Chip, NoPrediction, predict};

/// Returns the reason for the missing prediction of a 128 x 128 x 128 product by a kernel of `kernels/cubin`.
fn why(cubin: &str, name: &str, threads: u32, dynamic_shared: u32, has_alpha: bool) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../kernels/cubin/{cubin}.cubin"));
    let mut code = sass::Module::read(&fs::read(path).expect("it is committed")).expect("its code is known");
    code.kernels.retain(|kernel| kernel.name == name);
    let gpu = Gpu::with_memory(1 << 26);
    let module = Module::load_machine_code(&gpu.memory, &code, None).expect("its code runs");
    let kernel = module.kernel(name).expect("it is in the module");
    let mut arguments: Vec<Argument> = [128; 3].map(Argument::from).into();
    arguments.extend(has_alpha.then_some(1.0_f32.into()));
    arguments.extend([0; 3].map(|_| Argument::from(gpu.upload(&vec![0_f32; 128 * 128]))));
    let config = LaunchRequest {
        grid: [1; 3],
        block: [threads, 1, 1],
        dynamic_shared,
        params: kernel.param_block(&arguments).expect("its parameters"),
        options: LaunchOptions::default(),
    };
    match predict(Chip::h200(), &gpu, &code.kernels[0], kernel, &config) {
        Err(why @ NoPrediction::Instruction { .. }) => why.to_string(),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn tensor_cores_have_no_prediction() {
    for (cubin, name, threads) in [
        ("v10_wmma", "bf16gemm_v10_wmma", 256),
        ("v10_wmma", "tf32gemm_v10_wmma", 256),
        ("v10_shared", "bf16gemm_v10_shared", 256),
        ("v10_large_warps", "tf32gemm_v10_large_warps", 128),
        ("v10_three_tf32", "sgemm_v10_three_tf32", 256),
    ] {
        let why = why(cubin, name, threads, 0, false);
        assert!(why.contains("no time for tensor cores"), "{name}: {why}");
    }
}

#[test]
fn asynchronous_copies_have_no_prediction() {
    let why = why("v12_mma_ring", "gemm_v12_mma_ring_f32", 256, 147_456, true);
    assert!(why.contains("no time for copies"), "{why}");
}
