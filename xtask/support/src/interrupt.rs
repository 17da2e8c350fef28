//! Ctrl-C: ends the child process, and lets this one run until its files are whole.

use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use crate::output::Stop;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Id of the child process; 0 for none.
static CHILD: AtomicI32 = AtomicI32::new(0);

pub const EXIT_CODE: u8 = 130;

/// Records interrupts from now on for [`happened`]; a second one ends this program at once.
pub fn watch() {
    #[cfg(unix)]
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler calls nothing but functions that are safe in a handler.
        unsafe { libc::signal(signal, on_signal as *const () as libc::sighandler_t) };
    }
}

#[cfg(unix)]
extern "C" fn on_signal(_: libc::c_int) {
    if INTERRUPTED.swap(true, Ordering::SeqCst) {
        // SAFETY: `_exit` has no preconditions.
        unsafe { libc::_exit(EXIT_CODE.into()) };
    }
    let child = CHILD.load(Ordering::SeqCst);
    if child > 0 {
        // SAFETY: a process that we started and have not waited for.
        unsafe { libc::kill(child, libc::SIGTERM) };
    }
}

pub fn happened() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Fails once an interrupt has happened; the text tells what was saved.
pub fn check(saved: impl Into<String>) -> Result<(), Stop> {
    if happened() { Err(Stop::Interrupted(saved.into())) } else { Ok(()) }
}

/// Guard while a child process runs.
pub struct Waiting;

impl Waiting {
    /// Forwards interrupts to this child from now on, which ends it.
    pub fn for_child(child: &Child) -> Self {
        CHILD.store(child.id().try_into().unwrap_or(0), Ordering::SeqCst);
        #[cfg(unix)]
        if happened() {
            // SAFETY: as in the handler, which came too early to know of it.
            unsafe { libc::kill(CHILD.load(Ordering::SeqCst), libc::SIGTERM) };
        }
        Self
    }
}

/// Waits for a child process, which an interrupt ends.
pub fn wait_for(child: &mut Child) -> std::io::Result<ExitStatus> {
    let _waiting = Waiting::for_child(child);
    child.wait()
}

impl Drop for Waiting {
    fn drop(&mut self) {
        CHILD.store(0, Ordering::SeqCst);
    }
}
