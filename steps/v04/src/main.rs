//! v04: sixteen bytes per lane on every trip to global memory.

use std::process::ExitCode;

use harness::{Kernel, code};

const KERNELS: &[Kernel] = &[Kernel::tiled("sgemm_v04_float4", code!("v04_float4", rust))];

fn main() -> ExitCode {
    harness::main("v04", KERNELS)
}

harness::test_step!("v04", KERNELS);
