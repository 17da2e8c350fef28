//! The directives of chapters, a module for each kind; [`preprocess`](crate::preprocess) calls them.

pub(crate) mod ceilings;
pub(crate) mod chip;
pub(crate) mod counters;
pub(crate) mod differences;
pub(crate) mod duels;
pub(crate) mod figures;
pub(crate) mod lessons;
pub(crate) mod listings;
pub(crate) mod other_libraries;
pub(crate) mod output_directive;
pub(crate) mod pair;
pub(crate) mod predicted;
pub(crate) mod process;
pub(crate) mod questions;
pub(crate) mod record_lookup;
pub(crate) mod record_tables;
pub(crate) mod step;
pub(crate) mod sums;
pub(crate) mod tasks;
