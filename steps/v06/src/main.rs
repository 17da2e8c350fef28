//! v06: fragments in registers, then a rank-1 update.

use std::process::ExitCode;

use harness::{Kernel, code};

const KERNELS: &[Kernel] = &[Kernel::tiled("sgemm_v06_outer_product", code!("v06_outer_product", rust))];

fn main() -> ExitCode {
    harness::main("v06", KERNELS)
}

harness::test_step!("v06", KERNELS);
