//! Standard output, which may be closed before we are done.

use std::io::{ErrorKind, Write as _};

use crate::trouble::Trouble;

/// Writes a text as it is.
///
/// # Errors
/// [`Trouble::Closed`] when nobody reads any more.
pub fn write(text: &str) -> Result<(), Trouble> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Trouble::Closed),
        Err(error) => Err(Trouble::CouldNot(format!("standard output: {error}"))),
    }
}

/// Writes a record on a line of its own.
///
/// # Errors
/// As [`write`].
pub fn json(line: &ladder::record::Line) -> Result<(), Trouble> {
    // Strings, numbers, lists and maps with string keys: nothing that JSON could not hold.
    let text = serde_json::to_string(line).expect("plain data");
    write(&format!("{text}\n"))
}
