//! Running a program to its end, but not for ever.

use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::interrupt::Waiting;

/// What a program left.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) out: Vec<u8>,
    pub(crate) err: Vec<u8>,
}

/// Reads both streams of a child to their ends and waits for it; `None` when that took longer than the limit, and the
/// child was stopped.
pub(crate) fn output(mut child: Child, limit: Duration) -> Result<Option<Ended>> {
    let _waiting = Waiting::for_child(&child);
    let start = Instant::now();
    let streams = [gather(child.stdout.take()), gather(child.stderr.take())];
    let mut texts = Vec::new();
    for stream in streams {
        let left = limit.saturating_sub(start.elapsed());
        match stream.recv_timeout(left) {
            Ok(text) => texts.push(text),
            Err(_) => {
                // It may have ended by itself in this moment.
                let _ = child.kill();
                let _ = child.wait();
                return Ok(None);
            }
        }
    }
    let status = child.wait()?;
    let err = texts.pop().unwrap_or_default();
    let out = texts.pop().unwrap_or_default();
    Ok(Some(Ended { status, out, err }))
}

/// Everything that a stream gives, once it ends.
fn gather(stream: Option<impl std::io::Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // What cannot be read is not there.
            let _ = stream.read_to_end(&mut bytes);
        }
        let _ = sender.send(bytes);
    });
    receiver
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn shell(script: &str, limit: Duration) -> Option<Ended> {
        let mut command = Command::new("sh");
        command
            .args(["-c", script])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        output(command.spawn().expect("a shell"), limit).expect("it can be waited for")
    }

    #[test]
    fn streams_are_read_whole_and_endless_work_is_stopped() {
        let ended = shell("echo out; echo err >&2; exit 3", Duration::from_secs(60)).expect("it ended");
        assert_eq!(
            (ended.status.code(), ended.out.as_slice(), ended.err.as_slice()),
            (Some(3), &b"out\n"[..], &b"err\n"[..])
        );
        assert!(shell("exec sleep 1000", Duration::from_millis(10)).is_none());
    }
}
