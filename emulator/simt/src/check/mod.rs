//! The checks: what they are told while a kernel runs, and what they say afterwards.
//!
//! The machine tells mistakes that it sees itself (bounds, alignment, barriers …) to a [`Collector`] as
//! [`Event`]s, and every memory access to the race checks in [`race`], which tell the same collector.
//! Each worker thread has its own collector; they are merged at the end, and [`Collector::finish`] makes
//! [`crate::finding::Finding`]s of them with the help of a [`Context`]. Nothing here depends on how many
//! threads ran the blocks. This module never runs anything and never decides what a mistake does to a launch.

mod collect;
mod context;
mod event;
pub mod launch;
pub mod race;
pub(crate) mod render;
#[cfg(test)]
mod testing;

pub use collect::Collector;
pub use context::{Allocation, Context};
pub use event::{AccessKind, BadAccess, BarrierGroup, Details, Event, MissingOrder, RaceFacts, RaceParty};
