//! `libnvcuda`: the calls of [`driver`] as the library that CUDA programs load where there is no NVIDIA driver.
//!
//! Split from `driver` so that builds don't wait for linking; programs depend on it to have the library built.

#![forbid(unsafe_code)]

// The driver's exported functions become this library's.
use driver as _;
