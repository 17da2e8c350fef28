//! v08: layouts. A ladder of transposes, and then products whose operands are stored transposed.

use std::process::ExitCode;

use cudarc::driver::{DriverError, LaunchConfig, PushKernelArg};
use harness::{Kernel, KernelSource, Shape, Transpose, blocks, code, grid_of_tiles, to_i32};

const THREADS: KernelSource = code!("v08_transpose_threads");
const COALESCED: KernelSource = code!("v08_transpose_coalesced", rust);
const TILE: KernelSource = code!("v08_transpose_tile", rust);
const PADDED: KernelSource = code!("v08_transpose_padded");
const SWIZZLED: KernelSource = code!("v08_transpose_swizzled", rust);
const RECTANGULAR: KernelSource = code!("v08_transpose_rectangular");
const FLOAT4: KernelSource = code!("v08_transpose_float4");
const GEMM: KernelSource = code!("v08_gemm_transposed");

/// Edge of the square tile that a block moves, and of the larger one of `transpose_float4`.
const EDGE: u32 = TILE.constant("TILE");
const FLOAT4_EDGE: u32 = FLOAT4.constant("TILE");
/// Threads of a block: one for each element of the tile; for an element in several rows; for 4 x 4 elements.
const THREAD_PER_ELEMENT: u32 = EDGE * EDGE;
const THREAD_PER_COLUMN_PART: u32 = EDGE * RECTANGULAR.constant("ROWS");
const THREAD_PER_4X4: u32 = (FLOAT4_EDGE / 4) * (FLOAT4_EDGE / 4);

const KERNELS: &[Kernel] = &[
    Kernel::transpose("transpose_serial", THREADS, serial, transpose),
    Kernel::transpose("transpose_row_per_thread", THREADS, row_per_thread, transpose),
    Kernel::transpose("transpose_coalesced_reads", COALESCED, tiles::<EDGE, THREAD_PER_ELEMENT>, transpose),
    Kernel::transpose("transpose_coalesced_writes", COALESCED, tiles::<EDGE, THREAD_PER_ELEMENT>, transpose),
    Kernel::transpose("transpose_tile", TILE, tiles::<EDGE, THREAD_PER_ELEMENT>, transpose),
    Kernel::transpose("transpose_padded", PADDED, tiles::<EDGE, THREAD_PER_ELEMENT>, transpose),
    Kernel::transpose("transpose_swizzled", SWIZZLED, tiles::<EDGE, THREAD_PER_ELEMENT>, transpose),
    Kernel::transpose("transpose_rectangular", RECTANGULAR, tiles::<EDGE, THREAD_PER_COLUMN_PART>, transpose),
    Kernel::transpose("transpose_float4", FLOAT4, down_columns, transpose),
    Kernel::tiled("sgemm_v08_nn", GEMM),
    Kernel::tiled("sgemm_v08_nt", GEMM),
    Kernel::tiled("sgemm_v08_tn", GEMM),
    Kernel::tiled("sgemm_v08_tt", GEMM),
];

fn main() -> ExitCode {
    harness::main("v08", KERNELS)
}

fn serial(_: Shape) -> LaunchConfig {
    LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 }
}

/// Rows of the input that a block owns in `transpose_row_per_thread`.
const ROWS: u32 = THREADS.constant("THREADS");

fn row_per_thread(shape: Shape) -> LaunchConfig {
    LaunchConfig { grid_dim: (1, blocks(shape.m, ROWS), 1), block_dim: (ROWS, 1, 1), shared_mem_bytes: 0 }
}

/// Returns the launch of one block per square tile of the input, `EDGE` on a side.
fn tiles<const EDGE: u32, const THREADS: u32>(shape: Shape) -> LaunchConfig {
    grid_of_tiles(shape, [EDGE, EDGE], THREADS)
}

/// Returns the launch of `transpose_float4`: consecutive blocks own tiles below each other, so that they store to the
/// same rows of the output. The columns are along y, where a grid ends after 65535 tiles.
fn down_columns(shape: Shape) -> LaunchConfig {
    tiles::<FLOAT4_EDGE, THREAD_PER_4X4>(Shape { m: shape.n, n: shape.m, ..shape })
}

fn transpose(transpose: Transpose<'_>) -> Result<(), DriverError> {
    let (rows, cols) = (to_i32(transpose.shape.m), to_i32(transpose.shape.n));
    let mut launch = transpose.stream.launch_builder(transpose.kernel);
    launch.arg(&rows).arg(&cols);
    launch.arg(transpose.input).arg(transpose.output);
    // SAFETY: the arguments are what the kernel takes; both buffers have rows * cols elements, and it stays inside.
    unsafe { launch.launch(transpose.config) }?;
    Ok(())
}

harness::test_step!("v08", KERNELS);
