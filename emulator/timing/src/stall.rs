//! Clocks that warps spend waiting.

/// Reason for which a warp did not issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Stall count that the compiler wrote into the previous instruction.
    Fixed,
    /// The result of a load from global memory.
    Global,
    /// The result of another unit with a long latency: shared memory, constants, special functions.
    Short,
    /// The other warps of the block.
    Barrier,
    /// The unit of the instruction is busy.
    Unit,
    /// The scheduler issued another warp.
    NotSelected,
}

impl Reason {
    /// All reasons, in the order of [`Stalls::clocks`].
    pub const ALL: [Reason; 6] =
        [Reason::Fixed, Reason::Global, Reason::Short, Reason::Barrier, Reason::Unit, Reason::NotSelected];
}

/// Stalls of an instruction, over all simulated warps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stalls {
    /// Number of times that warps issued it.
    pub issued: u64,
    /// Clocks that warps waited before it, by [`Reason`].
    pub clocks: [u64; Reason::ALL.len()],
}
