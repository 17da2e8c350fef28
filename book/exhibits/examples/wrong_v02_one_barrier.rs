//! A wrong kernel: v02 without its second barrier.
//!
//! `cargo run -p exhibits --example wrong_v02_one_barrier`

use std::error::Error;

use exhibits::museum::{self, Piece};
use harness::Shape;

const PIECE: Piece = Piece {
    ptx: include_str!("../kernels/v02_one_barrier.ptx"),
    kernel: "sgemm_v02_tile16",
    geometry: museum::in_a_row::<16>,
};

fn main() -> Result<(), Box<dyn Error>> {
    museum::wrong(&PIECE, Shape { m: 16, n: 16, k: 40 })
}
