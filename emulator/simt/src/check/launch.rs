//! Launches that cannot start: `E-LAUNCH`.

use crate::launch::{LaunchConfig, LaunchRefused};
use crate::program::Kernel;

/// Most threads in a block.
pub const MAX_THREADS: u32 = 1024;
/// Limits of a block's dimensions.
pub const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
/// Limits of a grid's dimensions.
pub const MAX_GRID: [u32; 3] = [0x7FFF_FFFF, 65535, 65535];
/// Shared memory of a block without asking for more.
pub const MAX_SHARED: u32 = 48 * 1024;
/// Shared memory of a block that asked for it (`cuFuncSetAttribute`).
pub const MAX_SHARED_OPT_IN: u32 = 227 * 1024;

/// Checks a launch before it starts. `allowed_dynamic` is the dynamic shared memory that the kernel was
/// given by `cuFuncSetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES)`, `None` when it was never asked for.
pub fn check(
    _kernel: &Kernel,
    _config: &LaunchConfig,
    _allowed_dynamic: Option<u32>,
) -> Result<(), LaunchRefused> {
    Ok(())
}

/// The kernel takes `expected` parameters and the launch gave `given`.
pub fn parameter_count(_kernel: &Kernel, _given: usize) -> LaunchRefused {
    LaunchRefused::InvalidParameters(String::new())
}
