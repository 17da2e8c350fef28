//! The driver after a fork and at the end of a process. A program of its own: its processes end in unusual ways.
#![cfg(target_os = "linux")]

#[path = "it/common.rs"]
#[allow(dead_code, reason = "the tests of `it` use the rest")]
mod common;

use std::ffi::c_void;
use std::process::Command;
use std::ptr::null_mut;

use common::{calls, function, launch, load_ptx, made, ok, synchronize};
use cudarc::driver::sys::{self, CUresult, CUresult::*};

const PTX: &str = ".version 7.0 .target sm_75 .address_size 64 .entry k() { ret; }";

fn begin() -> (sys::CUcontext, sys::CUfunction) {
    emulator_client::preload().expect("Cargo built the library");
    calls! { sys::cuInit(0) }
    let (context, function) = (made!(cuCtxCreate_v2(0, 0)), function(load_ptx(PTX), "k"));
    ok(run(function));
    (context, function)
}

fn run(function: sys::CUfunction) -> CUresult {
    match launch(function, 1, 32, &[]) {
        CUDA_SUCCESS => synchronize(),
        refused => refused,
    }
}

#[test]
fn a_forked_child_is_refused_and_does_not_hang() {
    let (context, function) = begin();
    // SAFETY: the child makes calls of the driver only, and ends without running anything of its parent.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let (mut address, mut n) = (0, 0);
        // SAFETY: valid places for results.
        let codes = unsafe {
            [
                run(function),
                sys::cuInit(0),
                sys::cuCtxSynchronize(),
                sys::cuMemAlloc_v2(&mut address, 4),
                sys::cuCtxDestroy_v2(context),
                sys::cuDriverGetVersion(&mut n),
            ]
        };
        let good = codes[..5].iter().all(|c| *c == CUDA_ERROR_NOT_INITIALIZED) && codes[5] == CUDA_SUCCESS;
        // SAFETY: ends the child.
        unsafe { libc::_exit(i32::from(!good)) };
    }
    let mut status = 0;
    // SAFETY: a place for the status of our own child.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    ok(run(function));
}

/// Set in the child process of a test.
const PART: &str = "LIFE_TEST_PART";

/// Prints the code of a call on stderr: nothing else works reliably this late.
fn print_code(who: &str) {
    let mut address = 0;
    // SAFETY: a valid place for the result.
    let code = unsafe { sys::cuMemAlloc_v2(&mut address, 4) };
    let line = format!("{who}: {code:?}\n");
    // SAFETY: the text is there.
    unsafe { libc::write(2, line.as_ptr().cast(), line.len()) };
}

extern "C" fn early() {
    print_code("early handler");
}

extern "C" fn late() {
    print_code("late handler");
}

extern "C" fn key_gone(_: *mut c_void) {
    print_code("thread key");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "what runs when a process exits is the subject")]
fn calls_at_the_end_of_threads_and_of_the_process() {
    if std::env::var_os(PART).is_some() {
        // SAFETY: handlers and destructors that live as long as the program; a key that was just made.
        unsafe {
            libc::atexit(early);
            begin();
            libc::atexit(late);
            let mut key = 0;
            libc::pthread_key_create(&mut key, Some(key_gone));
            let with_key = move || {
                begin();
                libc::pthread_setspecific(key, std::ptr::without_provenance(1));
            };
            std::thread::spawn(with_key).join().expect("it has a context of its own");
        }
        std::process::exit(0);
    }
    let child = run_alone("calls_at_the_end_of_threads_and_of_the_process").output().expect("it starts");
    let stderr = String::from_utf8_lossy(&child.stderr);
    assert_eq!(
        stderr,
        "thread key: CUDA_SUCCESS\nlate handler: CUDA_SUCCESS\nearly handler: CUDA_ERROR_DEINITIALIZED\n"
    );
    assert!(child.status.success());
}

