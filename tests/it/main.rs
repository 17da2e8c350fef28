//! Behaviour across crates.

mod conformance;
mod gallery;
mod ptx_fresh;
mod reads_all;
