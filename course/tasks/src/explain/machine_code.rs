//! Machine code of a kernel: events per instruction of one launch, and a forecast of its time on a GPU.
//!
//! Counts are exact: they come from a launch of all blocks on the emulated GPU. Clocks come from a model of one
//! multiprocessor (the crate `timing`), which runs some of the blocks.

use std::collections::BTreeMap;

use catalog::Shape;
pub use records::machine_code::{Bound, Change, Occupancy, PredictedLaunch, Prediction};
use serde::{Deserialize, Serialize};

/// The machine code of a kernel in one launch. Fields are only ever added; names and meanings stay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MachineCodeExplanation {
    /// Architecture, such as `sm_90`.
    pub target: String,
    /// Sizes of the launch, larger than those of the PTX counts: a GPU must have enough work.
    pub shape: Shape,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Registers per thread.
    pub registers: u32,
    /// Shared memory per block, static and dynamic.
    pub shared_bytes: u64,
    /// Local memory per thread.
    pub local_bytes: u32,
    #[serde(flatten)]
    pub predicted: PredictedLaunch,
    /// Modelled clocks of the multiprocessor with the most blocks.
    #[serde(default)]
    pub clocks: f64,
    #[serde(default)]
    pub modelled_blocks: u64,
    /// Instructions in the order of their addresses.
    pub instructions: Vec<Instruction>,
    /// One iteration of the loop that takes most of the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
}

/// A machine instruction with its counts and its modelled clocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instruction {
    /// Offset in bytes from the beginning of the kernel.
    pub address: u32,
    /// The instruction as `nvdisasm` prints it.
    pub text: String,
    pub control: Control,
    pub unit: Unit,
    /// Source file; empty for an instruction without a line.
    pub file: String,
    /// Line of the kernel's file: for code inlined from another file, the line of the call.
    pub line: u32,
    /// Issues to warps, over all blocks.
    pub issued: u64,
    /// Passes over the banks of shared memory.
    pub wavefronts: u64,
    /// Wavefronts that a better order of addresses would save.
    pub excess: u64,
    /// Sectors of 32 bytes of global memory.
    pub sectors: u64,
    /// Issues in the model.
    pub modelled: u64,
    /// Clocks that modelled warps waited before it, by reason.
    pub stalls: BTreeMap<Reason, u64>,
}

impl Instruction {
    /// Returns the clocks that warps spent issuing it and waiting for it.
    pub fn clocks(&self) -> u64 {
        self.stalls.values().sum()
    }
}

/// Control bits of an instruction, set by the compiler for the scheduler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Control {
    /// Clocks until the warp's next instruction.
    pub stall: u8,
    /// Whether the scheduler should prefer another warp next.
    #[serde(default)]
    pub yields: bool,
    /// Scoreboards that must be released before the issue.
    #[serde(default)]
    pub wait: Vec<u8>,
    /// The scoreboard released when the result is written.
    pub write: Option<u8>,
    /// The scoreboard released when the operands have been read.
    pub read: Option<u8>,
}

impl Control {
    /// Scoreboards in [`Self::wait`], such as `02`.
    pub fn waits(&self) -> String {
        self.wait.iter().map(u8::to_string).collect()
    }

    /// Returns stall clocks, with `y` for yielding: `4y`.
    pub fn stalls(&self) -> String {
        format!("{}{}", self.stall, if self.yields { "y" } else { "" })
    }

    /// Returns released scoreboards, such as `0 when written`; empty for none.
    pub fn releases(&self) -> String {
        match (self.write, self.read) {
            (None, None) => String::new(),
            (Some(write), None) => format!("{write} when written"),
            (None, Some(read)) => format!("{read} when read"),
            (Some(write), Some(read)) => format!("{read} read, {write} written"),
        }
    }
}

/// Declares an enum whose values a legend lists, each with its letter in a text timeline, its heading and its meaning.
macro_rules! legend {
    ($(#[$attribute:meta])* $name:ident: $($(#[$doc:meta])* $value:ident $letter:literal $heading:literal $words:literal,)*) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$doc])* $value,)*
        }

        impl $name {
            /// All values in the order of a legend.
            pub const ALL: [Self; 6] = [$(Self::$value),*];

            /// Returns the letter in a text timeline.
            pub fn letter(self) -> char {
                match self {
                    $(Self::$value => $letter,)*
                }
            }

            /// Returns a word for headings and classes of styles.
            pub fn heading(self) -> &'static str {
                match self {
                    $(Self::$value => $heading,)*
                }
            }

            pub fn description(self) -> &'static str {
                match self {
                    $(Self::$value => $words,)*
                }
            }
        }
    };
}

legend! {
    /// Unit that executes an instruction.
    Unit:
    Float 'F' "float" "floating point",
    Integer 'I' "integer" "integers and moves",
    Shared 'S' "shared" "shared memory",
    /// Global and local memory.
    Global 'G' "global" "global memory",
    Barrier 'B' "barrier" "barrier",
    /// Branches and everything else.
    Other 'O' "other" "other",
}

legend! {
    /// Reason for which a warp did not issue: the awaited event.
    Reason:
    Global 'g' "global" "data from global memory",
    /// Results of variable latency.
    Short 's' "short" "a result of shared memory, constants or special functions",
    Barrier 'b' "barrier" "the other warps of the block",
    Unit 'u' "unit" "a busy unit, its queue, or the ports of registers",
    Fixed '.' "fixed" "the clocks that the compiler set, its own issue among them",
    NotSelected 't' "turn" "its turn, while another warp issues",
}

/// Issues of the schedulers of a multiprocessor, clock by clock, during one loop iteration of one warp.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Address of the loop's first instruction.
    pub first: u32,
    /// Address of the loop's last instruction, the branch back.
    pub last: u32,
    pub clocks: u32,
    /// Clocks of the whole iteration.
    pub pass: u32,
    /// Warps on the multiprocessor at this time, over all schedulers.
    pub warps: u32,
    /// Issues per scheduler, including the first one after the shown clocks: it explains the last of them.
    pub schedulers: Vec<Vec<Slot>>,
}

/// One issue of a scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// Clock from the beginning of the shown ones.
    pub clock: u32,
    /// Number of the warp, from 0 for the first one on the multiprocessor.
    pub warp: u32,
    /// Index into [`MachineCodeExplanation::instructions`].
    pub instruction: u32,
    /// Reason for idle clocks before this issue, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<Reason>,
}
