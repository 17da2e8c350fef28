//! What several subcommands share: the compilers, the learner's files, starting programs, and printing.

pub(crate) mod clang;
pub(crate) mod committed;
#[expect(unsafe_code, reason = "a limit for a child process")]
pub(crate) mod compiler;
pub(crate) mod cubin;
#[expect(unsafe_code, reason = "signals")]
pub(crate) mod interrupt;
pub(crate) mod judge;
pub(crate) mod kernels;
pub(crate) mod learner;
#[expect(unsafe_code, reason = "a C library")]
pub(crate) mod nvrtc;
pub(crate) mod output;
pub(crate) mod paths;
pub(crate) mod programs;
pub(crate) mod record_files;
pub(crate) mod source;
pub(crate) mod staleness;
pub(crate) mod step_args;
pub(crate) mod table;
pub(crate) mod tools;
pub(crate) mod wheel;
pub(crate) mod wheels;
