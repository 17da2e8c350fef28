//! `libnvcuda`: the calls of [`driver`] as the library that `cudarc` and other CUDA programs load where there is no
//! NVIDIA driver.
//!
//! A crate of its own because it can only be linked when everything below it is compiled, and nothing else has to wait
//! for that. No Rust code uses it; programs that want to find the library beside them depend on it.

#![forbid(unsafe_code)]

// Its exported functions become this library's.
use driver as _;
