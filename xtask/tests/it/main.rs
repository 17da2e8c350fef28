//! `xtask` as its users see it, in one program, because linking is most of the build of a test.
//!
//! On Unix: shell scripts stand in for the programs that it starts.

#![cfg(unix)]

mod assign;
mod cli;
mod exercise;
mod explain;
mod explain_machine;
mod explain_page;
mod fakes;
mod files;
mod hint;
mod home;
mod missing;
mod packed;
mod predict;
mod terminal;
mod watch;
