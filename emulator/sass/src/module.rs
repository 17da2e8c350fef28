//! Contents of a cubin.

use crate::instruction::Instruction;

/// A cubin: code, constants and variables, with the addresses that the loader fills in.
#[derive(Debug, Clone, PartialEq)]
pub struct Module {
    /// 90 for sm_90, 86 for sm_86.
    pub architecture: u32,
    pub kernels: Vec<CubinKernel>,
    /// Variables in global memory that begin with a value: `.nv.global.init`.
    pub initialised: Vec<u8>,
    /// Bytes of the variables in global memory that begin with zeros: `.nv.global`.
    pub zeroed_bytes: u64,
    /// Variables in constant memory: bank 3.
    pub constants: Vec<u8>,
    /// Addresses that the code needs: bank 4. The loader fills it in by `relocations`.
    pub addresses: Vec<u8>,
    pub variables: Vec<Variable>,
    /// Places that receive addresses when the module is loaded.
    pub relocations: Vec<Relocation>,
}

/// Memory that variables and relocations lie in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Segment {
    /// Global variables that begin with a value: [`Module::initialised`].
    Initialised,
    /// Global variables that begin with zeros: [`Module::zeroed_bytes`].
    Zeroed,
    /// Variables in constant memory: [`Module::constants`].
    Constants,
    /// Addresses that the code needs: [`Module::addresses`].
    Addresses,
    /// Code of the kernel with this index in [`Module::kernels`].
    Code(usize),
    /// Constant bank 2 of the kernel with this index: its jump tables.
    Tables(usize),
    /// Static shared memory of the kernel with this index.
    Shared(usize),
}

/// A variable in global or constant memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Symbol by which the driver finds it.
    pub name: String,
    pub segment: Segment,
    /// Byte offset in the segment.
    pub offset: u64,
    pub size: u64,
}

/// Eight bytes that hold an address, once the module is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relocation {
    pub segment: Segment,
    /// Byte offset in the segment.
    pub offset: u64,
    pub target: Target,
    pub addend: i64,
}

/// The place whose address a relocation writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A place in the module.
    Inside {
        segment: Segment,
        /// Byte offset in the segment.
        offset: u64,
    },
    /// A symbol outside of the module, such as `vprintf`.
    Outside(String),
}

/// A kernel, with the functions that it calls.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CubinKernel {
    /// Symbol by which the driver finds it.
    pub name: String,
    /// Code from address 0, 16 bytes per instruction. Called functions follow the kernel's own code.
    pub instructions: Vec<Instruction>,
    pub functions: Vec<Function>,
    pub registers: u32,
    /// Bytes of static shared memory; on sm_90 the first 1024 belong to the system.
    pub shared_bytes: u64,
    /// Bytes of local memory per thread, recursive functions excluded; or `u32::MAX` where the compiler sets no bound.
    pub frame_bytes: u32,
    /// Maximum number of threads of a block in each dimension, from `__launch_bounds__`.
    pub max_threads: Option<[u32; 3]>,
    pub cluster: Cluster,
    /// Barriers of the block that the code uses.
    pub barriers: u32,
    /// Byte offset of the parameters in bank 0.
    pub parameter_base: u32,
    pub parameter_bytes: u32,
    /// Parameters in the order of their declaration.
    pub parameters: Vec<Parameter>,
    /// Constant bank 2: jump tables.
    pub tables: Vec<u8>,
    /// Source lines by address: each holds up to the next one. Empty without `-lineinfo`.
    pub lines: Vec<SourceLine>,
    /// Paths of the sources to which `lines` refers.
    pub files: Vec<String>,
    pub calls: Vec<Call>,
}

impl CubinKernel {
    /// Returns the source position of the instruction at an address: file and line.
    pub fn line(&self, address: u32) -> Option<(&str, u32)> {
        let line = self.line_at(address)?;
        Some((self.files.get(line.file)?, line.line))
    }

    /// Returns the source position of an instruction, then those of the calls where its function was inlined.
    pub fn inlined_lines(&self, address: u32) -> impl Iterator<Item = (&str, u32)> {
        let mut next = self.line_at(address).map(|line| Call { file: line.file, line: line.line, caller: line.caller });
        std::iter::from_fn(move || {
            let Call { file, line, caller } = next.take()?;
            // A call precedes the calls that are inlined into its function.
            next = caller.and_then(|caller| self.calls.get(caller)).copied();
            Some((self.files.get(file)?.as_str(), line))
        })
    }

    pub fn line_at(&self, address: u32) -> Option<&SourceLine> {
        let next = self.lines.partition_point(|line| line.address <= address);
        self.lines.get(next.checked_sub(1)?)
    }
}

/// A function within the code of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    /// Byte offset in the code.
    pub address: u32,
    pub size: u32,
}

/// A parameter of a kernel, whose name and type a cubin does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Byte offset in the parameters.
    pub offset: u32,
    pub size: u32,
}

/// Source line of a range of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceLine {
    /// Byte offset in the code.
    pub address: u32,
    /// Index of its file in [`CubinKernel::files`].
    pub file: usize,
    /// From 1; 0 for code that belongs to no line.
    pub line: u32,
    /// Index in [`CubinKernel::calls`] of the call that was inlined here.
    pub caller: Option<usize>,
}

/// A call that the compiler inlined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Index of its file in [`CubinKernel::files`].
    pub file: usize,
    /// Line in that file, from 1.
    pub line: u32,
    /// Index in [`CubinKernel::calls`] of the call that inlined the caller; less than this call's own.
    pub caller: Option<usize>,
}

/// Clusters of blocks in which a kernel can be launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cluster {
    /// Blocks of a cluster in x, y and z.
    pub required: Option<[u32; 3]>,
    pub max_blocks: Option<u32>,
    /// A launch without clusters is refused.
    pub explicit: bool,
}
