//! v07: load the next tile while computing on this one.

use std::process::ExitCode;

use harness::{Kernel, code};

const KERNELS: &[Kernel] = &[Kernel::tiled("sgemm_v07_double_buffer", code!("v07_double_buffer", rust))];

fn main() -> ExitCode {
    harness::main("v07", KERNELS)
}

harness::test_step!("v07", KERNELS);
