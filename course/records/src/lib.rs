//! Records of measurements: one type for each kind of file in `book/data`, read, merged and saved whole.
//!
//! Programs of the steps print them, `xtask` saves them, the book and the tests read them. Nothing here measures.

#![forbid(unsafe_code)]

pub mod busiest;
pub mod ceilings;
pub mod duel;
pub mod machine_code;
pub mod process;
pub mod profile;
pub mod record;
mod record_file;
mod run;
pub mod sanitizer;
pub mod sums;
pub mod two_devices;

pub use record::{Measurement, Outcome, Record, Samples};
pub use record_file::RecordError;
pub use run::{Roofline, Run, slug};
