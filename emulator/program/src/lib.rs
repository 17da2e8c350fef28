//! A kernel, decoded: what the machine runs.
//!
//! Names have become indices, virtual registers have become lines of a small register file, labels have
//! become positions, most device functions have been inlined. A program never changes once made.

pub mod limits;
pub mod mma;
pub mod tensor;

use arithmetic::lanes::{AluArgs, AluFn, Class, Dst, Line, Src};

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

/// The functions of a kernel that are called where others are inlined: those that call themselves, perhaps through
/// others, and those that are called through their addresses.
///
/// A call starts an activation. Its local memory begins where the caller's frame ends; the line [`Calls::base`] says
/// where, for each lane. What the caller goes on with is kept in the caller's frame meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calls {
    /// The line that holds where a lane's frame starts in its local memory. 0 in the kernel itself.
    pub base: Dst,
    /// The functions, by address.
    pub callees: Vec<Callee>,
    /// Other functions whose addresses are taken: they have another signature than each call.
    pub others: Vec<(u64, String)>,
    /// The calls: [`OpKind::Call`] has an index into them.
    pub sites: Vec<CallSite>,
    /// Bytes of the kernel's own frame, with what it keeps during calls.
    pub frame: u32,
    /// Some function can call itself.
    pub recursive: bool,
}

/// A function that is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callee {
    /// Its symbol, as written in PTX.
    pub name: String,
    /// Its address in [`window::CODE`].
    pub address: u64,
    /// Position of its first operation.
    pub entry: u32,
    /// Functions with the same number take and give the same.
    pub signature: u32,
    /// Bytes of its variables in local memory.
    pub variables: u32,
    /// Bytes of its frame: variables, and what it keeps during calls.
    pub frame: u32,
    /// Registers that it may read before it has written them.
    pub zeroed: Kept,
}

/// A call of a function that is not inlined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSite {
    /// Index into [`Calls::callees`]; `None` for a call through an address.
    pub callee: Option<u32>,
    /// The signature that it expects: equal to [`Callee::signature`] of a fitting function.
    pub signature: u32,
    /// Bytes of the caller's frame.
    pub frame: u32,
    /// Where in the caller's frame registers are kept during the call.
    pub keep_at: u32,
    /// The registers that the caller goes on with.
    pub kept: Kept,
}

/// Registers that are kept in local memory, or set to zero.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kept {
    /// First lines of 64-bit registers.
    pub wide: Box<[u32]>,
    /// Registers of one line.
    pub narrow: Box<[u32]>,
    /// Indices of predicates.
    pub preds: Box<[u32]>,
}

impl Kept {
    /// Bytes of local memory for them.
    pub fn bytes(&self) -> u64 {
        8 * self.wide.len() as u64 + 4 * self.narrow.len() as u64 + 4 * self.preds.len().div_ceil(32) as u64
    }
}

impl Calls {
    /// Local memory of a thread for a stack of so many bytes, as a GPU would need them.
    ///
    /// A GPU's compiler keeps other registers than we do, and in other places. What it needs at least is known: the
    /// variables of a function, and the place to return to. The stack has room for as many calls as would fit then.
    pub fn local_bytes(&self, stack: u32) -> u64 {
        let once: u64 = self.callees.iter().map(|callee| u64::from(callee.frame)).sum();
        let more = |callee: &Callee| {
            let least = u64::from(callee.variables.next_multiple_of(8)) + 8;
            (u64::from(callee.frame) * u64::from(stack)).div_ceil(least)
        };
        let again = match self.recursive {
            true => self.callees.iter().map(more).max().unwrap_or(0),
            false => 0,
        };
        u64::from(self.frame) + once + again
    }
}

/// The registers of an arithmetic operation, for following undefined values through it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// What becomes of undefined bits.
    pub flow: Flow,
    /// Class of the result.
    pub dst: Class,
    /// Classes of the sources.
    pub srcs: &'static [Class],
}

