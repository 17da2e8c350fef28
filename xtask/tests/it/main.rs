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
mod files;
mod fixtures;
#[cfg(unix)]
mod hint;
#[cfg(unix)]
mod home;
#[cfg(unix)]
mod lacking;
#[cfg(unix)]
mod played;
#[cfg(unix)]
mod predict;
mod profile;
mod solutions;
#[cfg(unix)]
mod terminal;
#[cfg(unix)]
mod watch;
