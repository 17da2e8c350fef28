//! What a message is written from: the kernel, the launch, and what lies in memory.

use program::DecodedKernel;
use simt::launch::LaunchRequest;

/// A piece of global memory, as the messages name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Allocation {
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    /// Number of the allocation, 1 for the first; 0 when not counted.
    pub(crate) number: u64,
    /// The variable's symbol, when the allocation is a `__device__` or `__constant__` variable.
    pub(crate) symbol: Option<String>,
    pub(crate) freed: bool,
    pub(crate) read_only: bool,
}

/// The inputs from which mistakes become messages.
#[derive(Clone, Copy)]
pub(crate) struct LaunchInputs<'a> {
    pub(crate) kernel: &'a DecodedKernel,
    /// Paths, by `.file` index.
    pub(crate) files: &'a [(u32, String)],
    pub(crate) request: &'a LaunchRequest,
    /// The allocation in whose window an address lies, whether inside or past its ends, freed ones too.
    pub(crate) find: &'a dyn Fn(u64) -> Option<Allocation>,
    /// Thread-instructions by instruction, when they were counted.
    pub(crate) executed: Option<&'a dyn Fn(u32) -> u64>,
    /// Whether all threads ran to their end: counts are of the whole launch.
    pub(crate) complete: bool,
}
