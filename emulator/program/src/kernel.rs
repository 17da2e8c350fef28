//! A decoded kernel and what a launch must know of it.

use crate::address::window;
use crate::calls::Calls;
use crate::instruction::InstrInfo;
use crate::matrix::InFlight;
use crate::op::Op;
use crate::special::Special;
use crate::undefined::Shape;
use arithmetic::lanes::{Class, Dst, Line};

/// A decoded PTX module.
#[derive(Debug)]
pub struct Program {
    /// Entry points, in the order of the text.
    pub kernels: Vec<Kernel>,
    /// Paths of the source files, by `.file` index.
    pub files: Vec<(u32, String)>,
}

/// An entry point, decoded.
#[derive(Debug)]
pub struct Kernel {
    /// Its symbol, as written in PTX.
    pub name: String,
    /// What runs. Every path ends in [`OpKind::Exit`].
    pub ops: Vec<Op>,
    /// One entry per PTX instruction (several [`Op`]s can belong to one).
    pub instrs: Vec<InstrInfo>,
    /// Lines of registers that one warp needs.
    pub n_lines: u32,
    /// Predicates that one warp needs; 0 is constant true, 1 constant false.
    pub n_preds: u32,
    /// Constants; a 64-bit one takes two lines.
    pub consts: Vec<Line>,
    /// Constants that are addresses in shared memory: the first line, and whether there are two. In a block of a cluster its
    /// rank is above them.
    pub shared_consts: Vec<(u32, bool)>,
    /// Lines to be filled before a warp starts.
    pub specials: Vec<(Special, Dst)>,
    /// Parameters, in the order of their declaration.
    pub params: Vec<Param>,
    /// Size of the parameter block.
    pub param_bytes: u32,
    /// Shared arrays: where each lies in a block's shared memory. Guard gaps lie between them.
    pub shared: Vec<SharedArray>,
    /// Bytes of shared memory that the program asks for, without guard gaps: what a GPU would need.
    pub shared_static_bytes: u32,
    /// Where dynamic (`extern`) shared memory starts; static arrays and guards end before it.
    pub shared_dynamic_base: u32,
    /// Alignment asked for by the `extern` shared arrays.
    pub shared_dynamic_align: u32,
    /// Local memory per thread.
    pub local_bytes: u32,
    /// Local arrays (`__local_depot0`): name, offset, size.
    pub local: Vec<SharedArray>,
    /// `.maxntid`: the most threads of a block, in x, y and z.
    pub max_threads: Option<[u32; 3]>,
    /// `.maxnreg`: the most registers of a thread.
    pub max_registers: Option<u32>,
    /// `.reqntid`: the threads that a block must have, in x, y and z.
    pub required_threads: Option<[u32; 3]>,
    /// What the kernel declares of clusters.
    pub cluster: ClusterDirectives,
    /// `.minnctapersm`: blocks that should fit on one multiprocessor.
    pub min_blocks_per_sm: Option<u32>,
    /// How the order of blocks could show in what they compute.
    pub order: BlockOrder,
    /// Some shared access is narrower than four bytes: races are tracked per byte, not per word.
    pub shared_subword: bool,
    /// Calls of functions that are not inlined, if there are any.
    pub calls: Option<Box<Calls>>,
    /// By operation: the registers of an [`OpKind::Alu`], and what becomes of undefined bits in them.
    pub shapes: Vec<Shape>,
    /// Decoded from machine code: instructions are those of the hardware, not of PTX.
    pub machine_code: bool,
    /// Of a kernel with products of warpgroups: what touches their registers.
    pub in_flight: Option<Box<InFlight>>,
    /// Registers that may be read before anything has written them; not of machine code.
    pub unset: Vec<Unset>,
}

impl Kernel {
    /// Whether a warp has a register of this class there.
    pub fn has_register(&self, register: u32, class: Class) -> bool {
        match class {
            Class::Pred => register < self.n_preds,
            Class::Bits32 => register < self.n_lines,
            Class::Bits64 => register < self.n_lines.saturating_sub(1),
        }
    }

    /// Whether a constant of this class starts there.
    pub fn has_constant(&self, line: usize, class: Class) -> bool {
        match class {
            Class::Pred => false,
            Class::Bits32 => line < self.consts.len(),
            Class::Bits64 => line + 1 < self.consts.len(),
        }
    }
}

/// A register that has no value when a kernel starts, and may be read so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unset {
    /// Its first line, or its number as a predicate.
    pub place: Dst,
    /// It is a predicate.
    pub is_predicate: bool,
    /// Its bits.
    pub bits: u32,
    /// The first instruction in the order of the text that reads it and does more than to move it, if there is one.
    pub reader: u32,
}

/// What a kernel declares of the clusters that it runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClusterDirectives {
    /// `.reqnctapercluster`: the blocks that a cluster must have, in x, y and z.
    pub required: Option<[u32; 3]>,
    /// `.maxclusterrank`: the most blocks of a cluster.
    pub most: Option<u32>,
    /// `.explicitcluster`: a launch without clusters is refused.
    pub explicit: bool,
}

/// In which order the blocks of a kernel run, so that what they compute does not depend on the number of threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockOrder {
    /// Any order: they run in parallel.
    Any,
    /// Index order, on one thread.
    ByIndex,
    /// In index order when two of these pointers lead into one allocation, which the arguments decide.
    ByIndexIfAliased(Box<[(Pointer, Pointer)]>),
}

impl BlockOrder {
    /// Whether blocks must run in index order when the kernel gets these parameters.
    pub fn is_by_index(&self, params: &[u8]) -> bool {
        let window_of = |pointer: &Pointer| match *pointer {
            Pointer::Window(number) => Some(number),
            Pointer::Param(offset) => {
                let bytes = params.get(offset as usize..)?.first_chunk::<8>()?;
                Some(u64::from_le_bytes(*bytes) >> window::BITS)
            }
        };
        match self {
            BlockOrder::Any => false,
            BlockOrder::ByIndex => true,
            BlockOrder::ByIndexIfAliased(pairs) => pairs.iter().any(|(a, b)| {
                let (a, b) = (window_of(a), window_of(b));
                a.is_none() || b.is_none() || a == b
            }),
        }
    }
}

/// What an address was computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pointer {
    /// The parameter at this offset.
    Param(u32),
    /// An address in this [`window`].
    Window(u64),
}

/// A parameter of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// Its name in PTX (`kernel_param_0`).
    pub name: String,
    /// Offset in the parameter block.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Eight bytes wide and not a float: could be a pointer.
    pub maybe_pointer: bool,
}

/// An array with a place in shared or local memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedArray {
    /// Its symbol, as written in PTX (perhaps mangled).
    pub name: String,
    /// Byte offset of the first element from the start of its space.
    pub offset: u32,
    /// Bytes; 0 for `extern` arrays, whose size the launch gives.
    pub bytes: u32,
    /// Its alignment, proven by the declaration.
    pub align: u32,
    /// Bytes of one element.
    pub element: u32,
    /// Elements along each dimension, the outermost first.
    pub dims: Vec<u64>,
}
