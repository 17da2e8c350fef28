//! Runs random kernels until the time is up, and stops at the first one that the machine does not survive.
//!
//! `cargo run -p tests --example fuzz_exec -- --seconds 3600 [--seed SEED]`
//!
//! A tame kernel must run clean and give the same results and counts however it is run: watched or not, on one
//! thread or two, with each kind of vector instruction. A wild one, and a text with random damage, must end in an
//! answer or in findings, the same ones on any number of threads. Kernels whose blocks meet on few words of memory must
//! leave the same there, unless a race is reported. `tests::torture` holds the rules; what they catch
//! is printed with the seed that brings it back.

#[path = "fuzz/mod.rs"]
mod fuzz;

use std::process::ExitCode;

fn main() -> ExitCode {
    fuzz::main(&[], |seed| tests::torture::all(seed).map(|ends| ends.join(" ")))
}
