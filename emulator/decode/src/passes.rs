//! Passes over virtual operations of PTX and machine code: analyses, allocation of registers, the final form.

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

/// Values before the first operation: constants, and `n` registers, unknown for those in `preset` and otherwise zero.
#[derive(Clone, Copy)]
pub(crate) struct InitialRegisters<'a> {
    pub(crate) n: usize,
    pub(crate) constants: &'a constants::Constants,
    pub(crate) preset: &'a [u32],
}
