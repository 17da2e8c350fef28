//! What operations cost of the budget besides the 32 steps of a warp's instruction.
//!
//! A step is about the time of one thread's addition. The costs follow the time that the emulation takes, so that the
//! default budget ends a launch within ten minutes, whatever it does. They are the same on any number of threads.

use crate::exec::block::block_bytes;
use crate::exec::launch_job::Job;
use crate::exec::worker::Worker;
use crate::program::OpKind;

/// Steps of a warp's turn.
pub(crate) const TURN: u64 = 1000;
/// Steps of a poll of memory that other threads change.
pub(crate) const POLL: u64 = 256;
/// Steps of a lane whose access is looked up by itself.
pub(crate) const LANE_ACCESS: u64 = 32;
/// Steps of a lane's `printf`, and of each character of its format and of its output.
pub(crate) const PRINT: u64 = 5000;
pub(crate) const PRINT_CHARACTER: u64 = 32;

/// Steps of an operation outside the loop.
const UNCOMMON: u64 = 128;
/// Steps of a lane's atomic.
const LANE_ATOMIC: u64 = 128;
/// Steps of a multiply-add of a matrix product.
const MULTIPLY_ADD: u64 = 6;
/// Steps of a block, and the bytes of its memory that cost another one.
const BLOCK: u64 = 5000;
const BLOCK_BYTES: u64 = 8;

/// Returns the steps of the operations that the loop does not handle itself, for this number of lanes.
pub(crate) fn of_operation(kind: &OpKind, lanes: u32) -> u64 {
    match kind {
        OpKind::Atomic(_) | OpKind::Texture(_) => LANE_ATOMIC * u64::from(lanes),
        OpKind::Mma(mma) => MULTIPLY_ADD * mma.form.products(),
        OpKind::Wgmma(wgmma) => MULTIPLY_ADD * wgmma.products(),
        _ => UNCOMMON,
    }
}

/// Returns the steps that a block costs before its first operation.
pub(crate) fn of_block(job: &Job<'_>) -> u64 {
    BLOCK + block_bytes(job) / u64::from(job.cluster_blocks) / BLOCK_BYTES
}

impl Worker<'_> {
    /// Takes steps off the budget. The turn of the warp ends soon where none are left.
    pub(crate) fn charge(&mut self, steps: u64) {
        self.spent += steps;
        if self.job.is_over_budget(self.spent) {
            self.warp.left = self.warp.left.min(-1);
        }
    }
}
