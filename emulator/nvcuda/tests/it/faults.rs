//! Faulting kernels: the code is returned by the next synchronisation, and then by every call.

use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUresult, CUresult::*};

use crate::common::{OwnContext, alloc, calls, emulator, function, launch, module, ok, run, silence, synchronize};
use crate::emulated::{is_alone, run_alone};

/// Launches a faulting kernel; the error stays until the context is destroyed.
#[track_caller]
fn check(kernel: &str, arguments: &[u64], expected: CUresult) {
    let own = OwnContext::new();
    let kernel = function(module(), kernel);
    assert_eq!(launch(kernel, 1, 1, arguments), CUDA_SUCCESS, "the launch itself is fine");
    assert_eq!(synchronize(), expected);
    // SAFETY: valid places for results.
    let others = unsafe {
        [sys::cuMemAlloc_v2(&mut 0, 16), sys::cuStreamCreate(&mut null_mut(), 0), sys::cuStreamSynchronize(null_mut())]
    };
    assert_eq!((others, launch(kernel, 1, 1, arguments)), ([expected; 3], expected));
    drop(own);
    // On hardware the whole process has lost its device; the emulated one is more forgiving.
    if emulator_client::find().is_some() {
        let _another = OwnContext::new();
        assert_eq!(synchronize(), CUDA_SUCCESS);
    }
}

#[test]
fn a_null_pointer() {
    check("poke", &[0], CUDA_ERROR_ILLEGAL_ADDRESS);
}

#[test]
fn a_misaligned_store() {
    let _own = OwnContext::new();
    assert_eq!(run("poke", 1, &[alloc(64) + 2]), CUDA_ERROR_MISALIGNED_ADDRESS);
}

#[test]
fn a_trap() {
    check("stop", &[], CUDA_ERROR_LAUNCH_FAILED);
}

#[test]
fn emulated_an_endless_loop_is_stopped() {
    emulator().set_budget(Some(1_000_000));
    check("forever", &[], CUDA_ERROR_LAUNCH_TIMEOUT);
}

#[test]
fn emulated_past_the_end_and_freed() {
    for offset in [64, 1 << 20] {
        let _own = OwnContext::new();
        assert_eq!(run("poke", 1, &[alloc(64) + offset]), CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    let _own = OwnContext::new();
    let address = alloc(64);
    calls! { sys::cuMemFree_v2(address) }
    assert_eq!(run("poke", 1, &[address]), CUDA_ERROR_ILLEGAL_ADDRESS);
}

#[test]
fn emulated_reading_what_nobody_wrote() {
    let _own = OwnContext::new();
    assert_eq!(run("increment", 32, &[alloc(128)]), CUDA_ERROR_LAUNCH_FAILED);
}

#[test]
fn work_behind_a_fault_is_not_done() {
    let _own = OwnContext::new();
    silence();
    let module = module();
    let address = alloc(64);
    calls! { sys::cuMemsetD32_v2(address, 7, 16) }
    let (poke, fill) = (function(module, "poke"), function(module, "fill"));
    ok(launch(poke, 1, 1, &[0]));
    // Refused or not executed, depending on the progress of the other launch.
    let _ = launch(fill, 1, 16, &[address, 16, 9]);
    let mut host = [0u32; 16];
    calls! { sys::cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), address, 64) => CUDA_ERROR_ILLEGAL_ADDRESS }
}

#[test]
fn emulated_a_reset_heals_the_primary_context() {
    // In a process of its own: the primary context belongs to all tests of this one.
    if !is_alone() {
        let (_, stderr) = run_alone("faults::emulated_a_reset_heals_the_primary_context", &[]);
        assert_eq!(stderr.matches("error[").count(), 1, "{stderr}");
        return;
    }
    crate::common::driver();
    let mut context = null_mut();
    calls! {
        sys::cuInit(0),
        sys::cuDevicePrimaryCtxRetain(&mut context, 0),
        sys::cuCtxSetCurrent(context),
    }
    assert_eq!(run("poke", 1, &[0]), CUDA_ERROR_ILLEGAL_ADDRESS);
    let before = context;
    calls! {
        sys::cuDevicePrimaryCtxReset_v2(0),
        synchronize() => CUDA_ERROR_CONTEXT_IS_DESTROYED,
        sys::cuDevicePrimaryCtxRetain(&mut context, 0),
        synchronize(),
    }
    assert_eq!(context, before);
    ok(run("nothing", 1, &[]));
}
