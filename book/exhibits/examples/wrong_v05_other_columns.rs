//! A wrong kernel: v05 that stores to other columns than it multiplied.
//!
//! `cargo run -p exhibits --example wrong_v05_other_columns`

use std::error::Error;

use exhibits::museum::{self, Piece};
use harness::Shape;

const PIECE: Piece = Piece {
    ptx: include_str!("../kernels/v05_other_columns.ptx"),
    kernel: "sgemm_v05_bank_conflict_free",
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
