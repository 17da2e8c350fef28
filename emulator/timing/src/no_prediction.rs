//! The reasons for which a launch has no prediction.

use sass::operation::Operation;
use simt::launch::LaunchRefused;

/// Reason for which there is no prediction. The texts continue "no prediction: ".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPrediction {
    #[error(transparent)]
    Refused(#[from] LaunchRefused),
    /// A simulated block made a mistake: the one that `code` stands for.
    #[error("the kernel fails ({code})")]
    Fails { code: String },
    #[error("a block needs more registers or shared memory than an SM has")]
    DoesNotFit,
    /// An instruction whose time was not measured, or which depends on unmodelled hardware: `why`, in words.
    #[error("{why}: `{operation}`")]
    Instruction { operation: Operation, why: &'static str },
    /// The lines of local memory in L1 then depend on the order of warps: errors were factors of 0.5 to 3.
    #[error("lanes access different elements of local arrays, which together take most of L1 ({} KB) or more", l1 >> 10)]
    ScatteredLocal { l1: u64 },
    #[error("the blocks that one SM runs at a time execute more than {most} instructions of warps")]
    TooLong { most: u64 },
}

/// Returns why the model does not cover an operation, if it does not.
pub(crate) fn reason(operation: Operation) -> Option<&'static str> {
    match operation {
        Operation::Atom | Operation::Atomg | Operation::Atoms | Operation::Redg => {
            Some("the model has no time for atomics, which depends on who else is at the address")
        }
        Operation::Hmma
        | Operation::Imma
        | Operation::Bmma
        | Operation::Dmma
        | Operation::Ldsm
        | Operation::Stsm
        | Operation::Movm => {
            Some("the model has no time for tensor cores and what feeds them, nor for the lower clock they run at")
        }
        Operation::Nanosleep => Some("the model does not know how long a warp sleeps"),
        _ if operation.is_asynchronous() => {
            Some("the model has no time for what copies boxes, works for warpgroups, or waits for such")
        }
        _ => None,
    }
}
