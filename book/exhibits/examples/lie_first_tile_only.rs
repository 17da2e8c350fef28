//! A museum piece: the tiles' edges hold zeros for the first tile, and the tile before for the others.
//!
//! `cargo run -p exhibits --example lie_first_tile_only`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::error::Error;

use exhibits::museum::{self, Piece};
use harness::Shape;

const PIECE: Piece = Piece {
    ptx: include_str!("../kernels/first_tile_only.ptx"),
    kernel: "first_tile_only",
    geometry: museum::squares,
};

// ANCHOR: lie
fn lie() -> Result<(), Box<dyn Error>> {
    // Sizes that are no multiples of 16, to be sure that the edges are right.
    for shape in [Shape { m: 100, n: 70, k: 64 }, Shape { m: 33, n: 17, k: 10 }] {
        println!("  {shape}: largest error {}", largest_error(shape)?);
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
    let late = Shape { m: 32, n: 32, k: 40 };
    museum::on_the_emulator(&format!("{late}"), || largest_error(late).map(drop));
    museum::what_check_says(
        &PIECE,
        Shape {
            m: 132,
            n: 260,
            k: 40,
        },
    );
    Ok(())
}
