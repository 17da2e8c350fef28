//! v02: a block shares tiles of A and B through shared memory: square ones of 16 and 32, or strips as long as K.

use std::process::ExitCode;

use cudarc::driver::sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{DriverError, LaunchConfig};
use harness::{Gemm, Kernel, KernelSource, Shape, code, grid_of_tiles, launch_gemm};

const SHARED: KernelSource = code!("v02_shared", rust);
const STRIP: KernelSource = code!("v02_strip");

/// Edge of the square of C that a block owns where it keeps whole strips.
const STRIP_BLOCK: u32 = STRIP.constant("BLOCK");

const KERNELS: &[Kernel] = &[
    Kernel::sgemm("sgemm_v02_tile16", SHARED, square::<16>, launch_gemm),
    Kernel::sgemm("sgemm_v02_tile32", SHARED, square::<32>, launch_gemm),
    Kernel::sgemm("sgemm_v02_strip", STRIP, strip, launch_strip),
    Kernel::dgemm("dgemm_v02_tile16", SHARED, square::<16>, launch_gemm),
    Kernel::dgemm("dgemm_v02_tile32", SHARED, square::<32>, launch_gemm),
];

fn main() -> ExitCode {
    harness::main("v02", KERNELS)
}

fn square<const BLOCK: u32>(shape: Shape) -> LaunchConfig {
    grid_of_tiles(shape, [BLOCK, BLOCK], BLOCK * BLOCK)
}

// ANCHOR: strip
/// Returns the geometry of a block that keeps its whole strips of A and B, so that its shared memory grows with K.
fn strip(shape: Shape) -> LaunchConfig {
    let bytes = 2 * STRIP_BLOCK as usize * shape.k * size_of::<f32>();
    LaunchConfig {
        shared_mem_bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
        ..square::<STRIP_BLOCK>(shape)
    }
}

fn launch_strip(gemm: Gemm<'_, f32>) -> Result<(), DriverError> {
    // More than 48 KiB of dynamic shared memory must be asked for, kernel by kernel.
    let bytes = gemm.config.shared_mem_bytes as i32;
    gemm.kernel.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)?;
    launch_gemm(gemm)
}
// ANCHOR_END: strip

harness::test_step!("v02", KERNELS);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strip_takes_128_bytes_for_each_k() {
        assert_eq!(strip(Shape::square(384)).shared_mem_bytes, 48 << 10);
        assert_eq!(strip(Shape { m: 1, n: 1, k: 1 << 40 }).shared_mem_bytes, u32::MAX);
    }
}
