//! The tiles' edges hold zeros for the first tile, and the tile before for the others.

use std::error::Error;

use exhibits::pitfall::{self, Pitfall};
use harness::Shape;

const PITFALL: Pitfall = exhibits::pitfall!("first_tile_only");

// ANCHOR: program
fn program() -> Result<(), Box<dyn Error>> {
    // Sizes that are no multiples of 16, to be sure that the edges are right.
    for shape in [Shape { m: 100, n: 70, k: 64 }, Shape { m: 33, n: 17, k: 10 }] {
        println!("  {shape}: largest error {}", PITFALL.largest_error(shape)?);
    }
    Ok(())
}
// ANCHOR_END: program

pub(crate) fn show() -> Result<(), Box<dyn Error>> {
    let run = || PITFALL.largest_error(Shape { m: 32, n: 32, k: 40 }).map(drop);
    pitfall::show(program, ("32x32x40", run), (&PITFALL, Shape { m: 132, n: 260, k: 40 }))
}
