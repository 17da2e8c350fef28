//! Behaviour across crates lives in `tests/it`; this library holds what those tests share.

#![forbid(unsafe_code)]

pub mod accesses;
pub mod asynchronous;
pub mod clusters;
pub mod conformance;
pub mod fixture;
pub mod gemm;
pub mod gpu;
pub mod hostile;
pub mod machine_code;
pub mod phases;
pub mod random_atomics;
pub mod random_kernel;
pub mod recorded;
pub mod tensor;
pub mod tensor_cores;
pub mod torture;
pub mod wgmma;
