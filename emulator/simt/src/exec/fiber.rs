//! Control flow of a warp: fibers, each a stack of groups of lanes that reconverge.
//!
//! A frame is a group of lanes at a position, on its way to the position where it reconverges with others. When lanes
//! diverge at a branch, the frame moves to the reconvergence point, and each side gets a frame of its own on top. Only
//! the top frame of a fiber runs, so lanes that must make progress at the same time are in two fibers.

#[cfg(test)]
mod tests;

use crate::lane_mask::LaneMask;
use program::{BarrierResult, Reconverge};

/// A group of lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub(crate) mask: LaneMask,
    /// Position of the next operation.
    pub(crate) pc: u32,
    /// Position where the group reconverges with the frame below, or [`NEVER`].
    pub(crate) reconvergence_pc: u32,
}

/// Value of [`Frame::reconvergence_pc`]: the lanes exit without reconverging.
const NEVER: u32 = u32::MAX;

/// Number of frames from which on [`Fiber::converge`] pushes no more, so that a loop of it cannot exhaust memory.
const MAX_FRAMES: usize = 1 << 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum FiberState {
    #[default]
    Ready,
    /// Waits at a barrier of the block.
    Barrier(u8),
    /// Waits for other warps of its warpgroup to issue a product.
    Warpgroup,
    /// Waits for the threads of the cluster.
    Cluster,
    /// Waits for the lanes `need` of its warp to reach `place`.
    Lanes { need: LaneMask, place: MeetingPlace },
}

/// Where lanes of a warp wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MeetingPlace {
    /// At the operation with this position.
    At(u32),
    AnyWarpSync,
    /// After a `WARPSYNC` of machine code, which they have executed.
    AfterWarpSync,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Fiber {
    pub(crate) stack: Vec<Frame>,
    pub(crate) state: FiberState,
    pub(crate) wait_instr: u32,
    /// Whether the fiber continues although named lanes are missing.
    pub(crate) forced: bool,
    /// Barrier reduction whose result the fiber waits for.
    pub(crate) reduction: Option<BarrierResult>,
    /// Polls of memory that other threads change, since the fiber last changed something itself.
    pub(crate) polls: u32,
    /// Phase that the fiber polled last and that had not ended; `None` where it has polled something else since.
    pub(crate) phase: Option<PhaseWait>,
    /// Number of `nanosleep` instructions since the fiber polled `phase`.
    pub(crate) sleeps: u32,
}

impl Fiber {
    pub(crate) fn new(mask: LaneMask) -> Self {
        Self { stack: vec![Frame { pc: 0, reconvergence_pc: NEVER, mask }], ..Self::default() }
    }

    /// Returns whether the fiber executes the instruction at which it waits once more when it continues.
    pub(crate) fn repeats_wait(&self) -> bool {
        !matches!(self.state, FiberState::Lanes { place: MeetingPlace::AfterWarpSync, .. })
    }

    pub(crate) fn lanes(&self) -> LaneMask {
        self.stack.iter().fold(LaneMask::EMPTY, |all, frame| all | frame.mask)
    }

    pub(crate) fn top(&self) -> Option<Frame> {
        self.stack.last().copied()
    }

    pub(crate) fn set_pc(&mut self, pc: u32) {
        if let Some(top) = self.stack.last_mut() {
            top.pc = pc;
        }
    }

    /// Pops the top frame, which has reached its reconvergence point.
    pub(crate) fn reconverge(&mut self) {
        self.stack.pop();
        self.polls = 0;
    }

    /// Splits the top frame into `ways` (lanes and a position), which run until they reconverge, the last one first.
    pub(crate) fn diverge(&mut self, ways: &[(LaneMask, u32)], reconverge: Reconverge) {
        let Some(top) = self.stack.pop() else { return };
        let reconvergence_pc = match reconverge {
            Reconverge::At(position) => position,
            Reconverge::Enclosing => top.reconvergence_pc,
            Reconverge::AtExit => NEVER,
        };
        // A frame that reconverges at the same position already waits there for these lanes.
        if top.reconvergence_pc != reconvergence_pc {
            self.stack.push(Frame { pc: reconvergence_pc, ..top });
        }
        for &(mask, pc) in ways {
            if !mask.is_empty() && pc != reconvergence_pc {
                self.stack.push(Frame { pc, reconvergence_pc, mask });
            }
        }
        self.polls = 0;
    }

    /// Makes the lanes of the top frame, at `pc`, reconverge at `reconvergence_pc`, however they diverge before.
    pub(crate) fn converge(&mut self, pc: u32, reconvergence_pc: u32) {
        if self.stack.len() >= MAX_FRAMES {
            // Results never depend on where lanes reconverge, so they continue without a frame.
            self.set_pc(pc);
            return;
        }
        let lanes = self.top().map_or(LaneMask::EMPTY, |top| top.mask);
        self.diverge(&[(lanes, pc)], Reconverge::At(reconvergence_pc));
    }

