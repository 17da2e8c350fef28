//! Verified with one block, then run with another.

use std::error::Error;

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use exhibits::pitfall;

const PTX: &str = include_str!("../../kernels/tuned_later.ptx");
const ROWS: usize = 96;
const COLS: usize = 160;

// ANCHOR: program
fn program() -> Result<(), Box<dyn Error>> {
    let n_wrong = transposed((16, 16, 1))?;
    println!("  blocks of 16 x 16: {n_wrong} elements are wrong");
    transposed((32, 8, 1))?; // it is the same kernel: no need to verify it again
    println!("  blocks of 32 x 8: ran without an error");
    Ok(())
}

/// Transposes, and counts what is wrong.
fn transposed(block_dim: (u32, u32, u32)) -> Result<usize, Box<dyn Error>> {
    let input: Vec<f32> = (0..ROWS * COLS).map(|i| i as f32).collect();
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let kernel = context.load_module(PTX.into())?.load_function("tuned_later")?;
    let from = stream.clone_htod(&input)?;
    let mut to = stream.alloc_zeros::<f32>(ROWS * COLS)?;
    let (rows, cols) = (ROWS as i32, COLS as i32);
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&rows).arg(&cols).arg(&from).arg(&mut to);
    let config = LaunchConfig {
        grid_dim: (harness::blocks(COLS, block_dim.0), harness::blocks(ROWS, block_dim.1), 1),
        block_dim,
        shared_mem_bytes: 0,
    };
    // SAFETY: the arguments are what the kernel takes.
    unsafe { launch.launch(config) }?;
    let to = stream.clone_dtoh(&to)?;
    let is_wrong = |i: &usize| to[i % COLS * ROWS + i / COLS] != input[*i];
    Ok((0..ROWS * COLS).filter(is_wrong).count())
}
// ANCHOR_END: program

pub(crate) fn show() -> Result<(), Box<dyn Error>> {
    pitfall::as_it_was(program)?;
    println!(
        "\nHad it been verified again: {} of {} elements are wrong",
        transposed((32, 8, 1))?,
        ROWS * COLS
    );
    pitfall::on_the_emulator("blocks of 32 x 8", || transposed((32, 8, 1)).map(drop));
    Ok(())
}
