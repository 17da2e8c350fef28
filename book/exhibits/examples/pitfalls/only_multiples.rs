//! Right for multiples of 16, and only those were tried.

use std::error::Error;

use exhibits::pitfall::{self, Pitfall};
use harness::Shape;

const PITFALL: Pitfall = exhibits::pitfall!("only_multiples");

// ANCHOR: program
fn program() -> Result<(), Box<dyn Error>> {
    for n in [64, 128, 256] {
        println!("  {n}: largest error {}", PITFALL.largest_error(Shape::square(n))?);
    }
    Ok(())
}
// ANCHOR_END: program

pub(crate) fn show() -> Result<(), Box<dyn Error>> {
    let run = || PITFALL.largest_error(Shape::square(100)).map(drop);
    pitfall::show(program, ("size 100", run), (&PITFALL, Shape { m: 64, n: 64, k: 8 }))
}