/// What an arithmetic operation makes of source bits that nothing has defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flow {
    /// Every bit of the result depends on every bit of the sources.
    #[default]
    Mixed,
    /// Moves bits of some sources, as the other sources say.
    Moved {
        /// Which sources are moved, one bit each.
        data: u8,
        /// The other sources are numbers of bits: a move of whole bytes when they are multiples of 8.
        shifts: bool,
    },
    /// Each bit of the result depends on that bit of the sources, and on whole predicates.
    Bitwise,
    /// Each bit of the result depends on that bit of the sources and on those below it.
    Upward,
    /// Each half of 32 bits depends on that half of the sources.
    Halves,
    /// Compares the first two sources; others are predicates that the result is combined with.
    Compared(Ordering),
}

/// How [`Flow::Compared`] orders values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ordering {
    /// As unsigned integers of any width.
    Unsigned,
    /// As signed integers of so many bits.
    Signed(u8),
    /// As floating-point numbers of so many bits.
    Float(u8),
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

/// What an address was computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pointer {
    /// The parameter at this offset.
    Param(u32),
    /// An address in this [`window`].
    Window(u64),
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

/// A special register that is known before a warp starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(
    missing_docs,
    reason = "each variant is the PTX special register of the same name"
)]
pub enum Special {
    TidX,
    TidY,
    TidZ,
    NtidX,
    NtidY,
    NtidZ,
    CtaidX,
    CtaidY,
    CtaidZ,
    NctaidX,
    NctaidY,
    NctaidZ,
    ClusteridX,
    ClusteridY,
    ClusteridZ,
    NclusteridX,
    NclusteridY,
    NclusteridZ,
    ClusterCtaidX,
    ClusterCtaidY,
    ClusterCtaidZ,
    ClusterNctaidX,
    ClusterNctaidY,
    ClusterNctaidZ,
    ClusterCtarank,
    ClusterNctarank,
    /// 1 if the launch was given a size of clusters.
    IsExplicitCluster,
    LaneId,
    WarpId,
    NwarpId,
    SmId,
    NsmId,
    GridId,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    DynamicSharedBytes,
    TotalSharedBytes,
    /// `%envreg1`: the high half of the address of a cooperative grid's workspace, or 0.
    EnvReg1,
    /// `%envreg2`: its low half.
    EnvReg2,
    /// Four bytes of the parameter block, from this offset on. Machine code names parameters as operands.
    ParamWord(u32),
    /// Local memory of a thread, in bytes: where machine code finds the end of its stack.
    LocalBytes,
}

impl Special {
    /// Whether lanes of one warp can have different values.
    pub fn varies_in_a_warp(self) -> bool {
        use Special::*;
        matches!(
            self,
            TidX | TidY | TidZ | LaneId | LanemaskEq | LanemaskLe | LanemaskLt | LanemaskGe | LanemaskGt
        )
    }
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

/// Calls kept for an instruction of an inlined function.
pub const MAX_CALLS: usize = 4;

/// What is known of one PTX instruction, for counters and messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstrInfo {
    /// As written: `fma.rn.f32 %f3, %f1, %f2, %f3;`
    pub text: String,
    /// Line in the PTX.
    pub ptx_line: u32,
    /// Where it comes from, when the PTX says: file index, line, column.
    pub source: Option<SourceLoc>,
    /// Where the function that holds it was inlined, and where that one was: the innermost call first. At most
    /// [`MAX_CALLS`], which keeps hostile modules small.
    pub calls: Box<[SourceLoc]>,
    /// Floating-point multiply-adds per lane: 1 for `fma.f32`, 2 for `fma.f16x2`.
    pub fmas: u8,
    /// The wider access to shared memory that ptxas would make of this one and its neighbours; see `decode::passes::merge`.
    /// `None`: counted as written.
    pub merge: Option<MergeGroup>,
    /// What ptxas makes of an atomic.
    pub atomic: AtomicForm,
}

impl InstrInfo {
    /// Its name with all modifiers, `fma.rn.f32`, without a predicate before it.
    pub fn mnemonic(&self) -> &str {
        let mut words = self.text.split_whitespace();
        let name = words.find(|word| !word.starts_with('@')).unwrap_or("");
        name.trim_end_matches(';')
    }
}

