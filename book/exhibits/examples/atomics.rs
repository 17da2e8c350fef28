//! Counting together: an increment that is lost, and two that are not.
//!
//! `cargo run -p exhibits --example atomics`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;

use cudarc::driver::{LaunchConfig, PushKernelArg};
use emulator_client::CheckLevel;

const PTX: &str = include_str!("../kernels/atomics.ptx");
const N: usize = 1 << 14;

// ANCHOR: program
fn main() -> Result<(), Box<dyn Error>> {
    let context = exhibits::device()?;
    if let Some(emulator) = emulator_client::find() {
        emulator.set_checks(Some(CheckLevel::Count)); // no checks: let the mistake run, as a GPU does
        emulator.set_threads(Some(1)); // blocks one after another, so that it goes wrong the same way each time
    }
    let stream = context.default_stream();
    let module = context.load_module(PTX.into())?;
    let x: Vec<f32> = (0..N).map(|i| if i % 4 == 1 { -1.0 } else { 1.0 }).collect();
    let x_on_gpu = stream.clone_htod(&x)?;
    println!("{} of {N} numbers are negative", N / 4);

    for (name, atomics) in [("count_lost", 0), ("count_atomic", N / 32), ("count_by_block", N / 256)] {
        let kernel = module.load_function(name)?;
        let mut count = stream.alloc_zeros::<i32>(1)?;
        let n = N as i32;
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&n).arg(&x_on_gpu).arg(&mut count);
        let config =
            LaunchConfig { grid_dim: ((N / 256) as u32, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: the arguments are what the kernel takes, and x has n floats.
        unsafe { launch.launch(config) }?;
        let count = stream.clone_dtoh(&count)?[0];
        exhibits::expect("global_atomic_requests", atomics as u64);
        println!("{name}: {count}, with {} atomic requests", exhibits::shown("global_atomic_requests"));
        assert_eq!(count == (N / 4) as i32, name != "count_lost");
    }
    // ANCHOR_END: program

    // ANCHOR: told
    if let Some(emulator) = emulator_client::find() {
        emulator.set_checks(Some(CheckLevel::CheckedWithGlobalRaces));
        emulator.set_diagnosis(Some(false)); // in the report only
        let kernel = module.load_function("count_lost")?;
        let (n, mut count) = (N as i32, stream.alloc_zeros::<i32>(1)?);
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&n).arg(&x_on_gpu).arg(&mut count);
        emulator.name_parameters(None, &["n", "x", "count"]);
        // SAFETY: as before.
        unsafe { launch.launch(LaunchConfig::for_num_elems(N as u32)) }?;
        let report: serde_json::Value = serde_json::from_str(&emulator.report().ok_or("no report")?)?;
        println!("\n{}", report["findings"][0]["text"].as_str().ok_or("no finding")?.trim_end());
    }
    Ok(())
}
// ANCHOR_END: told
