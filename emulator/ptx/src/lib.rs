//! PTX text → typed module with spans, and back to text.
//!
//! Knows nothing of execution.

pub mod ast;
pub mod error;
pub mod span;

pub use error::{ParseError, Unsupported};
pub use span::Span;
