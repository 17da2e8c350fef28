//! Standard output, which may be closed before we are done; and progress on standard error.

use std::io::{ErrorKind, IsTerminal as _, Write as _};

use crate::error::StepError;

/// Writes a text as it is.
///
/// # Errors
/// [`StepError::Closed`] when the reader closed the pipe.
pub fn write(text: &str) -> Result<(), StepError> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(StepError::Closed),
        Err(error) => Err(StepError::Output(error)),
    }
}

/// Writes a record on a line of its own.
pub fn json(line: &records::record::Line) -> Result<(), StepError> {
    // Strings, numbers, lists and maps with string keys: nothing that JSON could not hold.
    let text = serde_json::to_string(line).expect("plain data");
    write(&format!("{text}\n"))
}

/// Prints what is being done on a terminal, in place of the previous such line.
pub fn progress(text: &str) {
    let mut err = std::io::stderr().lock();
    if err.is_terminal() {
        // A closed stderr is no reason to stop.
        let _ = write!(err, "\r\x1b[K{text} …").and_then(|()| err.flush());
    }
}

/// Reports progress as [`progress()`] does, but on a line of its own where standard error is not a terminal.
pub fn milestone(text: &str) {
    progress(text);
    let mut err = std::io::stderr().lock();
    if !err.is_terminal() {
        let _ = writeln!(err, "{text}");
    }
}

/// Clears the progress line.
pub fn progress_done() {
    let mut err = std::io::stderr().lock();
    if err.is_terminal() {
        let _ = write!(err, "\r\x1b[K").and_then(|()| err.flush());
    }
}