/// What ptxas makes of an atomic, as far as counters depend on it; see `decode::passes::atomics`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AtomicForm {
    /// One instruction that does the work lane by lane where lanes meet. Also of instructions that are no atomics.
    #[default]
    Native,
    /// One instruction, a compare-and-swap.
    CompareAndSwap,
    /// In shared memory: a loop of a load and a compare-and-swap.
    Loop,
    /// In shared memory: the hardware counts the lanes that add 1 to the same word.
    CountLanes,
    /// The lanes' values are combined first, and one lane does the atomic for all.
    OncePerWarp,
}

/// Accesses to shared memory that are merged into one wider access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergeGroup {
    /// Instruction that stands for the group.
    pub leader: u32,
    /// Bytes per lane of the merged access.
    pub bytes: u8,
    /// Byte offset, relative to this instruction's own address, of the start of the merged access.
    pub back: u8,
}

/// A position in a source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct SourceLoc {
    /// Index in the `.file` table.
    pub file: u32,
    /// Line in that file, from 1.
    pub line: u32,
    /// Column, from 1; 0 unknown.
    pub column: u32,
}

/// `@p`, `@!p`, or always.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// Predicate; 0 is constant true.
    pub pred: u16,
    /// Run where the predicate is false.
    pub negated: bool,
}

/// One step of the machine.
#[derive(Debug, Clone)]
pub struct Op {
    /// Lanes that take part.
    pub guard: Guard,
    /// The instruction that it belongs to: an index into [`Kernel::instrs`].
    pub instr: u32,
    /// First op of its instruction: the one that is counted.
    pub first: bool,
    /// The operation and its operands.
    pub kind: OpKind,
}

/// A state space, as an access names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the PTX state spaces")]
pub enum MemSpace {
    Global,
    Shared,
    Local,
    Const,
    Param,
    Generic,
}

/// An address operand. Its value is `src + offset`; `wide` distinguishes a 64-bit register from a 32-bit one.
/// Addresses in `Shared`, `Local` and `Param` count from the start of their space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addr {
    /// Register or constant. Symbols and absolute addresses are constants.
    pub src: Src,
    /// The register is a 64-bit one, of two lines.
    pub wide: bool,
    /// Bytes added to the address.
    pub offset: i64,
}

/// How strongly an access is ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// An ordinary access.
    Weak,
    /// An ordinary load whose value a compare-and-swap compares with what memory holds then: a stale value costs
    /// one more round. Ordinary but for the race checks.
    Guess,
    /// `.volatile` on shared memory, in a kernel where no thread waits for what another one stores: it keeps
    /// accesses in the program and orders no threads.
    InStep,
    /// `.volatile`, `.relaxed`, `.acquire`, `.release`, `.mmio`: seen by others while the kernel runs.
    Strong,
}

/// A load or a store of one to eight elements per lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The state space that it goes to.
    pub space: MemSpace,
    /// The first element's address.
    pub addr: Addr,
    /// Bytes of one element: 1, 2, 4, 8.
    pub element: u8,
    /// Elements: 1, 2, 4, 8.
    pub n: u8,
    /// Registers of the elements: destinations of a load ([`arithmetic::lanes::NONE`] for `_`), sources of a store.
    pub regs: [i32; 8],
    /// The registers are 64-bit ones.
    pub wide: bool,
    /// A load extends the sign of elements narrower than the register.
    pub signed: bool,
    /// How strongly it is ordered.
    pub order: Order,
}

/// What an atomic does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the PTX operations of the same names")]
pub enum AtomicKind {
    Add,
    Min,
    Max,
    Inc,
    Dec,
    And,
    Or,
    Xor,
    Exch,
    Cas,
}

/// Operands of `atom` and `red`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Atomic {
    /// The state space that it goes to.
    pub space: MemSpace,
    /// The address that it changes.
    pub addr: Addr,
    /// The operation, such as a sum.
    pub kind: AtomicKind,
    /// Type that it works on.
    pub ty: ptx::ast::Type,
    /// Second operand, and third for `cas`.
    pub src: [Src; 2],
    /// Old value; [`arithmetic::lanes::NONE`] for `red`.
    pub dst: i32,
    /// Its result is wanted: `atom`, not `red`.
    pub returns: bool,
}

