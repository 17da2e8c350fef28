//! y = a·x + y on whatever GPU there is: a real one, or with no NVIDIA driver, the emulated one.
//!
//! `cargo run -p nvcuda --example saxpy`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};

const PTX: &str = include_str!("../../../kernels/ptx/saxpy.ptx");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let saxpy = context.load_module(PTX.into())?.load_function("saxpy")?;

    let n = 100_000;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let y = vec![1.0_f32; n];
    let x_on_gpu = stream.clone_htod(&x)?;
    let mut y_on_gpu = stream.clone_htod(&y)?;

    let (n_arg, a) = (n as i32, 2.0_f32);
    let mut launch = stream.launch_builder(&saxpy);
    launch.arg(&n_arg).arg(&a).arg(&x_on_gpu).arg(&mut y_on_gpu);
    // SAFETY: the arguments are what the kernel takes, and both buffers hold n floats.
    unsafe { launch.launch(LaunchConfig::for_num_elems(n as u32))? };

    let result = stream.clone_dtoh(&y_on_gpu)?;
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| a.mul_add(*x, *y)).collect();
    assert_eq!(result, expected);
    println!("{}: {n} elements, all correct", context.name()?);
    Ok(())
}
