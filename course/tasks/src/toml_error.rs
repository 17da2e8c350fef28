//! Messages of the TOML parser.

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct TomlError {
    /// Line from 1.
    pub line: usize,
    /// The parser's message in one line, with the name of the field.
    pub why: String,
}

impl TomlError {
    /// Reads a text. The error names line and field.
    pub fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Self> {
        toml::from_str(text).map_err(|error| Self::new(text, &error))
    }

    fn new(text: &str, error: &toml::de::Error) -> Self {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count() + 1;
        Self { line, why: one_line(error) }
    }
}

/// Returns the message in one line, with the name of the field.
pub(crate) fn one_line(error: &toml::de::Error) -> String {
    error.message().trim().replace('\n', ", ")
}
