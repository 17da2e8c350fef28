//! Threads outside of C return above a barrier that their block needs.

use std::error::Error;

use exhibits::pitfall::{self, Pitfall};
use harness::Shape;

const PITFALL: Pitfall = exhibits::pitfall!("early_return");

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
    pitfall::show(program, ("size 100", run), (&PITFALL, Shape { m: 101, n: 103, k: 107 }))
}
