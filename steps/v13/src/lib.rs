//! The whole process: a product from arrays of the host to the result in the host.
//!
//! A [`schedule`] lists which blocks of A and B are copied in, what is multiplied, and which blocks of C are copied
//! out, in order; [`process`] enqueues one in the streams of a device, [`pair`] two in those of two devices, with
//! [`nccl`] between them; [`host`] has the arrays, and checks the result.

pub mod host;
pub mod nccl;
pub mod pair;
pub mod process;
pub mod schedule;
