//! Behaviour across crates lives in `tests/it`; this library holds what those tests share.

pub mod conformance;
pub mod gpu;
pub mod gemm;
pub mod random_kernel;
pub mod torture;
