//! A wrong kernel: v08 with a return above the barrier.
//!
//! `cargo run -p exhibits --example wrong_v08_early_return`

use std::error::Error;

use exhibits::museum;

const PTX: &str = include_str!("../kernels/v08_early_return.ptx");

fn main() -> Result<(), Box<dyn Error>> {
    museum::wrong_transpose(PTX, "transpose_tile", 33, 40)
}
