//! Streams and events: asynchronous, in order.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use cudarc::driver::sys::{self, CUresult::*};

use crate::common::{
    OwnContext, alloc, calls, event, function, launch_on, made, module, ok, stream, synchronize, words,
};

/// Numbers that `slow` adds up.
const N: u32 = 3_000_000;

fn slow_sum() -> u32 {
    (1..=N).fold(0, u32::wrapping_add)
}

/// Launches `slow`, which takes a while on any device.
fn launch_slow(stream: sys::CUstream, address: u64) {
    let slow = function(module(), "slow");
    ok(launch_on(stream, slow, [1; 3], [1; 3], 0, &[address, N.into()]));
}

#[test]
fn a_launch_returns_before_its_kernel_ends() {
    let _own = OwnContext::new();
    let address = alloc(64);
    let stream = stream(1);
    let (start, end) = (event(), event());
    let mut ms = 0.0;
    calls! { sys::cuEventRecord(start, stream) }
    launch_slow(stream, address);
    calls! {
        sys::cuEventRecord(end, stream),
        sys::cuStreamQuery(stream) => CUDA_ERROR_NOT_READY,
        sys::cuEventQuery(end) => CUDA_ERROR_NOT_READY,
        sys::cuEventElapsedTime(&mut ms, start, end) => CUDA_ERROR_NOT_READY,
        sys::cuEventSynchronize(end),
        sys::cuStreamQuery(stream),
        sys::cuEventElapsedTime(&mut ms, start, end),
    }
    assert!(ms > 0.0, "{ms} ms");
}

#[test]
fn an_event_of_one_stream_is_not_after_the_work_of_another() {
    let _own = OwnContext::new();
    let (address, events) = (alloc(64), [event(), event(), event()]);
    let (one, other) = (stream(1), stream(1));
    launch_slow(one, address);
    let mut ms = [0.0, 0.0];
    calls! {
        sys::cuEventRecord(events[0], other),
        sys::cuEventRecord(events[1], one),
        // Once it waits for the other stream, it is.
        sys::cuStreamWaitEvent(other, events[1], 0),
        sys::cuEventRecord(events[2], other),
        synchronize(),
        sys::cuEventElapsedTime(&mut ms[0], events[0], events[1]),
        sys::cuEventElapsedTime(&mut ms[1], events[1], events[2]),
    }
    assert!(ms[0] > 0.0 && ms[1] >= 0.0, "{ms:?} ms");
}

#[test]
fn a_stream_waits_for_an_event_of_another() {
    let _own = OwnContext::new();
    let (first, second) = (stream(1), stream(1));
    let (address, copy) = (alloc(64), alloc(64));
    let done = event();
    launch_slow(first, address);
    calls! {
        sys::cuEventRecord(done, first),
        sys::cuStreamWaitEvent(second, done, 0),
        sys::cuMemcpyDtoDAsync_v2(copy, address, 4, second),
        sys::cuStreamSynchronize(second),
    }
    assert_eq!(words(copy, 1), [slow_sum()]);
}

#[test]
fn a_stream_waits_for_an_event_of_another_context() {
    let first = OwnContext::new();
    let address = alloc(64);
    let done = event();
    let one = stream(1);
    launch_slow(one, address);
    calls! { sys::cuEventRecord(done, one) }
    let _second = OwnContext::new();
    let two = stream(1);
    calls! {
        sys::cuStreamWaitEvent(two, done, 0),
        sys::cuStreamSynchronize(two),
        sys::cuEventQuery(done),
    }
    drop(first);
}

static CALLED: AtomicU32 = AtomicU32::new(0);

extern "C" fn note(data: *mut c_void) {
    std::thread::sleep(Duration::from_millis(20));
    CALLED.store(data as u32, Ordering::SeqCst);
    // SAFETY: no arguments. Host functions may not wait for the device.
    assert_ne!(unsafe { sys::cuCtxSynchronize() }, CUDA_SUCCESS);
}

