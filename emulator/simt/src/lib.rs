//! The emulated GPU: warps of 32 lanes in lockstep, memory, counters and checks.
//!
//! A PTX module is decoded once into a [`program::Program`]; a launch runs its blocks on all cores and
//! returns a report. This crate does no I/O, reads no clock and holds no global state.

#![deny(unsafe_code)]

#[expect(
    unsafe_code,
    reason = "registers by index, and vector code chosen at run time"
)]
pub mod alu;
pub mod check;
pub mod decode;
#[expect(unsafe_code, reason = "registers by index")]
mod exec;
pub mod gpu;
#[expect(unsafe_code, reason = "registers by index")]
pub mod lanes;
pub mod launch;
pub mod limits;
#[expect(unsafe_code, reason = "memory that blocks share")]
pub mod memory;
pub mod module;
pub mod occupancy;
pub mod program;
pub mod report;
pub mod texture;
pub mod trace;
