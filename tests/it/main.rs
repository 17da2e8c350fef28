//! Tests of behaviour across crates.

#![forbid(unsafe_code)]

mod accesses;
mod asynchronous;
mod calibrate;
mod conformance;
mod corpus;
mod counters;
mod diagnosed;
mod hopper;
mod ladder;
mod machine_code;
mod machine_tensor;
mod merged;
mod mma;
mod promises;
mod ptx_fresh;
mod random;
mod reads_all;
mod sanitizer;
mod steps;
mod sums;
mod tensor;
mod unseen;
mod wgmma;
