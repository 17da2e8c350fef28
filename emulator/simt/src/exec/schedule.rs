//! Scheduling: of warps in a block, blocks in a cluster and in a grid; and the end of blocks that cannot continue.

pub(crate) mod cluster;
pub(crate) mod grid;
pub(crate) mod scheduler;
pub(crate) mod termination;
