//! v05: 32 banks, and no two lanes in one.

use std::process::ExitCode;

use harness::{Kernel, code};

const KERNELS: &[Kernel] =
    &[Kernel::tiled("sgemm_v05_bank_conflict_free", code!("v05_bank_conflict_free", rust))];

fn main() -> ExitCode {
    harness::main("v05", KERNELS)
}

harness::test_step!("v05", KERNELS);
