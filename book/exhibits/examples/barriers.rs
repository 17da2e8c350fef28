//! A barrier between rounds: running sums of a block.
//!
//! `cargo run -p exhibits --example barriers`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;

use cudarc::driver::{LaunchConfig, PushKernelArg};

const PTX: &str = include_str!("../kernels/barriers.ptx");
const BLOCK: usize = 128;
const N_BLOCKS: usize = 3;

// ANCHOR: program
fn main() -> Result<(), Box<dyn Error>> {
    let context = exhibits::device()?;
    let stream = context.default_stream();
    let running_sum = context.load_module(PTX.into())?.load_function("running_sum")?;
    let input = vec![1i32; BLOCK * N_BLOCKS];
    let from = stream.clone_htod(&input)?;
    let mut to = stream.alloc_zeros::<i32>(input.len())?;
    let config = LaunchConfig {
        grid_dim: (N_BLOCKS as u32, 1, 1),
        block_dim: (BLOCK as u32, 1, 1),
        shared_mem_bytes: 0,
    };
    let mut launch = stream.launch_builder(&running_sum);
    launch.arg(&from).arg(&mut to);
    // SAFETY: the arguments are what the kernel takes, with a number for each thread.
    unsafe { launch.launch(config) }?;
    let to = stream.clone_dtoh(&to)?;
    // Each block starts again: no barrier reaches beyond a block.
    println!(
        "ends of the blocks' sums: {:?}",
        to.chunks(BLOCK).map(|sums| sums[BLOCK - 1]).collect::<Vec<_>>()
    );
    assert!(to.chunks(BLOCK).all(|sums| sums.iter().enumerate().all(|(i, sum)| *sum == i as i32 + 1)));

    // 1 + 2 * 7 barriers, and every warp of every block arrives at each.
    let arrivals = (N_BLOCKS * (BLOCK / 32) * (1 + 2 * 7)) as u64;
    exhibits::expect("barriers", arrivals);
    println!("{} arrivals of warps at barriers", exhibits::shown("barriers"));
    Ok(())
}
// ANCHOR_END: program
