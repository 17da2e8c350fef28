//! Passes over virtual operations, shared by PTX and machine code: analyses, then allocation of registers and the final
//! form. No pass depends on the language of the kernel.

pub(crate) mod atomics;
pub(crate) mod cfg;
pub(crate) mod constants;
mod distances;
pub(crate) mod finish;
pub(crate) mod flow;
pub(crate) mod fragments;
pub(crate) mod in_flight;
pub(crate) mod liveness;
pub(crate) mod merge;
pub(crate) mod order;
mod pointers;
pub(crate) mod registers;
pub(crate) mod sync_patterns;
pub(crate) mod validate;
