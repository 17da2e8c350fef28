//! Global memory comes in sectors of 32 bytes: who sits beside whom decides how many.
//!
//! `cargo run -p exhibits --example global_memory`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;

use cudarc::driver::{LaunchConfig, PushKernelArg};

const PTX: &str = include_str!("../kernels/global_memory.ptx");
const N: usize = 32 * 128;

// ANCHOR: program
fn main() -> Result<(), Box<dyn Error>> {
    let context = exhibits::device()?;
    let stream = context.default_stream();
    let module = context.load_module(PTX.into())?;
    let side_by_side = module.load_function("side_by_side")?;
    let far_apart = module.load_function("far_apart")?;
    let input: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let from = stream.clone_htod(&input)?;
    let config =
        LaunchConfig { grid_dim: ((N / 128) as u32, 1, 1), block_dim: (128, 1, 1), shared_mem_bytes: 0 };

    let mut to = stream.alloc_zeros::<f32>(N)?;
    let mut launch = stream.launch_builder(&side_by_side);
    launch.arg(&from).arg(&mut to);
    // SAFETY: the arguments are what the kernel takes, and both buffers have a float for each thread.
    unsafe { launch.launch(config) }?;
    assert_eq!(stream.clone_dtoh(&to)?, input);
    report("side by side", 4);

    for (stride, sectors) in [(2, 8), (4, 16), (8, 32), (32, 32)] {
        let mut to = stream.alloc_zeros::<f32>(N)?;
        let mut launch = stream.launch_builder(&far_apart);
        launch.arg(&stride).arg(&from).arg(&mut to);
        // SAFETY: as before; the kernel's index stays below N.
        unsafe { launch.launch(config) }?;
        assert_eq!(stream.clone_dtoh(&to)?, input);
        report(&format!("{stride} floats apart"), sectors);
    }
    Ok(())
}

/// Every variant loads each element once: N / 32 warps, one load each.
fn report(name: &str, sectors_per_load: u64) {
    let loads = (N / 32) as u64;
    exhibits::expect("global_load_requests", loads);
    exhibits::expect("global_load_sectors", sectors_per_load * loads);
    println!(
        "{name}: {} loads, {} sectors, {} bytes wanted",
        exhibits::shown("global_load_requests"),
        exhibits::shown("global_load_sectors"),
        exhibits::shown("global_load_bytes"),
    );
}
// ANCHOR_END: program
