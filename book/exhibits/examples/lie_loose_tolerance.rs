//! A museum piece: a term of every sum is missing, and small inputs make it a small error.
//!
//! `cargo run -p exhibits --example lie_loose_tolerance`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;

use exhibits::museum::{self, Piece};
use harness::Shape;

const PIECE: Piece = Piece {
    ptx: include_str!("../kernels/loose_tolerance.ptx"),
    kernel: "loose_tolerance",
    geometry: museum::squares,
};

// ANCHOR: lie
fn lie() -> Result<(), Box<dyn Error>> {
    let shape = Shape::square(128);
    let a: Vec<f32> = (0..128 * 128).map(|i| (i % 7) as f32 / 100.0).collect();
    let b: Vec<f32> = (0..128 * 128).map(|i| (i % 5) as f32 / 100.0).collect();
    let mut c = vec![0.0; 128 * 128];
    PIECE.multiply(shape, &a, &b, &mut c)?;

    let reference = museum::on_the_cpu(shape, &a, &b);
    let errors = c.iter().zip(&reference).map(|(c, r)| (c - r).abs());
    let n_wrong = errors.filter(|error| *error > 1e-2).count();
    println!("  {shape}: {n_wrong} elements are off by more than 0.01");
    Ok(())
}
// ANCHOR_END: lie

fn main() -> Result<(), Box<dyn Error>> {
    museum::as_it_was(lie)?;
    museum::on_the_emulator("the same program", lie);
    museum::what_check_says(&PIECE, Shape { m: 64, n: 64, k: 8 });
    Ok(())
}