    /// Makes `lanes` skip `reconvergence_pc`: they reconverge at the next point after it.
    pub(crate) fn leave_reconvergence(&mut self, lanes: LaneMask, reconvergence_pc: u32) {
        let is_joint = |frame: &Frame| frame.pc == reconvergence_pc && frame.reconvergence_pc != reconvergence_pc;
        let Some(joint) = self.stack.iter().rposition(is_joint) else { return };
        let above = self.stack.split_off(joint + 1);
        self.stack[joint].mask &= !lanes;
        let next = self.stack[joint].reconvergence_pc;
        for frame in above {
            if frame.reconvergence_pc != reconvergence_pc {
                self.stack.push(frame);
                continue;
            }
            let [stay, leave] = [frame.mask & !lanes, frame.mask & lanes];
            self.stack.push(Frame { mask: stay, ..frame });
            self.stack.push(Frame { mask: leave, reconvergence_pc: next, ..frame });
        }
        self.exit(LaneMask::EMPTY);
    }

    /// Makes the lanes of the top frame call `ways`, the first one first, and continue at `resume` after all returned.
    pub(crate) fn call(&mut self, resume: u32, ways: &[(LaneMask, u32)]) {
        self.set_pc(resume);
        let frames = ways.iter().rev().map(|&(mask, pc)| Frame { pc, reconvergence_pc: NEVER, mask });
        self.stack.extend(frames);
        self.polls = 0;
    }

    /// Removes returning lanes from the frames above the lowest `below` ones.
    pub(crate) fn return_lanes(&mut self, lanes: LaneMask, below: usize) {
        let mut kept = below;
        for at in below..self.stack.len() {
            let mut frame = self.stack[at];
            frame.mask &= !lanes;
            if !frame.mask.is_empty() {
                self.stack[kept] = frame;
                kept += 1;
            }
        }
        self.stack.truncate(kept);
        self.polls = 0;
    }

    /// Removes lanes that have exited from all frames.
    pub(crate) fn exit(&mut self, lanes: LaneMask) {
        for frame in &mut self.stack {
            frame.mask &= !lanes;
        }
        self.stack.retain(|frame| !frame.mask.is_empty());
        self.polls = 0;
    }

    /// Moves lanes into a fiber of their own.
    pub(crate) fn split(&mut self, lanes: LaneMask) -> Fiber {
        let mut other = self.clone();
        other.exit(!lanes);
        self.exit(lanes);
        other
    }

    /// Returns whether two fibers can run and have frames at the same positions.
    fn runs_with(&self, other: &Fiber) -> bool {
        let place = |frame: &Frame| (frame.pc, frame.reconvergence_pc);
        [self.state, other.state] == [FiberState::Ready; 2]
            && self.stack.iter().map(place).eq(other.stack.iter().map(place))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PhaseWait {
    /// Offset of the mbarrier.
    pub(crate) barrier: u32,
    pub(crate) instr: u32,
    pub(crate) parity: Option<u8>,
    /// Number of the awaited phase, where `parity` is `None`.
    pub(crate) awaited: u64,
}

impl PhaseWait {
    /// Returns whether the wait is over, where `phase` phases have ended.
    pub(crate) fn has_ended(&self, phase: u64) -> bool {
        phase_has_ended(phase, self.parity, self.awaited)
    }
}

/// Returns whether a phase has ended, after `phase` phases: the one of a parity, or else number `awaited`.
pub(crate) fn phase_has_ended(phase: u64, parity: Option<u8>, awaited: u64) -> bool {
    match parity {
        Some(parity) => phase & 1 != u64::from(parity),
        None => phase > awaited,
    }
}

/// Reason why a fiber stopped running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    /// No lane is left.
    Ended,
    /// The fiber waits, for the reason in its [`FiberState`].
    Waits,
    /// The fiber has executed its quantum of instructions, or gives way at a barrier.
    EndOfTurn,
    /// The fiber polls memory that others must change.
    Poll,
    /// The block cannot go on.
    Stopped,
    /// The fiber continues at once in another variant of the loop: its need of the general one has changed.
    SwitchRunMode,
}

/// What a fiber does after an operation, where it does not continue with the next one.
///
/// Operations return it as [`ControlFlow::Break`](std::ops::ControlFlow::Break).
pub(crate) enum AfterOp {
    /// Continue with the top frame, which has changed.
    Frames,
    /// Wait, and execute the operation again.
    Wait,
    /// The operation is complete: wait, then continue after it.
    WaitAfter,
    /// Let other lanes and warps run, then continue after the operation.
    Poll,
    /// Let other lanes and warps run, then execute the operation again. It is counted when it completes; an observer
    /// receives it each time.
    PollAgain,
    /// The block cannot go on.
    Stop,
}

/// Joins fibers that can run and have the same frames.
pub(crate) fn join_ready(fibers: &mut Vec<Fiber>) {
    let mut joined: Vec<Fiber> = Vec::with_capacity(fibers.len());
    for fiber in fibers.drain(..) {
        match joined.iter_mut().find(|known| known.runs_with(&fiber)) {
            Some(known) => {
                let frames = known.stack.iter_mut().zip(&fiber.stack);
                frames.for_each(|(mine, theirs)| mine.mask |= theirs.mask);
            }
            None => joined.push(fiber),
        }
    }
    *fibers = joined;
}
