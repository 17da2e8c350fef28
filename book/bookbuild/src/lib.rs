//! Builds and checks the book.
//!
//! `cargo xtask book` starts the program of this crate. mdBook's library renders the chapters; one preprocessor
//! ([`BookPreprocessor`]) fills in what is generated: listings, differences between steps, outputs, pictures, recorded
//! numbers.
//! It is strict: if something that a chapter names is missing, the book is not built.
//!
//! Not here: drawing pictures (`figures`), taking measurements (`harness`).

#![forbid(unsafe_code)]

/// A regular expression that is part of the program, compiled when it is first used.
type Pattern = std::sync::LazyLock<regex::Regex>;

macro_rules! pattern {
    ($text:expr) => {
        std::sync::LazyLock::new(|| regex::Regex::new($text).expect("a fixed pattern"))
    };
}

mod blocks;
mod chapter;
mod check;
mod checks;
mod directives;
pub mod generated_files;
mod glossary;
mod highlight;
mod kernel_args;
mod line_counts;
pub mod make;
mod markdown;
mod output_command;
mod preprocess;
mod problem;
mod quote;
mod repo_paths;
mod run;
mod slides;
mod transcripts;
mod watch;

pub use check::check;
pub use checks::browser;
pub use directives::differences::main_kernel;
pub use make::{BuiltBook, make};
pub use preprocess::BookPreprocessor;
pub use problem::{Problem, Problems};
pub use repo_paths::RepoPaths;
pub use watch::watch;
