//! PTX text → typed module with spans, and back to text.
//!
//! Knows nothing of execution.

pub mod ast;
pub mod error;
mod lex;
mod parse;
pub mod span;
pub mod table;

pub use error::{CheckError, ParseError, Unsupported};
pub use parse::parse;
pub use span::Span;
