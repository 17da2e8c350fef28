//! The bounds test has M and N the wrong way round, and every matrix was square.

use std::error::Error;

use exhibits::pitfall::{self, Pitfall};
use harness::Shape;

const PITFALL: Pitfall = exhibits::pitfall!("wrong_bound");

// ANCHOR: program
fn program() -> Result<(), Box<dyn Error>> {
    for n in [100, 128, 200] {
        println!("  {n}: largest error {}", PITFALL.largest_error(Shape::square(n))?);
    }
    Ok(())
}
// ANCHOR_END: program

pub(crate) fn show() -> Result<(), Box<dyn Error>> {
    let run = || PITFALL.largest_error(Shape { m: 40, n: 60, k: 20 }).map(drop);
    pitfall::show(program, ("40x60x20", run), (&PITFALL, Shape { m: 64, n: 96, k: 16 }))
}
