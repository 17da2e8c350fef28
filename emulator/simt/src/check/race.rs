//! Races: two threads touch the same memory, at least one writes, and nothing orders them.
//!
//! [`SharedRaces`] follows the shared memory of one block at a time, [`BlockRaces`] the global memory that one block
//! accesses, and [`GlobalRaces`] joins the blocks of a launch. Each access is a [`Touch`].
//!
//! # What counts as order
//!
//! - A barrier of the block orders everything before it against everything after it. On global memory, one of only
//!   some of its threads (`bar.sync 1, 64`) is taken for a whole one: races past it go unnoticed, none is invented.
//! - `__syncwarp` orders the lanes that its mask names. Shuffles and votes order nothing.
//! - Atomics do not race with atomics, nor do `volatile`, relaxed, acquire and release accesses among
//!   themselves or with atomics. Volatile accesses to shared memory count as ordinary ones in a kernel where no
//!   thread waits for the value of one ([`program::Order::InStep`]).
//! - An ordinary load whose value a compare-and-swap compares ([`program::Order::Guess`]) does not race
//!   with atomics: a stale value makes the swap fail, and the loop tries again.
//! - A fence, together with atomics or strong accesses, is how threads hand data to each other without a
//!   barrier. An interval between barriers (for races between blocks: a launch) in which both were seen is
//!   left alone, since telling right from wrong there needs the value that each load saw. Where blocks run one
//!   after another, `block_clocks` follows which flags each of them has read, and whether a fence came after.
//! - Arrivals at an mbarrier come before the waits for the phase that they end, and so do the bytes of bulk copies:
//!   `warp_clocks` follows that on shared memory, and also which warps a barrier of some threads orders.
//! - The end of the launch orders everything.
//!
//! Two writes are an equal race (a warning) when they store the same value. Values are compared for accesses
//! that come with [`Touch::values`]; without them writes count as different.

mod bits;
mod block_clocks;
mod global;
mod interval;
mod log;
mod parties;
mod shared;
#[cfg(test)]
mod tests;
mod touch;
mod warp_clocks;
mod within;

pub use global::{BlockRaces, GlobalRaces};
pub use shared::SharedRaces;
pub(crate) use shared::unit_shift;
pub use touch::{AccessMark, ByteRun, Cells, Touch, Values};
pub(crate) use warp_clocks::WarpClocks;
