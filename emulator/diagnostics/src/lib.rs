//! Messages about what the emulated GPU found wrong with a kernel.
//!
//! `simt` gathers facts ([`simt::check::Mistakes`]); [`Report::new`] makes [`Finding`]s of them, and [`refusal`] says
//! why a launch did not start. Nothing here runs a kernel or changes what a launch does.
//!
//! - `source` reads the `.cu`: declarations, statements, values of expressions.
//! - `locate` leads from an address to the array, the subscript and the lines that it came from.
//! - `messages` writes them, one module per family of mistakes.
//! - `launch_context` is what these share: the launch, its sources, and the layout of a message.

#![forbid(unsafe_code)]

mod finding;
mod launch_context;
mod launch_inputs;
mod locate;
mod messages;
mod report;
mod source;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod trace;
mod words;

pub use finding::{Action, ArrayElement, Finding, Party, Place, Race, RacingAccess, Space, UndefinedOutput};
pub use messages::refusal::{HostWarning, not_attempted, refusal, too_many_registers};
pub use report::Report;
pub use source::Source;
pub use source::text::plain_name;
