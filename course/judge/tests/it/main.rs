//! The judge and the programs around it, as learners and instructors run them.
//!
//! One program, because linking takes longer than running.

mod built_in_compiler;
mod common;
mod explain;
#[cfg(unix)]
mod grading;
mod host;
mod ladder;
#[cfg(unix)]
mod learner;
mod questions;
mod solutions;
mod tasks;
