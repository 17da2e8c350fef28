//! What a check found: a mistake in a kernel, with everything needed to explain it.

use serde::Serialize;

use crate::program::SourceLoc;

/// How bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The launch fails.
    Error,
    /// Worth knowing.
    Warning,
}

/// Stable codes; the text of a message may change, its code does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Code {
    /// Outside every allocation, or past the one meant.
    #[serde(rename = "E-OOB")]
    OutOfBounds,
    /// Memory that was freed.
    #[serde(rename = "E-FREED")]
    UseAfterFree,
    /// Not a multiple of the access size.
    #[serde(rename = "E-ALIGN")]
    Misaligned,
    /// Read before anything wrote it.
    #[serde(rename = "E-UNINIT")]
    Uninitialised,
    /// Two threads, at least one writes, nothing orders them.
    #[serde(rename = "E-RACE")]
    Race,
    /// Racing writes of the same value.
    #[serde(rename = "W-RACE-EQUAL")]
    RaceEqual,
    /// Threads of one block met at different barriers, or wait for ever.
    #[serde(rename = "E-BARRIER")]
    Barrier,
    /// Threads returned before a barrier that others waited at.
    #[serde(rename = "W-EXITED")]
    ExitedBeforeBarrier,
    /// The instruction budget is spent, or a loop can be shown never to end.
    #[serde(rename = "E-LOOP")]
    Runaway,
    /// The launch asks for more than the device, or the kernel, allows.
    #[serde(rename = "E-LAUNCH")]
    Launch,
    /// `trap`
    #[serde(rename = "E-TRAP")]
    Trap,
    /// `assert(…)`
    #[serde(rename = "E-ASSERT")]
    Assert,
    /// `shfl.sync` and its kin: lanes named that do not take part.
    #[serde(rename = "E-SYNC-MASK")]
    SyncMask,
    /// A store into `__constant__` or parameter memory.
    #[serde(rename = "E-READ-ONLY")]
    ReadOnly,
    /// Texture fetch through a handle that is none.
    #[serde(rename = "E-TEXTURE")]
    Texture,
}

/// One mistake, told once however many threads made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Error or warning.
    pub severity: Severity,
    /// Its code.
    pub code: Code,
    /// PTX instruction: index into the kernel's instructions.
    pub instr: u32,
    /// Where that comes from.
    pub source: Option<SourceLoc>,
    /// The first to do it: block, then thread, by index.
    pub block: [u32; 3],
    /// Thread in the block.
    pub thread: [u32; 3],
    /// Threads that did the same at this instruction.
    pub n_threads: u64,
    /// Blocks that they are in.
    pub n_blocks: u64,
    /// The whole message, ready to print, without colour.
    pub text: String,
}
