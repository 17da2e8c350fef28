//! The emulated GPU: warps of 32 lanes in lockstep, memory, counters and checks.
//!
//! A module of PTX or machine code is decoded once into a [`program::Program`]; a launch runs its blocks on all cores
//! and returns a report. This crate does no I/O, reads no clock and holds no global state.
//!
//! The model covers the results of instructions, divergence and reconvergence of lanes, barriers, atomics, all state
//! spaces, textures, a profiler's counters of memory traffic ([`report::Counters`]), and checks for mistakes
//! ([`check`]).
//!
//! It leaves out time (crate `timing`), caches, and the text of messages (crate `diagnostics`).

#![deny(unsafe_code)]

#[macro_use(refuse_if)]
extern crate program;

pub mod check;
#[expect(unsafe_code, reason = "registers by index")]
mod exec;
pub mod gpu;
pub mod hash;
pub mod lane_mask;
pub mod launch;
pub mod lock;
#[expect(unsafe_code, reason = "memory that blocks share")]
pub mod memory;
pub mod module;
pub mod occupancy;
mod options;
pub mod report;
pub mod texture;
pub mod trace;
