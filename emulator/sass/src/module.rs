//! What a cubin holds.

use crate::instruction::Instruction;

/// The contents of a cubin.
#[derive(Debug, Clone, PartialEq)]
pub struct Module {
    /// 90 for sm_90, 86 for sm_86.
    pub architecture: u32,
    /// Its kernels, in the order of the file.
    pub kernels: Vec<Kernel>,
    /// Variables in global memory that begin with a value: `.nv.global.init`.
    pub initialised: Vec<u8>,
    /// Bytes of the variables in global memory that begin with zeros: `.nv.global`.
    pub zeroed_bytes: u64,
    /// Variables in constant memory: bank 3.
    pub constants: Vec<u8>,
    /// Addresses that the code needs: bank 4. The loader fills it in by `relocations`.
    pub addresses: Vec<u8>,
    /// All variables with a name.
    pub variables: Vec<Variable>,
    /// Places that receive addresses when the module is loaded.
    pub relocations: Vec<Relocation>,
}

/// Of what memory something is a part.
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
    /// Code of the kernel at this place of [`Module::kernels`].
    Code(usize),
    /// Constant bank 2 of the kernel at this place: its jump tables.
    Tables(usize),
    /// Static shared memory of the kernel at this place.
    Shared(usize),
}

/// A variable of the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Symbol by which the driver finds it.
    pub name: String,
    /// The segment that it lies in.
    pub segment: Segment,
    /// Bytes from the beginning of the segment.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
}

/// Eight bytes that hold the address of something, once it is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relocation {
    /// The segment that they are in.
    pub segment: Segment,
    /// Bytes from the beginning of the segment.
    pub offset: u64,
    /// What they hold the address of.
    pub target: Target,
    /// Added to the address.
    pub addend: i64,
}

/// What a relocation is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A place in the module.
    Inside {
        /// The segment that it lies in.
        segment: Segment,
        /// Bytes from the beginning of the segment.
        offset: u64,
    },
    /// Something that the module does not hold, such as `vprintf`.
    Outside(String),
}

/// One kernel, with the functions that it calls.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// Symbol by which the driver finds it.
    pub name: String,
    /// From address 0, 16 bytes each. Functions that are called are behind the kernel's own code.
    pub instructions: Vec<Instruction>,
    /// The functions among them.
    pub functions: Vec<Function>,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of static shared memory; on sm_90 the first 1024 belong to the system.
    pub shared_bytes: u64,
    /// Bytes of local memory of a thread, without functions that call themselves.
    pub frame_bytes: u32,
    /// Most threads of a block in each direction, from `__launch_bounds__`.
    pub max_threads: Option<[u32; 3]>,
    /// How many barriers of the block it uses.
    pub barriers: u32,
    /// Where the parameters begin in bank 0.
    pub parameter_base: u32,
    /// Bytes of all parameters.
    pub parameter_bytes: u32,
    /// Parameters in the order of their declaration.
    pub parameters: Vec<Parameter>,
    /// Jump tables: bank 2.
    pub tables: Vec<u8>,
    /// Source lines by address: each holds from its address to the next one. Empty without `-lineinfo`.
    pub lines: Vec<Line>,
    /// The files that the lines are in.
    pub files: Vec<String>,
    /// Calls of functions that were inlined.
    pub calls: Vec<Call>,
}

impl Kernel {
    /// From where in a source the instruction at an address comes: file and line.
    pub fn line(&self, address: u32) -> Option<(&str, u32)> {
        let line = self.line_at(address)?;
        Some((self.files.get(line.file)?, line.line))
    }

    /// The same, and then where the function that it is in was inlined, and so on to the kernel itself.
    pub fn inlined_lines(&self, address: u32) -> impl Iterator<Item = (&str, u32)> {
        let mut next = self.line_at(address).map(|line| Call {
            file: line.file,
            line: line.line,
            caller: line.caller,
        });
        std::iter::from_fn(move || {
            let Call { file, line, caller } = next.take()?;
            // A call stands before what is inlined into it.
            next = caller.and_then(|caller| self.calls.get(caller)).copied();
            Some((self.files.get(file)?.as_str(), line))
        })
    }

    fn line_at(&self, address: u32) -> Option<&Line> {
        let next = self.lines.partition_point(|line| line.address <= address);
        self.lines.get(next.checked_sub(1)?)
    }
}

/// A function in a kernel's code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Symbol that the compiler gave it.
    pub name: String,
    /// Bytes from the start of the code.
    pub address: u32,
    /// Size of the code in bytes.
    pub size: u32,
}

/// A parameter of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Bytes from the beginning of the parameters.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
}

/// From which line of a source instructions come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Bytes from the start of the code.
    pub address: u32,
    /// Index of its file in [`Kernel::files`].
    pub file: usize,
    /// From 1; 0 for what no line asked for.
    pub line: u32,
    /// Of an inlined function, its call: its place in [`Kernel::calls`].
    pub caller: Option<usize>,
}

/// The call of a function that was inlined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Index of its file in [`Kernel::files`].
    pub file: usize,
    /// Line in that file, from 1.
    pub line: u32,
    /// Of a call in an inlined function, that function's: its place in [`Kernel::calls`], before this one.
    pub caller: Option<usize>,
}
