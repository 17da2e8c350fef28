//! The emulated GPU: warps of 32 lanes in lockstep, memory, counters and checks.
//!
//! A PTX module is decoded once into a [`program::Program`]; a launch runs its blocks on all cores and
//! returns a report. This crate does no I/O, reads no clock and holds no global state.

pub mod alu;
pub mod check;
pub mod decode;
mod exec;
pub mod lanes;
pub mod launch;
pub mod memory;
pub mod module;
pub mod program;
pub mod report;
pub mod texture;
pub mod trace;
