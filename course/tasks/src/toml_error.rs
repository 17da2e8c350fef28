//! Messages of the TOML parser.

/// Line of an error in a TOML file, from 1, and the message in one line, with the name of the field.
pub fn toml_error(text: &str, error: &toml::de::Error) -> (usize, String) {
    let start = error.span().map_or(0, |span| span.start.min(text.len()));
    let line = text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count() + 1;
    (line, one_line(error))
}

/// The message in one line, with the name of the field.
pub(crate) fn one_line(error: &toml::de::Error) -> String {
    error.message().trim().replace('\n', ", ")
}
