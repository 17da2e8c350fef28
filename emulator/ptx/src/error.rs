//! Errors of reading PTX.

use crate::span::Span;

/// The text is not valid PTX: an error in the `.ptx` file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {message}", span.line, span.column)]
pub struct ParseError {
    pub span: Span,
    /// Tokens found and expected.
    pub message: String,
}

/// Valid PTX that the emulator does not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {}: {what} is not supported", span.line)]
pub struct Unsupported {
    pub span: Span,
    /// Name of the instruction or feature, with the reason where there is more to say.
    pub what: String,
}

/// Reason for which a module cannot be executed, before anything runs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// All unsupported instructions that were found, in the order of the text.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Unsupported(Vec<Unsupported>),
}
