//! A barrier is missing, and the result is right.

use std::error::Error;

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use exhibits::pitfall;

const PTX: &str = include_str!("../../kernels/lucky_race.ptx");

// ANCHOR: program
fn program() -> Result<(), Box<dyn Error>> {
    let n = 10_000;
    let x: Vec<f32> = (0..n).map(|i| (i * i % 1000) as f32).collect();
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let kernel = context.load_module(PTX.into())?.load_function("lucky_race")?;
    let x_on_gpu = stream.clone_htod(&x)?;
    let mut y_on_gpu = stream.alloc_zeros::<f32>(n)?;
    let n_arg = n as i32;
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&n_arg).arg(&x_on_gpu).arg(&mut y_on_gpu);
    let config = LaunchConfig {
        grid_dim: (n.div_ceil(256) as u32, 1, 1),
        block_dim: (256, 1, 1),
        shared_mem_bytes: 0,
    };
    // SAFETY: the arguments are what the kernel takes.
    unsafe { launch.launch(config) }?;
    let y = stream.clone_dtoh(&y_on_gpu)?;

    let right = |i: usize| y[i] == x[i] - if i > 0 { x[i - 1] } else { 0.0 };
    println!("  {} of {n} differences are right", (0..n).filter(|i| right(*i)).count());
    Ok(())
}
// ANCHOR_END: program

pub(crate) fn show() -> Result<(), Box<dyn Error>> {
    pitfall::as_it_was(program)?;
    pitfall::on_the_emulator("the same program", program);
    Ok(())
}
