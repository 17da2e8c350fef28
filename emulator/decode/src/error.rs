//! Reasons why a module cannot be decoded.

use ptx::{CheckError, ParseError, Span, Unsupported};

/// Reason to refuse a module. The variants differ in who can repair it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Valid PTX outside our subset: all such places, in text order.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Unsupported(Vec<Unsupported>),
    /// Syntactically correct PTX without a meaning: an unknown register, an operand of the wrong kind.
    #[error(transparent)]
    Invalid(#[from] ParseError),
    /// Machine code that does not run here: of the first such kernel an instruction of each mnemonic, with its address.
    #[error("{}", .0.iter().map(|what| format!("{what} is not supported")).collect::<Vec<_>>().join("\n"))]
    Refused(Vec<String>),
    /// More than a module may take: [`program::limits`].
    #[error("{0}")]
    TooLarge(String),
    /// A bug in the emulator, not in the module.
    #[error("internal error: {0}")]
    Internal(String),
}

impl From<CheckError> for DecodeError {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Parse(error) => Self::Invalid(error),
            CheckError::Unsupported(list) => Self::Unsupported(list),
        }
    }
}

impl From<program::limits::TooLarge> for DecodeError {
    fn from(program::limits::TooLarge(why): program::limits::TooLarge) -> Self {
        Self::TooLarge(why)
    }
}

pub(super) type Result<T> = std::result::Result<T, DecodeError>;

pub(super) fn unsupported(span: Span, what: impl Into<String>) -> DecodeError {
    DecodeError::Unsupported(vec![Unsupported { span, what: what.into() }])
}

pub(super) fn invalid(span: Span, message: impl Into<String>) -> DecodeError {
    DecodeError::Invalid(ParseError { span, message: message.into() })
}

/// Returns an error as [`unsupported`] does, for machine code.
pub(super) fn refused(what: impl Into<String>) -> DecodeError {
    DecodeError::Refused(vec![what.into()])
}
