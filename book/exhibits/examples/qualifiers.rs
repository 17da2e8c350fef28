//! Function qualifiers: what can be launched, and with how many threads.
//!
//! `cargo run -p exhibits --example qualifiers`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;

use cudarc::driver::sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
use cudarc::driver::{LaunchConfig, PushKernelArg};

const PTX: &str = include_str!("../kernels/qualifiers.ptx");

// ANCHOR: program
fn main() -> Result<(), Box<dyn Error>> {
    let context = exhibits::device()?;
    let stream = context.default_stream();
    let module = context.load_module(PTX.into())?;

    // A __global__ function is an entry of the module; a __device__ function was inlined, and is gone.
    let powers = module.load_function("powers")?;
    println!("powers: found");
    let square = module.load_function("square");
    println!("square: {}", square.map_or_else(harness::describe, |_| "found".into()));

    // __launch_bounds__ is a promise, and a launch that breaks it is refused.
    let most = powers.get_attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
    println!("powers takes at most {most} threads per block");
    assert_eq!(most, 128);

    let x: Vec<f32> = (0..256).map(|i| i as f32).collect();
    let x_on_gpu = stream.clone_htod(&x)?;
    let (mut squares, mut cubes) = (stream.alloc_zeros::<f32>(256)?, stream.alloc_zeros::<f32>(256)?);
    let n = 256i32;
    let mut launch = stream.launch_builder(&powers);
    launch.arg(&n).arg(&x_on_gpu).arg(&mut squares).arg(&mut cubes);
    let config = LaunchConfig { grid_dim: (2, 1, 1), block_dim: (128, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the arguments are what the kernel takes, and the buffers have n floats.
    unsafe { launch.launch(config) }?;
    assert_eq!(stream.clone_dtoh(&squares)?[9], 81.0);
    assert_eq!(stream.clone_dtoh(&cubes)?[9], 729.0);
    println!("9: squared 81, cubed 729");
    Ok(())
}
// ANCHOR_END: program
