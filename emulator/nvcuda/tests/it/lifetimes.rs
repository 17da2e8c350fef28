//! Lifetimes of objects: nothing leaks, nothing is used after its end.

use std::ptr::null_mut;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUresult::*};
use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};

use crate::common::{
    KERNELS, OwnContext, alloc, calls, driver, emulator, event, function, launch, module, ok, stream, synchronize,
    words,
};

fn resident_kib() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|l| l.starts_with("VmRSS:"));
    line.and_then(|l| l.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

#[test]
fn ten_thousand_cycles_keep_memory_flat() {
    let _own = OwnContext::new();
    let module = module();
    let fill = function(module, "fill");
    let mut cycle = |i: u64| {
        let (stream, event, address) = (stream(0), event(), alloc(4096));
        calls! {
            launch(fill, 1, 32, &[address, 32, i]),
            sys::cuEventRecord(event, stream),
            sys::cuEventSynchronize(event),
            sys::cuEventDestroy_v2(event),
            sys::cuStreamDestroy_v2(stream),
            sys::cuMemFree_v2(address),
        }
    };
    (0..1000).for_each(&mut cycle);
    let mut is_flat = || {
        let before = resident_kib();
        (0..10_000).for_each(&mut cycle);
        resident_kib().saturating_sub(before) < 16 * 1024
    };
    // Other tests run beside this one, but not all the time. A leak of even one 4 KiB buffer per cycle would be 40 MiB.
    assert!((0..3).any(|_| is_flat()), "10 000 cycles keep 16 MiB and more");
    assert_eq!(synchronize(), CUDA_SUCCESS);
}

#[test]
fn contexts_and_modules_come_and_go() {
    for round in 0..50 {
        let _own = OwnContext::new();
        let address = alloc(1 << 20);
        let fill = function(module(), "fill");
        ok(launch(fill, 4, 64, &[address, 256, round]));
        assert_eq!(words(address, 256), vec![round as u32; 256]);
    }
}

#[test]
fn emulated_memory_of_a_context_goes_with_it() {
    let free = || {
        let (mut free, mut total) = (0, 0);
        calls! { sys::cuMemGetInfo_v2(&mut free, &mut total) }
        free
    };
    let _outer = OwnContext::new();
    let big = 256 << 20;
    let before = free();
    let inner = OwnContext::new();
    let address = alloc(big);
    drop(inner);
    // Other tests allocate meanwhile, but nothing this big.
    assert!(free() + big / 2 > before);
    let mut host = 0u32;
    calls! { sys::cuMemcpyDtoH_v2((&raw mut host).cast(), address, 4) => CUDA_ERROR_INVALID_VALUE }
}

#[test]
fn a_destroyed_context_is_told_as_such() {
    driver();
    let own = OwnContext::new();
    calls! {
        // The context was pushed twice and destroyed once: the remaining entry is dead.
        sys::cuCtxPushCurrent_v2(own.0),
        sys::cuCtxDestroy_v2(own.0),
        sys::cuCtxSynchronize() => CUDA_ERROR_CONTEXT_IS_DESTROYED,
        sys::cuMemAlloc_v2(&mut 0, 4) => CUDA_ERROR_CONTEXT_IS_DESTROYED,
        sys::cuCtxPopCurrent_v2(&mut null_mut()),
    }
}

#[test]
fn emulated_objects_of_a_destroyed_context_are_gone() {
    emulator();
    let own = OwnContext::new();
    let module = module();
    let nothing = function(module, "nothing");
    let (stream, event) = (stream(0), event());
    drop(own);
    let _other = OwnContext::new();
    calls! {
        sys::cuStreamSynchronize(stream) => CUDA_ERROR_INVALID_HANDLE,
        sys::cuEventSynchronize(event) => CUDA_ERROR_INVALID_HANDLE,
        sys::cuModuleUnload(module) => CUDA_ERROR_INVALID_HANDLE,
        launch(nothing, 1, 1, &[]) => CUDA_ERROR_INVALID_HANDLE,
    }
}

#[test]
fn many_threads_in_one_context_and_in_their_own() {
    driver();
    let shared = CudaContext::new(0).expect("there is a device");
    std::thread::scope(|scope| {
        for i in 0..8u32 {
            let shared = Arc::clone(&shared);
            scope.spawn(move || {
                let context =
                    if i % 2 == 0 { shared } else { CudaContext::new_non_primary(0, 0).expect("there is a device") };
                let stream = context.new_stream().expect("a stream can be had");
                let module = context.load_module(KERNELS.into()).expect("the kernels load");
                let fill = module.load_function("fill").expect("it is there");
                for round in 0..20 {
                    let n = 1000u32;
                    let mut buffer = stream.alloc_zeros::<u32>(n as usize).expect("there is room");
                    let value = i * 1000 + round;
                    let mut launch = stream.launch_builder(&fill);
                    launch.arg(&mut buffer).arg(&n).arg(&value);
                    // SAFETY: the arguments are what the kernel takes.
                    unsafe { launch.launch(LaunchConfig::for_num_elems(n)) }.expect("it starts");
                    let back = stream.clone_dtoh(&buffer).expect("it comes back");
                    assert_eq!(back, vec![value; n as usize]);
                }
            });
        }
    });
}
