//! The clock is stopped when the launch returns, and the kernel has not ended.

use std::error::Error;
use std::time::Instant;

use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use exhibits::pitfall;

const PTX: &str = include_str!("../../kernels/plain.ptx");

// ANCHOR: program
fn program() -> Result<(), Box<dyn Error>> {
    let (n, n_arg) = (256, 256i32);
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let kernel = context.load_module(PTX.into())?.load_function("plain")?;
    let (a, b) = (stream.alloc_zeros::<f32>(n * n)?, stream.alloc_zeros::<f32>(n * n)?);
    let mut c = stream.alloc_zeros::<f32>(n * n)?;
    let config = LaunchConfig { grid_dim: (16, 16, 1), block_dim: (16, 16, 1), shared_mem_bytes: 0 };
    stream.synchronize()?;

    let start = Instant::now();
    for _ in 0..20 {
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&n_arg).arg(&n_arg).arg(&n_arg).arg(&a).arg(&b).arg(&mut c);
        // SAFETY: the arguments are what the kernel takes.
        unsafe { launch.launch(config) }?;
    }
    let believed = start.elapsed(); // the clock stops here

    let last = stream.record_event(Some(CU_EVENT_DEFAULT))?;
    let still_running = !last.is_complete();
    stream.synchronize()?;
    println!("  when the clock stopped, the device was still at work: {still_running}");
    println!("  what was believed is less than what it took: {}", believed < start.elapsed());
    Ok(())
}
// ANCHOR_END: program

pub(crate) fn show() -> Result<(), Box<dyn Error>> {
    pitfall::as_it_was(program)
}
