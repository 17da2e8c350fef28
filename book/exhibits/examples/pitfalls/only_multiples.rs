//! Right for multiples of 16, and only those were tried.

use std::error::Error;

use exhibits::pitfall::{self, Pitfall};
use harness::Shape;

const PITFALL: Pitfall = exhibits::pitfall!("only_multiples");

// ANCHOR: program
fn program() -> Result<(), Box<dyn Error>> {
    for n in [64, 128, 256] {
        println!("  {n}: largest error {}", largest_error(n)?);
    }
    Ok(())
}

fn largest_error(n: usize) -> Result<f32, Box<dyn Error>> {
    let shape = Shape::square(n);
    let a: Vec<f32> = (0..n * n).map(|i| (i % 7) as f32).collect();
    let b: Vec<f32> = (0..n * n).map(|i| (i % 5) as f32).collect();
    let mut c = vec![0.0; n * n];
    PITFALL.multiply(shape, &a, &b, &mut c)?;
    let reference = pitfall::on_the_cpu(shape, &a, &b);
    let errors = c.iter().zip(&reference).map(|(c, r)| (c - r).abs());
    Ok(errors.fold(0.0, f32::max))
}
// ANCHOR_END: program

pub(crate) fn show() -> Result<(), Box<dyn Error>> {
    pitfall::as_it_was(program)?;
    pitfall::on_the_emulator("size 100", || largest_error(100).map(drop));
    pitfall::what_check_says(&PITFALL, Shape { m: 64, n: 64, k: 8 });
    Ok(())
}
