//! A kernel's machine code: what each instruction did in one launch, and what the launch would take on a GPU.
//!
//! Two sources: counts are exact, from a launch in which all blocks ran on the emulated GPU. Clocks come from a model of
//! one multiprocessor (the crate `timing`), which runs some of the blocks.

use std::collections::BTreeMap;

use catalog::Shape;
pub use records::machine_code::{Bound, Change, Forecast, Occupancy, Prediction};
use serde::{Deserialize, Serialize};

/// The machine code of a kernel in one launch. Fields are only ever added; names and meanings stay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Architecture of the machine code, such as `sm_90`.
    pub target: String,
    /// Sizes of the launch: larger than that of the counts of PTX, because a GPU must have something to do.
    pub shape: Shape,
    /// Blocks of the grid in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory of a block, static and dynamic.
    pub shared_bytes: u64,
    /// Bytes of local memory of a thread.
    pub local_bytes: u32,
    /// What the launch would take.
    #[serde(flatten)]
    pub forecast: Forecast,
    /// In the model, clocks of the multiprocessor with the most blocks.
    #[serde(default)]
    pub clocks: f64,
    /// Blocks that ran in the model.
    #[serde(default)]
    pub modelled_blocks: u64,
    /// The instructions in the order of their addresses.
    pub instructions: Vec<Instruction>,
    /// One pass of the loop that takes most of the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
}

/// A machine instruction and what was measured of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instruction {
    /// Bytes from the beginning of the kernel.
    pub address: u32,
    /// The instruction as `nvdisasm` prints it.
    pub text: String,
    /// Control bits, which the compiler sets for the scheduler.
    pub control: Control,
    /// The unit that executes it.
    pub unit: Unit,
    /// The file of its line; empty for what belongs to none.
    pub file: String,
    /// The line of the kernel's file that it comes from: for what was inlined from another file, that of the call.
    pub line: u32,
    /// How often it was issued to warps, over all blocks.
    pub issued: u64,
    /// Passes over the banks of shared memory.
    pub wavefronts: u64,
    /// Of these, the ones that a better order of addresses would save.
    pub excess: u64,
    /// Sectors of 32 bytes of global memory.
    pub sectors: u64,
    /// In the model, how often it was issued.
    pub modelled: u64,
    /// In the model, clocks that warps waited in front of it.
    pub stalls: BTreeMap<Reason, u64>,
}

impl Instruction {
    /// Clocks that warps spent on it and in front of it.
    pub fn clocks(&self) -> u64 {
        self.stalls.values().sum()
    }
}

/// The control bits of an instruction, which direct the scheduler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Control {
    /// Clocks until the warp's next instruction.
    pub stall: u8,
    /// The scheduler should rather take another warp next.
    #[serde(default)]
    pub yields: bool,
    /// Scoreboards that must be released before.
    #[serde(default)]
    pub wait: Vec<u8>,
    /// The scoreboard that is released when the result is there.
    #[serde(default)]
    pub write: Option<u8>,
    /// The scoreboard that is released when the operands have been read.
    #[serde(default)]
    pub read: Option<u8>,
}

impl Control {
    /// Scoreboards that are waited for: `02`
    pub fn waits(&self) -> String {
        self.wait.iter().map(u8::to_string).collect()
    }

    /// Clocks, and `y` for yielding: `4y`
    pub fn stalls(&self) -> String {
        format!("{}{}", self.stall, if self.yields { "y" } else { "" })
    }

    /// When scoreboards are released, such as `0 when written`; empty for none.
    pub fn releases(&self) -> String {
        match (self.write, self.read) {
            (None, None) => String::new(),
            (Some(write), None) => format!("{write} when written"),
            (None, Some(read)) => format!("{read} when read"),
            (Some(write), Some(read)) => format!("{read} read, {write} written"),
        }
    }
}

/// What executes an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Floating-point arithmetic.
    Float,
    /// Integers, logic and moves.
    Integer,
    /// Accesses to shared memory.
    Shared,
    /// Accesses to global and local memory.
    Global,
    /// Barriers of the block.
    Barrier,
    /// Branches and all else.
    Other,
}

impl Unit {
    /// All, in the order of a legend.
    pub const ALL: [Self; 6] = [
        Self::Float,
        Self::Integer,
        Self::Shared,
        Self::Global,
        Self::Barrier,
        Self::Other,
    ];

    /// The letter for it in a time line of text.
    pub fn letter(self) -> char {
        match self {
            Self::Float => 'F',
            Self::Integer => 'I',
            Self::Shared => 'S',
            Self::Global => 'G',
            Self::Barrier => 'B',
            Self::Other => 'O',
        }
    }

    /// What the unit executes, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Float => "floating point",
            Self::Integer => "integers and moves",
            Self::Shared => "shared memory",
            Self::Global => "global memory",
            Self::Barrier => "barrier",
            Self::Other => "other",
        }
    }
}

/// Why a warp did not issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// A load from global memory.
    Global,
    /// Shared memory, constants, special functions: results that take a variable time.
    Short,
    /// The block's other warps.
    Barrier,
    /// The unit was busy, the queue to it full, or the ports of registers taken.
    Unit,
    /// Clocks that the compiler has set.
    Fixed,
    /// Another warp was issued.
    NotSelected,
}

impl Reason {
    /// All, in the order of a legend.
    pub const ALL: [Self; 6] = [
        Self::Global,
        Self::Short,
        Self::Barrier,
        Self::Unit,
        Self::Fixed,
        Self::NotSelected,
    ];

    /// The heading of its column in a table.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Short => "short",
            Self::Barrier => "barrier",
            Self::Unit => "unit",
            Self::Fixed => "fixed",
            Self::NotSelected => "turn",
        }
    }

    /// The letter for it in a time line of text.
    pub fn letter(self) -> char {
        match self {
            Self::Global => 'g',
            Self::Short => 's',
            Self::Barrier => 'b',
            Self::Unit => 'u',
            Self::Fixed => '.',
            Self::NotSelected => 't',
        }
    }

    /// What the warp waits for.
    pub fn words(self) -> &'static str {
        match self {
            Self::Global => "data from global memory",
            Self::Short => "a result of shared memory, constants or special functions",
            Self::Barrier => "the other warps of the block",
            Self::Unit => "a busy unit, its queue, or the ports of registers",
            Self::Fixed => "the clocks that the compiler set, its own issue among them",
            Self::NotSelected => "its turn, while another warp issues",
        }
    }
}

/// What the schedulers of a multiprocessor issue, clock by clock, while one warp runs through a loop once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Address of the first instruction of the loop.
    pub first: u32,
    /// Address of its last one, the branch back.
    pub last: u32,
    /// Clocks that are shown.
    pub clocks: u32,
    /// Clocks of the whole pass.
    pub pass: u32,
    /// Warps on this multiprocessor at this time, over all schedulers.
    pub warps: u32,
    /// What each scheduler issues, and the first issue behind what is shown, which says what the last clocks went to.
    pub schedulers: Vec<Vec<Slot>>,
}

/// One issue of a scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// From 0, the beginning of what is shown.
    pub clock: u32,
    /// Which warp, from 0 for the first one on the multiprocessor.
    pub warp: u32,
    /// Its place among the instructions.
    pub instruction: u32,
    /// Why nothing was issued in the clocks before, if nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<Reason>,
}
