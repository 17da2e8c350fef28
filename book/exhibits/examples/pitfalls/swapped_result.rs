//! Rows and columns of the result are swapped, and the result is symmetric.

use std::error::Error;

use exhibits::pitfall::{self, Pitfall};
use harness::Shape;

const PITFALL: Pitfall = exhibits::pitfall!("swapped_result");

// ANCHOR: program
fn program() -> Result<(), Box<dyn Error>> {
    let n: usize = 128;
    // A covariance matrix is like this, and so is an adjacency matrix.
    let a: Vec<f32> = (0..n * n).map(|i| (i / n).abs_diff(i % n) as f32).collect();
    let mut c = vec![0.0; n * n];
    PITFALL.multiply(Shape::square(n), &a, &a, &mut c)?;

    let reference = pitfall::on_the_cpu(Shape::square(n), &a, &a);
    let errors = c.iter().zip(&reference).map(|(c, r)| (c - r).abs());
    println!("  {n}: largest error {}", errors.fold(0.0, f32::max));
    Ok(())
}
// ANCHOR_END: program

pub(crate) fn show() -> Result<(), Box<dyn Error>> {
    pitfall::show(program, ("the same program", program), (&PITFALL, Shape { m: 101, n: 103, k: 107 }))
}
