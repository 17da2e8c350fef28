//! A wrong kernel: v03 with half of a tile.
//!
//! `cargo run -p exhibits --example wrong_v03_half_a_tile`

use std::error::Error;

use exhibits::museum::{self, Piece};
use harness::Shape;

const PIECE: Piece = Piece {
    ptx: include_str!("../kernels/v03_half_a_tile.ptx"),
    kernel: "sgemm_v03_from_shared",
    geometry: museum::in_a_row::<128>,
};

fn main() -> Result<(), Box<dyn Error>> {
    museum::wrong(&PIECE, Shape { m: 100, n: 1, k: 1 })
}
