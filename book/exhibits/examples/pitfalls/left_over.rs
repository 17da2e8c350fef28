//! The kernel never touches the last rows, which hold the right answer from the run before.

use std::error::Error;

use cudarc::driver::LaunchConfig;
use exhibits::pitfall::{self, Pitfall};
use harness::Shape;

const GOOD: Pitfall = exhibits::pitfall!("plain");
/// A launch of the kernel with too few blocks.
const FAST: Pitfall = Pitfall { geometry: rounded_down, ..GOOD };

// ANCHOR: program
fn rounded_down(shape: Shape) -> LaunchConfig {
    LaunchConfig {
        grid_dim: ((shape.n / 16) as u32, (shape.m / 16) as u32, 1), // 100 / 16 = 6, which makes 96
        block_dim: (16, 16, 1),
        shared_mem_bytes: 0,
    }
}

fn program() -> Result<(), Box<dyn Error>> {
    let shape = Shape::square(100);
    let a: Vec<f32> = (0..100 * 100).map(|i| (i % 7) as f32).collect();
    let b: Vec<f32> = (0..100 * 100).map(|i| (i % 5) as f32).collect();
    let mut c = vec![0.0; 100 * 100];
    GOOD.multiply(shape, &a, &b, &mut c)?;
    let reference = c.clone();

    FAST.multiply(shape, &a, &b, &mut c)?; // into the same C
    let errors = c.iter().zip(&reference).map(|(c, r)| (c - r).abs());
    println!("  {shape}: largest error {}", errors.fold(0.0, f32::max));
    Ok(())
}
// ANCHOR_END: program

pub(crate) fn show() -> Result<(), Box<dyn Error>> {
    pitfall::show(program, ("the same program", program), (&FAST, Shape { m: 101, n: 103, k: 107 }))
}
