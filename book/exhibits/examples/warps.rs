//! 32 threads, one instruction: what divergence costs, and what lanes can tell each other.
//!
//! `cargo run -p exhibits --example warps`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;

use cudarc::driver::{LaunchConfig, PushKernelArg};

const PTX: &str = include_str!("../kernels/warps.ptx");
const N: usize = 256;

// ANCHOR: program
fn main() -> Result<(), Box<dyn Error>> {
    let context = exhibits::device()?;
    let stream = context.default_stream();
    let module = context.load_module(PTX.into())?;
    let x: Vec<f32> = (0..N).map(|i| (i + 1) as f32).collect();
    let x_on_gpu = stream.clone_htod(&x)?;
    let mut y = stream.alloc_zeros::<f32>(N)?;
    let config = LaunchConfig {
        grid_dim: (1, 1, 1),
        block_dim: (N as u32, 1, 1), // 8 warps
        shared_mem_bytes: 0,
    };

    for name in ["lanes_disagree", "warps_disagree"] {
        let kernel = module.load_function(name)?;
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&x_on_gpu).arg(&mut y);
        // SAFETY: the arguments are what the kernel takes, and both buffers have N floats.
        unsafe { launch.launch(config) }?;
        stream.synchronize()?;
        println!(
            "{name}: {} warp instructions for {} thread instructions",
            exhibits::shown("warp_instructions"),
            exhibits::shown("thread_instructions"),
        );
    }

    let mut sums = stream.alloc_zeros::<f32>(N / 32)?;
    let warp_sum = module.load_function("warp_sum")?;
    let mut launch = stream.launch_builder(&warp_sum);
    launch.arg(&x_on_gpu).arg(&mut sums);
    // SAFETY: the arguments are what the kernel takes, x has N floats, and there is a sum for each warp.
    unsafe { launch.launch(config) }?;
    let sums = stream.clone_dtoh(&sums)?;
    println!("sums of the warps: {sums:?}");
    assert_eq!(sums[0], (1..=32).sum::<i32>() as f32);
    exhibits::expect("shared_load_requests", 0); // lane to lane, through no memory
    Ok(())
}
// ANCHOR_END: program
