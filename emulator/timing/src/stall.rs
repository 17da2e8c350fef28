//! Where the clocks of warps go.

/// Why a warp did not issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The clocks that the compiler wrote into the previous instruction.
    Fixed,
    /// The result of a load from global memory.
    Global,
    /// The result of another unit that takes long: shared memory, constants, special functions.
    Short,
    /// The other warps of the block.
    Barrier,
    /// The unit took nothing.
    Unit,
    /// Another warp was chosen.
    NotSelected,
}

impl Reason {
    /// All of them, in the order of [`Stalls::clocks`].
    pub const ALL: [Reason; 6] = [
        Reason::Fixed,
        Reason::Global,
        Reason::Short,
        Reason::Barrier,
        Reason::Unit,
        Reason::NotSelected,
    ];
}

/// Of one instruction, over all warps that were simulated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stalls {
    /// How often it was issued.
    pub issued: u64,
    /// Clocks that warps waited in front of it, by [`Reason`].
    pub clocks: [u64; Reason::ALL.len()],
}
