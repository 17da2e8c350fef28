//! Counts per source line of a kernel, from one counted launch.
//!
//! Instructions of an inlined helper are counted for the line of the kernel's file that calls it. Counts of shared
//! memory are those after ptxas has merged neighbouring accesses.

pub mod machine_code;

use catalog::Shape;
use counters::Summary;
use serde::{Deserialize, Serialize};

use crate::task::TaskName;

/// Counts of a kernel, line by line. Fields are only ever added; names and meanings stay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explained {
    pub task: TaskName,
    pub kernel: String,
    pub shape: Shape,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Whether the result of this launch was right.
    pub right: bool,
    /// Reason for an early end of the launch; the counts then cover a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    pub total: Summary,
    /// Lines that did something, by file and number.
    pub lines: Vec<Line>,
    /// Machine code, for a kernel given with its cubin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<machine_code::MachineCodeExplanation>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// File as the PTX names it; empty for instructions without a line.
    pub file: String,
    /// Number of the line, from 1; 0 for what belongs to no line.
    pub line: u32,
    pub counts: Summary,
}
