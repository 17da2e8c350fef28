//! Errors in an image.

use crate::operation::Operation;

/// An instruction that is not in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at {address:#06x} ({word:#034x})")]
pub struct DecodeError {
    /// Byte offset in the section of code.
    pub address: u32,
    pub word: u128,
    pub kind: DecodeErrorKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeErrorKind {
    /// An instruction of which only the name is known.
    #[error("unsupported `{0}`")]
    Unsupported(&'static str),
    /// No row has this 12-bit opcode.
    #[error("unknown opcode {0:#05x}")]
    Opcode(u16),
    /// Rows of the table match the opcode, but none matches the other bits.
    #[error("unknown form of `{}`", .0.name())]
    Form(Operation),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {kind}")]
pub struct ReadError {
    /// The section, or `file`.
    pub place: String,
    pub kind: ReadErrorKind,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadErrorKind {
    /// Data that is cut off, or outside of its bounds.
    #[error("{0}")]
    Damaged(String),
    /// Machine code of other GPUs.
    #[error("code for sm_{0}; only that of sm_75, sm_80, sm_86, sm_87, sm_89 and sm_90 is supported")]
    Architecture(u32),
    #[error("{0}")]
    Decode(DecodeError),
    /// A branch to an address without an instruction.
    #[error("`{operation}` at {address:#06x} goes to {target:#x}, which is not an instruction of the section")]
    Label { address: u32, operation: Operation, target: i64 },
    /// An unsupported kind of relocation.
    #[error("relocation of kind {kind} at {offset:#x} is not supported")]
    Relocation {
        /// ELF number of the kind.
        kind: u32,
        /// Byte offset in the relocated section.
        offset: u64,
    },
}

impl ReadErrorKind {
    pub(crate) fn at(self, place: &str) -> ReadError {
        let place = place.chars().take(200).collect();
        ReadError { place, kind: self }
    }
}

/// Returns the error of damage in a section, or in the `file`.
pub(crate) fn damaged(what: impl ToString, place: &str) -> ReadError {
    ReadErrorKind::Damaged(what.to_string()).at(place)
}
