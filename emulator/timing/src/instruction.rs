//! Machine instructions, as far as the scheduler and the units need them.

use sass::instruction::{Control, Operand, Register, Value};
use sass::operation::{Modifier, Operation};

use crate::bound::Resource;

/// A machine instruction, as far as the model of an SM uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    pub unit: Unit,
    /// Registers that are read, by their place in the encoding: A, B, C. Constants and immediates need no port.
    pub sources: [Option<Source>; 3],
    /// Bytes per lane of a memory access.
    pub bytes: u8,
    /// The copy leaves nothing in L1.
    pub bypasses: bool,
    /// Groups of copies, or of products, that may be left after a wait.
    pub pending: u8,
    /// Columns of a product of a warpgroup.
    pub columns: u16,
    /// Rows of 32 bytes of its factors that it reads from shared memory.
    pub shared_rows: u16,
    /// The products so far are a group.
    pub ends_group: bool,
    /// Bytes of k of a product of one warp: 0 where its time is not known.
    pub depth: u8,
    /// The warp waits until the launch before this one has ended.
    pub awaits_launch: bool,
    /// Control bits, which the compiler sets for the scheduler.
    pub control: Control,
}

impl From<&sass::Instruction> for Instruction {
    fn from(instruction: &sass::Instruction) -> Self {
        let unit = match Unit::of(instruction.operation) {
            _ if instruction.waits_for_groups() => Unit::CopyWait,
            _ if is_fence(instruction) => Unit::Fence,
            Unit::ProductWait if instruction.has(Modifier::Arrive) => Unit::Slow,
            unit => unit,
        };
        let columns = if unit == Unit::Product { columns(instruction) } else { 0 };
        Self {
            unit,
            sources: if unit.is_memory() { [None; 3] } else { sources(instruction) },
            bytes: bytes(instruction),
            bypasses: instruction.has(Modifier::Bypass),
            pending: pending(instruction),
            columns,
            shared_rows: if columns > 0 { shared_rows(instruction, columns) } else { 0 },
            depth: depth(instruction),
            awaits_launch: instruction.operation == Operation::Acqbulk,
            ends_group: instruction.sources().iter().any(|operand| operand.value == Value::Group),
            control: instruction.control,
        }
    }
}

/// Returns whether a warp waits at the instruction until the whole GPU can see what it wrote.
pub(crate) fn is_fence(instruction: &sass::Instruction) -> bool {
    instruction.operation == Operation::Membar && (instruction.has(Modifier::Gpu) || instruction.has(Modifier::Sys))
}

fn pending(instruction: &sass::Instruction) -> u8 {
    let number = |operand: &Operand| if let Value::Immediate(number) = operand.value { Some(number) } else { None };
    instruction.sources().iter().find_map(number).map_or(0, |number| number.min(u8::MAX.into()) as u8)
}

/// Returns the columns of a product of a warpgroup, whose modifiers are `64`, `x128`, `x16`; 0 without a result.
fn columns(instruction: &sass::Instruction) -> u16 {
    let is_result =
        |operand: &Operand| matches!(operand.value, Value::Register(register) if register != Register::ZERO);
    let size = |modifier: &Modifier| modifier.name().strip_prefix('x')?.parse().ok();
    let columns = instruction.modifiers.iter().find_map(size).unwrap_or(0);
    if instruction.destinations().iter().any(is_result) { columns } else { 0 }
}

/// Returns the rows of both factors of a product of a warpgroup, or of B where those of A are in registers.
fn shared_rows(instruction: &sass::Instruction, columns: u16) -> u16 {
    const ROWS_OF_A: u16 = 64;
    let in_registers = matches!(instruction.sources().first().map(|a| &a.value), Some(Value::Register(_)));
    if in_registers { columns } else { ROWS_OF_A + columns }
}

/// Returns the bytes of k of a product of one warp, 16 rows by 8 columns, of numbers whose rate was measured.
pub(crate) fn depth(instruction: &sass::Instruction) -> u8 {
    let has = |modifier| instruction.has(modifier);
    match instruction.operation {
        Operation::Hmma if has(Modifier::W16816) => 32,
        Operation::Hmma if has(Modifier::W1688) => {
            if has(Modifier::Tf32) {
                32
            } else {
                16
            }
        }
        Operation::Hmma if has(Modifier::W1684) && has(Modifier::Tf32) => 16,
        _ => 0,
    }
}

/// Returns the bytes per lane that the instruction moves.
fn bytes(instruction: &sass::Instruction) -> u8 {
    let widths = [
        (Modifier::W128, 16),
        (Modifier::W64, 8),
        (Modifier::U16, 2),
        (Modifier::S16, 2),
        (Modifier::U8, 1),
        (Modifier::S8, 1),
    ];
    let of = |(modifier, bytes)| instruction.has(modifier).then_some(bytes);
    widths.into_iter().find_map(of).unwrap_or(4)
}

/// Returns the registers by their place in the encoding; one of the second and third operands is in the third.
fn sources(instruction: &sass::Instruction) -> [Option<Source>; 3] {
    let wide = matches!(instruction.operation, Operation::Dadd | Operation::Dfma | Operation::Dmul | Operation::Dsetp);
    let is_value = |operand: &&Operand| {
        !matches!(operand.value, Value::Predicate(_) | Value::UniformPredicate(_) | Value::Predicates)
    };
    let source = |(i, operand): (usize, &Operand)| match operand.value {
        Value::Register(register) if register != Register::ZERO => Some(Source {
            register: register.0,
            n: if wide || (i == 2 && instruction.has(Modifier::Wide)) { 2 } else { 1 },
            reuse: operand.reuse,
        }),
        _ => None,
    };
    let mut values = instruction.sources().iter().filter(is_value).enumerate().map(source);
    let [a, b, c]: [Option<Option<Source>>; 3] = std::array::from_fn(|_| values.next());
    let (a, second) = (a.flatten(), b.flatten());
    match (second, c) {
        (Some(second), Some(None)) => [a, None, Some(second)],
        (second, c) => [a, second, c.flatten()],
    }
}

