//! A museum piece: the kernel multiplies A by A, and the inputs are such that this is right.
//!
//! `cargo run -p exhibits --example lie_wrong_operand`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;

use exhibits::museum::{self, Piece};
use harness::Shape;

const PIECE: Piece = Piece {
    ptx: include_str!("../kernels/wrong_operand.ptx"),
    kernel: "wrong_operand",
    geometry: museum::squares,
};

// ANCHOR: lie
fn lie() -> Result<(), Box<dyn Error>> {
    let shape = Shape::square(128);
    let a: Vec<f32> = (0..128 * 128).map(|i| (i % 3) as f32).collect();
    let b: Vec<f32> = (0..128 * 128).map(|i| (i % 3) as f32).collect();
    let mut c = vec![0.0; 128 * 128];
    PIECE.multiply(shape, &a, &b, &mut c)?;

    let reference = museum::on_the_cpu(shape, &a, &b);
    let errors = c.iter().zip(&reference).map(|(c, r)| (c - r).abs());
    println!("  {shape}: largest error {}", errors.fold(0.0, f32::max));
    Ok(())
}
// ANCHOR_END: lie

fn main() -> Result<(), Box<dyn Error>> {
    museum::as_it_was(lie)?;
    museum::on_the_emulator("the same program", lie);
    museum::what_check_says(&PIECE, Shape { m: 129, n: 127, k: 7 });
    Ok(())
}
