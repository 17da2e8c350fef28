//! Facts about one instruction of the source, for counters and messages.

/// Inlined calls recorded for an instruction.
pub const MAX_CALLS: usize = 4;

/// One instruction of the source, for counters and messages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InstrInfo {
    /// Text, such as `fma.rn.f32 %f3, %f1, %f2, %f3;`
    pub text: String,
    /// Line in the PTX, from 1.
    pub ptx_line: u32,
    /// Position in the source file, if the PTX names it.
    pub source: Option<SourceLoc>,
    /// Inlined calls around it, innermost first: at most [`MAX_CALLS`], which keeps hostile modules small.
    pub calls: Box<[SourceLoc]>,
    /// Floating-point multiply-adds per lane: 1 for `fma.f32`, 2 for `fma.f16x2`.
    pub fmas: u8,
    /// Wider shared-memory access that ptxas makes of this one and its neighbours: `decode::passes::merge`.
    pub merge: Option<MergeGroup>,
    pub atomic: AtomicForm,
}

impl InstrInfo {
    /// Returns the name with all modifiers, `fma.rn.f32`, without the guard.
    pub fn mnemonic(&self) -> &str {
        let mut words = self.text.split_whitespace();
        let name = words.find(|word| !word.starts_with('@')).unwrap_or("");
        name.trim_end_matches(';')
    }
}

/// Machine code that ptxas makes of an atomic, as far as counters depend on it; see `decode::passes::atomics`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AtomicForm {
    /// One instruction, which serialises lanes that share a word. The value of all other instructions too.
    #[default]
    Native,
    CompareAndSwap,
    /// Loop of a load and a compare-and-swap, in shared memory.
    Loop,
    /// Instruction that counts the lanes that add 1 to the same word, in shared memory.
    CountLanes,
    /// Reduction over the warp, and one atomic by one lane.
    OncePerWarp,
}

/// Accesses to shared memory that are merged into one wider access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergeGroup {
    pub leader: u32,
    /// Bytes per lane of the merged access.
    pub bytes: u8,
    /// Byte offset, relative to this instruction's own address, of the start of the merged access.
    pub back: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct SourceLoc {
    /// Index in the `.file` table.
    pub file: u32,
    /// Line in that file, from 1.
    pub line: u32,
    /// Column, from 1; 0 unknown.
    pub column: u32,
}
