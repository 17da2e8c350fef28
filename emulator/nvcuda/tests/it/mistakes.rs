//! Mistakes of the host's code: messages of the driver, besides the codes that it returns.

use std::ffi::c_void;
use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUresult, CUresult::*};

use crate::common::{
    OwnContext, alloc, emulator, event, function, launch, launch_on, load_ptx, made, module, ok, rows_to_host, stream,
    synchronize, words,
};
use crate::emulated::{is_alone, run_alone};

/// A constant without an initial value, and a kernel whose name is mangled.
const PTX: &str = include_str!("ptx/weigh.ptx");

#[track_caller]
fn refused(code: CUresult) {
    assert_eq!(code, CUDA_ERROR_INVALID_VALUE);
}

fn make_mistakes() {
    let own = OwnContext::new();
    emulator().set_diagnosis(None);
    let mut host = vec![0u8; 800];
    let pointer = host.as_mut_ptr().cast::<std::ffi::c_void>();
    // SAFETY: the driver refuses all of these calls, or they are right.
    unsafe {
        let freed = alloc(400);
        ok(sys::cuMemFree_v2(freed));
        refused(sys::cuMemFree_v2(freed));
        let buffer = alloc(400);
        refused(sys::cuMemFree_v2(buffer + 100));
        refused(sys::cuMemFree_v2(host.as_ptr() as u64));

        refused(sys::cuMemcpyHtoD_v2(buffer, pointer, 800));
        refused(sys::cuMemcpyDtoH_v2(pointer, buffer + 300, 400));
        refused(sys::cuMemcpyHtoD_v2(freed, pointer, 400));
        refused(sys::cuMemcpyHtoD_v2(host.as_ptr() as u64, buffer as *const _, 400));
        refused(sys::cuMemcpyDtoH_v2(buffer as *mut _, host.as_ptr() as u64, 400));
        refused(sys::cuMemcpyHtoD_v2(buffer, null_mut(), 400));

        let mut found = null_mut();
        let loaded = module();
        assert_eq!(sys::cuModuleGetFunction(&mut found, loaded, c"fil".as_ptr()), CUDA_ERROR_NOT_FOUND);

        let mut mine = load_ptx(PTX);
        assert_eq!(sys::cuModuleGetFunction(&mut found, mine, c"add".as_ptr()), CUDA_ERROR_NOT_FOUND);
        ok(launch(function(mine, "weigh"), 1, 1, &[buffer]));
        ok(synchronize());
        assert_eq!(words(buffer, 1), [0]);

        // There is no message about constants that were set or have an initial value, or about memory that was written.
        let (mut address, mut bytes) = (0, 0);
        let other = load_ptx(PTX);
        ok(sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, other, c"weights".as_ptr()));
        ok(sys::cuMemcpyHtoD_v2(address, pointer, bytes));
        ok(launch(function(other, "weigh"), 1, 1, &[buffer]));
        ok(launch(function(loaded, "variables"), 1, 1, &[buffer, 1]));
        ok(synchronize());
        words(buffer, 1);

        let untouched = alloc(64);
        ok(sys::cuMemcpyDtoH_v2(pointer, untouched, 64));

        copy_rows(pointer);
        let pinned = made!(cuMemAllocHost_v2(128));
        ok(sys::cuMemcpyDtoHAsync_v2(pinned, alloc(128), 128, null_mut()));
        ok(synchronize());

        // A row of 24 bytes.
        let mut map = sys::CUtensorMap { opaque: [0; 16] };
        refused(sys::cuTensorMapEncodeTiled(
            &mut map,
            sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
            2,
            buffer as *mut _,
            [10, 10].as_ptr(),
            [48].as_ptr(),
            [6, 4].as_ptr(),
            [1, 1].as_ptr(),
            sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
            sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_NONE,
            sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        ));

        // The first bytes of the output of NVRTC's `nvrtcGetLTOIR`.
        assert_eq!(sys::cuModuleLoadData(&mut mine, c"\xedCN\x7f\x01".as_ptr().cast()), CUDA_ERROR_INVALID_IMAGE);

        // No message: the CUDA runtime queries tables even where it does without them.
        let mut table = std::ptr::null();
        refused(sys::cuGetExportTable(&mut table, &sys::CUuuid { bytes: [7; 16] }));
    }
    drop(own);
}

/// Two-dimensional copies to the host: of uninitialised memory, in part and in whole, and past its end.
///
/// # Safety
/// `host` has 800 bytes.
unsafe fn copy_rows(host: *mut std::ffi::c_void) {
    let rows = |from: u64, pitch: usize, height: usize| {
        // SAFETY: the caller's promise; the driver refuses what is past the end of device memory.
        unsafe { sys::cuMemcpy2D_v2(&rows_to_host(from, pitch, host, 16, height)) }
    };
    let (partly, untouched) = (alloc(64), alloc(96));
    // SAFETY: 16 bytes of 64.
    unsafe { ok(sys::cuMemsetD8_v2(partly + 16, 1, 16)) };
    ok(rows(partly, 16, 4));
    ok(rows(untouched, 32, 3));
    refused(rows(untouched, 32, 4));
    // The first and the last row of three lie in allocations, the one between in none.
    let (a, b) = (partly.min(untouched), partly.max(untouched));
    refused(rows(a, (b - a) as usize / 2, 3));
}

