//! Every element is NaN, and the comparison finds nothing wrong.

use std::error::Error;

use exhibits::pitfall::{self, Pitfall};
use harness::Shape;

const PITFALL: Pitfall = exhibits::pitfall!("nan_passes");

// ANCHOR: program
fn program() -> Result<(), Box<dyn Error>> {
    let shape = Shape::square(128);
    let a: Vec<f32> = (0..128 * 128).map(|i| (i % 7) as f32).collect();
    let b: Vec<f32> = (0..128 * 128).map(|i| (i % 5) as f32).collect();
    let mut c = vec![f32::NAN; 128 * 128]; // what memory that nobody wrote may hold
    PITFALL.multiply(shape, &a, &b, &mut c)?;

    let reference = pitfall::on_the_cpu(shape, &a, &b);
    let errors: Vec<f32> = c.iter().zip(&reference).map(|(c, r)| (c - r).abs()).collect();
    let n_wrong = errors.iter().filter(|error| **error > 1e-3).count();
    let largest = errors.iter().fold(0.0f32, |largest, error| largest.max(*error));
    println!("  {n_wrong} elements are off by more than 0.001; largest error {largest}");

    let n_right = errors.iter().filter(|error| **error <= 1e-3).count();
    println!("  (asked the other way round: {n_right} elements are right)");
    Ok(())
}
// ANCHOR_END: program

pub(crate) fn show() -> Result<(), Box<dyn Error>> {
    let run = || {
        PITFALL.multiply_into_fresh(Shape::square(64), &[1.0; 64 * 64], &[1.0; 64 * 64])?;
        Ok(())
    };
    pitfall::show(program, ("C in memory that nobody wrote", run), (&PITFALL, Shape { m: 64, n: 64, k: 8 }))
}
