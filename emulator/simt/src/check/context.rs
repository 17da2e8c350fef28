//! What a message is written from: the kernel, the launch, and what lies in memory.

use crate::launch::LaunchConfig;
use crate::program::Kernel;

/// A piece of global memory, as the messages name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allocation {
    /// First address.
    pub base: u64,
    /// Size.
    pub bytes: u64,
    /// 1 for the first one that was made; 0 when not counted.
    pub number: u64,
    /// Its symbol, for a `__device__` or `__constant__` variable.
    pub symbol: Option<String>,
    /// It was freed.
    pub freed: bool,
    /// The kernel may not store here.
    pub read_only: bool,
}

/// Everything that turns events into messages.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Paths, by `.file` index.
    pub files: &'a [(u32, String)],
    /// Grid, block, parameters, names.
    pub config: &'a LaunchConfig,
    /// The allocation in whose window an address lies, whether inside or past its ends, freed ones too.
    pub find: &'a dyn Fn(u64) -> Option<Allocation>,
    /// Thread-instructions by instruction, when they were counted.
    pub executed: Option<&'a dyn Fn(u32) -> u64>,
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("kernel", &self.kernel.name)
            .finish_non_exhaustive()
    }
}
