//! The kernel multiplies A by A, and the inputs are such that this is right.

use std::error::Error;

use exhibits::pitfall::{self, Pitfall};
use harness::Shape;

const PITFALL: Pitfall = exhibits::pitfall!("wrong_operand");

// ANCHOR: program
fn program() -> Result<(), Box<dyn Error>> {
    let shape = Shape::square(128);
    let a: Vec<f32> = (0..128 * 128).map(|i| (i % 3) as f32).collect();
    let b: Vec<f32> = (0..128 * 128).map(|i| (i % 3) as f32).collect();
    let mut c = vec![0.0; 128 * 128];
    PITFALL.multiply(shape, &a, &b, &mut c)?;

    let reference = pitfall::on_the_cpu(shape, &a, &b);
    let errors = c.iter().zip(&reference).map(|(c, r)| (c - r).abs());
    println!("  {shape}: largest error {}", errors.fold(0.0, f32::max));
    Ok(())
}
// ANCHOR_END: program

pub(crate) fn show() -> Result<(), Box<dyn Error>> {
    pitfall::show(program, ("the same program", program), (&PITFALL, Shape { m: 129, n: 127, k: 7 }))
}
