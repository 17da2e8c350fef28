//! A decoded kernel and the facts that a launch needs.

use crate::{address::window, calls::Calls, instruction::InstrInfo, matrix::InFlight, op::Op};
use crate::{special::Special, undefined::AluShape};
use arithmetic::lanes::{Class, Dst, Line};

/// A decoded module: its kernels, and what their positions in source files refer to.
#[derive(Debug)]
pub struct Program {
    /// Entry points, in text order.
    pub kernels: Vec<DecodedKernel>,
    /// Paths of the source files, by `.file` index.
    pub files: Vec<(u32, String)>,
}

/// An entry point: its operations, and what a launch has to set up and check for them.
#[derive(Debug, Default)]
pub struct DecodedKernel {
    pub name: String,
    /// Operations in order. Every path ends in [`OpKind::Exit`](crate::OpKind::Exit).
    pub ops: Vec<Op>,
    /// Instructions of the source; several [`Op`]s can belong to one.
    pub instrs: Vec<InstrInfo>,
    /// Register lines of a warp.
    pub n_lines: u32,
    /// Predicates of a warp; 0 is constant true, 1 constant false.
    pub n_preds: u32,
    /// Constants; a 64-bit one takes two lines.
    pub consts: Vec<Line>,
    /// Constants that are addresses in shared memory.
    pub shared_consts: Vec<SharedConst>,
    /// Special registers, and the lines to set before a warp starts.
    pub specials: Vec<(Special, Dst)>,
    /// In the order of declaration.
    pub params: Vec<Param>,
    pub param_bytes: u32,
    /// Offset of the parameters from an address that all alignments divide: the place in constant memory in machine
    /// code, else 0.
    pub param_start: u32,
    /// Arrays in a block's shared memory, separated by guard gaps.
    pub shared: Vec<DeclaredArray>,
    /// Bytes of shared memory that a GPU would need: without guard gaps.
    pub shared_static_bytes: u32,
    /// Start of dynamic (`extern`) shared memory, after static arrays and guard gaps.
    pub shared_dynamic_base: u32,
    /// Bytes of local memory per thread.
    pub local_bytes: u32,
    /// Threads have a stack beside their local memory: recursive machine code, and arrays of variable sizes.
    pub has_stack: bool,
    /// Local arrays, such as `__local_depot0`.
    pub local: Vec<DeclaredArray>,
    /// `.maxntid`: upper bounds of a block's threads in x, y and z.
    pub max_threads: Option<[u32; 3]>,
    /// `.maxnreg`: upper bound of a thread's registers.
    pub max_registers: Option<u32>,
    /// `.reqntid`: threads of a block in x, y and z.
    pub required_threads: Option<[u32; 3]>,
    pub cluster: ClusterDirectives,
    /// Launches whose blocks run in index order, on one thread: results must not depend on the number of threads.
    pub by_index: Launches,
    /// Launches whose threads may load, by plain loads, what other threads store.
    pub exchanges: Launches,
    /// Whether a shared access is narrower than four bytes: races are then tracked per byte, not per word.
    pub shared_subword: bool,
    pub calls: Option<Box<Calls>>,
    /// Operand classes and undefined-bit rule of each [`OpKind::Alu`](crate::OpKind::Alu), by operation.
    pub shapes: Vec<AluShape>,
    /// Whether the kernel was decoded from machine code: `instrs` are those of the hardware.
    pub machine_code: bool,
    /// Accesses to registers of `wgmma`, if the kernel has any.
    pub in_flight: Option<Box<InFlight>>,
    /// Registers that may be read before they are written; empty for machine code.
    pub unset: Vec<Unset>,
}

impl DecodedKernel {
    pub fn has_register(&self, register: u32, class: Class) -> bool {
        match class {
            Class::Pred => register < self.n_preds,
            Class::Bits32 => register < self.n_lines,
            Class::Bits64 => register < self.n_lines.saturating_sub(1),
        }
    }

    pub fn has_constant(&self, line: usize, class: Class) -> bool {
        match class {
            Class::Pred => false,
            Class::Bits32 => line < self.consts.len(),
            Class::Bits64 => line + 1 < self.consts.len(),
        }
    }
}

/// A constant that is an address in shared memory. A block of a cluster adds its rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedConst {
    pub line: u32,
    /// Whether it has 64 bits, in two lines.
    pub is_wide: bool,
}

/// A register that may be read before it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unset {
    /// First line, or number of the predicate.
    pub place: Dst,
    pub is_predicate: bool,
    pub bits: u32,
    /// First instruction in text order that reads the register and is more than a move.
    pub reader: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClusterDirectives {
    /// `.reqnctapercluster`: blocks of a cluster in x, y and z.
    pub required: Option<[u32; 3]>,
    /// `.maxclusterrank`: upper bound of a cluster's blocks.
    pub max_blocks: Option<u32>,
    /// Whether a launch without clusters is refused (`.explicitcluster`).
    pub explicit: bool,
}

/// Launches of a kernel for which something holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Launches {
    #[default]
    None,
    All,
    /// Those in which two pointers of a pair lead into one allocation, which the arguments decide.
    IfAliased(Box<[(Pointer, Pointer)]>),
}

impl Launches {
    /// Returns whether the launch with these parameters is one of them.
    pub fn contain(&self, params: &[u8]) -> bool {
        let window_of = |pointer: &Pointer| match *pointer {
            Pointer::Window(number) => Some(number),
            Pointer::Param(offset) => {
                let bytes = params.get(offset as usize..)?.first_chunk::<8>()?;
                Some(u64::from_le_bytes(*bytes) >> window::BITS)
            }
        };
        match self {
            Launches::None => false,
            Launches::All => true,
            Launches::IfAliased(pairs) => pairs.iter().any(|(a, b)| {
                let (a, b) = (window_of(a), window_of(b));
                a.is_none() || b.is_none() || a == b
            }),
        }
    }
}

/// Origin of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pointer {
    /// Parameter at this offset.
    Param(u32),
    /// Address in this [`window`].
    Window(u64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// Name in PTX, such as `kernel_param_0`.
    pub name: String,
    pub offset: u32,
    pub bytes: u32,
    /// Whether it may be a pointer: eight bytes wide, and not a float.
    pub maybe_pointer: bool,
}

/// An array in shared or local memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredArray {
    /// Symbol in PTX, perhaps mangled.
    pub name: String,
    /// Byte offset from the start of its space.
    pub offset: u32,
    /// Bytes; 0 for `extern` arrays, whose size the launch gives.
    pub bytes: u32,
    /// Alignment that the declaration guarantees.
    pub align: u32,
    pub element: u32,
    /// Elements along each dimension, outermost first.
    pub dims: Vec<u64>,
}
