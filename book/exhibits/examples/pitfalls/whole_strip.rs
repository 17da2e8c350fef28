//! A block keeps whole strips in shared memory; a strip that does not fit stops the launch, silently.

use std::error::Error;

use cudarc::driver::LaunchConfig;
use exhibits::pitfall::{self, Pitfall};
use harness::Shape;

/// The kernel is good, and part of the ladder; who launches it must ask for the memory.
const PITFALL: Pitfall = Pitfall {
    ptx: include_str!("../../../../kernels/ptx/v02_strip.ptx"),
    kernel: "sgemm_v02_strip",
    geometry,
};

// ANCHOR: program
/// 16 rows of A and 16 columns of B, all of K.
fn geometry(shape: Shape) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (harness::blocks(shape.n, 16), harness::blocks(shape.m, 16), 1),
        block_dim: (256, 1, 1),
        shared_mem_bytes: (2 * 16 * shape.k * size_of::<f32>()) as u32,
    }
}

fn program() -> Result<(), Box<dyn Error>> {
    for k in [64, 256, 384, 1024] {
        let shape = Shape { m: 64, n: 64, k };
        let a: Vec<f32> = (0..64 * k).map(|i| (i % 7) as f32).collect();
        let b: Vec<f32> = (0..64 * k).map(|i| (i % 5) as f32).collect();
        let mut c = vec![0.0; 64 * 64];
        let _ = PITFALL.multiply(shape, &a, &b, &mut c); // nobody looks
        let reference = pitfall::on_the_cpu(shape, &a, &b);
        let errors = c.iter().zip(&reference).map(|(c, r)| (c - r).abs());
        println!("  K = {k}: largest error {}", errors.fold(0.0, f32::max));
    }
    Ok(())
}
// ANCHOR_END: program

pub(crate) fn show() -> Result<(), Box<dyn Error>> {
    pitfall::refused(program, &PITFALL, Shape { m: 64, n: 64, k: 1024 })
}
