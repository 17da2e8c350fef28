//! `libnvcuda`: the calls of [`driver`] as the library that CUDA programs load where there is no NVIDIA driver.
//!
//! A crate of its own, split from `driver` so that builds of other crates don't wait for linking. No Rust code uses it;
//! programs depend on it to have the library built into their folder.

#![forbid(unsafe_code)]

// The driver's exported functions become this library's.
use driver as _;
