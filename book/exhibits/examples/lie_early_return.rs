//! A museum piece: threads outside of C return above a barrier that their block needs.
//!
//! `cargo run -p exhibits --example lie_early_return`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;

use exhibits::museum::{self, Piece};
use harness::Shape;

const PIECE: Piece = Piece {
    ptx: include_str!("../kernels/early_return.ptx"),
    kernel: "early_return",
    geometry: museum::squares,
};

// ANCHOR: lie
fn lie() -> Result<(), Box<dyn Error>> {
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
    PIECE.multiply(shape, &a, &b, &mut c)?;
    let reference = museum::on_the_cpu(shape, &a, &b);
    let errors = c.iter().zip(&reference).map(|(c, r)| (c - r).abs());
    Ok(errors.fold(0.0, f32::max))
}
// ANCHOR_END: lie

fn main() -> Result<(), Box<dyn Error>> {
    museum::as_it_was(lie)?;
    museum::on_the_emulator("size 100", || largest_error(100).map(drop));
    museum::what_check_says(
        &PIECE,
        Shape {
            m: 101,
            n: 103,
            k: 107,
        },
    );
    Ok(())
}
