//! Machine code of NVIDIA GPUs: cubins to typed instructions, and SASS text.
//!
//! The counterpart of `ptx` for machine code; like `ptx`, it executes nothing.
//!
//! The crate has the instructions of sm_75, sm_80 and sm_90 that [`table::rows`] lists, with their operands and control
//! bits ([`decode()`] and [`Instruction::encode`]), their text as `nvdisasm` prints it (`Display`), and cubins
//! ([`Module`]).
//!
//! Non-goals: instructions of textures, and what no committed kernel has; they are refused with their address.
//!
//! ```
//! use sass::Architecture;
//!
//! let word = 0x000fe20000000000ffffffff03007836_u128;
//! let instruction = sass::decode(Architecture::Sm90, word, 0x40).unwrap();
//! assert_eq!(instruction.to_string(), "VIADD R0, R3, 0xffffffff");
//! assert_eq!(instruction.control.stall, 1);
//! ```

#![forbid(unsafe_code)]

mod architecture;
mod decode;
mod elf;
mod encode;
mod error;
pub mod instruction;
mod module;
pub mod operation;
mod print;
pub mod special;
pub mod table;

pub use architecture::Architecture;
pub use decode::decode;
pub use elf::{code_range, sm_of};
pub use error::{DecodeError, DecodeErrorKind, ReadError, ReadErrorKind};
pub use instruction::Instruction;
pub use module::{
    Call, Cluster, CubinKernel, Function, Module, Parameter, Relocation, Segment, SourceLine, Target, Variable,
};
