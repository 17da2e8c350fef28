//! v02: a block shares tiles of A and B through shared memory: square ones of 16 and 32, or strips as long as K.

use std::process::ExitCode;

use cudarc::driver::sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{DeviceRepr, DriverError, LaunchConfig, PushKernelArg};
use harness::{Code, Gemm, Kernel, Shape, blocks, code, int};

const SHARED: Code = code!("v02_shared");
const STRIP: Code = code!("v02_strip");

/// Edge of the square of C that a block owns where it keeps whole strips.
const STRIP_BLOCK: u32 = STRIP.constant("BLOCK");

const KERNELS: &[Kernel] = &[
    Kernel::sgemm("sgemm_v02_tile16", SHARED, square::<16>, launch),
    Kernel::sgemm("sgemm_v02_tile32", SHARED, square::<32>, launch),
    Kernel::sgemm("sgemm_v02_strip", STRIP, strip, launch_strip),
    Kernel::dgemm("dgemm_v02_tile16", SHARED, square::<16>, launch),
    Kernel::dgemm("dgemm_v02_tile32", SHARED, square::<32>, launch),
];

fn main() -> ExitCode {
    harness::main("v02", KERNELS)
}

// ANCHOR: launch
/// One block per square of C, one thread per element.
fn square<const BLOCK: u32>(shape: Shape) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (blocks(shape.n, BLOCK), blocks(shape.m, BLOCK), 1),
        block_dim: (BLOCK * BLOCK, 1, 1),
        shared_mem_bytes: 0,
    }
}

fn launch<T: DeviceRepr>(gemm: Gemm<'_, T>) -> Result<(), DriverError> {
    let (m, n, k) = (int(gemm.shape.m), int(gemm.shape.n), int(gemm.shape.k));
    let mut launch = gemm.stream.launch_builder(gemm.kernel);
    launch.arg(&m).arg(&n).arg(&k);
    launch.arg(gemm.a).arg(gemm.b).arg(gemm.c);
    // SAFETY: the arguments are what the kernel takes; a has M * K elements, b K * N, c M * N, and it stays inside.
    unsafe { launch.launch(gemm.config) }?;
    Ok(())
}
// ANCHOR_END: launch

// ANCHOR: strip
/// A block keeps its whole strips of A and B, so what it needs of shared memory grows with K.
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
    gemm.kernel
        .set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)?;
    launch(gemm)
}
// ANCHOR_END: strip

harness::test_step!("v02", KERNELS);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strip_takes_128_bytes_for_each_k() {
        assert_eq!(strip(Shape::square(384)).shared_mem_bytes, 48 << 10);
        assert_eq!(
            strip(Shape {
                m: 1,
                n: 1,
                k: 1 << 40
            })
            .shared_mem_bytes,
            u32::MAX
        );
    }
}
