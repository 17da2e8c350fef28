//! One machine instruction, decoded: what it does, on which operands, and its control bits.

use crate::architecture::Architecture;
use crate::operation::{Modifier, Operation};
use crate::special::SpecialRegister;
use crate::table::Row;

/// One machine instruction of 16 bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    /// On what it runs.
    pub architecture: Architecture,
    /// Bytes from the start of its code section.
    pub address: u32,
    /// Lanes whose guard is false do not take part.
    pub guard: Guard,
    /// The mnemonic without modifiers. Short forms that `nvdisasm` prints for some operands (`IMAD.MOV`) are not
    /// operations.
    pub operation: Operation,
    /// The words behind the mnemonic, in the order in which they are printed. What is not printed is not here: an
    /// `ISETP` without `U32` compares signed numbers.
    pub modifiers: Vec<Modifier>,
    /// As the row of the table lists them, destinations first. Those that are not printed because they have their
    /// default value (`PT`) are here too, so that the same row has each operand at the same place.
    pub operands: Vec<Operand>,
    /// How many of the operands are written.
    pub n_destinations: usize,
    /// How the scheduler treats it.
    pub control: Control,
    /// The row of the table that it belongs to.
    pub row: &'static Row,
}

impl Instruction {
    /// Whether a modifier is there, anywhere.
    pub fn has(&self, modifier: Modifier) -> bool {
        self.modifiers.contains(&modifier)
    }

    /// The operands that the instruction writes.
    pub fn destinations(&self) -> &[Operand] {
        &self.operands[..self.n_destinations]
    }

    /// The operands that the instruction reads.
    pub fn sources(&self) -> &[Operand] {
        &self.operands[self.n_destinations..]
    }

    /// Where it can continue besides the next instruction, if that is written in it.
    pub fn label(&self) -> Option<i64> {
        self.operands.iter().find_map(|operand| match operand.value {
            Value::Label(target) => Some(target),
            _ => None,
        })
    }
}

/// The predicate in front of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// `PT` where nothing is printed.
    pub predicate: Predicate,
    /// Whether the predicate is negated: `@!P0`.
    pub negated: bool,
    /// Whether it is a predicate of the warp, `@UP0`, as for instructions on uniform registers.
    pub uniform: bool,
}

impl Guard {
    /// Whether every lane takes part.
    pub fn is_always(&self) -> bool {
        self.predicate == Predicate::TRUE && !self.negated
    }
}

/// An operand with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Operand {
    /// The register, number or place that is meant.
    pub value: Value,
    /// `-R0`; of a predicate `!P0`.
    pub negated: bool,
    /// Takes the absolute value: `|R0|`.
    pub absolute: bool,
    /// Inverts the bits: `~R0`.
    pub inverted: bool,
    /// The value is kept for the next instruction, which then needs no read of the register file.
    pub reuse: bool,
    /// Which halves of the register a packed operation reads.
    pub halves: Halves,
}

impl Operand {
    /// An operand without modifiers.
    pub fn new(value: Value) -> Operand {
        Operand {
            value,
            negated: false,
            absolute: false,
            inverted: false,
            reuse: false,
            halves: Halves::Both,
        }
    }
}

/// Which halves of a register a packed operation reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halves {
    /// The low one for the low result and the high one for the high result. Not printed.
    Both,
    /// `.H0_H0`: the low one for both.
    Low,
    /// `.H1_H1`: the high one for both.
    High,
}

/// What an operand is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// `R0`. Wider values begin in it and continue in the following ones.
    Register(Register),
    /// A register of the warp: `UR0`.
    Uniform(Uniform),
    /// A predicate of the lane: `P0`.
    Predicate(Predicate),
    /// A predicate of the warp: `UP0`.
    UniformPredicate(Predicate),
    /// All predicates at once: `PR`.
    Predicates,
    /// As 32 bits; a smaller signed one is extended. Of an operation on 64-bit floats the upper half.
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
}

/// A register of each lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(pub u8);

impl Register {
    /// `RZ`: reads as zero, and what is written to it is lost.
    pub const ZERO: Register = Register(255);
}

/// A register of the warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uniform(pub u8);

impl Uniform {
    /// `URZ`: reads as zero, and what is written to it is lost.
    pub const ZERO: Uniform = Uniform(63);
}

/// One bit of each lane, or of the warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Predicate(pub u8);

impl Predicate {
    /// `PT`: reads as true, and what is written to it is lost.
    pub const TRUE: Predicate = Predicate(7);
}

/// A place in constant memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constant {
    /// Bank 0 holds the launch's sizes and the parameters, 3 what the module declares, 4 constants of the compiler.
    pub bank: u8,
    /// Added to the offset, in bytes.
    pub index: Index,
    /// Bytes from the beginning of the bank.
    pub offset: i32,
}

/// What is added to an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Index {
    /// Nothing is added.
    None,
    /// A register of the lane.
    Register(Register),
    /// A register of the warp.
    Uniform(Uniform),
}

/// A place in memory: the sum of what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// The base; `RZ` where it is not printed.
    pub base: Register,
    /// Whether the base is a pair of registers with a 64-bit address.
    pub wide: bool,
    /// Whether the base has 32 bits without sign, and the register of the warp that is added to it has 64.
    pub extends: bool,
    /// What the base is multiplied by: 1, 4, 8 or 16.
    pub scale: u8,
    /// `+UR4`; a pair where the address has 64 bits.
    pub uniform: Option<Uniform>,
    /// The descriptor of the memory, `desc[UR4]`, which compilers read from `c[0x0][0x208]`; before sm_90 from
    /// `c[0x0][0x118]`, and it is not printed.
    pub descriptor: Option<Uniform>,
    /// Bytes added to the base.
    pub offset: i32,
}

impl Address {
    /// A base of 32 bits and a distance, with nothing else.
    pub fn new(base: Register, offset: i32) -> Address {
        Address {
            base,
            wide: false,
            extends: false,
            scale: 1,
            uniform: None,
            descriptor: None,
            offset,
        }
    }
}

/// What the compiler tells the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Control {
    /// Cycles until the warp's next instruction may issue.
    pub stall: u8,
    /// Whether the scheduler should rather issue from another warp next.
    pub yields: bool,
    /// The scoreboard that is released when the result is written.
    pub write_barrier: Option<u8>,
    /// The scoreboard that is released when the operands have been read.
    pub read_barrier: Option<u8>,
    /// Scoreboards that must be released before this instruction issues, one bit each.
    pub wait: u8,
    /// Operands kept for the next instruction, one bit for each place in the encoding. [`Operand::reuse`] has them by
    /// operand.
    pub reuse: u8,
}

impl Control {
    /// From the upper bits of an instruction.
    pub(crate) fn of(word: u128) -> Control {
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
