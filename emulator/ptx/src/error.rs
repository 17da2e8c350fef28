//! The two ways in which reading PTX can fail.

use crate::span::Span;

/// The text is not PTX we can read. The author of the `.ptx` acts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {message}", span.line, span.column)]
pub struct ParseError {
    /// The part of the text that it was read from.
    pub span: Span,
    /// What was found and what was expected.
    pub message: String,
}

/// Valid PTX, outside what we run. We act, or say so in the book.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {}: {what} is not supported", span.line)]
pub struct Unsupported {
    /// The part of the text that it was read from.
    pub span: Span,
    /// Name of the instruction or feature, and where there is more to say, why.
    pub what: String,
}

/// Why a module cannot be executed, before anything runs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// It is not PTX.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// It is PTX that we do not emulate: all of it that was found, in the order of the text.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Unsupported(Vec<Unsupported>),
}
