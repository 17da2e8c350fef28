//! v10: tensor cores, which multiply tiles.

use std::process::ExitCode;

use cudarc::driver::{DeviceRepr, DriverError, LaunchConfig};
use harness::{Gemm, Kernel, KernelSource, Shape, code, grid_of_tiles, launch_gemm};

/// Tile of C that a block owns.
const BM: u32 = 128;
const BN: u32 = 128;
/// Threads of a block: eight warps.
const THREADS: u32 = 256;
/// Threads of a block of four warps, each of which owns twice as much of the tile.
const LARGE_WARPS_THREADS: u32 = 128;
/// Rows and columns of the tile of C that a block of eight such warps owns.
const TILE_WIDE: [u32; 2] = [128, 256];
const TILE_TALL: [u32; 2] = [256, 128];

const WMMA: KernelSource = code!("v10_wmma");
const SHARED: KernelSource = code!("v10_shared");
const LARGE_WARPS: KernelSource = code!("v10_large_warps");
const AHEAD: KernelSource = code!("v10_ahead");
const PARTS: KernelSource = code!("v10_parts");
const THREE_TF32: KernelSource = code!("v10_three_tf32");

const KERNELS: &[Kernel] = &[
    Kernel::bf16("bf16gemm_v10_wmma", WMMA, geometry, launch),
    Kernel::sgemm("tf32gemm_v10_wmma", WMMA, geometry, launch),
    Kernel::bf16("bf16gemm_v10_shared", SHARED, geometry, launch),
    Kernel::sgemm("tf32gemm_v10_shared", SHARED, geometry, launch),
    Kernel::bf16("bf16gemm_v10_large_warps", LARGE_WARPS, large_warps_geometry, launch),
    Kernel::sgemm("tf32gemm_v10_large_warps", LARGE_WARPS, large_warps_geometry, launch),
    Kernel::bf16("bf16gemm_v10_ahead", AHEAD, |shape| deep_geometry(shape, TILE_WIDE, 2), launch),
    Kernel::sgemm("tf32gemm_v10_ahead", AHEAD, |shape| deep_geometry(shape, TILE_WIDE, 4), launch),
    Kernel::bf16("bf16gemm_v10_parts", PARTS, |shape| deep_geometry(shape, TILE_TALL, 2), launch),
    Kernel::sgemm("tf32gemm_v10_parts", PARTS, |shape| deep_geometry(shape, TILE_TALL, 4), launch),
    Kernel::sgemm("sgemm_v10_three_tf32", THREE_TF32, geometry, launch),
];

fn main() -> ExitCode {
    harness::main("v10", KERNELS)
}

fn geometry(shape: Shape) -> LaunchConfig {
    grid_of_tiles(shape, [BM, BN], THREADS)
}

fn large_warps_geometry(shape: Shape) -> LaunchConfig {
    LaunchConfig { block_dim: (LARGE_WARPS_THREADS, 1, 1), ..geometry(shape) }
}

/// Returns the geometry of two tiles of A and two of B: 128 bytes of k deep, each row padded by 16; an element has
/// `element_bytes` bytes.
fn deep_geometry(shape: Shape, [bm, bn]: [u32; 2], element_bytes: u32) -> LaunchConfig {
    let (depth, padding) = (128 / element_bytes, 16 / element_bytes);
    let elements = bm * (depth + padding) + depth * (bn + padding);
    LaunchConfig { shared_mem_bytes: 2 * elements * element_bytes, ..grid_of_tiles(shape, [bm, bn], THREADS) }
}

/// Launches a product of bf16, or of FP32 that the kernel takes as TF32; C is of FP32.
fn launch<T: DeviceRepr>(gemm: Gemm<'_, T, f32>) -> Result<(), DriverError> {
    gemm.allow_shared()?;
    launch_gemm(gemm)
}

harness::test_step!("v10", KERNELS);
