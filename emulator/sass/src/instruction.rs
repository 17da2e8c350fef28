//! A decoded machine instruction: operation, operands, control bits.

use crate::architecture::Architecture;
use crate::operation::{Modifier, Operation};
use crate::{special::SpecialRegister, table::Row};

#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    pub architecture: Architecture,
    /// Byte offset in the section of code.
    pub address: u32,
    /// Lanes whose guard is false do not take part.
    pub guard: Guard,
    /// Mnemonic without modifiers. Short forms that `nvdisasm` prints (`IMAD.MOV`) are not operations.
    pub operation: Operation,
    /// Words after the mnemonic, in the order in which they are printed. Defaults that are not printed are absent: an
    /// `ISETP` without `U32` compares signed numbers.
    pub modifiers: Vec<Modifier>,
    /// Operands in the order of the table's row, destinations first. Operands that are not printed because they have
    /// their default value (`PT`) are included, so that the same row has each operand at the same place.
    pub operands: Vec<Operand>,
    pub n_destinations: usize,
    pub control: Control,
    pub row: &'static Row,
}

impl Instruction {
    pub fn has(&self, modifier: Modifier) -> bool {
        self.modifiers.contains(&modifier)
    }

    pub fn destinations(&self) -> &[Operand] {
        &self.operands[..self.n_destinations]
    }

    pub fn sources(&self) -> &[Operand] {
        &self.operands[self.n_destinations..]
    }

    /// Returns whether it is a `DEPBAR` of the scoreboard that counts groups of copies; others are of single
    /// instructions.
    pub fn waits_for_groups(&self) -> bool {
        const GROUPS: u8 = 0;
        let counts_groups = |operand: &Operand| operand.value == Value::Scoreboard(GROUPS);
        self.operation == Operation::Depbar && self.sources().iter().any(counts_groups)
    }

    /// Returns the target of a branch, if it is encoded in the instruction.
    pub fn label(&self) -> Option<i64> {
        self.operands.iter().find_map(|operand| match operand.value {
            Value::Label(target) => Some(target),
            _ => None,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// `PT` where nothing is printed.
    pub predicate: Predicate,
    /// Whether it is negated, as in `@!P0`.
    pub negated: bool,
    /// Whether the predicate is uniform, as in `@UP0`.
    pub uniform: bool,
}

impl Guard {
    pub fn is_always(&self) -> bool {
        self.predicate == Predicate::TRUE && !self.negated
    }
}

/// A source or destination, with what the instruction applies to its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Operand {
    pub value: Value,
    /// Whether it is negated: `-R0`; of a predicate `!P0`.
    pub negated: bool,
    /// Whether its absolute value is taken: `|R0|`.
    pub absolute: bool,
    /// Whether its bits are inverted: `~R0`.
    pub inverted: bool,
    /// Whether the value is kept for the next instruction, which then needs no read of the register file.
    pub reuse: bool,
    pub halves: Halves,
}

impl Operand {
    pub fn new(value: Value) -> Operand {
        Operand { value, negated: false, absolute: false, inverted: false, reuse: false, halves: Halves::Both }
    }
}

/// Halves of a register that a packed operation reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halves {
    /// The low half for the low result, the high half for the high result. Not printed.
    Both,
    /// `.H0_H0`: the low half for both.
    Low,
    /// `.H1_H1`: the high half for both.
    High,
}

/// A register, number or place that an operand names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// `R0`. Wider values begin in it and continue in the following ones.
    Register(Register),
    /// A uniform register: `UR0`.
    Uniform(Uniform),
    /// A predicate of the lane: `P0`.
    Predicate(Predicate),
    /// A uniform predicate: `UP0`.
    UniformPredicate(Predicate),
    /// All predicates together: `PR`.
    Predicates,
    /// A number of 32 bits; smaller signed numbers are extended. In an operation on 64-bit floats, the upper half.
    Immediate(u32),
    /// A place in constant memory: `c[0x0][0x210]`.
    Constant(Constant),
    /// A place in other memory: `[R2+0x10]`.
    Memory(Address),
    /// A special register: `SR_TID.X`.
    Special(SpecialRegister),
    /// The address of an instruction, from the start of the section. It may lie outside of the section.
    Label(i64),
    /// `B0`: lanes that reconverge.
    Barrier(u8),
    /// A scoreboard: `SB0`.
    Scoreboard(u8),
    /// The products of the warpgroup that were issued so far: `gsb0`.
    Group,
    /// Both factors of a product, in shared memory, or the second: `gdesc[UR8].tnspA`.
    Matrices {
        /// First register of their descriptors.
        descriptor: Uniform,
        /// Transposed factors: the first, the second.
        transposed: [bool; 2],
        /// Negated factors.
        negated: [bool; 2],
    },
}

