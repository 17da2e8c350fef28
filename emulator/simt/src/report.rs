//! The report of a launch: counters per instruction, and what the checks gathered.
//!
//! # As JSON
//!
//! [`LaunchReport`] serialises to one object; `diagnostics` adds `findings`. Fields are added, never changed.
//!
//! - `kernel`, `grid`, `block`, `dynamic_shared`: the launch.
//! - `code`: what ran, and so what `instructions` and their counters are of: `"ptx"`, or `"machine"` code.
//! - `counted`, `checked`: what was watched; without `counted` every counter is 0.
//! - `total`: an object of counters, named and documented as the fields of [`Counters`].
//! - `instructions`: a list, one per instruction: `text`, `ptx_line`, `source` (`[file, line]` or null), `counters`.
//! - `lines`: a list, one per source line: `file`, `line`, `counters`.
//! - `printed`: what the kernel printed.

#[cfg(test)]
mod tests;

use serde::Serialize;

pub use counters::Counters;

use crate::check::Mistakes;

#[derive(Debug, Clone, Serialize)]
pub struct LaunchReport {
    /// Symbol of the kernel, as written in PTX.
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared: u32,
    pub code: Language,
    /// Whether counters were on; else all are 0.
    pub counted: bool,
    pub checked: bool,
    /// Sums over the launch.
    pub total: Counters,
    /// Instructions, in the order of the code.
    pub instructions: Vec<InstrReport>,
    /// Source lines that have instructions, in order of file and line.
    pub lines: Vec<LineReport>,
    /// Findings of the checks. Errors make the launch fail.
    #[serde(skip)]
    pub mistakes: Mistakes,
    /// Output of `printf`, blocks in index order.
    pub printed: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    Ptx,
    /// Machine code: what a GPU executes.
    Machine,
}

#[derive(Debug, Clone, Serialize)]
pub struct InstrReport {
    /// The instruction as written in PTX or SASS.
    pub text: String,
    /// Line in the PTX; of machine code, its number, from 1.
    pub ptx_line: u32,
    /// Source file and line, when known.
    pub source: Option<(String, u32)>,
    pub counters: Counters,
}

#[derive(Debug, Clone, Serialize)]
pub struct LineReport {
    /// Path of the source file, as the compiler wrote it.
    pub file: String,
    /// Line in that file, from 1.
    pub line: u32,
    pub counters: Counters,
}
