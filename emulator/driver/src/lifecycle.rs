//! The driver's states in a process: before `cuInit`, in use, in a forked child, and after the exit handlers.
//!
//! The codes are those of NVIDIA's driver. A child of `fork` inherits the tables but neither the worker threads nor the
//! memory of a device, so every call there returns `CUDA_ERROR_NOT_INITIALIZED`, `cuInit` included. Exit handlers that
//! were registered before `cuInit`, and destructors of libraries, run after the driver's own exit handler and get
//! `CUDA_ERROR_DEINITIALIZED`.

use std::sync::Once;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::{queue::on_worker, result::*};

const NEW: u8 = 0;
const READY: u8 = 1;
/// A child of a process that had called `cuInit`.
const FORKED: u8 = 2;
/// The process's exit handlers have run.
const ENDED: u8 = 3;

static LIFE: AtomicU8 = AtomicU8::new(NEW);

/// Calls that need no state, and work at any time.
const STATELESS: [&str; 5] =
    ["cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString", "cuGetProcAddress", "cuGetProcAddress_v2"];

pub(crate) fn initialise() {
    static HANDLERS: Once = Once::new();
    HANDLERS.call_once(watch_process);
    let _ = LIFE.compare_exchange(NEW, READY, Ordering::AcqRel, Ordering::Acquire);
}

/// Fails before `cuInit`, and in a host function, which would wait for itself.
pub(crate) fn initialised() -> Outcome {
    refuse_if(LIFE.load(Ordering::Acquire) == NEW, ERROR_NOT_INITIALIZED)?;
    refuse_if(on_worker(), ERROR_NOT_PERMITTED)
}

/// Returns the code that this call returns if the driver no longer works in this process.
#[inline]
pub(crate) fn code_after_end(name: &str) -> Option<CUresult> {
    let code = match LIFE.load(Ordering::Acquire) {
        FORKED => ERROR_NOT_INITIALIZED,
        ENDED => ERROR_DEINITIALIZED,
        _ => return None,
    };
    (!STATELESS.contains(&name)).then_some(code)
}

#[cfg(target_os = "linux")]
fn watch_process() {
    extern "C" fn forked() {
        LIFE.store(FORKED, Ordering::Release);
    }

    extern "C" fn ended() {
        LIFE.store(ENDED, Ordering::Release);
    }
    // SAFETY: both handlers only store to a static; the library is never unloaded (`-z nodelete`). When a handler
    // cannot be registered, there is no memory left, and the calls fail for that reason.
    unsafe {
        libc::pthread_atfork(None, None, Some(forked));
        libc::atexit(ended);
    }
}

#[cfg(not(target_os = "linux"))]
fn watch_process() {}
