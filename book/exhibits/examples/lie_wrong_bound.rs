//! A museum piece: the bounds test has M and N the wrong way round, and every matrix was square.
//!
//! `cargo run -p exhibits --example lie_wrong_bound`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;

use exhibits::museum::{self, Piece};
use harness::Shape;

const PIECE: Piece = Piece {
    ptx: include_str!("../kernels/wrong_bound.ptx"),
    kernel: "wrong_bound",
    geometry: museum::squares,
};

// ANCHOR: lie
fn lie() -> Result<(), Box<dyn Error>> {
    for n in [100, 128, 200] {
        println!("  {n}: largest error {}", largest_error(Shape::square(n))?);
    }
    Ok(())
}

fn largest_error(shape: Shape) -> Result<f32, Box<dyn Error>> {
    let a: Vec<f32> = (0..shape.m * shape.k).map(|i| (i % 7) as f32).collect();
    let b: Vec<f32> = (0..shape.k * shape.n).map(|i| (i % 5) as f32).collect();
    let mut c = vec![0.0; shape.m * shape.n];
    PIECE.multiply(shape, &a, &b, &mut c)?;
    let reference = museum::on_the_cpu(shape, &a, &b);
    let errors = c.iter().zip(&reference).map(|(c, r)| (c - r).abs());
    Ok(errors.fold(0.0, f32::max))
}
// ANCHOR_END: lie

fn main() -> Result<(), Box<dyn Error>> {
    museum::as_it_was(lie)?;
    let wide = Shape { m: 40, n: 60, k: 20 };
    museum::on_the_emulator(&format!("{wide}"), || largest_error(wide).map(drop));
    museum::what_check_says(&PIECE, Shape { m: 64, n: 96, k: 16 });
    Ok(())
}
