//! C = A · B on the GPU with cudarc alone: everything that the steps leave to `harness`, in one file.
//!
//! `cargo run -p v01 --example by_hand`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};

const PTX: &str = include_str!("../../../kernels/ptx/v01_col_per_lane.ptx");
/// Edge of the square of C that a block owns: BLOCK in the kernel.
const BLOCK: usize = 32;
/// Neither is a multiple of BLOCK, and no two are alike, so that a mix-up shows.
const M: usize = 500;
const N: usize = 300;
const K: usize = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Two matrices in ordinary memory, one row after the other. Small integers: their sums are exact in FP32.
    let a: Vec<f32> = (0..M * K).map(|i| (i * 7 % 17) as f32 - 8.0).collect();
    let b: Vec<f32> = (0..K * N).map(|i| (i * 5 % 13) as f32 - 6.0).collect();

    // The device, a queue for work on it, and the kernel from its module.
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let module = context.load_module(PTX.into())?;
    let kernel = module.load_function("sgemm_v01_col_per_lane")?;

    // Copies of A and B on the device, and room for C.
    let a_on_gpu = stream.clone_htod(&a)?;
    let b_on_gpu = stream.clone_htod(&b)?;
    let mut c_on_gpu = stream.alloc_zeros::<f32>(M * N)?;

    // One block per square of C, one thread per element; the blocks at the edges stand half outside.
    let config = LaunchConfig {
        grid_dim: (N.div_ceil(BLOCK) as u32, M.div_ceil(BLOCK) as u32, 1),
        block_dim: ((BLOCK * BLOCK) as u32, 1, 1),
        shared_mem_bytes: 0,
    };
    let (m, n, k) = (M as i32, N as i32, K as i32);
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&m).arg(&n).arg(&k);
    launch.arg(&a_on_gpu).arg(&b_on_gpu).arg(&mut c_on_gpu);

    // Events mark places in the queue; the device writes the time when it passes them.
    let start = stream.record_event(Some(CU_EVENT_DEFAULT))?;
    // SAFETY: the arguments are what the kernel takes, and the buffers have the sizes that it is told.
    unsafe { launch.launch(config) }?;
    let end = stream.record_event(Some(CU_EVENT_DEFAULT))?;
    let time_ms = start.elapsed_ms(&end)?;

    // Back to ordinary memory. A kernel runs beside the program: what it did wrong comes out here.
    let c = stream.clone_dtoh(&c_on_gpu)?;

    for row in 0..M {
        for col in 0..N {
            let want: f32 = (0..K).map(|k| a[row * K + k] * b[k * N + col]).sum();
            assert_eq!(c[row * N + col], want, "C[{row}][{col}]");
        }
    }
    println!("{}: {M}x{N}x{K} in {time_ms:.3} ms, every element right", context.name()?);
    Ok(())
}
