//! What a check found: a mistake in a kernel, with everything needed to explain it.
//!
//! [`Finding::text`] is the whole message; the other fields are its machine-readable twin, so that a grader
//! or an editor need not parse text. Codes are stable, words are not.

use serde::Serialize;

use program::SourceLoc;
use simt::check::{AccessKind, Code, Severity};

/// A place in the source, with the text of its line when the source is available.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Path as the PTX names it; empty when the PTX names none.
    pub file: String,
    /// Line, from 1; 0 when unknown.
    pub line: u32,
    /// Column, from 1; 0 when unknown.
    pub column: u32,
    /// The line's text, without its line end.
    pub text: Option<String>,
    /// Line of the PTX; of machine code, the number of the instruction, from 1.
    pub ptx_line: u32,
    /// The instruction as written in PTX or SASS.
    pub instruction: String,
    #[serde(skip)]
    pub is_machine_code: bool,
}

impl Place {
    /// Returns the place of the instruction in words: `PTX line 203`; in machine code, its address in the kernel, as
    /// disassemblers print it.
    pub(crate) fn instruction_place(&self) -> String {
        const BYTES: u32 = 16;
        if self.is_machine_code {
            format!("SASS at 0x{:04x}", self.ptx_line.saturating_sub(1) * BYTES)
        } else {
            format!("PTX line {}", self.ptx_line)
        }
    }

    /// Returns the line with its number, or the instruction with its place.
    pub(crate) fn listed(&self) -> String {
        match &self.text {
            Some(text) => format!("{:>4} | {}", self.line, text.replace('\t', " ").trim_end()),
            None => format!("{} | {}", self.instruction_place(), self.instruction),
        }
    }
}

/// Memory space of an array; in JSON in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    Global,
    Shared,
    Local,
    Constant,
    Param,
}

/// What a [`Party`] did; in JSON in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Read,
    Write,
    Atomic,
    Wait,
    /// Ran elsewhere, while others waited.
    Run,
}

impl From<AccessKind> for Action {
    fn from(kind: AccessKind) -> Self {
        match kind {
            AccessKind::Read => Self::Read,
            AccessKind::Write => Self::Write,
            AccessKind::Atomic => Self::Atomic,
        }
    }
}

/// The array that an access meant, and the element that it hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArrayElement {
    /// Name in the source (`A`, `a_tile`), or what else is known ("the 3rd allocation").
    pub name: String,
    pub space: Space,
    /// Type of one element in the source's words: `float`; `4-byte element` when unknown.
    pub element_type: String,
    pub element_bytes: u32,
    pub n_elements: u64,
    /// Dimensions of the array, outermost first; empty when the source does not have them.
    pub dims: Vec<u64>,
    /// Index of the element from the array's start; outside `0 .. n_elements` when out of bounds.
    pub index: i64,
    pub byte_offset: i64,
}

/// The other thread of a race, or another group at a barrier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Party {
    pub does: Action,
    /// PTX instruction: index into the kernel's instructions.
    pub instr: u32,
    pub place: Place,
    /// Position of the block in the grid: x, y and z.
    pub block: [u32; 3],
    pub thread: [u32; 3],
    /// Number of threads of that block that do the same.
    pub n_threads: u64,
}

/// The memory that two threads race for, and their accesses: that which came first in the emulated order is the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Race {
    /// The element as C writes it, or the address.
    pub element: String,
    /// Address in global memory, or offset in the block's shared memory.
    pub address: u64,
    pub accesses: [RacingAccess; 2],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RacingAccess {
    pub does: Action,
    pub place: Place,
    /// Position of the block in the grid: x, y and z.
    pub block: [u32; 3],
    /// Number of the thread in its block.
    pub thread: u32,
}

/// One mistake, reported once however many threads made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Whether it makes the launch fail.
    pub severity: Severity,
    pub code: Code,
    /// The first line without code and place: ``read past the end of `A` ``.
    pub title: String,
    /// PTX instruction: index into the kernel's instructions.
    pub instr: u32,
    pub source: Option<SourceLoc>,
    pub place: Option<Place>,
    /// Position of the block of the first thread that made the mistake.
    pub block: [u32; 3],
    /// Position of that thread in its block.
    pub thread: [u32; 3],
    /// Number of threads that did the same at this instruction.
    pub n_threads: u64,
    /// Number of blocks that these threads are in.
    pub n_blocks: u64,
    /// The array and element that were accessed; `None` where no array is known.
    pub array: Option<ArrayElement>,
    /// The other party of a race; the other groups at a barrier.
    pub others: Vec<Party>,
    #[serde(skip)]
    pub race: Option<Race>,
    /// The facts, one sentence or line each.
    pub notes: Vec<String>,
    /// The cause, as far as the data shows it.
    pub why: Option<String>,
    #[serde(rename = "try")]
    pub advice: Option<String>,
    pub on_gpu: Option<String>,
    /// The whole message, ready to print, without colour.
    pub text: String,
}

/// An undefined value in global memory.
#[derive(Debug, Clone)]
pub struct UndefinedOutput {
    /// Finding to report when the host reads it.
    pub finding: Finding,
    /// Address range that holds the undefined values, start and end; it may hold defined ones, too.
    pub range: (u64, u64),
}
