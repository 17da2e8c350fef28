//! The driver's API as programs use it: through cudarc, in the emulated driver's own library.
//!
//! `TILE_DEVICE=real` runs the same tests on the machine's GPU, where they hold as well unless their name says
//! `emulated`.

mod common;
mod emulated;
mod errors;
mod exports;
mod faults;
mod graphs;
#[rustfmt::skip]
mod layouts;
mod lifetimes;
mod linker;
mod machine_code;
mod mistakes;
mod programs;
mod streams;
mod tensor;
