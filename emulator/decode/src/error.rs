//! Why a module cannot be decoded.

use ptx::{ParseError, Span, Unsupported};

/// A module that will not run, and who can do something about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Valid PTX, outside what we run: all that was found, in the order of the text.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Unsupported(Vec<Unsupported>),
    /// It reads as PTX but means nothing: an unknown register, an operand of the wrong kind.
    #[error(transparent)]
    Invalid(ParseError),
    /// Machine code that we do not run: each instruction with its address.
    #[error("{}", .0.iter().map(|what| format!("{what} is not supported")).collect::<Vec<_>>().join("\n"))]
    Refused(Vec<String>),
    /// More than a module may take.
    #[error("{0}")]
    TooLarge(String),
    /// Our own mistake: decode made something that it would not accept itself.
    #[error("internal error in decode: {0}")]
    Internal(String),
}

impl From<program::limits::TooLarge> for DecodeError {
    fn from(program::limits::TooLarge(why): program::limits::TooLarge) -> Self {
        Self::TooLarge(why)
    }
}

impl DecodeError {
    /// Where in the PTX, when that is known.
    pub fn span(&self) -> Option<Span> {
        match self {
            DecodeError::Unsupported(list) => list.first().map(|e| e.span),
            DecodeError::Invalid(e) => Some(e.span),
            DecodeError::Refused(_) | DecodeError::TooLarge(_) | DecodeError::Internal(_) => None,
        }
    }
}

pub(super) type Result<T> = std::result::Result<T, DecodeError>;

/// `what` is "… is not supported" with the last words left off.
pub(super) fn unsupported(span: Span, what: impl Into<String>) -> DecodeError {
    DecodeError::Unsupported(vec![Unsupported {
        span,
        what: what.into(),
    }])
}

pub(super) fn invalid(span: Span, message: impl Into<String>) -> DecodeError {
    DecodeError::Invalid(ParseError {
        span,
        message: message.into(),
    })
}

/// Machine code; `what` as for [`unsupported`].
pub(super) fn refused(what: impl Into<String>) -> DecodeError {
    DecodeError::Refused(vec![what.into()])
}
