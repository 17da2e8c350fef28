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

/// Stable codes; the text of a message may change, its code does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Code {
    /// The launch asks for more than the device, or the kernel, allows.
    #[serde(rename = "E-LAUNCH")]
    Launch,
    /// Outside every allocation, or past the one meant.
    #[serde(rename = "E-OOB")]
    OutOfBounds,
    /// Memory that was freed.
    #[serde(rename = "E-FREED")]
    UseAfterFree,
    /// Not a multiple of the access size.
    #[serde(rename = "E-ALIGN")]
    Misaligned,
    /// A store into `__constant__` or parameter memory.
    #[serde(rename = "E-READ-ONLY")]
    ReadOnly,
    /// Texture fetch through a handle that is none.
    #[serde(rename = "E-TEXTURE")]
    Texture,
    /// A copy of a box of a tensor with a map, coordinates or a place that it does not take.
    #[serde(rename = "E-TENSOR")]
    TensorCopy,
    /// A barrier in shared memory that was not made, or is used as it was not made for.
    #[serde(rename = "E-MBARRIER")]
    MemoryBarrier,
    /// Shared memory of another block of the cluster that cannot be reached, or the barrier of the cluster out of turn.
    #[serde(rename = "E-CLUSTER")]
    Cluster,
    /// A bulk copy reads what ordinary stores wrote, and no fence of the async proxy orders them.
    #[serde(rename = "E-PROXY")]
    Proxy,
    /// A product of a warpgroup whose registers, shared memory or warps are not as it needs them.
    #[serde(rename = "E-WGMMA")]
    Wgmma,
    /// A product takes a fragment that was loaded for another operand, shape, type or layout.
    #[serde(rename = "E-FRAGMENT")]
    Fragment,
    /// Threads of one block met at different barriers, or wait for ever.
    #[serde(rename = "E-BARRIER")]
    Barrier,
    /// `shfl.sync` and its kin: the mask does not name the lanes that take part.
    #[serde(rename = "E-SYNC-MASK")]
    SyncMask,
    /// An instruction that does not take the value of its register: a barrier that does not exist.
    #[serde(rename = "E-OPERAND")]
    Operand,
    /// A call through an address that is no such function's.
    #[serde(rename = "E-CALL")]
    Call,
    /// Calls nested deeper than the stack holds.
    #[serde(rename = "E-STACK")]
    Stack,
    /// The kernel executed `trap`.
    #[serde(rename = "E-TRAP")]
    Trap,
    /// An `assert(…)` of the kernel failed.
    #[serde(rename = "E-ASSERT")]
    Assert,
    /// The instruction budget is spent, or a loop can be shown never to end.
    #[serde(rename = "E-LOOP")]
    Runaway,
    /// Two threads, at least one writes, nothing orders them.
    #[serde(rename = "E-RACE")]
    Race,
    /// Read before anything wrote it.
    #[serde(rename = "E-UNINIT")]
    Uninitialised,
    /// A value that nothing defined was stored whole where the host may read it.
    #[serde(rename = "W-UNINIT")]
    UndefinedOutput,
    /// Threads returned before a barrier that others waited at.
    #[serde(rename = "W-EXITED")]
    ExitedBeforeBarrier,
    /// Racing writes of the same value.
    #[serde(rename = "W-RACE-EQUAL")]
    RaceEqual,
    /// Whole warps met at different `__syncthreads()`, or part of a warp waited at one and the rest ended elsewhere.
    #[serde(rename = "W-BARRIER")]
    BarriersApart,
    /// A shuffle reads from a lane that its mask leaves out.
    #[serde(rename = "W-SHUFFLE")]
    ShuffleOutside,
}

impl Code {
    /// The code as printed, such as `E-OOB`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Launch => "E-LAUNCH",
            Self::OutOfBounds => "E-OOB",
            Self::UseAfterFree => "E-FREED",
            Self::Misaligned => "E-ALIGN",
            Self::ReadOnly => "E-READ-ONLY",
            Self::Texture => "E-TEXTURE",
            Self::TensorCopy => "E-TENSOR",
            Self::MemoryBarrier => "E-MBARRIER",
            Self::Cluster => "E-CLUSTER",
            Self::Proxy => "E-PROXY",
            Self::Wgmma => "E-WGMMA",
            Self::Fragment => "E-FRAGMENT",
            Self::Barrier => "E-BARRIER",
            Self::SyncMask => "E-SYNC-MASK",
            Self::Operand => "E-OPERAND",
            Self::Call => "E-CALL",
            Self::Stack => "E-STACK",
            Self::Trap => "E-TRAP",
            Self::Assert => "E-ASSERT",
            Self::Runaway => "E-LOOP",
            Self::Race => "E-RACE",
            Self::Uninitialised => "E-UNINIT",
            Self::UndefinedOutput => "W-UNINIT",
            Self::ExitedBeforeBarrier => "W-EXITED",
            Self::RaceEqual => "W-RACE-EQUAL",
            Self::BarriersApart => "W-BARRIER",
            Self::ShuffleOutside => "W-SHUFFLE",
        }
    }

    /// Error or warning: the letter in front says it.
    pub fn severity(self) -> Severity {
        match self {
            Self::UndefinedOutput
            | Self::ExitedBeforeBarrier
            | Self::RaceEqual
            | Self::BarriersApart
            | Self::ShuffleOutside => Severity::Warning,
            _ => Severity::Error,
        }
    }
}
