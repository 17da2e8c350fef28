//! Memory accesses of a warp: operands, addresses, checks and counts of an access, and its loads and stores.
//!
//! [`memo`](super::memo) keeps what follows from the pattern of a warp's addresses; [`access`] finds the memory by it.
//! What does not fit a pattern, or goes wrong, is looked up lane by lane ([`per_lane`]).

pub(crate) mod access;
pub(crate) mod access_checks;
pub(crate) mod access_spec;
pub(crate) mod cluster_memory;
pub(crate) mod load_store;
pub(crate) mod local_pointers;
pub(crate) mod per_lane;
