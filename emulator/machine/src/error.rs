//! What is wrong with an image.

use crate::operation::Operation;

/// An instruction that is not in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at {address:#06x} ({word:#034x})")]
pub struct DecodeError {
    /// Bytes from the start of its code section.
    pub address: u32,
    /// All of its bits.
    pub word: u128,
    /// What is not known.
    pub kind: DecodeErrorKind,
}

/// What is not known of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeErrorKind {
    /// No row has these twelve bits.
    #[error("unknown opcode {0:#05x}")]
    Opcode(u16),
    /// Rows have its opcode, but not its other bits.
    #[error("unknown form of `{}`", .0.name())]
    Form(Operation),
}
