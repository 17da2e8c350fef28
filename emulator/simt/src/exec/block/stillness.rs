//! Blocks whose threads wait for each other by polling shared memory: their state comes back, and nobody can change it.

use crate::arithmetic::lanes::Line;
use crate::program::OpKind;

use crate::exec::block::Block;
use crate::exec::fiber::{FiberState, Frame};
use crate::exec::launch_job::Job;

/// Visits after which the state may be an earlier one: in these, every fiber of a warp has had turns.
const MIN_VISITS: u32 = 8;
/// Visits after which the state is not looked at any more.
const MAX_VISITS: u32 = 1 << 10;

/// The state of a block that only polls its own shared memory.
#[derive(Debug, Default)]
pub(crate) struct Stillness {
    /// Visits since something last changed.
    visits: u32,
    /// The visit whose state is kept, and the state.
    kept: Option<(u32, Box<State>)>,
}

#[derive(Debug, PartialEq)]
struct State {
    registers: Vec<[u32; 32]>,
    preds: Vec<u32>,
    fibers: Vec<(FiberState, Vec<Frame>)>,
}

impl Stillness {
    /// Notes that something has changed.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Block {
    /// Returns whether the block polls forever, at the end of a visit in which its threads changed nothing: its state
    /// is that of an earlier visit, and only its own threads can change what they poll.
    pub(crate) fn never_moves(&mut self, job: &Job<'_>) -> bool {
        if !self.poll_cache.lies_in(self.shared.as_ptr_range()) {
            self.stillness.clear();
            return false;
        }
        self.stillness.visits += 1;
        let visits = self.stillness.visits;
        if !(MIN_VISITS..=MAX_VISITS).contains(&visits) {
            return false;
        }
        let fibers = self.warps.iter().flat_map(|warp| &warp.fibers);
        let mut fibers: Vec<_> = fibers.map(|fiber| (fiber.state, fiber.stack.clone())).collect();
        // Fibers run in turn: their order says nothing.
        fibers.sort_by_key(|(_, stack)| stack.first().map(|frame| (frame.pc, frame.mask.bits())));
        let registers = self.regs.iter().map(|Line(lanes)| *lanes).collect();
        let state = State { registers, preds: self.preds.clone(), fibers };
        match &self.stillness.kept {
            Some((visit, kept)) if **kept == state && visits - visit >= MIN_VISITS => !acts_by_itself(job),
            Some(_) if !visits.is_power_of_two() => false,
            _ => {
                self.stillness.kept = Some((visits, Box::new(state)));
                false
            }
        }
    }
}

/// Returns whether the kernel has operations that change something after they were issued, or that read a clock.
fn acts_by_itself(job: &Job<'_>) -> bool {
    job.kernel.ops.iter().any(|op| {
        matches!(
            op.kind,
            OpKind::ReadClock { .. }
                | OpKind::Mbarrier(_)
                | OpKind::BulkBytes(_)
                | OpKind::TensorCopy(_)
                | OpKind::CpAsync { .. }
                | OpKind::Wgmma(_)
        )
    })
}
