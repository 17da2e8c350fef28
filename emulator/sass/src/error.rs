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
    /// An instruction that is known by its name only.
    #[error("unsupported `{0}`")]
    Unsupported(&'static str),
    /// No row has these twelve bits.
    #[error("unknown opcode {0:#05x}")]
    Opcode(u16),
    /// Rows have its opcode, but not its other bits.
    #[error("unknown form of `{}`", .0.name())]
    Form(Operation),
}

/// Why a cubin cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {kind}")]
pub struct ReadError {
    /// The section, or `file`.
    pub place: String,
    /// What is wrong there.
    pub kind: ReadErrorKind,
}

/// What is wrong with a cubin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadErrorKind {
    /// Something is cut off, or outside of where it must be.
    #[error("{0}")]
    Damaged(String),
    /// Machine code of other GPUs.
    #[error("code for sm_{0}; only that of sm_75, sm_80, sm_86, sm_87, sm_89 and sm_90 is supported")]
    Architecture(u32),
    /// An instruction is not in the table.
    #[error("{0}")]
    Decode(DecodeError),
    /// A branch to where no instruction is.
    #[error("`{operation}` at {address:#06x} goes to {target:#x}, which is no instruction of the section")]
    Label {
        /// Address of the branch.
        address: u32,
        /// The operation that branches.
        operation: Operation,
        /// Address that it goes to.
        target: i64,
    },
    /// A kind of relocation that is not supported.
    #[error("relocation of kind {kind} at {offset:#x} is not supported")]
    Relocation {
        /// Number of the kind in ELF.
        kind: u32,
        /// From the start of the section that it changes.
        offset: u64,
    },
}

impl ReadErrorKind {
    pub(crate) fn at(self, place: &str) -> ReadError {
        let place = place.chars().take(200).collect();
        ReadError { place, kind: self }
    }
}
