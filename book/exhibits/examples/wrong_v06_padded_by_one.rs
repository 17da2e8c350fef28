//! A wrong kernel: v06 with rows that do not begin on 16 bytes.
//!
//! `cargo run -p exhibits --example wrong_v06_padded_by_one`

use std::error::Error;

use exhibits::museum::{self, Piece};
use harness::Shape;

const PIECE: Piece = Piece {
    ptx: include_str!("../kernels/v06_padded_by_one.ptx"),
    kernel: "sgemm_v06_outer_product",
    geometry: museum::in_a_row::<128>,
};

fn main() -> Result<(), Box<dyn Error>> {
    museum::wrong(&PIECE, Shape { m: 1, n: 1, k: 1 })
}
