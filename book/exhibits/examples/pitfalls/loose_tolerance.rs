//! A term of every sum is missing, and small inputs make it a small error.

use std::error::Error;

use exhibits::pitfall::{self, Pitfall};
use harness::Shape;

const PITFALL: Pitfall = exhibits::pitfall!("loose_tolerance");

// ANCHOR: program
fn program() -> Result<(), Box<dyn Error>> {
    let shape = Shape::square(128);
    let a: Vec<f32> = (0..128 * 128).map(|i| (i % 7) as f32 / 100.0).collect();
    let b: Vec<f32> = (0..128 * 128).map(|i| (i % 5) as f32 / 100.0).collect();
    let mut c = vec![0.0; 128 * 128];
    PITFALL.multiply(shape, &a, &b, &mut c)?;

    let reference = pitfall::on_the_cpu(shape, &a, &b);
    let errors = c.iter().zip(&reference).map(|(c, r)| (c - r).abs());
    let n_wrong = errors.filter(|error| *error > 1e-2).count();
    println!("  {shape}: {n_wrong} elements are off by more than 0.01");
    Ok(())
}
// ANCHOR_END: program

pub(crate) fn show() -> Result<(), Box<dyn Error>> {
    pitfall::show(program, ("the same program", program), (&PITFALL, Shape { m: 64, n: 64, k: 8 }))
}
