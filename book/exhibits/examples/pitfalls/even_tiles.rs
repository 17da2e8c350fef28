//! Tiles are taken two at a time, and every benchmark has an even number of them.

use std::error::Error;

use exhibits::pitfall::{self, Pitfall};
use harness::Shape;

const PITFALL: Pitfall = exhibits::pitfall!("even_tiles");

// ANCHOR: program
fn program() -> Result<(), Box<dyn Error>> {
    for n in [64, 128, 256, 250] {
        println!("  {n}: largest error {}", PITFALL.largest_error(Shape::square(n))?);
    }
    Ok(())
}
// ANCHOR_END: program

pub(crate) fn show() -> Result<(), Box<dyn Error>> {
    let run = || PITFALL.largest_error(Shape::square(48)).map(drop);
    pitfall::show(program, ("size 48, three tiles", run), (&PITFALL, Shape { m: 132, n: 260, k: 40 }))
}
