//! Codes of mistakes. They are stable.

use serde::Serialize;

/// Severity of a finding: an error makes the launch fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A mistake: the launch fails.
    Error,
    /// Reported, but the launch succeeds.
    Warning,
}

/// Declares [`Code`] with the printed form of each code.
macro_rules! codes {
    ($(#[$doc:meta] $variant:ident $name:literal,)*) => {
        /// Stable codes; the text of a message may change, its code does not.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub enum Code {
            $(#[$doc] #[serde(rename = $name)] $variant,)*
        }

        impl Code {
            /// The code as printed, such as `E-OOB`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

codes! {
    /// The launch asks for more than the device, or the kernel, allows.
    Launch "E-LAUNCH",
    /// Outside every allocation, or past the one meant.
    OutOfBounds "E-OOB",
    /// Memory that was freed.
    UseAfterFree "E-FREED",
    /// Not a multiple of the access size.
    Misaligned "E-ALIGN",
    /// A store into `__constant__` or parameter memory.
    ReadOnly "E-READ-ONLY",
    /// Texture fetch through a handle that is none.
    Texture "E-TEXTURE",
    /// A copy of a box of a tensor with a map, coordinates or a place that it does not take.
    TensorCopy "E-TENSOR",
    /// A barrier in shared memory that was not made, or is used as it was not made for.
    MemoryBarrier "E-MBARRIER",
    /// Shared memory of another block of the cluster that cannot be reached, or the barrier of the cluster out of turn.
    Cluster "E-CLUSTER",
    /// A bulk copy reads what ordinary stores wrote, and no fence of the async proxy orders them.
    Proxy "E-PROXY",
    /// A product of a warpgroup whose registers, shared memory or warps are not as it needs them.
    Wgmma "E-WGMMA",
    /// A product takes a fragment that was loaded for another operand, shape, type or layout.
    Fragment "E-FRAGMENT",
    /// Threads of one block met at different barriers, or wait for ever.
    Barrier "E-BARRIER",
    /// `shfl.sync` and its kin: the mask does not name the lanes that take part.
    SyncMask "E-SYNC-MASK",
    /// An instruction that does not take the value of its register: a barrier that does not exist.
    Operand "E-OPERAND",
    /// A call through an address that is no such function's.
    Call "E-CALL",
    /// Calls nested deeper than the stack holds.
    Stack "E-STACK",
    /// The kernel executed `trap`.
    Trap "E-TRAP",
    /// An `assert(…)` of the kernel failed.
    Assert "E-ASSERT",
    /// The instruction budget is spent, or a loop can be shown never to end.
    Runaway "E-LOOP",
    /// Two threads, at least one writes, nothing orders them.
    Race "E-RACE",
    /// Read before anything wrote it.
    Uninitialised "E-UNINIT",
    /// A value that nothing defined was stored whole where the host may read it.
    UndefinedOutput "W-UNINIT",
    /// Threads returned before a barrier that others waited at.
    ExitedBeforeBarrier "W-EXITED",
    /// Racing writes of the same value.
    RaceEqual "W-RACE-EQUAL",
    /// Whole warps met at different `__syncthreads()`, or part of a warp waited at one and the rest ended elsewhere.
    BarriersApart "W-BARRIER",
    /// A shuffle reads from a lane that its mask leaves out.
    ShuffleOutside "W-SHUFFLE",
}

impl Code {
    /// Error or warning: the letter in front says it.
    pub fn severity(self) -> Severity {
        if self.as_str().starts_with('W') { Severity::Warning } else { Severity::Error }
    }
}
