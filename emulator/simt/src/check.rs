//! The checks: what they receive while a kernel runs, and the mistakes that follow from it.
//!
//! Execution reports the mistakes that it detects itself (bounds, alignment, barriers …) to a [`Collector`] as
//! [`Mistake`]s, and every memory access to the race checks in [`race`], which report to the same collector.
//! Each block has its own collector; they are merged when it has ended, and `Collector::finish` makes
//! [`Mistakes`] of them: facts, which the crate `diagnostics` puts into words. Nothing here depends on how many
//! threads ran the blocks. This module never runs anything and never decides what a mistake does to a launch.

mod code;
mod collect;
mod mistake;
pub mod race;
#[cfg(test)]
mod testing;

pub use code::{Code, Severity};
pub(crate) use collect::MAX_RANGES;
pub use collect::{Collector, MistakeGroup, Mistakes, coordinates};
pub use mistake::{
    AccessKind, AccessProblem, Astray, BadAccess, BadBarrier, BadOperand, BadTarget, BadTensor, BadWgmma, BarrierGroup,
    BarrierProblem, CopiedBy, CopyInFlight, Elsewhere, InstrThread, KnownOfLoop, MissingOrder, Mistake, MistakeDetails,
    PhaseId, PhaseOfCopy, PhaseWaits, PolledElement, RaceFacts, RaceParty, RemoteProblem, SyncMask, ThreadId, Use,
    Waited, WrongMask,
};
