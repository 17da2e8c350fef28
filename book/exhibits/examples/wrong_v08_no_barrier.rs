//! A wrong kernel: v08 without its barrier.
//!
//! `cargo run -p exhibits --example wrong_v08_no_barrier`

use std::error::Error;

use exhibits::museum;

const PTX: &str = include_str!("../kernels/v08_no_barrier.ptx");

fn main() -> Result<(), Box<dyn Error>> {
    museum::wrong_transpose(PTX, "transpose_tile", 33, 40)
}
