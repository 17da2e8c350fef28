//! Parts that several subcommands share: the compilers, the learner's files, starting programs, and printing.

pub mod clang;
pub(crate) mod committed;
#[expect(unsafe_code, reason = "a limit for a child process")]
pub mod compiler;
pub(crate) mod cubin;
#[expect(unsafe_code, reason = "signals")]
pub mod interrupt;
pub(crate) mod judge;
pub(crate) mod kernels;
pub mod learner;
#[expect(unsafe_code, reason = "a C library")]
pub mod nvrtc;
pub mod output;
pub(crate) mod packed;
pub mod paths;
pub mod programs;
pub(crate) mod record_files;
pub mod source;
pub(crate) mod staleness;
pub(crate) mod step_args;
pub(crate) mod table;
pub(crate) mod tools;
pub(crate) mod wheel;
pub(crate) mod wheels;
