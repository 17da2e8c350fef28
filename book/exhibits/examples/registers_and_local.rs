//! A thread's own array: registers when every index is known, local memory when not.
//!
//! `cargo run -p exhibits --example registers_and_local`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;

use cudarc::driver::{LaunchConfig, PushKernelArg};

const PTX: &str = include_str!("../kernels/registers_and_local.ptx");
const LENGTH: usize = 8;
const THREADS: usize = 64;

// ANCHOR: program
fn main() -> Result<(), Box<dyn Error>> {
    let context = exhibits::device()?;
    let stream = context.default_stream();
    let module = context.load_module(PTX.into())?;
    let input: Vec<i32> = (0..LENGTH * THREADS).map(|i| (i * 37 % 101) as i32).collect();
    let from = stream.clone_htod(&input)?;
    let order = stream.clone_htod(&[7i32, 6, 5, 4, 3, 2, 1, 0])?; // the same order, as data
    let one_block =
        LaunchConfig { grid_dim: (1, 1, 1), block_dim: (THREADS as u32, 1, 1), shared_mem_bytes: 0 };

    let mut sums = stream.alloc_zeros::<i32>(THREADS)?;
    let in_registers = module.load_function("in_registers")?;
    let mut launch = stream.launch_builder(&in_registers);
    launch.arg(&from).arg(&mut sums);
    // SAFETY: the arguments are what the kernel takes, with LENGTH numbers for each thread.
    unsafe { launch.launch(one_block) }?;
    let expected = stream.clone_dtoh(&sums)?;
    exhibits::expect("local_requests", 0);
    println!("in_registers: {} local accesses", exhibits::shown("local_requests"));

    let in_local = module.load_function("in_local")?;
    let mut launch = stream.launch_builder(&in_local);
    launch.arg(&from).arg(&order).arg(&mut sums);
    // SAFETY: as before; the order's indices are below LENGTH.
    unsafe { launch.launch(one_block) }?;
    assert_eq!(stream.clone_dtoh(&sums)?, expected);
    println!(
        "in_local: {} local accesses, {} bytes",
        exhibits::shown("local_requests"),
        exhibits::shown("local_bytes"),
    );
    assert_ne!(exhibits::counted("local_requests"), Some(0));
    Ok(())
}
// ANCHOR_END: program
