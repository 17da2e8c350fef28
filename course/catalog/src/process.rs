//! Runs a program for a limited time, and keeps a limited part of its output.

#[cfg(all(test, unix))]
mod tests;

use std::io::Read;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Exit code of a program of this workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Everything that was run has passed.
    Passed = 0,
    /// An answer is wrong, or a check found something.
    Failed = 1,
    /// The command line is invalid.
    Usage = 2,
    /// Something that is needed is missing.
    CouldNot = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Bytes of standard error that are kept.
const MAX_ERRORS: usize = 64 << 10;

#[derive(Debug)]
pub struct ProcessOutput {
    pub status: ExitStatus,
    /// Standard output; it is complete if `stopped` is `None`.
    pub output: Vec<u8>,
    /// The beginning of standard error.
    pub errors: String,
    /// The reason when it was stopped from outside.
    pub stopped: Option<Stopped>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    Time,
    Output,
    Interrupt,
}

/// Time between two checks for an interrupt of the caller.
const POLL: Duration = Duration::from_millis(20);

/// Runs a program to its end, or until `limit` has passed, it has written more than `max_output` bytes, or
/// `interrupted` returns true.
///
/// Standard input is that of `command`. The program has a process group of its own: Ctrl-C in a terminal reaches the
/// caller alone, so that a signal that ends the program is not mistaken for something that the program did.
pub fn run(
    mut command: Command, limit: Duration, max_output: usize, interrupted: &dyn Fn() -> bool,
) -> std::io::Result<ProcessOutput> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (sender, parts) = channel();
    if let Some(stream) = child.stdout.take() {
        read(stream, max_output, true, sender.clone());
    }
    if let Some(stream) = child.stderr.take() {
        read(stream, MAX_ERRORS, false, sender.clone());
    }
    drop(sender);
    let deadline = Instant::now() + limit;
    let why_to_stop = || {
        if interrupted() { Some(Stopped::Interrupt) } else { (Instant::now() >= deadline).then_some(Stopped::Time) }
    };
    let (mut output, mut errors, mut stopped) = (Vec::new(), Vec::new(), None);
    while stopped.is_none() {
        let left = deadline.saturating_duration_since(Instant::now());
        match parts.recv_timeout(left.min(POLL)) {
            Ok(Part { is_output: true, bytes, is_whole }) => {
                output = bytes;
                stopped = (!is_whole).then_some(Stopped::Output);
            }
            Ok(part) => errors = part.bytes,
            Err(RecvTimeoutError::Timeout) => stopped = why_to_stop(),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    // The program may have closed both streams and still run.
    while stopped.is_none() && child.try_wait()?.is_none() {
        stopped = why_to_stop();
        std::thread::sleep(Duration::from_millis(1));
    }
    if stopped.is_some() {
        let _ = child.kill();
    }
    Ok(ProcessOutput { status: child.wait()?, output, errors: String::from_utf8_lossy(&errors).into_owned(), stopped })
}

struct Part {
    is_output: bool,
    bytes: Vec<u8>,
    is_whole: bool,
}

/// Reads a stream in a thread of its own, which ends with the stream. Bytes beyond `max_bytes` are not kept.
fn read(stream: impl Read + Send + 'static, max_bytes: usize, is_output: bool, sender: Sender<Part>) {
    std::thread::spawn(move || {
        let mut stream = stream;
        let mut bytes = Vec::new();
        // A stream that cannot be read counts as ended.
        let _ = (&mut stream).take(max_bytes as u64 + 1).read_to_end(&mut bytes);
        let is_whole = bytes.len() <= max_bytes;
        bytes.truncate(max_bytes);
        let rest = !is_whole && !is_output;
        let _ = sender.send(Part { is_output, bytes, is_whole });
        drop(sender);
        if rest {
            // So that a program that complains at length does not wait for a reader.
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        }
    });
}
