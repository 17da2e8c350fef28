//! v01: one thread per element of C, twice: neighbouring lanes own neighbouring rows, or neighbouring columns.
//!
//! `examples/by_hand.rs` is the same without `harness`: everything from context to comparison in one file.

use std::process::ExitCode;

use cudarc::driver::{DeviceRepr, DriverError, LaunchConfig, PushKernelArg};
use harness::{Gemm, Kernel, KernelSource, Shape, blocks, code, to_i32};

const ROW_PER_LANE: KernelSource = code!("v01_row_per_lane", rust);
const COL_PER_LANE: KernelSource = code!("v01_col_per_lane", rust);

/// Edge of the square of C that a block owns, and the threads that share it, as the source has them.
const BLOCK: u32 = COL_PER_LANE.constant("BLOCK");
const THREADS: u32 = COL_PER_LANE.constant("THREADS");

const KERNELS: &[Kernel] = &[
    Kernel::sgemm("sgemm_v01_row_per_lane", ROW_PER_LANE, geometry, launch),
    Kernel::sgemm("sgemm_v01_col_per_lane", COL_PER_LANE, geometry, launch),
    Kernel::dgemm("dgemm_v01_row_per_lane", ROW_PER_LANE, geometry, launch),
    Kernel::dgemm("dgemm_v01_col_per_lane", COL_PER_LANE, geometry, launch),
];

fn main() -> ExitCode {
    harness::main("v01", KERNELS)
}

// ANCHOR: launch
/// Returns one block per square of C, one thread per element.
fn geometry(shape: Shape) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (blocks(shape.n, BLOCK), blocks(shape.m, BLOCK), 1),
        block_dim: (THREADS, 1, 1),
        shared_mem_bytes: 0,
    }
}

fn launch<T: DeviceRepr>(gemm: Gemm<'_, T>) -> Result<(), DriverError> {
    let (m, n, k) = (to_i32(gemm.shape.m), to_i32(gemm.shape.n), to_i32(gemm.shape.k));
    let mut launch = gemm.stream.launch_builder(gemm.kernel);
    launch.arg(&m).arg(&n).arg(&k);
    launch.arg(gemm.a).arg(gemm.b).arg(gemm.c);
    // SAFETY: the arguments are what the kernel takes; a has M * K elements, b K * N, c M * N, and it stays inside.
    unsafe { launch.launch(gemm.config) }?;
    Ok(())
}
// ANCHOR_END: launch

harness::test_step!("v01", KERNELS);
