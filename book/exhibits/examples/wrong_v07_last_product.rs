//! A wrong kernel: v07 without the product after the loop.
//!
//! `cargo run -p exhibits --example wrong_v07_last_product`

use std::error::Error;

use exhibits::museum::{self, Piece};
use harness::Shape;

const PIECE: Piece = Piece {
    ptx: include_str!("../kernels/v07_last_product.ptx"),
    kernel: "sgemm_v07_double_buffer",
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
