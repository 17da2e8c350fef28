//! Builds and checks the book.
//!
//! `cargo xtask book` starts the program of this crate. mdBook's library renders the chapters; one preprocessor
//! ([`BookPreprocessor`]) fills in what is generated: listings, differences between steps, outputs, pictures, recorded numbers.
//! It is strict: if something that a chapter names is missing, the book is not built.
//!
//! Not here: drawing pictures (`figures`), taking measurements (`harness`).

#![forbid(unsafe_code)]

mod axe;
mod blocks;
pub mod browser;
mod ceilings;
mod chapter;
mod check;
mod chip;
mod counters;
mod devtools;
mod differences;
mod duels;
mod figures;
pub mod generated_files;
mod glossary;
mod highlight;
mod kernel_args;
mod lessons;
mod line_counts;
mod listings;
pub mod make;
mod numbers;
mod others;
mod output_command;
mod output_directive;
mod pages;
mod pair;
mod predicted;
mod preprocess;
mod problem;
mod process;
mod ptx;
mod questions;
mod quote;
mod record_lookup;
mod record_tables;
mod repo_paths;
mod serve;
mod slides;
mod step;
mod sums;
mod tasks;
mod transcripts;

pub use check::check;
pub use differences::main_kernel;
pub use make::{Made, make};
pub use preprocess::BookPreprocessor;
pub use problem::{Problem, Problems};
pub use repo_paths::RepoPaths;
pub use serve::watch;