/// Modes of `shfl.sync`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the PTX modes of the same names")]
pub enum ShuffleMode {
    Up,
    Down,
    Bfly,
    Idx,
}

/// Modes of `vote.sync`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the PTX modes of the same names")]
pub enum VoteMode {
    All,
    Any,
    Uni,
    Ballot,
}

/// Operations of `redux.sync`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the PTX operations of the same names")]
pub enum ReduxKind {
    Add,
    MinS,
    MaxS,
    MinU,
    MaxU,
    And,
    Or,
    Xor,
}

/// What a barrier of the block does: `bar.sync`, `bar.arrive` or `bar.red`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BarrierKind {
    /// Wait until all threads that take part have arrived.
    Sync,
    /// Arrive and go on.
    Arrive,
    /// `bar.red.popc.u32 d, a, c, p`: destination line, predicate, negated.
    RedPopc(Dst, u32, bool),
    /// `bar.red.and.pred d, a, c, p`: destination predicate, predicate, negated.
    RedAnd(Dst, u32, bool),
    /// `bar.red.or.pred d, a, c, p`
    RedOr(Dst, u32, bool),
}

/// A clock that a kernel can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the PTX special registers of the same names")]
pub enum Clock {
    Clock,
    ClockHi,
    Clock64,
    GlobalTimer,
    GlobalTimerLo,
    GlobalTimerHi,
}

/// Operands of a texture fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Texture {
    /// Handle: a 64-bit register or constant (texture object).
    pub handle: Src,
    /// Dimensions of the texture: 1 or 2.
    pub dims: u8,
    /// Coordinates are `f32` (else `s32`).
    pub float_coordinates: bool,
    /// One coordinate for each dimension; the others are [`arithmetic::lanes::NONE`].
    pub coordinates: [Src; 2],
    /// Destinations: four 32-bit lines.
    pub dst: [i32; 4],
    /// Destination type: `F32`, `S32` or `U32`.
    pub ty: ptx::ast::Type,
}

/// A copy of a box of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TensorCopy {
    /// Address of the tensor map, and the space that it is in.
    pub map: Addr,
    /// Parameters, when the map is named; else generic.
    pub map_space: MemSpace,
    /// Coordinates that the instruction gives: 1 to 5.
    pub dims: u8,
    /// The box's first element, innermost coordinate first: 32-bit operands.
    pub at: [Src; 5],
    /// Where the box lies in shared memory. Of a prefetch: not used.
    pub shared: Addr,
    /// The blocks of the cluster that a load goes to, one bit each: a 32-bit operand, or [`arithmetic::lanes::NONE`].
    pub blocks: Src,
    /// Which way it goes.
    pub way: TensorWay,
}

/// Which way a copy of a box goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TensorWay {
    /// To shared memory; this barrier in shared memory receives the bytes.
    Load(Addr),
    /// From shared memory.
    Store,
    /// Into a cache: nothing that a program can see.
    Prefetch,
}

/// A copy of neighbouring bytes by `cp.async.bulk`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BulkBytes {
    /// Address in shared memory.
    pub shared: Addr,
    /// Address in global memory.
    pub global: Addr,
    /// The other end lies in shared memory, too: a copy from the block's own to another block's.
    pub within_cluster: bool,
    /// How many bytes: a 32-bit operand.
    pub bytes: Src,
    /// As [`TensorCopy::blocks`].
    pub blocks: Src,
    /// The direction.
    pub way: TensorWay,
}

