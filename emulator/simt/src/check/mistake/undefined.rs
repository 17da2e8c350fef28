//! Uses of undefined values.

use crate::check::Code;

/// The store that put a copy of an undefined value in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopiedBy {
    /// An instruction of this kernel, by index.
    Instr(u32),
    /// An earlier launch, or a store that is no longer recorded.
    Unknown,
}

/// Use of an undefined value. Moving it is not a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    Address,
    /// A branch or a guard depends on it.
    Condition,
    /// The number of a lane or barrier, or a mask of lanes.
    Control,
    Atomic,
    Printed,
    /// The value went through arithmetic, and the result was stored.
    Stored {
        /// Index of the instruction that stored.
        by: u32,
    },
    /// The value was stored unchanged to global memory (`W-UNINIT`): a mistake only if the host reads it there.
    Output {
        /// The lowest address, and the end of the highest.
        range: (u64, u64),
    },
}

impl Use {
    pub(crate) fn code(self) -> Code {
        match self {
            Self::Output { .. } => Code::UndefinedOutput,
            _ => Code::Uninitialised,
        }
    }
}
