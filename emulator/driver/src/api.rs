//! The calls, by subject as in the driver API's manual.
//!
//! Names and arguments are those of the "CUDA Driver API" manual. Comments describe differences from it.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and arguments of the driver API")]

pub(crate) mod array;
pub(crate) mod capture;
pub(crate) mod context;
pub(crate) mod copy;
pub(crate) mod copy_2d_3d;
pub(crate) mod copy_ends;
mod copy_mistakes;
pub(crate) mod device;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod function;
pub(crate) mod graph;
pub(crate) mod graph_exec;
mod graph_memory;
pub(crate) mod graph_nodes;
pub(crate) mod host;
pub(crate) mod init;
pub(crate) mod launch;
pub(crate) mod library;
pub(crate) mod link;
pub(crate) mod memory;
pub(crate) mod memset;
pub(crate) mod module;
pub(crate) mod occupancy;
pub(crate) mod pointer;
pub(crate) mod pool;
mod predict;
pub(crate) mod profiler;
pub(crate) mod stream;
pub(crate) mod superseded;
pub(crate) mod tensor;
pub(crate) mod texture;
pub(crate) mod user_object;

use crate::{ffi::Out, lifecycle::initialised, result::Outcome};

/// Fails before `cuInit`, and for a null pointer to the result.
pub(crate) fn ready_for<T>(out: Out<T>) -> Outcome {
    initialised()?;
    out.check()
}

/// Writes the result of a query that needs an initialised driver.
pub(crate) fn query<T>(out: Out<T>, result: impl FnOnce() -> Outcome<T>) -> Outcome {
    initialised()?;
    out.put_with(result)
}