/// `wgmma.mma_async`: D = A·B + D of four warps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wgmma {
    /// Types of the elements of A and of B: they differ for FP8 only.
    pub kinds: [arithmetic::products::Kind; 2],
    /// Type of the sums.
    pub sum: arithmetic::products::Sum,
    /// Columns: 8 to 256.
    pub n: u16,
    /// The accumulators, read: a line for each `f32`, or for two `f16`.
    pub c: Box<[Src]>,
    /// The same, written.
    pub d: Box<[Dst]>,
    /// Where A is.
    pub a: WgmmaA,
    /// Descriptor of B: a 64-bit operand.
    pub b: Src,
    /// Sums are added to where this predicate holds; elsewhere they replace what was there.
    pub adds: u32,
    /// The predicate is negated.
    pub negated: bool,
    /// A and B are multiplied by -1.
    pub minus: [bool; 2],
    /// A and B lie in shared memory with neighbouring rows (of B: columns) side by side, not neighbouring k.
    pub transposed: [bool; 2],
}

/// Where the first factor of a [`Wgmma`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WgmmaA {
    /// Four 32-bit registers of each thread.
    Registers([Src; 4]),
    /// Its descriptor: a 64-bit operand.
    Shared(Src),
}

impl Wgmma {
    /// Elements of A in a row, and of B in a column.
    pub fn k(&self) -> usize {
        crate::mma::warpgroup::k(self.kinds[0])
    }

    /// Products of elements that each of the four warps adds.
    pub fn products(&self) -> u64 {
        (crate::mma::warpgroup::WARP_ROWS * usize::from(self.n) * self.k()) as u64
    }

    /// Bytes of shared memory that it reads for each of the four warps: its rows of A, if they lie there, and a quarter
    /// of B, which all four multiply by.
    pub fn operand_bytes(&self) -> u64 {
        let rows = match self.a {
            WgmmaA::Registers(_) => 0,
            WgmmaA::Shared(_) => crate::mma::warpgroup::WARP_ROWS,
        };
        let bytes = crate::mma::warpgroup::bytes(self.kinds[0]);
        ((rows + usize::from(self.n) / 4) * self.k() * bytes) as u64
    }
}

/// Registers that products of a warpgroup use, by operation, for the checks of what touches them meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InFlight {
    /// What each operation touches of these registers.
    pub touches: Vec<Box<[Touched]>>,
    /// Where the text has a way from an instruction that writes such a register to a product without `wgmma.fence`
    /// between: what each operation writes of them. Whether a warp goes that way shows when it runs.
    pub unfenced: Option<Vec<Box<[Written]>>>,
}

/// A register of a product that an operation writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Its line.
    pub line: u32,
    /// A move, which the compiler may have added: the lines that it takes the value from. `None`: the operation computes or
    /// loads it.
    pub from: Option<Box<[u32]>>,
}

/// A register that an operation touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touched {
    /// Its line.
    pub line: u32,
    /// The PTX register in the line: several registers can share one, one after another.
    pub register: u32,
    /// Written, not read.
    pub writes: bool,
}

/// Bits of what an arrival returns that hold the arrivals that were missing before it; those above hold the phase.
pub const TOKEN_PENDING: u64 = (1 << 20) - 1;

/// An operation on a barrier in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mbarrier {
    /// What it does.
    pub kind: MbarrierKind,
    /// `Shared` or `Generic`.
    pub space: MemSpace,
    /// The barrier.
    pub addr: Addr,
    /// Arrivals, bytes or a parity: a 32-bit operand, or [`arithmetic::lanes::NONE`].
    pub number: Src,
    /// The phase that a wait asks for: a 64-bit operand, or [`arithmetic::lanes::NONE`].
    pub phase: Src,
    /// The phase that an arrival is part of, a 64-bit register, or [`arithmetic::lanes::NONE`].
    pub dst: i32,
    /// Whether the phase has ended: a predicate, or [`arithmetic::lanes::NONE`].
    pub done: i32,
}

