//! v03: a tile of C per thread, accumulated in registers; from global memory, then from shared.

use std::process::ExitCode;

use cudarc::driver::{DriverError, LaunchConfig, PushKernelArg};
use harness::{Code, Gemm, Kernel, Shape, blocks, code, int};

/// Tile of C that a block owns, and the threads that share it.
const BM: u32 = 128;
const BN: u32 = 128;
const THREADS: u32 = 256;

const FROM_GLOBAL: Code = code!("v03_from_global");
const FROM_SHARED: Code = code!("v03_from_shared");

const KERNELS: &[Kernel] = &[
    Kernel::sgemm("sgemm_v03_from_global", FROM_GLOBAL, geometry, launch),
    Kernel::sgemm("sgemm_v03_from_shared", FROM_SHARED, geometry, launch),
];

fn main() -> ExitCode {
    harness::main("v03", KERNELS)
}

// ANCHOR: launch
/// One block per tile of C.
fn geometry(shape: Shape) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (blocks(shape.n, BN), blocks(shape.m, BM), 1),
        block_dim: (THREADS, 1, 1),
        shared_mem_bytes: 0,
    }
}

fn launch(gemm: Gemm<'_, f32>) -> Result<(), DriverError> {
    let (m, n, k) = (int(gemm.shape.m), int(gemm.shape.n), int(gemm.shape.k));
    let mut launch = gemm.stream.launch_builder(gemm.kernel);
    launch.arg(&m).arg(&n).arg(&k);
    launch.arg(gemm.a).arg(gemm.b).arg(gemm.c);
    // SAFETY: the arguments are what the kernel takes; a has M * K elements, b K * N, c M * N, and it stays inside.
    unsafe { launch.launch(gemm.config) }?;
    Ok(())
}
// ANCHOR_END: launch

#[cfg(test)]
mod tests {
    use super::*;
    use harness::declared;

    #[test]
    fn kernels_are_those_of_the_catalogue() {
        declared::agrees("v03", KERNELS);
    }

    #[test]
    fn sums_of_c_are_those_on_record() {
        harness::sums::agree("v03", KERNELS);
    }

    #[test]
    fn constants_are_those_of_the_source() {
        declared::constants(FROM_GLOBAL, &[("BM", BM), ("BN", BN), ("THREADS", THREADS)]);
        declared::constants(FROM_SHARED, &[("BM", BM), ("BN", BN), ("THREADS", THREADS)]);
    }
}
