//! Threads to blocks, blocks to grids: who computes which element.
//!
//! `cargo run -p exhibits --example threads`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;

use cudarc::driver::{LaunchConfig, PushKernelArg};

const PTX: &str = include_str!("../kernels/threads.ptx");

// ANCHOR: program
fn main() -> Result<(), Box<dyn Error>> {
    let context = exhibits::device()?;
    let stream = context.default_stream();
    let module = context.load_module(PTX.into())?;
    let who = module.load_function("who")?;

    let (rows, cols) = (3i32, 10i32);
    let config = LaunchConfig {
        grid_dim: (3, 2, 1),  // 3 blocks across, 2 down
        block_dim: (4, 2, 1), // 4 threads across, 2 down: 12 x 4 threads for 10 x 3 elements
        shared_mem_bytes: 0,
    };
    let mut block = stream.alloc_zeros::<i32>(30)?;
    let mut thread = stream.alloc_zeros::<i32>(30)?;
    let mut launch = stream.launch_builder(&who);
    launch.arg(&rows).arg(&cols).arg(&mut block).arg(&mut thread);
    // SAFETY: the arguments are what the kernel takes, and it stays inside rows x cols.
    unsafe { launch.launch(config) }?;
    let (block, thread) = (stream.clone_dtoh(&block)?, stream.clone_dtoh(&thread)?);

    println!("block.thread of each element:");
    for row in 0..3 {
        let line: Vec<String> =
            (0..10).map(|col| format!("{}.{}", block[row * 10 + col], thread[row * 10 + col])).collect();
        println!("  {}", line.join(" "));
    }
    assert_eq!((block[2 * 10 + 9], thread[2 * 10 + 9]), (5, 1)); // row 2, column 9
    // ANCHOR_END: program

    // ANCHOR: limits
    // Grids are long in x, and short in y and z.
    let nothing = module.load_function("nothing")?;
    for grid_dim in [(100_000, 1, 1), (1, 65_535, 1), (1, 100_000, 1)] {
        let config = LaunchConfig { grid_dim, block_dim: (32, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: the kernel takes no arguments and does nothing.
        let outcome = unsafe { stream.launch_builder(&nothing).launch(config) };
        println!("a grid of {grid_dim:?} blocks: {}", if outcome.is_ok() { "runs" } else { "is refused" });
        assert_eq!(outcome.is_ok(), grid_dim.1 <= 65_535);
    }
    stream.synchronize()?;
    Ok(())
}
// ANCHOR_END: limits
