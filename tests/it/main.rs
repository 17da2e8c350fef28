//! Behaviour across crates.

mod gallery;
mod ptx_fresh;