/// What an operation on a barrier in shared memory does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MbarrierKind {
    /// `mbarrier.init`
    Init,
    /// `mbarrier.inval`
    Invalidate,
    /// `mbarrier.expect_tx`
    Expect,
    /// `mbarrier.complete_tx`
    Complete,
    /// `mbarrier.arrive`, `mbarrier.arrive_drop`
    Arrive {
        /// The number is one of bytes that the phase waits for, and one thread arrives.
        expect: bool,
        /// Later phases wait for fewer arrivals.
        drop: bool,
        /// The phase may end by it.
        completes: bool,
    },
    /// `cp.async.mbarrier.arrive`: an arrival when the copies of the thread are done.
    ArriveBehindCopies {
        /// The phase waits for one more arrival.
        counts: bool,
    },
    /// `mbarrier.test_wait`, `mbarrier.try_wait`
    Wait,
}

/// A product of tiles by the tensor cores of a warp: D = A·B + C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mma {
    /// Its shape and types.
    pub form: crate::mma::layout::Form,
    /// Registers of A, of B and of C: as many as the form has, the others are [`arithmetic::lanes::NONE`].
    pub a: [Src; 8],
    /// Registers of B.
    pub b: [Src; 4],
    /// Registers of C.
    pub c: [Src; 4],
    /// Registers of D. All sources are read before any is written.
    pub d: [i32; 4],
    /// Of `wmma`: what is wrong with the fragments A, B and C.
    pub foreign: [Option<crate::mma::fragment::Foreign>; 3],
}

/// A load or store of matrices of 8x8 16-bit elements: `ldmatrix`, `stmatrix`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixAccess {
    /// `Shared` or `Generic`.
    pub space: MemSpace,
    /// The address of a row: lane `8 m + r` has that of row `r` of matrix `m`.
    pub addr: Addr,
    /// Matrices: 1, 2 or 4.
    pub n: u8,
    /// Each matrix is transposed.
    pub transposed: bool,
    /// One register for each matrix; the others are [`arithmetic::lanes::NONE`].
    pub regs: [i32; 4],
}

impl MatrixAccess {
    /// The lanes whose addresses count.
    pub fn lanes(&self) -> u32 {
        u32::MAX >> (32 - 8 * u32::from(self.n.clamp(1, 4)))
    }
}

