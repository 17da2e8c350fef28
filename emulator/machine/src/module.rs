//! What a cubin holds.

use crate::instruction::Instruction;

/// The contents of a cubin.
#[derive(Debug, Clone, PartialEq)]
pub struct Module {
    /// 90 for sm_90.
    pub architecture: u32,
    /// Its kernels, by name.
    pub kernels: Vec<Kernel>,
}

/// One kernel, with the functions that it calls.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// As the driver finds it.
    pub name: String,
    /// From address 0, 16 bytes each.
    pub instructions: Vec<Instruction>,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of static shared memory, with what the system keeps for itself.
    pub shared_bytes: u32,
    /// Bytes of local memory of a thread.
    pub frame_bytes: u32,
    /// Most threads of a block, from `__launch_bounds__`.
    pub max_threads: Option<u32>,
    /// How many barriers of the block it uses.
    pub barriers: u32,
    /// Where the parameters begin in bank 0.
    pub parameter_base: u32,
    /// In order.
    pub parameters: Vec<Parameter>,
    /// Contents of constant banks, by number. Of bank 0 the part in front of the parameters is filled at a launch.
    pub banks: Vec<(u8, Vec<u8>)>,
    /// Source lines by address: each holds from its address to the next one. Empty without `-lineinfo`.
    pub lines: Vec<Line>,
}

/// A parameter of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Bytes from the beginning of the parameters.
    pub offset: u32,
    /// In bytes.
    pub size: u32,
}

/// From which line of a source an instruction comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Bytes from the start of the code.
    pub address: u32,
    /// As the compiler was given it.
    pub file: String,
    /// From 1.
    pub line: u32,
}