/// A register of each lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(pub u8);

impl Register {
    /// `RZ`: reads as zero, writes are lost.
    pub const ZERO: Register = Register(255);
}

/// A uniform register, which holds one value for the whole warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uniform(pub u8);

impl Uniform {
    /// `URZ`: reads as zero, writes are lost.
    pub const ZERO: Uniform = Uniform(63);
}

/// A bit of each lane, or of the warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Predicate(pub u8);

impl Predicate {
    /// `PT`: reads as true, writes are lost.
    pub const TRUE: Predicate = Predicate(7);
}

/// A place in constant memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constant {
    /// Bank 0 holds launch dimensions and parameters, 3 the module's `__constant__` variables, 4 compiler constants.
    pub bank: u8,
    /// Index that is added to the offset, in bytes.
    pub index: Index,
    /// Bytes from the beginning of the bank.
    pub offset: i32,
}

/// Index of a memory operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Index {
    None,
    Register(Register),
    Uniform(Uniform),
}

/// A place in memory: the sum of the fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// The base; `RZ` where it is not printed.
    pub base: Register,
    /// Whether the base is a pair of registers with a 64-bit address.
    pub wide: bool,
    /// Whether the base is an unsigned 32-bit value, and the uniform register added to it has 64 bits.
    pub extends: bool,
    /// Factor of the base: 1, 4, 8 or 16.
    pub scale: u8,
    /// `+UR4`; a pair where the address has 64 bits.
    pub uniform: Option<Uniform>,
    /// The descriptor of the memory, `desc[UR4]`, which compilers read from `c[0x0][0x208]`; before sm_90 from
    /// `c[0x0][0x118]`, and it is not printed.
    pub descriptor: Option<Uniform>,
    pub offset: i32,
}

impl Address {
    /// Creates a 32-bit base with an offset.
    pub fn new(base: Register, offset: i32) -> Address {
        Address { base, wide: false, extends: false, scale: 1, uniform: None, descriptor: None, offset }
    }
}

/// Control bits, by which the compiler directs the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Control {
    /// Cycles until the warp's next instruction may issue.
    pub stall: u8,
    /// Whether the scheduler should issue from another warp next.
    pub yields: bool,
    /// The scoreboard that is released when the result is written.
    pub write_barrier: Option<u8>,
    /// The scoreboard that is released when the operands have been read.
    pub read_barrier: Option<u8>,
    /// Scoreboards that must be released before this instruction issues, one bit each.
    pub wait: u8,
    /// Operands kept for the next instruction, a bit for each place in the encoding; see [`Operand::reuse`].
    pub reuse: u8,
}

impl Control {
    /// Decodes the upper bits of an instruction.
    pub fn of(word: u128) -> Control {
        let bits = |low: u32, n: u32| (word >> low) as u8 & ((1 << n) - 1);
        let barrier = |low| Some(bits(low, 3)).filter(|&barrier| barrier != 7);
        Control {
            stall: bits(105, 4),
            yields: bits(109, 1) == 0,
            write_barrier: barrier(110),
            read_barrier: barrier(113),
            wait: bits(116, 6),
            reuse: bits(122, 4),
        }
    }
}
