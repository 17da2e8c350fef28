//! v03: a tile of C per thread, accumulated in registers; from global memory, then from shared.

use std::process::ExitCode;

use harness::{Kernel, code};

const KERNELS: &[Kernel] = &[
    Kernel::tiled("sgemm_v03_from_global", code!("v03_from_global", rust)),
    Kernel::tiled("sgemm_v03_from_shared", code!("v03_from_shared", rust)),
];

fn main() -> ExitCode {
    harness::main("v03", KERNELS)
}

harness::test_step!("v03", KERNELS);
