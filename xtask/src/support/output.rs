//! What goes to the two streams: results to standard output, everything else to standard error.

use std::fmt;
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a command ends without an answer; everything else that goes wrong is "could not run".
#[derive(Debug)]
pub enum Stop {
    /// The command line makes no sense: exit code 2.
    Usage(String),
    /// Whoever read our output has had enough: no error.
    ClosedPipe,
    /// Ctrl-C: exit code 130, as shells have it. What became of the work so far.
    Interrupted(String),
    /// A signal ended a program that this one stands for: an exit code as of a shell, 128 and the signal.
    Signal(u8, String),
    /// Another program did the work, printed what there was to print, and ended with this code.
    Ended(u8),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Usage(why) => f.write_str(why),
            Stop::ClosedPipe => f.write_str("nobody reads the output"),
            Stop::Signal(_, words) => f.write_str(words),
            Stop::Ended(code) => write!(f, "exit code {code}"),
            Stop::Interrupted(what) => write!(f, "interrupted; {what}"),
        }
    }
}

impl std::error::Error for Stop {}

/// Whether a [`Status`] is on the screen; it is removed before anything else is printed.
static SHOWN: AtomicBool = AtomicBool::new(false);

fn clear_status() {
    if SHOWN.swap(false, Ordering::SeqCst) {
        let _ = write!(std::io::stderr().lock(), "\r\x1b[2K");
    }
}

/// Text for standard output.
pub fn answer(text: &str) -> anyhow::Result<()> {
    clear_status();
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Stop::ClosedPipe.into()),
        other => Ok(other?),
    }
}

/// A line about what goes on. Nobody may be reading.
pub fn note(text: &str) {
    clear_status();
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// A command that is about to run, so that it can be run by hand.
pub(crate) fn command(text: &str) {
    note(&match colours_on_stderr() {
        true => format!("\x1b[2m$ {text}\x1b[0m"),
        false => format!("$ {text}"),
    });
}

/// `error:`, red on a terminal.
pub(crate) fn error(text: &str) {
    note(&match colours_on_stderr() {
        true => format!("\x1b[1;31merror:\x1b[0m {text}"),
        false => format!("error: {text}"),
    });
}

fn colours_on_stderr() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// What goes on at the moment: one line that is redrawn on a terminal, and nothing elsewhere.
pub struct Status {
    on: bool,
}

impl Status {
    /// A status line that shows nothing yet.
    pub fn new() -> Self {
        Self {
            on: std::io::stderr().is_terminal(),
        }
    }

    /// Whether somebody sees it.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Replaces the text of the line.
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
    pub(crate) fn clear(&self) {
        clear_status();
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        clear_status();
    }
}
