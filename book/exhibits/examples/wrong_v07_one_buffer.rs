//! A wrong kernel: v07 with buffers that are never exchanged.
//!
//! `cargo run -p exhibits --example wrong_v07_one_buffer`

use std::error::Error;

use exhibits::museum::{self, Piece};
use harness::Shape;

const PIECE: Piece = Piece {
    ptx: include_str!("../kernels/v07_one_buffer.ptx"),
    kernel: "sgemm_v07_double_buffer",
    geometry: museum::in_a_row::<128>,
};

fn main() -> Result<(), Box<dyn Error>> {
    museum::wrong(&PIECE, Shape { m: 16, n: 16, k: 24 })
}
