//! Decoded kernels: what `decode` makes and `simt` runs.
//!
//! Names are indices, virtual registers lines of a register file, labels positions; most functions are inlined.

#![forbid(unsafe_code)]

/// Returns an error from the function if a condition holds.
#[macro_export]
macro_rules! refuse_if {
    ($condition:expr, $error:expr) => {
        if $condition {
            return Err($error);
        }
    };
}

mod address;
mod calls;
mod instruction;
mod kernel;
pub mod limits;
mod matrix;
mod memory;
pub mod mma;
mod op;
pub mod operands;
mod special;
pub mod tensor;
pub mod text;
mod undefined;

pub use address::{BARRIERS, FUNCTION_BYTES, MAX_CLUSTER, RANK_SHIFT, RESERVED, SHARED_BASE, SHARED_GUARD, window};
pub use calls::{CallSite, Callee, Calls, Kept};
pub use instruction::{AtomicForm, InstrInfo, MAX_CALLS, MergeGroup, SourceLoc};
pub use kernel::{
    ClusterDirectives, DeclaredArray, DecodedKernel, Launches, Param, Pointer, Program, SharedConst, Unset,
};
pub use matrix::{A_REGISTERS, InFlight, MatrixAccess, Mma, RegisterAccess, RegisterWrite, Wgmma, WgmmaA};
pub use memory::{
    Access, Addr, Atomic, AtomicKind, BulkBytes, Mbarrier, MbarrierKind, MemSpace, Order, TOKEN_PENDING, TensorCopy,
    TensorWay,
};
pub use op::{
    BarrierKind, BarrierResult, Guard, Op, OpKind, PendingCopies, Reconverge, ReduxKind, ShuffleMode, Texture, VoteMode,
};
pub use special::{Axis, Clock, Special};
pub use undefined::{AluShape, Flow, Ordering};
