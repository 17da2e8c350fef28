//! Machine code of a kernel: events per instruction of one launch, and a forecast of its time on a GPU.
//!
//! Counts are exact: they come from a launch of all blocks on the emulated GPU. Clocks come from a model of one
//! multiprocessor (the crate `timing`), which runs some of the blocks.

use std::collections::BTreeMap;

use catalog::Shape;
pub use records::machine_code::{Bound, Change, Occupancy, PredictedLaunch, Prediction, unit};
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
            pub const ALL: [Self; [$($letter),*].len()] = [$(Self::$value),*];

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

legend! {
    /// State of a warp in a pipeline. Lower-case letters are for waiting.
    State:
    /// Issues MMAs of a warpgroup, which the tensor cores execute by themselves.
    Mma 'M' "mma" "issues MMAs of a warpgroup",
    /// Issues MMAs of a warp, or multiply-adds of lanes.
    Multiply 'X' "multiply" "multiplies",
    Copies 'C' "copies" "starts copies",
    Store 'S' "store" "stores C",
    Work 'W' "work" "other instructions",
    Sums 'm' "sums" "waits for MMAs that it has issued",
    Full 'f' "full" "waits for data: a stage to be full, or a load",
    Empty 'e' "empty" "waits for a stage to be empty",
    Meeting 'b' "meeting" "waits at a barrier for its turn or for other warps",
    Result 'w' "result" "waits for another result or a busy unit",
}

impl State {
    /// Returns whether a moment of it starts work that goes on for long.
    pub fn starts_work(self) -> bool {
        matches!(self, Self::Mma | Self::Copies)
    }
}

/// Warps of a block, what copies and what multiplies, during some rounds of a pipeline in the middle of a launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pipeline {
    pub clocks: u32,
    /// Clocks of a round: once through all stages of the ring, or through the busiest loop where there is no ring.
    pub round: u32,
    /// Stages of the ring that copies of boxes fill; 0 without such.
    pub stages: u32,
    pub roles: Vec<Role>,
    /// Clocks for which the unit that copies boxes is busy: from, to.
    pub copying: Vec<[u32; 2]>,
    /// Bytes that copies to shared memory have requested and that are not there yet: from a clock on.
    pub in_flight: Vec<[u32; 2]>,
    /// Tensor cores that multiply, of [`Self::TENSOR_CORES`]: from a clock on.
    pub multiplying: Vec<[u32; 2]>,
}

/// Warps with the same role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Role {
    /// Name such as `consumer 0`.
    pub name: String,
    /// The first and the last of its warps, by their place in the block.
    pub warps: [u32; 2],
    /// States of the first of them, clock after clock.
    pub spans: Vec<Span>,
    /// Clocks of all of them, by state.
    pub states: BTreeMap<State, u64>,
}

/// Clocks of a warp in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub from: u32,
    pub to: u32,
    pub state: State,
}

impl Pipeline {
    /// Tensor cores of a multiprocessor: one for each scheduler.
    pub const TENSOR_CORES: u32 = 4;

    /// Returns the share of the clocks for which the unit that copies boxes is busy.
    pub fn copying_share(&self) -> f64 {
        self.share(self.copying.iter().map(|[from, to]| u64::from(to - from)).sum())
    }

    /// Returns the share of the clocks for which tensor cores multiply, on average.
    pub fn multiplying_share(&self) -> f64 {
        self.mean(&self.multiplying) / f64::from(Self::TENSOR_CORES)
    }

    /// Returns the mean of a value that changes at clocks.
    pub fn mean(&self, steps: &[[u32; 2]]) -> f64 {
        let ends = steps.iter().skip(1).map(|[clock, _]| *clock).chain([self.clocks]);
        self.share(steps.iter().zip(ends).map(|([from, value], to)| u64::from(to - from) * u64::from(*value)).sum())
    }

    fn share(&self, clocks: u64) -> f64 {
        clocks as f64 / f64::from(self.clocks.max(1))
    }
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
    /// Present where copies or products go on beside the warps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<Pipeline>,
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
