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

/// Declares [`Code`]; each row has a code's printed form and its severity.
macro_rules! codes {
    ($(#[$doc:meta] $variant:ident $name:literal $severity:ident,)*) => {
        /// Stable codes; the text of a message may change, its code does not.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub enum Code {
            $(#[$doc] #[serde(rename = $name)] $variant,)*
        }

        impl Code {
            /// Returns the code as printed, such as `E-OOB`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$variant => Severity::$severity,)*
                }
            }
        }
    };
}

codes! {
    /// The launch asks for more than the device, or the kernel, allows.
    Launch "E-LAUNCH" Error,
    /// Outside every allocation, or past the one meant.
    OutOfBounds "E-OOB" Error,
    /// Memory that was freed.
    UseAfterFree "E-FREED" Error,
    /// Not a multiple of the access size.
    Misaligned "E-ALIGN" Error,
    /// A store into `__constant__` or parameter memory.
    ReadOnly "E-READ-ONLY" Error,
    /// Texture fetch through an invalid handle.
    Texture "E-TEXTURE" Error,
    /// Tensor copy with an invalid map, coordinates or address.
    TensorCopy "E-TENSOR" Error,
    /// An `mbarrier` that is not initialised, or used inconsistently with its initialisation.
    MemoryBarrier "E-MBARRIER" Error,
    /// Shared memory of another block of the cluster that cannot be reached, or the barrier of the cluster out of turn.
    Cluster "E-CLUSTER" Error,
    /// A bulk copy reads what ordinary stores wrote, and no fence of the async proxy orders them.
    Proxy "E-PROXY" Error,
    /// Misused `wgmma`: wrong registers, shared-memory operands, or participating warps.
    Wgmma "E-WGMMA" Error,
    /// An MMA takes a `wmma` fragment that was loaded for another operand, shape, type or layout.
    Fragment "E-FRAGMENT" Error,
    /// Threads of one block met at different barriers, or wait forever.
    Barrier "E-BARRIER" Error,
    /// `shfl.sync` and its kin: the mask does not name the lanes that take part.
    SyncMask "E-SYNC-MASK" Error,
    /// An operand value that the instruction does not allow, such as the number of a barrier that does not exist.
    Operand "E-OPERAND" Error,
    /// A pointer to a local variable, followed by another thread.
    LocalPointer "E-LOCAL" Error,
    /// A call through an address that is not a callable function.
    Call "E-CALL" Error,
    /// Calls nested deeper than the stack holds.
    Stack "E-STACK" Error,
    /// The kernel executed `trap`.
    Trap "E-TRAP" Error,
    /// An `assert(…)` of the kernel failed.
    Assert "E-ASSERT" Error,
    /// The instruction budget is spent, or a loop can be shown never to end.
    Runaway "E-LOOP" Error,
    /// Accesses of two threads to one address, at least one of them a write, that nothing orders.
    Race "E-RACE" Error,
    /// Read before anything wrote it.
    Uninitialised "E-UNINIT" Error,
    /// An undefined value was stored unchanged where the host may read it.
    UndefinedOutput "W-UNINIT" Warning,
    /// Threads returned before a barrier that others waited at.
    ExitedBeforeBarrier "W-EXITED" Warning,
    /// Racing writes of the same value.
    RaceEqual "W-RACE-EQUAL" Warning,
    /// Whole warps met at different `__syncthreads()`, or part of a warp waited at one and the rest ended elsewhere.
    BarriersApart "W-BARRIER" Warning,
    /// A shuffle reads from a lane that its mask leaves out.
    ShuffleOutside "W-SHUFFLE" Warning,
}
