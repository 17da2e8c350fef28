//! v08: layouts. A ladder of transposes, and then products whose operands are stored transposed.

use std::process::ExitCode;

use cudarc::driver::{DriverError, LaunchConfig, PushKernelArg};
use harness::{Code, Gemm, Kernel, Shape, Transpose, blocks, code, int};

const THREADS: Code = code!("v08_transpose_threads");
const COALESCED: Code = code!("v08_transpose_coalesced");
const TILE: Code = code!("v08_transpose_tile");
const PADDED: Code = code!("v08_transpose_padded");
const SWIZZLED: Code = code!("v08_transpose_swizzled");
const RECTANGULAR: Code = code!("v08_transpose_rectangular");
const FLOAT4: Code = code!("v08_transpose_float4");
const GEMM: Code = code!("v08_gemm_transposed");

const KERNELS: &[Kernel] = &[
    Kernel::transpose("transpose_serial", THREADS, serial, transpose),
    Kernel::transpose("transpose_row_per_thread", THREADS, row_per_thread, transpose),
    Kernel::transpose(
        "transpose_coalesced_reads",
        COALESCED,
        tiles::<32, 1024>,
        transpose,
    ),
    Kernel::transpose(
        "transpose_coalesced_writes",
        COALESCED,
        tiles::<32, 1024>,
        transpose,
    ),
    Kernel::transpose("transpose_tile", TILE, tiles::<32, 1024>, transpose),
    Kernel::transpose("transpose_padded", PADDED, tiles::<32, 1024>, transpose),
    Kernel::transpose("transpose_swizzled", SWIZZLED, tiles::<32, 1024>, transpose),
    Kernel::transpose("transpose_rectangular", RECTANGULAR, tiles::<32, 256>, transpose),
    Kernel::transpose("transpose_float4", FLOAT4, tiles::<64, 256>, transpose),
    Kernel::sgemm("sgemm_v08_nn", GEMM, product, launch),
    Kernel::sgemm("sgemm_v08_nt", GEMM, product, launch),
    Kernel::sgemm("sgemm_v08_tn", GEMM, product, launch),
    Kernel::sgemm("sgemm_v08_tt", GEMM, product, launch),
];

fn main() -> ExitCode {
    harness::main("v08", KERNELS)
}

// ANCHOR: transpose
/// One thread does it all.
fn serial(_: Shape) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (1, 1, 1),
        block_dim: (1, 1, 1),
        shared_mem_bytes: 0,
    }
}

/// Rows of the input that a block owns in `transpose_row_per_thread`.
const ROWS: u32 = 32;

fn row_per_thread(shape: Shape) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (1, blocks(shape.m, ROWS), 1),
        block_dim: (ROWS, 1, 1),
        shared_mem_bytes: 0,
    }
}

/// One block per square of the input, `EDGE` on a side.
fn tiles<const EDGE: u32, const THREADS: u32>(shape: Shape) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (blocks(shape.n, EDGE), blocks(shape.m, EDGE), 1),
        block_dim: (THREADS, 1, 1),
        shared_mem_bytes: 0,
    }
}

fn transpose(transpose: Transpose<'_>) -> Result<(), DriverError> {
    let (rows, cols) = (int(transpose.shape.m), int(transpose.shape.n));
    let mut launch = transpose.stream.launch_builder(transpose.kernel);
    launch.arg(&rows).arg(&cols);
    launch.arg(transpose.input).arg(transpose.output);
    // SAFETY: the arguments are what the kernel takes; both buffers have rows * cols elements, and it stays inside.
    unsafe { launch.launch(transpose.config) }?;
    Ok(())
}
// ANCHOR_END: transpose

// ANCHOR: gemm
/// Tile of C that a block owns in the products, and the threads that share it.
const BM: u32 = 128;
const BN: u32 = 128;
const GEMM_THREADS: u32 = 256;

/// One block per tile of C.
fn product(shape: Shape) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (blocks(shape.n, BN), blocks(shape.m, BM), 1),
        block_dim: (GEMM_THREADS, 1, 1),
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
// ANCHOR_END: gemm

#[cfg(test)]
mod tests {
    use super::*;
    use harness::declared;

    #[test]
    fn kernels_are_those_of_the_catalogue() {
        declared::agrees("v08", KERNELS);
    }

    #[test]
    fn sums_of_c_are_those_on_record() {
        harness::sums::agree("v08", KERNELS);
    }

    #[test]
    fn constants_are_those_of_the_source() {
        declared::constants(THREADS, &[("THREADS", ROWS)]);
        declared::constants(COALESCED, &[("BLOCK", 32)]);
        for code in [TILE, PADDED, SWIZZLED, RECTANGULAR] {
            declared::constants(code, &[("TILE", 32)]);
        }
        declared::constants(RECTANGULAR, &[("ROWS", 256 / 32)]);
        declared::constants(FLOAT4, &[("TILE", 64)]);
        declared::constants(GEMM, &[("BM", BM), ("BN", BN), ("THREADS", GEMM_THREADS)]);
    }
}
