//! A museum piece: rows and columns of the result are swapped, and the result is symmetric.
//!
//! `cargo run -p exhibits --example lie_swapped_result`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;

use exhibits::museum::{self, Piece};
use harness::Shape;

const PIECE: Piece = Piece {
    ptx: include_str!("../kernels/swapped_result.ptx"),
    kernel: "swapped_result",
    geometry: museum::squares,
};

// ANCHOR: lie
fn lie() -> Result<(), Box<dyn Error>> {
    let n: usize = 128;
    // A covariance matrix is like this, and so is an adjacency matrix.
    let a: Vec<f32> = (0..n * n).map(|i| (i / n).abs_diff(i % n) as f32).collect();
    let mut c = vec![0.0; n * n];
    PIECE.multiply(Shape::square(n), &a, &a, &mut c)?;

    let reference = museum::on_the_cpu(Shape::square(n), &a, &a);
    let errors = c.iter().zip(&reference).map(|(c, r)| (c - r).abs());
    println!("  {n}: largest error {}", errors.fold(0.0, f32::max));
    Ok(())
}
// ANCHOR_END: lie

fn main() -> Result<(), Box<dyn Error>> {
    museum::as_it_was(lie)?;
    museum::on_the_emulator("the same program", lie);
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
