//! Behaviour across crates.

mod gallery;
mod ptx_fresh;
mod reads_all;