/// What an [`Op`] does.
#[derive(Debug, Clone)]
pub enum OpKind {
    /// Registers to registers, lane by lane.
    Alu {
        /// Computes the results of all lanes.
        run: AluFn,
        /// Places of its operands.
        args: AluArgs,
    },
    /// A load from memory to registers.
    Load(Box<Access>),
    /// A store from registers to memory.
    Store(Box<Access>),
    /// `atom` or `red`: an operation on memory that other threads cannot interrupt.
    Atomic(Box<Atomic>),
    /// To `target` where the guard holds. Lanes meet again at `reconverge` (`u32::MAX`: when they exit).
    Branch {
        /// The next operation: a position in [`Kernel::ops`].
        target: u32,
        /// Immediate post-dominator, or [`ENCLOSING`].
        reconverge: u32,
    },
    /// `brx.idx`: to the target that `index` chooses.
    BranchIndexed {
        /// Index: a 32-bit register.
        index: Src,
        /// Indices of the instructions that it may go to.
        targets: Box<[u32]>,
        /// Immediate post-dominator, or [`ENCLOSING`].
        reconverge: u32,
    },
    /// Machine code's `BSSY`: lanes that part from here on meet at this position.
    Converge {
        /// Index of the instruction where its lanes meet again.
        meet: u32,
    },
    /// Machine code's `BREAK`: these lanes leave those that meet at this position.
    Leave {
        /// Index of the instruction where its lanes meet again.
        meet: u32,
    },
    /// A call of a function that is not inlined; a [`OpKind::Resume`] follows.
    Call {
        /// The call: an index into [`Calls::sites`].
        site: u32,
        /// The address of the function: a 64-bit operand, or `NONE` when the call names the function.
        target: Src,
    },
    /// The lanes of a call are back: the caller's registers are what they were.
    Resume {
        /// The call: an index into [`Calls::sites`].
        site: u32,
    },
    /// `ret` of a function that is not inlined.
    Return,
    /// `exit`, and `ret` of an entry.
    Exit,
    /// `trap`: stops the launch with an error.
    Trap,
    /// Barrier of the block. `id` and `count` are 32-bit operands; `count` is `NONE` for "all threads".
    Barrier {
        /// Whether it waits, only arrives, or reduces a predicate.
        kind: BarrierKind,
        /// Number of the barrier: a 32-bit operand.
        id: Src,
        /// Threads that take part.
        count: Src,
    },
    /// `barrier.cluster`: arrives, or waits for the threads of the cluster.
    ClusterBarrier {
        /// `barrier.cluster.wait`
        waits: bool,
    },
    /// `bar.warp.sync mask`: waits until the named lanes have arrived.
    WarpSync {
        /// The lanes that take part.
        members: Src,
    },
    /// `membar`, `fence`: orders this thread's accesses to memory.
    Fence,
    /// `fence.proxy.async`: the same, also for bulk copies.
    ProxyFence,
    /// `fence.mbarrier_init`: of barriers that were initialised only.
    InitFence,
    /// `nanosleep`, `yield` hints: a place where other warps may run.
    Yield,
    /// `shfl.sync`: each lane reads a value of another lane.
    Shuffle {
        /// How the other lane is chosen.
        mode: ShuffleMode,
        /// The value read.
        dst: Dst,
        /// "In range" predicate, or `NONE`.
        dst_pred: i32,
        /// Value, lane, clamp-and-segment, members.
        src: [Src; 4],
    },
    /// `vote.sync`: predicate result, or a line for `ballot`.
    Vote {
        /// Which vote it is.
        mode: VoteMode,
        /// A predicate, or a 32-bit line for `ballot`.
        dst: Dst,
        /// The predicate that lanes vote with.
        pred: u32,
        /// Lanes vote with the opposite of the predicate.
        negated: bool,
        /// Mask of the lanes that take part: a 32-bit operand.
        members: Src,
    },
    /// `match.any.sync`, `match.all.sync`: finds lanes with equal values.
    Match {
        /// `match.all.sync`, not `match.any.sync`.
        all: bool,
        /// The value is 64 bits wide.
        wide: bool,
        /// Mask of the lanes with an equal value.
        dst: Dst,
        /// "All equal" predicate, or `NONE`.
        dst_pred: i32,
        /// The value; the mask of the lanes that take part.
        src: [Src; 2],
    },
    /// `redux.sync`: reduces a 32-bit value over lanes of the warp.
    Redux {
        /// The operation, such as a sum.
        kind: ReduxKind,
        /// The reduced value, in every lane that takes part.
        dst: Dst,
        /// The value; the mask of the lanes that take part.
        src: [Src; 2],
    },
    /// `activemask`: the lanes that execute it together.
    ActiveMask {
        /// The mask of these lanes.
        dst: Dst,
    },
    /// `mov` from `%clock` and its kin.
    ReadClock {
        /// The clock that is read.
        clock: Clock,
        /// Its value: 32 or 64 bits, as the clock has them.
        dst: Dst,
    },
    /// `cp.async.ca/cg.shared.global [dst], [src], bytes{, src_size};`
    CpAsync {
        /// Address in shared memory.
        dst: Addr,
        /// Address in global memory.
        src: Addr,
        /// 4, 8 or 16.
        bytes: u8,
        /// Bytes to read, the rest is zero: a 32-bit operand, or `NONE`.
        src_bytes: Src,
    },
    /// `cp.async.commit_group`: closes the group of the copies since the last one.
    CpAsyncCommit,
    /// `cp.async.wait_group n` (`wait_all`: `u32::MAX` stands for "also what was not committed").
    CpAsyncWait {
        /// Groups that may stay under way.
        pending: u32,
    },
    /// `isspacep.space p, a`: whether a generic address lies in a state space.
    IsSpace {
        /// The state space that is asked for.
        space: MemSpace,
        /// Of shared memory: only the block's own.
        own: bool,
        /// The predicate that receives the answer.
        dst: Dst,
        /// The generic address: a 64-bit operand.
        src: Src,
    },
    /// `mma.sync`
    Mma(Box<Mma>),
    /// `ldmatrix`
    MatrixLoad(Box<MatrixAccess>),
    /// `stmatrix`
    MatrixStore(Box<MatrixAccess>),
    /// `movmatrix`: transposes a matrix of 8x8 16-bit elements that lies in registers.
    MatrixMove {
        /// The transposed matrix.
        dst: Dst,
        /// The matrix: a 32-bit operand.
        src: Src,
    },
    /// `cp.async.bulk.tensor`, `cp.async.bulk.prefetch.tensor`
    TensorCopy(Box<TensorCopy>),
    /// `cp.async.bulk`, without a tensor map.
    BulkBytes(Box<BulkBytes>),
    /// `cp.async.bulk.commit_group`
    BulkCommit,
    /// `cp.async.bulk.wait_group n`
    BulkWait {
        /// Groups that may stay under way.
        pending: u32,
    },
    /// `wgmma.mma_async`
    Wgmma(Box<Wgmma>),
    /// `wgmma.fence`
    WgmmaFence,
    /// `wgmma.commit_group`
    WgmmaCommit,
    /// `wgmma.wait_group n`
    WgmmaWait {
        /// Groups that may stay under way.
        pending: u32,
    },
    /// `mbarrier`
    Mbarrier(Box<Mbarrier>),
    /// Before the operations of an instruction that all lanes of a warp execute together, such as `wmma.load`.
    WholeWarp,
    /// `tex.1d`, `tex.2d`: a texture fetch.
    Texture(Box<Texture>),
    /// A call of `vprintf`: 64-bit generic pointers to the format and to the arguments; the count printed.
    Printf {
        /// Pointer to the format string.
        format: Src,
        /// Pointer to the arguments, packed as `vprintf` takes them.
        arguments: Src,
        /// `int` result, or `NONE`.
        dst: i32,
    },
    /// A call of `__assertfail(message, file, line, function, char_size)`.
    AssertFail {
        /// 64-bit generic pointers to message, file and function.
        text: [Src; 3],
        /// Line in the source: a 32-bit operand.
        line: Src,
    },
    /// Nothing (`pragma`-like instructions, prefetches).
    Nop,
}

