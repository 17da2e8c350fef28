//! Who runs next: the warps of a block, the blocks of a cluster, the blocks of a grid; and how blocks end that cannot
//! continue.

pub(crate) mod cluster;
pub(crate) mod grid;
pub(crate) mod scheduler;
pub(crate) mod termination;
