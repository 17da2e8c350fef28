//! The bounds test has M and N the wrong way round, and every matrix was square.

use std::error::Error;

use exhibits::pitfall::{self, Pitfall};
use harness::Shape;

const PITFALL: Pitfall = exhibits::pitfall!("wrong_bound");

// ANCHOR: program
fn program() -> Result<(), Box<dyn Error>> {
    for n in [100, 128, 200] {
        println!("  {n}: largest error {}", largest_error(Shape::square(n))?);
    }
    Ok(())
}

fn largest_error(shape: Shape) -> Result<f32, Box<dyn Error>> {
    let a: Vec<f32> = (0..shape.m * shape.k).map(|i| (i % 7) as f32).collect();
    let b: Vec<f32> = (0..shape.k * shape.n).map(|i| (i % 5) as f32).collect();
    let mut c = vec![0.0; shape.m * shape.n];
    PITFALL.multiply(shape, &a, &b, &mut c)?;
    let reference = pitfall::on_the_cpu(shape, &a, &b);
    let errors = c.iter().zip(&reference).map(|(c, r)| (c - r).abs());
    Ok(errors.fold(0.0, f32::max))
}
// ANCHOR_END: program

pub(crate) fn show() -> Result<(), Box<dyn Error>> {
    pitfall::as_it_was(program)?;
    let wide = Shape { m: 40, n: 60, k: 20 };
    pitfall::on_the_emulator(&format!("{wide}"), || largest_error(wide).map(drop));
    pitfall::what_check_says(&PITFALL, Shape { m: 64, n: 96, k: 16 });
    Ok(())
}