/// In place of a branch's meeting place: lanes that part meet where all lanes of their group are going to, which
/// [`OpKind::Converge`] has said before.
pub const ENCLOSING: u32 = u32::MAX - 1;

/// Windows of the one 64-bit address space. The top 24 bits choose a window; the low 40 are an offset.
pub mod window {
    /// Bits of an offset inside a window.
    pub const BITS: u32 = 40;
    /// Windows `1 ..= LAST_ALLOCATION` are global allocations, one each: running past one never lands in another.
    pub const LAST_ALLOCATION: u64 = 0x7E_FFFF;
    /// Shared memory of the block.
    pub const SHARED: u64 = 0x7F_0000 << BITS;
    /// Local memory of the thread.
    pub const LOCAL: u64 = 0x7F_0001 << BITS;
    /// The parameter block of the launch.
    pub const PARAM: u64 = 0x7F_0002 << BITS;
    /// Functions: no memory is there.
    pub const CODE: u64 = 0x7F_0003 << BITS;
}

/// Bits of an offset in the shared memory of one block. In those above is the rank of the block in its cluster, also in the
/// block's own addresses.
pub const RANK_SHIFT: u32 = 24;

/// The most blocks of a cluster, where the kernel allows a size that not every device has.
pub const MAX_CLUSTER: u32 = 16;

/// From the address of one function to that of the next.
pub const FUNCTION_BYTES: u64 = 16;

/// Barriers of a block: they have the numbers from 0.
pub const BARRIERS: u32 = 16;

/// Shared memory starts here: what lies below is reserved, as on a GPU, so that a null pointer is no array.
pub const SHARED_BASE: u32 = 1024;
/// Of what is reserved, the part that programs reach through `%reserved_smem_offset_1`: from, up to, as on an H200.
pub const RESERVED: (u32, u32) = (0, 288);
/// Between two shared arrays: a multiple of 128, so that banks stay what they are on hardware.
pub const SHARED_GUARD: u32 = 128;
