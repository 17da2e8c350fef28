//! What the model does not cover.

use sass::operation::Operation;
use simt::launch::LaunchRefused;

/// Why there is no prediction. The texts continue "no prediction: ".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPrediction {
    /// The launch does not start.
    #[error(transparent)]
    Refused(#[from] LaunchRefused),
    /// One of the blocks that are simulated made a mistake.
    #[error("the kernel fails ({code})")]
    Fails {
        /// The code of what went wrong.
        code: String,
    },
    /// Not one block fits on an SM.
    #[error("a block needs more registers or shared memory than an SM has")]
    DoesNotFit,
    /// An instruction whose time nobody measured, or which depends on what is not modelled.
    #[error("{why}: `{operation}`")]
    Instruction {
        /// The operation that is not modelled.
        operation: Operation,
        /// What is missing, in words.
        why: &'static str,
    },
    /// The blocks of one SM execute too much.
    #[error("the blocks that one SM runs at a time execute more than {most} instructions of warps")]
    TooLong {
        /// What is simulated at most.
        most: u64,
    },
}

/// Why the model does not cover an operation.
pub(crate) fn why(operation: Operation) -> Option<&'static str> {
    match operation {
        Operation::Atom | Operation::Atomg | Operation::Atoms | Operation::Redg => {
            Some("the model has no time for atomics, which depends on who else is at the address")
        }
        Operation::Ldgsts | Operation::Ldgdepbar => {
            Some("the model has no time for copies past the registers to shared memory")
        }
        Operation::Hmma | Operation::Dmma | Operation::Ldsm | Operation::Stsm | Operation::Movm => Some(
            "the model has no time for tensor cores and what feeds them, nor for the lower clock they run at",
        ),
        Operation::Nanosleep => Some("the model does not know how long a warp sleeps"),
        _ => None,
    }
}