#[test]
fn host_functions_run_in_the_stream() {
    let _own = OwnContext::new();
    let stream = stream(0);
    calls! { sys::cuLaunchHostFunc(stream, Some(note), 7 as *mut c_void) }
    assert_eq!(CALLED.load(Ordering::SeqCst), 0);
    calls! { sys::cuStreamQuery(stream) => CUDA_ERROR_NOT_READY, sys::cuStreamSynchronize(stream) }
    assert_eq!(CALLED.load(Ordering::SeqCst), 7);
    assert_eq!(synchronize(), CUDA_SUCCESS);
}

#[test]
fn the_default_stream_waits_for_the_others() {
    let _own = OwnContext::new();
    let address = alloc(64);
    launch_slow(stream(0), address);
    // The copy is ordered after the kernel, though of another stream.
    assert_eq!(words(address, 1), [slow_sum()]);
}

#[test]
fn a_thread_has_a_default_stream_of_its_own() {
    let _own = OwnContext::new();
    let address = alloc(64);
    // CU_STREAM_PER_THREAD
    let mine = std::ptr::without_provenance_mut(2);
    launch_slow(mine, address);
    calls! {
        sys::cuStreamQuery(mine) => CUDA_ERROR_NOT_READY,
        sys::cuStreamSynchronize(mine),
        sys::cuStreamQuery(mine),
    }
    assert_eq!(words(address, 1), [slow_sum()]);
}

#[test]
fn pageable_memory_may_change_after_the_call() {
    let _own = OwnContext::new();
    let (busy, address) = (alloc(64), alloc(64));
    let stream = stream(1);
    let mut host = [1u32; 16];
    launch_slow(stream, busy);
    calls! { sys::cuMemcpyHtoDAsync_v2(address, host.as_ptr().cast(), 64, stream) }
    host.fill(2);
    let mut back = [0u32; 16];
    calls! { sys::cuMemcpyDtoHAsync_v2(back.as_mut_ptr().cast(), address, 64, stream) }
    assert_eq!(back, [1; 16]);
    assert_eq!(host, [2; 16]);
}

#[test]
fn copies_that_wait_hold_little_memory() {
    let _own = OwnContext::new();
    let (busy, address) = (alloc(64), alloc(16 << 20));
    let stream = stream(1);
    let host = vec![1u8; 16 << 20];
    launch_slow(stream, busy);
    let copy = || {
        calls! { sys::cuMemcpyHtoDAsync_v2(address, host.as_ptr().cast(), host.len(), stream) }
        // SAFETY: a stream of this test.
        unsafe { sys::cuStreamQuery(stream) }
    };
    // The first ones are read at once; where they would be too much, a call waits for the kernel.
    let waiting = (0..100).take_while(|_| copy() == CUDA_ERROR_NOT_READY).count();
    assert!(waiting < 8, "{waiting} copies wait");
    ok(synchronize());
}

#[test]
fn pinned_memory_is_copied_in_the_streams_time() {
    let _own = OwnContext::new();
    let address = alloc(64);
    let stream = stream(1);
    let pinned: *mut c_void = made!(cuMemHostAlloc(64, 0));
    // SAFETY: 64 bytes of pinned memory.
    unsafe {
        pinned.cast::<u32>().write(5);
        launch_slow(stream, address);
        ok(sys::cuMemcpyDtoHAsync_v2(pinned, address, 4, stream));
        assert_eq!(sys::cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
        ok(sys::cuStreamSynchronize(stream));
        assert_eq!(pinned.cast::<u32>().read(), slow_sum());
        ok(sys::cuMemFreeHost(pinned));
    }
}

#[test]
fn memory_is_freed_when_the_stream_gets_there() {
    let _own = OwnContext::new();
    let stream = stream(1);
    let address = made!(cuMemAllocAsync(64, stream));
    launch_slow(stream, address);
    calls! {
        sys::cuMemFreeAsync(address, stream),
        sys::cuMemFreeAsync(address, stream) => CUDA_ERROR_INVALID_VALUE,
        sys::cuStreamSynchronize(stream),
    }
}
