//! Shared memory: fixed and dynamic, and its 32 banks.
//!
//! `cargo run -p exhibits --example shared_memory`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;

use cudarc::driver::{LaunchConfig, PushKernelArg};

const PTX: &str = include_str!("../kernels/shared_memory.ptx");
const BLOCK: usize = 128;
const N: usize = 4 * BLOCK;

// ANCHOR: program
fn main() -> Result<(), Box<dyn Error>> {
    let context = exhibits::device()?;
    let stream = context.default_stream();
    let module = context.load_module(PTX.into())?;
    let input: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let from = stream.clone_htod(&input)?;

    // The size is part of the kernel, or of the launch.
    for (name, shared_mem_bytes) in
        [("turn_round", 0), ("turn_round_dynamic", (BLOCK * size_of::<f32>()) as u32)]
    {
        let kernel = module.load_function(name)?;
        let config = LaunchConfig {
            grid_dim: ((N / BLOCK) as u32, 1, 1),
            block_dim: (BLOCK as u32, 1, 1),
            shared_mem_bytes,
        };
        let mut to = stream.alloc_zeros::<f32>(N)?;
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&from).arg(&mut to);
        // SAFETY: the arguments are what the kernel takes, and both buffers have a float for each thread.
        unsafe { launch.launch(config) }?;
        let to = stream.clone_dtoh(&to)?;
        assert!(to.chunks(BLOCK).zip(input.chunks(BLOCK)).all(|(to, from)| to.iter().eq(from.iter().rev())));
        println!("{name}: each block's part turned round; first {:?}, last {:?}", to[0], to[BLOCK - 1]);
    }
    // ANCHOR_END: program

    // ANCHOR: banks
    let read_strided = module.load_function("read_strided")?;
    let one_warp = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 };
    for (stride, wavefronts) in [(0, 1), (1, 1), (2, 2), (3, 1), (8, 8), (16, 16), (32, 32), (33, 1)] {
        let mut to = stream.alloc_zeros::<f32>(32)?;
        let mut launch = stream.launch_builder(&read_strided);
        launch.arg(&stride).arg(&mut to);
        // SAFETY: the arguments are what the kernel takes; 31 * 33 is inside of its array.
        unsafe { launch.launch(one_warp) }?;
        assert_eq!(stream.clone_dtoh(&to)?[31], (31 * stride) as f32);
        exhibits::expect("shared_load_wavefronts", wavefronts);
        println!("words {stride:2} apart: {:>2} wavefronts", exhibits::shown("shared_load_wavefronts"));
    }
    Ok(())
}
// ANCHOR_END: banks
