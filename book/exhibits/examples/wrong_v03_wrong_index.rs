//! A wrong kernel: v03 with a bound that forgets the loop.
//!
//! `cargo run -p exhibits --example wrong_v03_wrong_index`

use std::error::Error;

use exhibits::museum::{self, Piece};
use harness::Shape;

const PIECE: Piece = Piece {
    ptx: include_str!("../kernels/v03_wrong_index.ptx"),
    kernel: "sgemm_v03_from_shared",
    geometry: museum::in_a_row::<128>,
};

fn main() -> Result<(), Box<dyn Error>> {
    museum::wrong(&PIECE, Shape { m: 1, n: 1, k: 1 })
}