#[test]
fn emulated_mistakes_of_the_host_get_a_sentence() {
    if is_alone() {
        make_mistakes();
        return;
    }
    let (_, stderr) = run_alone("mistakes::emulated_mistakes_of_the_host_get_a_sentence", &[]);
    insta::assert_snapshot!(without_addresses(&stderr));
}

/// Replaces addresses, which differ from run to run.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("ADDRESS");
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    }
    out
}

/// A transpose of which only the stores are left: `out[x * rows + y] = x`.
const TRANSPOSE: &str = include_str!("ptx/transpose.ptx");

/// Copies back what kernels wrote only in part: last where it is to be reported.
fn copy_partly_written() {
    let (fill, transpose) = (function(module(), "fill"), function(load_ptx(TRANSPOSE), "transpose"));
    let filled = |blocks: u32, n: u64| {
        let buffer = alloc(4000);
        ok(launch(fill, blocks, 256, &[buffer, n, 7]));
        buffer
    };
    let turned = |grid: [u32; 3], rows: u64, cols: u64| {
        let arguments = [alloc(4 * rows as usize * 300), rows, cols];
        ok(launch_on(null_mut(), transpose, grid, [32, 32, 1], 0, &arguments));
        words(arguments[0], rows as usize * 300);
    };
    // A buffer larger than the kernel's arguments, the part that was written, what the host filled too, launches
    // that wrote all or as many columns as their arguments, and another launch for another part.
    words(filled(4, 768), 1000);
    words(filled(3, 1000), 768);
    words(filled(4, 1000), 1000);
    turned([10, 4, 1], 100, 300);
    turned([3, 4, 1], 100, 96);
    let cleared = alloc(4000);
    // SAFETY: 4000 bytes.
    ok(unsafe { sys::cuMemsetD32_v2(cleared + 3072, 0, 232) });
    ok(launch(fill, 3, 256, &[cleared, 1000, 7]));
    words(cleared, 1000);
    let parts = filled(2, 500);
    ok(launch(fill, 1, 256, &[parts + 2048, 1000, 7]));
    words(parts, 1000);
    // 1000 / 256 rounds down; x and y are exchanged, also where as many rows are written as there are columns; 100 / 32
    // and 300 / 32 round down.
    words(filled(3, 1000), 1000);
    turned([3, 10, 1], 96, 300);
    [[4, 10, 1], [10, 3, 1], [9, 3, 1]].into_iter().for_each(|grid| turned(grid, 100, 300));
}

extern "C" fn nothing(_: *mut c_void) {}

/// Fills pinned memory, starts a copy of it and does what `then` does, in each of some rounds.
fn stage(rounds: u32, then: impl Fn(*mut c_void, u64, sys::CUstream)) {
    let (buffer, device, stream): (*mut c_void, _, _) = (made!(cuMemAllocHost_v2(4096)), alloc(4096), stream(1));
    // SAFETY: memory of 1024 words each.
    unsafe {
        for round in 0..rounds {
            std::slice::from_raw_parts_mut(buffer.cast::<u32>(), 1024).fill(round);
            ok(sys::cuMemcpyHtoDAsync_v2(device, buffer, 4096, stream));
            then(buffer, device, stream);
        }
        ok(sys::cuMemFreeHost(buffer));
    }
}

/// Changes what was copied: last before a wait, which is reported once.
fn change_pinned_memory() {
    let (done, increment) = (event(), function(module(), "increment"));
    // SAFETY: handles and memory of this test.
    unsafe {
        stage(3, |_, _, stream| ok(sys::cuStreamSynchronize(stream)));
        stage(3, |_, _, stream| while sys::cuStreamQuery(stream) != CUDA_SUCCESS {});
        stage(3, |_, _, stream| {
            ok(sys::cuEventRecord(done, stream));
            ok(sys::cuEventSynchronize(done));
        });
        // The host can see how far the stream is: by its own function, and by what a kernel may write there.
        stage(3, |_, _, stream| ok(sys::cuLaunchHostFunc(stream, Some(nothing), null_mut())));
        stage(3, |buffer, _, _| ok(launch(increment, 1, 1, &[buffer as u64])));
        // The stream's own work changes the memory.
        stage(3, |buffer, device, stream| {
            ok(sys::cuMemsetD32Async(device, 7, 1024, stream));
            ok(sys::cuMemcpyDtoHAsync_v2(buffer, device, 4096, stream));
            ok(sys::cuStreamSynchronize(stream));
        });
        stage(4, |_, device, stream| ok(sys::cuMemsetD32Async(device, 7, 1024, stream)));
    }
}

#[test]
fn emulated_suspicions_about_the_host_are_warnings() {
    if !is_alone() {
        let (_, stderr) = run_alone("mistakes::emulated_suspicions_about_the_host_are_warnings", &[]);
        insta::assert_snapshot!(stderr);
        return;
    }
    let own = OwnContext::new();
    emulator().set_diagnosis(None);
    copy_partly_written();
    change_pinned_memory();
    drop(own);
}
