//! The reasons for which a launch has no prediction.

use sass::operation::Operation;
use simt::launch::LaunchRefused;

use crate::instruction::depth;

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
    #[error("blocks wait for what others write to memory, and the model does not know how long: `{operation}`")]
    BlocksWait { operation: Operation },
    /// Its own warps do not end a phase that they wait for: blocks of the cluster do different things.
    #[error("blocks of a cluster wait for each other in a way that the model does not follow")]
    WaitsForOthers,
    #[error("the blocks that one SM runs at a time execute more than {most} instructions of warps")]
    TooLong { most: u64 },
}

const NO_PRODUCT: &str = "the model has no time for these products of one warp, and for what feeds them";

/// Returns why the model does not cover an operation, if it does not.
pub(crate) fn reason(instruction: &sass::Instruction) -> Option<&'static str> {
    match instruction.operation {
        Operation::Atom | Operation::Atomg | Operation::Atoms | Operation::Redg => {
            Some("the model has no time for atomics, which depends on who else is at the address")
        }
        Operation::Hmma if depth(instruction) == 0 => Some(NO_PRODUCT),
        Operation::Imma | Operation::Bmma | Operation::Dmma | Operation::Movm => Some(NO_PRODUCT),
        Operation::Nanosleep => Some("the model does not know how long a warp sleeps"),
        _ => None,
    }
}
