//! Messages about a source.

use crate::source::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The source is wrong.
    Error,
    /// The source is CUDA C++, and this compiler does not know it.
    Unsupported,
    /// The source compiles, and probably does not do what is meant.
    Warning,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub severity: Severity,
    pub span: Span,
    /// One sentence without a full stop: what is wrong here.
    pub text: String,
    /// Words below the underlined place; may be empty.
    pub label: String,
    /// The right form, or the meaning.
    pub help: Option<String>,
    /// Other places that matter, with a sentence each.
    pub notes: Vec<(Span, String)>,
}

impl Message {
    fn new(severity: Severity, span: Span, text: impl Into<String>) -> Self {
        Self { severity, span, text: text.into(), label: String::new(), help: None, notes: Vec::new() }
    }

    pub fn error(span: Span, text: impl Into<String>) -> Self {
        Self::new(Severity::Error, span, text)
    }

    pub fn unsupported(span: Span, text: impl Into<String>) -> Self {
        Self::new(Severity::Unsupported, span, text)
    }

    pub fn warning(span: Span, text: impl Into<String>) -> Self {
        Self::new(Severity::Warning, span, text)
    }

    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub fn note(mut self, span: Span, text: impl Into<String>) -> Self {
        self.notes.push((span, text.into()));
        self
    }
}
