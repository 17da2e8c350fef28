//! A wrong kernel: v03 with sums that begin again in each tile.
//!
//! `cargo run -p exhibits --example wrong_v03_begins_again`

use std::error::Error;

use exhibits::museum::{self, Piece};
use harness::Shape;

const PIECE: Piece = Piece {
    ptx: include_str!("../kernels/v03_begins_again.ptx"),
    kernel: "sgemm_v03_from_shared",
    geometry: museum::in_a_row::<128>,
};

fn main() -> Result<(), Box<dyn Error>> {
    drop(exhibits::device()?);
    museum::what_check_says(&PIECE, Shape { m: 64, n: 96, k: 16 });
    Ok(())
}
