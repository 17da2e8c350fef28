//! The ladder as plain data: which steps there are, what was measured of them, and how that is written down.
//!
//! Every crate that names steps uses this one: the steps themselves (through `lab`), `xtask`, the book. It depends on no
//! CUDA crate and runs nothing.

#![forbid(unsafe_code)]

pub mod busiest;
pub mod catalogue;
pub mod ceilings;
pub mod counters;
pub mod duel;
mod family;
pub mod files;
pub mod machine_code;
pub mod programs;
pub mod provenance;
pub mod record;
pub mod sanitizer;
pub mod shape;
pub mod sums;
pub mod text;
pub mod time;

pub use catalogue::{
    CHOSEN, Format, Kernel, NOT_MEASURED, PROGRAMS, STEPS, Standalone, Step, UnknownStep, Work, find, range,
};
pub use family::Family;
pub use record::{Measurement, Outcome, Record, Run, Samples};
pub use shape::{Shape, WrongSize};
