//! Occupancy: how many blocks of a kernel one multiprocessor of an H200 holds, and what there is not enough of.
//!
//! `cargo run -p exhibits --example occupancy`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;

use cudarc::driver::sys::CUfunction_attribute;
use cudarc::nvrtc::Ptx;

// ANCHOR: limits
/// Limits of a multiprocessor of compute capability 9.0.
const THREADS: u32 = 2048;
const REGISTERS: u32 = 65536;
const SHARED: u32 = 228 * 1024;
const BLOCKS: u32 = 32;

/// Blocks that fit by threads, by registers, by shared memory.
fn blocks_that_fit(threads: u32, registers: u32, shared: u32) -> [u32; 3] {
    let warps = threads / 32;
    // A warp gets registers in units of 256, which is 8 for each of its lanes, from one of four files.
    let of_a_warp = (32 * registers).next_multiple_of(256);
    // The system keeps 1 KiB of each block, and hands out units of 128 bytes.
    let of_a_block = (shared + 1024).next_multiple_of(128);
    [THREADS / threads, REGISTERS / 4 / of_a_warp * 4 / warps, SHARED / of_a_block]
}
// ANCHOR_END: limits

/// Machine code, kernel, threads of a block, dynamic shared memory.
const KERNELS: [(&[u8], &str, u32, u32); 6] = [
    (include_bytes!("../../../kernels/cubin/v01_col_per_lane.cubin"), "sgemm_v01_col_per_lane", 1024, 0),
    (include_bytes!("../../../kernels/cubin/v02_shared.cubin"), "sgemm_v02_tile16", 256, 0),
    (include_bytes!("../../../kernels/cubin/v02_shared.cubin"), "sgemm_v02_tile32", 1024, 0),
    (
        // At K = 1024.
        include_bytes!("../../../kernels/cubin/v02_strip.cubin"),
        "sgemm_v02_strip",
        256,
        128 * 1024,
    ),
    (include_bytes!("../../../kernels/cubin/v03_from_shared.cubin"), "sgemm_v03_from_shared", 256, 0),
    (include_bytes!("../../../kernels/cubin/v07_double_buffer.cubin"), "sgemm_v07_double_buffer", 256, 0),
];

fn main() -> Result<(), Box<dyn Error>> {
    let context = exhibits::device()?;
    println!("of a block                                          blocks that fit, by           on an SM");
    println!(
        "kernel                   threads  registers  shared  threads  registers  shared  blocks  warps"
    );
    for (cubin, name, threads, dynamic) in KERNELS {
        let kernel = context.load_module(Ptx::from_binary(cubin.to_vec()))?.load_function(name)?;
        // ANCHOR: ask
        let of = |what| kernel.get_attribute(what).map(i32::unsigned_abs);
        let registers = of(CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?;
        let shared = of(CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)? + dynamic;
        let fit = blocks_that_fit(threads, registers, shared);
        let blocks = fit.into_iter().fold(BLOCKS, u32::min);
        // The driver computes it as well.
        kernel.set_attribute(
            CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            dynamic.cast_signed(),
        )?;
        let driver =
            kernel.occupancy_max_active_blocks_per_multiprocessor(threads, dynamic as usize, None)?;
        assert_eq!(blocks, driver, "{name}");
        // ANCHOR_END: ask
        println!(
            "{name:23}  {threads:7}  {registers:9}  {shared:6}  {:7}  {:9}  {:6}  {blocks:6}  {:5}",
            fit[0],
            fit[1],
            fit[2],
            blocks * threads / 32,
        );
    }
    Ok(())
}
