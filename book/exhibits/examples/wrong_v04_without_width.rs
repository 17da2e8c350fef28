//! A wrong kernel: v04 with an index that counts groups.
//!
//! `cargo run -p exhibits --example wrong_v04_without_width`

use std::error::Error;

use exhibits::museum::{self, Piece};
use harness::Shape;

const PIECE: Piece = Piece {
    ptx: include_str!("../kernels/v04_without_width.ptx"),
    kernel: "sgemm_v04_float4",
    geometry: museum::in_a_row::<128>,
};

fn main() -> Result<(), Box<dyn Error>> {
    museum::wrong(&PIECE, Shape { m: 1, n: 1, k: 1 })
}
