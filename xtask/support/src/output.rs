//! The two output streams: results to standard output, everything else to standard error.

use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

/// Reasons for a command to end without a result; every other error is "could not run", exit code 3.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// The command line is wrong: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// The reader closed the pipe: no error.
    #[error("standard output was closed")]
    ClosedPipe,
    /// Ctrl-C: exit code 130, as in shells. The text tells what was saved.
    #[error("interrupted; {0}")]
    Interrupted(String),
    /// A signal ended the program that this one runs: exit code 128 plus the signal, as in shells.
    #[error("{1}")]
    Signal(u8, String),
    /// Another program did the work, printed what there was to print, and ended with this code.
    #[error("exit code {0}")]
    Ended(u8),
}

/// Set while a [`Status`] is on the screen; printing anything else removes it.
static SHOWN: AtomicBool = AtomicBool::new(false);

fn clear_status() {
    if SHOWN.swap(false, Ordering::SeqCst) {
        let _ = write!(std::io::stderr().lock(), "\r\x1b[2K");
    }
}

/// Prints text to standard output.
pub fn print(text: &str) -> anyhow::Result<()> {
    clear_status();
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Stop::ClosedPipe.into()),
        other => Ok(other?),
    }
}

/// Prints a line to standard error, and ignores errors: it may be closed.
pub fn note(text: &str) {
    clear_status();
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Prints a command that is about to run, so that it can be run by hand.
pub fn command(text: &str) {
    note(&if colours_on_stderr() { format!("\x1b[2m$ {text}\x1b[0m") } else { format!("$ {text}") });
}

/// Prints an error; `error:` is red on a terminal.
pub fn error(text: &str) {
    note(&if colours_on_stderr() { format!("\x1b[1;31merror:\x1b[0m {text}") } else { format!("error: {text}") });
}

fn colours_on_stderr() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// A status line: redrawn on a terminal, and not printed elsewhere.
pub struct Status {
    on: bool,
}

impl Status {
    /// Returns a status line that shows nothing yet.
    pub fn on_stderr() -> Self {
        Self { on: std::io::stderr().is_terminal() }
    }

    /// Returns whether the line is shown, which it is on a terminal.
    pub fn is_on(&self) -> bool {
        self.on
    }

    pub fn set(&self, text: &str) {
        const WIDTH: usize = 78;
        if self.on {
            clear_status();
            let short: String = text.chars().take(WIDTH).collect();
            let _ = write!(std::io::stderr().lock(), "{short}");
            SHOWN.store(true, Ordering::SeqCst);
        }
    }

    /// Removes the line; printing anything else does that, too.
    pub fn clear(&self) {
        clear_status();
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        clear_status();
    }
}
