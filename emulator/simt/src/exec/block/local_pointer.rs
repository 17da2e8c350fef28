//! Pointers to local memory that other threads can read.

/// A pointer to a thread's local memory that lies where other threads can read it.
#[derive(Debug)]
pub(crate) struct LocalPointer {
    /// Generic address of the place where it was stored.
    pub(crate) place: u64,
    pub(crate) value: u64,
    pub(crate) thread: u32,
    /// The store.
    pub(crate) instr: u32,
}
