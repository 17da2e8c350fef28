//! The commands of a step's program.

pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod launch;
pub mod sums;
