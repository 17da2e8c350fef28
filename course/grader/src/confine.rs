//! Limits that a process sets for itself before it becomes the untrusted program.
//!
//! The limits are those of `setrlimit`, so they hold for that program and for all that it starts. Open files that the
//! process inherited, apart from its three streams, are closed. Where nothing else isolates it, [`mod@restrict`] does.

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub mod restrict;

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use crate::sandbox::ResourceLimits;

/// Becomes the program; returns only on failure. With `reads`, it can reach nothing but these files and folders.
pub fn become_program(limits: &ResourceLimits, reads: &[PathBuf], program: &[OsString]) -> io::Error {
    let Some((name, arguments)) = program.split_first() else {
        return io::Error::new(io::ErrorKind::InvalidInput, "no program is named");
    };
    close_inherited();
    let confined = set(limits).and_then(|()| if reads.is_empty() { Ok(()) } else { restrict(reads) });
    if let Err(error) = confined {
        return error;
    }
    Command::new(name).args(arguments).exec()
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn restrict(reads: &[PathBuf]) -> io::Result<()> {
    restrict::restrict(reads).map_err(io::Error::other)
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn restrict(_: &[PathBuf]) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "Landlock is a part of Linux, here for x86-64 and arm64"))
}

/// Returns whether the children of this process have used all the processor time that one of them may.
pub fn is_out_of_time() -> bool {
    // SAFETY: both are plain numbers, for which zero is a value.
    let (mut limit, mut used): (libc::rlimit, libc::rusage) = unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    // SAFETY: the pointers are to live locals.
    let known = unsafe {
        libc::getrlimit(libc::RLIMIT_CPU, &mut limit) == 0 && libc::getrusage(libc::RUSAGE_CHILDREN, &mut used) == 0
    };
    let seconds = used.ru_utime.tv_sec + used.ru_stime.tv_sec;
    known && u64::try_from(seconds).is_ok_and(|seconds| seconds >= limit.rlim_cur)
}

fn set(limits: &ResourceLimits) -> io::Result<()> {
    const OPEN_FILES: u64 = 256;
    let [seconds, memory, file, processes] = *limits;
    // The soft and the hard limit differ by one second: the signal of the soft one identifies the limit.
    limit(libc::RLIMIT_CPU as _, seconds, seconds + 1)?;
    limit(libc::RLIMIT_FSIZE as _, file, file)?;
    limit(libc::RLIMIT_CORE as _, 0, 0)?;
    limit(libc::RLIMIT_NOFILE as _, OPEN_FILES, OPEN_FILES)?;
    limit(libc::RLIMIT_NPROC as _, processes, processes)?;
    // macOS has the constant and refuses it.
    match limit(libc::RLIMIT_AS as _, memory, memory) {
        Err(error) if cfg!(target_os = "linux") => Err(error),
        _ => Ok(()),
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
type Resource = libc::c_int;

/// Sets a limit, or keeps a stricter one.
fn limit(resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    let mut now = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a live local.
    if unsafe { libc::getrlimit(resource, &mut now) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let new = libc::rlimit {
        rlim_cur: (soft as libc::rlim_t).min(now.rlim_cur),
        rlim_max: (hard as libc::rlim_t).min(now.rlim_max),
    };
    // SAFETY: as above.
    match unsafe { libc::setrlimit(resource, &new) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Marks all files but the three streams to be closed when the process becomes the program.
fn close_inherited() {
    const FIRST: libc::c_int = 3;
    const LAST: libc::c_int = 4096;
    for file in FIRST..LAST {
        // SAFETY: a number that is not an open file is refused, without other effects.
        unsafe { libc::fcntl(file, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}
