//! Facts about one instruction of the source, for counters and messages.

/// Calls kept for an instruction of an inlined function.
pub const MAX_CALLS: usize = 4;

/// What is known of one PTX instruction, for counters and messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstrInfo {
    /// As written: `fma.rn.f32 %f3, %f1, %f2, %f3;`
    pub text: String,
    /// Line in the PTX.
    pub ptx_line: u32,
    /// Where it comes from, when the PTX says: file index, line, column.
    pub source: Option<SourceLoc>,
    /// Where the function that holds it was inlined, and where that one was: the innermost call first. At most
    /// [`MAX_CALLS`], which keeps hostile modules small.
    pub calls: Box<[SourceLoc]>,
    /// Floating-point multiply-adds per lane: 1 for `fma.f32`, 2 for `fma.f16x2`.
    pub fmas: u8,
    /// The wider access to shared memory that ptxas would make of this one and its neighbours; see `decode::passes::merge`.
    /// `None`: counted as written.
    pub merge: Option<MergeGroup>,
    /// What ptxas makes of an atomic.
    pub atomic: AtomicForm,
}

impl InstrInfo {
    /// Its name with all modifiers, `fma.rn.f32`, without a predicate before it.
    pub fn mnemonic(&self) -> &str {
        let mut words = self.text.split_whitespace();
        let name = words.find(|word| !word.starts_with('@')).unwrap_or("");
        name.trim_end_matches(';')
    }
}

/// What ptxas makes of an atomic, as far as counters depend on it; see `decode::passes::atomics`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AtomicForm {
    /// One instruction that does the work lane by lane where lanes meet. Also of instructions that are no atomics.
    #[default]
    Native,
    /// One instruction, a compare-and-swap.
    CompareAndSwap,
    /// In shared memory: a loop of a load and a compare-and-swap.
    Loop,
    /// In shared memory: the hardware counts the lanes that add 1 to the same word.
    CountLanes,
    /// The lanes' values are combined first, and one lane does the atomic for all.
    OncePerWarp,
}

/// Accesses to shared memory that are merged into one wider access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergeGroup {
    /// Instruction that stands for the group.
    pub leader: u32,
    /// Bytes per lane of the merged access.
    pub bytes: u8,
    /// Byte offset, relative to this instruction's own address, of the start of the merged access.
    pub back: u8,
}

/// A position in a source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct SourceLoc {
    /// Index in the `.file` table.
    pub file: u32,
    /// Line in that file, from 1.
    pub line: u32,
    /// Column, from 1; 0 unknown.
    pub column: u32,
}
