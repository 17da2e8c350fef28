//! Constant memory: what all lanes read together.
//!
//! `cargo run -p exhibits --example constant_memory`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;

use cudarc::driver::{LaunchConfig, PushKernelArg};

const PTX: &str = include_str!("../kernels/constant_memory.ptx");
const N: usize = 1024;

// ANCHOR: program
fn main() -> Result<(), Box<dyn Error>> {
    let context = exhibits::device()?;
    let stream = context.default_stream();
    let module = context.load_module(PTX.into())?;
    let polynomial = module.load_function("polynomial")?;

    // x^3 - 2x + 1. The symbol is bytes; we say what they are.
    let mut symbol = module.get_global("coefficients", &stream)?;
    // SAFETY: the kernel's array has 4 floats.
    let mut coefficients = unsafe { symbol.transmute_mut::<f32>(4) }.ok_or("the array is smaller")?;
    stream.memcpy_htod(&[1.0f32, 0.0, -2.0, 1.0], &mut coefficients)?;

    let x: Vec<f32> = (0..N).map(|i| (i % 16) as f32).collect();
    let x_on_gpu = stream.clone_htod(&x)?;
    let mut y = stream.alloc_zeros::<f32>(N)?;
    let n = N as i32;
    let mut launch = stream.launch_builder(&polynomial);
    launch.arg(&n).arg(&x_on_gpu).arg(&mut y);
    // SAFETY: the arguments are what the kernel takes, and both buffers have n floats.
    unsafe { launch.launch(LaunchConfig::for_num_elems(n as u32)) }?;
    let y = stream.clone_dtoh(&y)?;
    assert!(x.iter().zip(&y).all(|(x, y)| *y == x * x * x - 2.0 * x + 1.0));
    println!("p(0..6) = {:?}", &y[..6]);

    // x is all that came from global memory: one load and four sectors per warp.
    exhibits::expect("global_load_requests", (N / 32) as u64);
    exhibits::expect("global_load_sectors", (N / 32 * 4) as u64);
    println!(
        "{} loads from global memory, {} from constant memory (parameters are there too)",
        exhibits::shown("global_load_requests"),
        exhibits::shown("constant_requests"),
    );
    Ok(())
}
// ANCHOR_END: program
