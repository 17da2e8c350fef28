//! Launches that cannot be predicted have a reason.

mod recorded;

use recorded::{Given, Launch};
use timing::accuracy::Set;

/// Returns the reason for the missing prediction of a 128 x 128 x 128 product by a kernel of `kernels/cubin`.
fn why(cubin: &str, name: &str, threads: u32, dynamic_shared: u32, has_alpha: bool) -> String {
    let mut arguments = vec![Given::Int(128); 3];
    arguments.extend(has_alpha.then_some(Given::Float(1.0)));
    arguments.extend(vec![Given::Buffer(128 * 128 * 4); 3]);
    let launch = Launch {
        set: Set::Ladder,
        name: name.to_owned(),
        shape: [128; 3],
        measured_us: 0.0,
        entry: name.to_owned(),
        cubin: recorded::cubin(&format!("kernels/ptx/{cubin}.ptx")),
        grid: [1; 3],
        block: [threads, 1, 1],
        dynamic_shared,
        arguments,
    };
    launch.predicted().expect_err(name)
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
fn tensor_cores_behind_barriers_have_no_prediction() {
    let why = why("v12_mma_ring", "gemm_v12_mma_ring_f32", 256, 147_456, true);
    assert!(why.contains("no time for tensor cores"), "{why}");
}