fn pages(n: usize) -> *mut u8 {
    let (flags, protection) = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, libc::PROT_READ | libc::PROT_WRITE);
    // SAFETY: a fresh mapping.
    let start = unsafe { libc::mmap(null_mut(), n * 4096, protection, flags, -1, 0) };
    assert_ne!(start, libc::MAP_FAILED);
    start.cast()
}

#[test]
fn only_whole_writable_memory_is_registered() {
    begin();
    let start = pages(5);
    // SAFETY: the pages are ours.
    let register_at = |at: *mut std::ffi::c_void, n: usize| unsafe {
        let code = sys::cuMemHostRegister_v2(at, n * 4096, 0);
        if code == CUDA_SUCCESS {
            sys::cuMemHostUnregister(at);
        }
        code
    };
    let register = |page: usize, n: usize| register_at(start.wrapping_add(page * 4096).cast(), n);
    assert_eq!(register(0, 5), CUDA_SUCCESS);
    // SAFETY: the pages are ours; nothing else uses them.
    unsafe {
        libc::mprotect(start.add(4096).cast(), 4096, libc::PROT_NONE);
        libc::mprotect(start.add(3 * 4096).cast(), 4096, libc::PROT_READ);
    }
    assert_eq!(register(0, 1), CUDA_SUCCESS);
    assert_eq!(register(0, 3), CUDA_ERROR_INVALID_VALUE);
    assert_eq!(register(2, 3), CUDA_ERROR_INVALID_VALUE);
    assert_eq!(register(4, 1), CUDA_SUCCESS);
    // No page is ever mapped this low. A page that was unmapped here may be mapped again by another thread.
    let nowhere = std::ptr::without_provenance_mut(4096);
    assert_eq!(register_at(nowhere, 1), CUDA_ERROR_INVALID_VALUE);
}

#[test]
fn pinned_and_managed_memory_and_arrays_count() {
    begin();
    let (mut free, mut total) = (0, 0);
    calls! { sys::cuMemGetInfo_v2(&mut free, &mut total) }
    // Other tests of this program allocate little, so that a large part of the free memory is significant.
    let large = free / 4 * 3;
    let (mut pinned, mut managed) = (null_mut(), 0);
    calls! {
        sys::cuMemHostAlloc(&mut pinned, large, 0),
        sys::cuMemAllocManaged(&mut managed, large, 1) => CUDA_ERROR_OUT_OF_MEMORY,
        sys::cuMemAlloc_v2(&mut managed, large) => CUDA_ERROR_OUT_OF_MEMORY,
        sys::cuMemFreeHost(pinned),
        sys::cuMemAllocManaged(&mut managed, large, 1),
        sys::cuMemHostAlloc(&mut pinned, large, 0) => CUDA_ERROR_OUT_OF_MEMORY,
        sys::cuMemFree_v2(managed),
        sys::cuMemAlloc_v2(&mut managed, large),
        sys::cuMemFree_v2(managed),
    }
}

/// Returns the command that runs a test of this program in a process of its own.
fn run_alone(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("it runs"));
    command.args(["--exact", name, "--nocapture"]).env(PART, name);
    command
}

#[test]
fn a_machine_without_memory_is_no_end() {
    let name = "a_machine_without_memory_is_no_end";
    if std::env::var(PART).as_deref() != Ok(name) {
        let status = run_alone(name).env("TILE_MEMORY", "100000").status().expect("it starts");
        return assert!(status.success());
    }
    let (_, function) = begin();
    let limit = libc::rlimit { rlim_cur: 2 << 30, rlim_max: 2 << 30 };
    let mut address = 0;
    // SAFETY: a limit of this process, valid places for results.
    unsafe {
        assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &limit), 0);
        for bytes in (0..30).rev().map(|shift| 1 << shift) {
            while sys::cuMemAlloc_v2(&mut address, bytes) == CUDA_SUCCESS && bytes > 4096 {}
        }
        assert_eq!(sys::cuMemHostAlloc(&mut null_mut(), 64 << 20, 0), CUDA_ERROR_OUT_OF_MEMORY);
    }
    ok(run(function));
}
