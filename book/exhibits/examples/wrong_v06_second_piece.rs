//! A wrong kernel: v06 that stores its second piece beside the first.
//!
//! `cargo run -p exhibits --example wrong_v06_second_piece`

use std::error::Error;

use exhibits::museum::{self, Piece};
use harness::Shape;

const PIECE: Piece = Piece {
    ptx: include_str!("../kernels/v06_second_piece.ptx"),
    kernel: "sgemm_v06_outer_product",
    geometry: museum::in_a_row::<128>,
};

fn main() -> Result<(), Box<dyn Error>> {
    drop(exhibits::device()?);
    museum::what_check_says(
        &PIECE,
        Shape {
            m: 128,
            n: 128,
            k: 24,
        },
    );
    Ok(())
}