/// An operand that is read from registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    pub register: u8,
    /// Number of consecutive registers: 2 for a 64-bit value.
    pub n: u8,
    /// Whether it is kept for the next instruction.
    pub reuse: bool,
}

pub(crate) const SCOREBOARDS: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// 32-bit floats: FFMA, FMUL, FADD.
    Fma,
    /// Integer multiply-add, IMAD, which shares no limit with `Fma`.
    IntegerFma,
    /// Integers and logic, comparisons, conversions within a register.
    Alu,
    /// Arithmetic on 64-bit floats.
    Double,
    /// Reciprocals, roots, exponentials, conversions between types.
    Special,
    /// Registers of the warp.
    Uniform,
    /// Loads from constant memory by an instruction of their own.
    LoadConstant,
    /// Loads from shared memory; shuffles, which take the same way.
    LoadShared,
    StoreShared,
    /// Loads from global and local memory, and atomics that return a value.
    LoadGlobal,
    /// Stores to global and local memory.
    StoreGlobal,
    /// Copies from global to shared memory, past the registers: LDGSTS.
    Copy,
    /// The end of a group of copies: LDGDEPBAR.
    CopyGroup,
    /// A wait for groups of copies: DEPBAR.
    CopyWait,
    /// Barriers of the block, and of some of its warps: `BAR.SYNC`, `BAR.ARV`.
    Barrier,
    /// Barriers in shared memory: SYNCS, ARRIVES.
    SharedBarrier,
    /// The barrier of the cluster: UCGABAR_ARV, UCGABAR_WAIT.
    ClusterArrive,
    ClusterWait,
    /// A fence that orders writes for the whole GPU: MEMBAR.
    Fence,
    /// Copies of boxes and of neighbouring bytes: UTMALDG, UTMASTG, UBLKCP.
    BoxCopy,
    /// Products of warpgroups: HGMMA, QGMMA.
    Product,
    /// A wait for groups of products: `WARPGROUP.DEPBAR`.
    ProductWait,
    /// Products of one warp: HMMA.
    WarpProduct,
    /// Branches, exits, and moves between lanes.
    Branch,
    /// Special registers and other results that take long.
    Slow,
}

impl Unit {
    fn of(operation: Operation) -> Self {
        match operation {
            Operation::Ffma | Operation::Fadd | Operation::Fmul => Self::Fma,
            Operation::Imad | Operation::Idp => Self::IntegerFma,
            Operation::Dadd | Operation::Dfma | Operation::Dmul | Operation::Dsetp => Self::Double,
            Operation::Mufu | Operation::Flo | Operation::Popc | Operation::Fchk => Self::Special,
            Operation::Lds | Operation::Ldsm => Self::LoadShared,
            Operation::Sts | Operation::Stsm => Self::StoreShared,
            Operation::Ldg | Operation::Ld | Operation::Ldl => Self::LoadGlobal,
            Operation::Stg | Operation::St | Operation::Stl => Self::StoreGlobal,
            Operation::Ldgsts => Self::Copy,
            Operation::Ldgdepbar | Operation::Utmacmdflush => Self::CopyGroup,
            Operation::Syncs | Operation::Arrives => Self::SharedBarrier,
            Operation::UcgabarArv => Self::ClusterArrive,
            Operation::UcgabarWait => Self::ClusterWait,
            Operation::Utmaldg | Operation::Utmastg | Operation::Ublkcp => Self::BoxCopy,
            Operation::Hgmma | Operation::Qgmma => Self::Product,
            Operation::Hmma => Self::WarpProduct,
            Operation::Warpgroup => Self::ProductWait,
            Operation::Ldc => Self::LoadConstant,
            Operation::Bar => Self::Barrier,
            Operation::Bra
            | Operation::Break
            | Operation::Bssy
            | Operation::Bsync
            | Operation::Exit
            | Operation::Nop => Self::Branch,
            Operation::S2r | Operation::S2ur | Operation::R2ur | Operation::Vote => Self::Slow,
            _ if operation.is_asynchronous() => Self::Slow,
            _ if operation.is_uniform() => Self::Uniform,
            _ => Self::Alu,
        }
    }

    /// Returns whether the operands go to the memory system, which takes its own time to read them.
    fn is_memory(self) -> bool {
        use Unit::{Copy, LoadConstant, LoadGlobal, LoadShared, StoreGlobal, StoreShared};
        matches!(self, Copy | LoadConstant | LoadGlobal | LoadShared | StoreGlobal | StoreShared)
    }

    /// Returns the resource that the unit keeps busy for as long as it takes no other instruction.
    pub(crate) fn resource(self) -> Option<Resource> {
        match self {
            Self::Fma => Some(Resource::Fma),
            Self::Alu | Self::Branch => Some(Resource::Alu),
            Self::IntegerFma => Some(Resource::IntegerFma),
            Self::Double => Some(Resource::Double),
            Self::Special | Self::Slow => Some(Resource::Special),
            Self::WarpProduct => Some(Resource::Tensor),
            _ => None,
        }
    }

    pub(crate) const N: usize = Unit::Slow as usize + 1;
}
