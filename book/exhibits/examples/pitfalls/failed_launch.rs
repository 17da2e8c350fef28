//! The launch is refused, nobody looks, and nothing takes no time.

use std::error::Error;

use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use exhibits::pitfall::{self, Pitfall};
use harness::Shape;

const PTX: &str = include_str!("../../kernels/failed_launch.ptx");

const PITFALL: Pitfall = Pitfall { ptx: PTX, kernel: "failed_launch", geometry };

// ANCHOR: program
fn geometry(shape: Shape) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (harness::blocks(shape.n, 32), harness::blocks(shape.m, 32), 1),
        block_dim: (32, 32, 1), // the kernel was compiled for 16 x 16
        shared_mem_bytes: 0,
    }
}

fn program() -> Result<(), Box<dyn Error>> {
    let (n, n_arg) = (128, 128i32);
    let a: Vec<f32> = (0..n * n).map(|i| (i % 7) as f32).collect();
    let b: Vec<f32> = (0..n * n).map(|i| (i % 5) as f32).collect();

    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let kernel = context.load_module(PTX.into())?.load_function("failed_launch")?;
    let (a_on_gpu, b_on_gpu) = (stream.clone_htod(&a)?, stream.clone_htod(&b)?);
    let mut c_on_gpu = stream.alloc_zeros::<f32>(n * n)?;

    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&n_arg).arg(&n_arg).arg(&n_arg);
    launch.arg(&a_on_gpu).arg(&b_on_gpu).arg(&mut c_on_gpu);

    let mut kernel_time = f32::INFINITY;
    for _ in 0..10 {
        let start = stream.record_event(Some(CU_EVENT_DEFAULT))?;
        // As C++ does that never asks cudaGetLastError. SAFETY: the arguments are what the kernel takes.
        let _ = unsafe { launch.launch(geometry(Shape::square(n))) };
        let end = stream.record_event(Some(CU_EVENT_DEFAULT))?;
        kernel_time = kernel_time.min(start.elapsed_ms(&end)?);
    }
    println!("  kernel time, best of 10: {kernel_time:.1} ms");

    let c = stream.clone_dtoh(&c_on_gpu)?;
    let reference = pitfall::on_the_cpu(Shape::square(n), &a, &b);
    let errors = c.iter().zip(&reference).map(|(c, r)| (c - r).abs());
    println!("  largest error {}", errors.fold(0.0, f32::max));
    Ok(())
}
// ANCHOR_END: program

pub(crate) fn show() -> Result<(), Box<dyn Error>> {
    pitfall::refused(program, &PITFALL, Shape::square(128))
}
