//! Behaviour across crates.

mod ptx_fresh;
