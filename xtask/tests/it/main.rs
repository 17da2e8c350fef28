//! `xtask` as its users see it, in one program, because linking is most of the build of a test.

#[cfg(unix)]
mod assign;
#[cfg(unix)]
mod cli;
#[cfg(unix)]
mod exercise;
#[cfg(unix)]
mod explain;
#[cfg(unix)]
mod explain_machine;
#[cfg(unix)]
mod explain_page;
#[cfg(unix)]
mod fakes;
mod files;
#[cfg(unix)]
mod hint;
#[cfg(unix)]
mod home;
#[cfg(unix)]
mod missing;
mod packed;
#[cfg(unix)]
mod predict;
mod profile;
#[cfg(unix)]
mod terminal;
#[cfg(unix)]
mod watch;
