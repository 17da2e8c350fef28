//! The tiles' edges hold zeros for the first tile, and the tile before for the others.

use std::error::Error;

use exhibits::pitfall::{self, Pitfall};
use harness::Shape;

const PITFALL: Pitfall = exhibits::pitfall!("first_tile_only");

// ANCHOR: program
fn program() -> Result<(), Box<dyn Error>> {
    // Sizes that are no multiples of 16, to be sure that the edges are right.
    for shape in [Shape { m: 100, n: 70, k: 64 }, Shape { m: 33, n: 17, k: 10 }] {
        println!("  {shape}: largest error {}", largest_error(shape)?);
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
    let late = Shape { m: 32, n: 32, k: 40 };
    pitfall::on_the_emulator(&format!("{late}"), || largest_error(late).map(drop));
    pitfall::what_check_says(&PITFALL, Shape { m: 132, n: 260, k: 40 });
    Ok(())
}
