//! Error codes of mistakes: those of NVIDIA's driver.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

use cudarc::driver::sys::{self, CUresult, CUresult::*};

use crate::common::{
    ErrorLog, KERNELS, NONE, OwnContext, alloc, calls, event, function, in_one_buffer, launch, launch_kernel,
    launch_on, load_library, module, ok, silence,
};

/// Returns a handle that the driver never issued.
fn stray<T>() -> *mut T {
    // Bits so high are part of no address.
    0x1234_5678_9abc_def0_usize as *mut T
}

#[test]
fn emulated_null_where_a_result_goes_and_names_without_room() {
    // NVIDIA's driver crashes on some of these.
    let _own = OwnContext::new();
    let module = module();
    let mut name = [1 as std::ffi::c_char; 16];
    let mut primary = null_mut();
    calls! {
        sys::cuDeviceGet(null_mut(), 0) => CUDA_ERROR_INVALID_VALUE,
        sys::cuDeviceGetCount(null_mut()) => CUDA_ERROR_INVALID_VALUE,
        sys::cuDeviceGetName(null_mut(), 10, 0) => CUDA_ERROR_INVALID_VALUE,
        sys::cuDeviceTotalMem_v2(null_mut(), 0) => CUDA_ERROR_INVALID_VALUE,
        sys::cuDriverGetVersion(null_mut()) => CUDA_ERROR_INVALID_VALUE,
        sys::cuDevicePrimaryCtxRetain(null_mut(), 0) => CUDA_ERROR_INVALID_VALUE,
        sys::cuCtxCreate_v2(null_mut(), 0, 0) => CUDA_ERROR_INVALID_VALUE,
        sys::cuCtxGetCurrent(null_mut()) => CUDA_ERROR_INVALID_VALUE,
        sys::cuCtxGetDevice(null_mut()) => CUDA_ERROR_INVALID_VALUE,
        sys::cuStreamCreate(null_mut(), 0) => CUDA_ERROR_INVALID_VALUE,
        sys::cuEventCreate(null_mut(), 0) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemAlloc_v2(null_mut(), 16) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemHostAlloc(null_mut(), 16, 0) => CUDA_ERROR_INVALID_VALUE,
        sys::cuModuleLoadData(null_mut(), KERNELS.as_ptr().cast()) => CUDA_ERROR_INVALID_VALUE,
        sys::cuModuleGetFunction(null_mut(), module, c"fill".as_ptr()) => CUDA_ERROR_INVALID_VALUE,
        sys::cuModuleGetFunction(&mut null_mut(), module, null()) => CUDA_ERROR_INVALID_VALUE,
        sys::cuModuleLoadData(&mut null_mut(), null()) => CUDA_ERROR_INVALID_VALUE,
        sys::cuGetErrorName(CUDA_SUCCESS, null_mut()) => CUDA_ERROR_INVALID_VALUE,
        sys::cuCtxGetStreamPriorityRange(null_mut(), null_mut()),
        sys::cuDeviceGetName(name.as_mut_ptr(), 0, 0) => CUDA_ERROR_INVALID_VALUE,
        sys::cuDeviceGetName(name.as_mut_ptr(), -1, 0) => CUDA_ERROR_INVALID_VALUE,
        sys::cuProfilerStart(),
        sys::cuProfilerStop(),
        sys::cuCtxPopCurrent_v2(null_mut()),
        sys::cuDevicePrimaryCtxRetain(&mut primary, 0),
        sys::cuCtxDestroy_v2(primary) => CUDA_ERROR_INVALID_CONTEXT,
        sys::cuDevicePrimaryCtxRelease_v2(0),
    }
}

#[test]
fn devices_that_are_not_there() {
    let _own = OwnContext::new();
    let (mut int, mut size, mut context) = (0, 0, null_mut());
    let warp = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE;
    calls! {
        sys::cuDeviceGet(&mut int, 99) => CUDA_ERROR_INVALID_DEVICE,
        sys::cuDeviceGet(&mut int, -1) => CUDA_ERROR_INVALID_DEVICE,
        sys::cuDeviceTotalMem_v2(&mut size, 99) => CUDA_ERROR_INVALID_DEVICE,
        sys::cuDeviceGetAttribute(&mut int, warp, 99) => CUDA_ERROR_INVALID_DEVICE,
        sys::cuDevicePrimaryCtxRetain(&mut context, 99) => CUDA_ERROR_INVALID_DEVICE,
        sys::cuCtxCreate_v2(&mut context, 0, 99) => CUDA_ERROR_INVALID_DEVICE,
        sys::cuDeviceCanAccessPeer(&mut int, 0, 99) => CUDA_ERROR_INVALID_DEVICE,
    }
}

#[test]
fn flags_that_are_not_there() {
    let _own = OwnContext::new();
    let (mut context, mut stream, mut event, mut pointer, mut address) =
        (null_mut(), null_mut(), null_mut(), null_mut(), 0);
    calls! {
        sys::cuInit(1) => CUDA_ERROR_INVALID_VALUE,
        sys::cuCtxCreate_v2(&mut context, 0x8000_0000, 0) => CUDA_ERROR_INVALID_VALUE,
        sys::cuStreamCreate(&mut stream, 64) => CUDA_ERROR_INVALID_VALUE,
        sys::cuEventCreate(&mut event, 64) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemHostAlloc(&mut pointer, 16, 0x1000) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemAllocManaged(&mut address, 16, 0) => CUDA_ERROR_INVALID_VALUE,
    }
}

#[test]
fn memory_that_is_not_there() {
    let _own = OwnContext::new();
    let address = alloc(64);
    let mut host = [0u8; 128];
    let to = host.as_mut_ptr().cast::<c_void>();
    let (mut base, mut size, mut other, mut pool, mut used) = (0, 0, 0, null_mut(), 0u64);
    let kind = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    calls! {
        sys::cuMemAlloc_v2(&mut other, 0) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemAlloc_v2(&mut other, 1 << 60) => CUDA_ERROR_OUT_OF_MEMORY,
        sys::cuMemAllocPitch_v2(&mut other, &mut size, 64, 64, 3) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemFree_v2(address + 4) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemFree_v2(0x1234) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemFree_v2(host.as_ptr() as u64) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemFree_v2(0),
        sys::cuMemFreeHost(to) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemcpyDtoH_v2(null_mut(), address, 4) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemcpyHtoD_v2(address, null(), 4) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemcpyHtoD_v2(0, to, 4) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemcpyDtoH_v2(to, 0, 4) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemcpyHtoD_v2(address, to, 0),
        sys::cuMemsetD8_v2(0, 0, 4) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemsetD32_v2(address + 1, 0, 4) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemsetD32_v2(address, 0, 0),
        sys::cuMemGetAddressRange_v2(&mut base, &mut size, 0x1234) => CUDA_ERROR_NOT_FOUND,
        sys::cuMemHostUnregister(to) => CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
        sys::cuMemHostGetDevicePointer_v2(&mut other, to, 0) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemAllocAsync(&mut other, 0, null_mut()),
        sys::cuMemFreeAsync(0, null_mut()),
        sys::cuMemHostAlloc(&mut null_mut(), 0, 0),
        sys::cuMemAllocManaged(&mut other, 0, 1) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemAllocPitch_v2(&mut other, &mut size, 0, 4, 4) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemHostRegister_v2(null_mut(), 64, 0) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemHostRegister_v2(to, 0, 0) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemHostGetDevicePointer_v2(&mut other, null_mut(), 0) => CUDA_ERROR_INVALID_VALUE,
        sys::cuPointerGetAttribute((&raw mut size).cast(), kind, to as u64) => CUDA_ERROR_INVALID_VALUE,
        sys::cuPointerGetAttribute(null_mut(), kind, address) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemGetAddressRange_v2(null_mut(), null_mut(), address),
        sys::cuMemGetInfo_v2(null_mut(), &mut size),
        sys::cuMemPrefetchAsync(address, 64, 0, null_mut()) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemsetD2D8_v2(address, 16, 0, 32, 2) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemsetD16_v2(address + 1, 0, 2) => CUDA_ERROR_INVALID_VALUE,
        sys::cuDeviceGetDefaultMemPool(&mut pool, 0),
        sys::cuMemPoolDestroy(pool) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemPoolGetAttribute(pool, sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
            (&raw mut used).cast()),
        sys::cuStreamAttachMemAsync(null_mut(), address, 0, 1) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemFree_v2(address),
        sys::cuMemFree_v2(address) => CUDA_ERROR_INVALID_VALUE,
    }
}

#[test]
fn emulated_copies_past_the_end_and_from_nowhere_are_refused() {
    let _own = OwnContext::new();
    let address = alloc(64);
    let mut host = [0u8; 128];
    let to = host.as_mut_ptr().cast::<c_void>();
    // On hardware the next allocation may be close enough for these to succeed.
    calls! {
        sys::cuMemcpyHtoD_v2(address, to, 65) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemcpyDtoH_v2(to, address + 60, 8) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemcpyDtoD_v2(address, address, usize::MAX) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemsetD8_v2(address, 0, 65) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemcpyHtoD_v2(address, 16 as *const c_void, 8) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemcpyHtoD_v2(to as u64, to, 8) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemcpyDtoH_v2(to, to as u64, 8) => CUDA_ERROR_INVALID_VALUE,
    }
}

#[test]
fn emulated_handles_that_are_not_ours() {
    let _own = OwnContext::new();
    // NVIDIA's driver dereferences most of these and crashes.
    let (mut ms, mut int, mut n) = (0.0, 0, 0);
    let regs = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS;
    calls! {
        sys::cuCtxSetCurrent(stray()) => CUDA_ERROR_INVALID_CONTEXT,
        sys::cuCtxPushCurrent_v2(stray()) => CUDA_ERROR_INVALID_CONTEXT,
        sys::cuCtxDestroy_v2(stray()) => CUDA_ERROR_INVALID_CONTEXT,
        sys::cuCtxDestroy_v2(null_mut()) => CUDA_ERROR_INVALID_CONTEXT,
        sys::cuStreamSynchronize(stray()) => CUDA_ERROR_INVALID_HANDLE,
        sys::cuStreamDestroy_v2(stray()) => CUDA_ERROR_INVALID_HANDLE,
        sys::cuStreamQuery(stray()) => CUDA_ERROR_INVALID_HANDLE,
        sys::cuEventRecord(stray(), null_mut()) => CUDA_ERROR_INVALID_HANDLE,
        sys::cuEventQuery(stray()) => CUDA_ERROR_INVALID_HANDLE,
        sys::cuEventDestroy_v2(null_mut()) => CUDA_ERROR_INVALID_HANDLE,
        sys::cuEventElapsedTime(&mut ms, stray(), stray()) => CUDA_ERROR_INVALID_HANDLE,
        sys::cuModuleUnload(stray()) => CUDA_ERROR_INVALID_HANDLE,
        sys::cuModuleGetFunction(&mut null_mut(), stray(), c"fill".as_ptr()) => CUDA_ERROR_INVALID_HANDLE,
        sys::cuFuncGetAttribute(&mut int, regs, stray()) => CUDA_ERROR_INVALID_HANDLE,
        sys::cuModuleGetFunctionCount(&mut n, stray()) => CUDA_ERROR_INVALID_HANDLE,
        launch(stray(), 1, 1, &[]) => CUDA_ERROR_INVALID_HANDLE,
        sys::cuArrayDestroy(stray()) => CUDA_ERROR_INVALID_HANDLE,
        sys::cuTexObjectDestroy(0x1234) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemPoolDestroy(stray()) => CUDA_ERROR_INVALID_VALUE,
        sys::cuLibraryUnload(stray()) => CUDA_ERROR_INVALID_HANDLE,
    }
}

#[test]
fn names_that_are_not_there() {
    let _own = OwnContext::new();
    let module = module();
    let (mut address, mut size) = (0, 0);
    calls! {
        sys::cuModuleGetFunction(&mut null_mut(), module, c"filll".as_ptr()) => CUDA_ERROR_NOT_FOUND,
        sys::cuModuleGetFunction(&mut null_mut(), module, c"".as_ptr()) => CUDA_ERROR_INVALID_VALUE,
        sys::cuModuleGetGlobal_v2(&mut address, &mut size, module, c"count".as_ptr()) => CUDA_ERROR_NOT_FOUND,
        sys::cuModuleLoad(&mut null_mut(), c"/no/such/file.ptx".as_ptr()) => CUDA_ERROR_FILE_NOT_FOUND,
    }
}

#[test]
fn launches_that_cannot_start() {
    let _own = OwnContext::new();
    let module = module();
    let nothing = function(module, "nothing");
    let bounded = function(module, "bounded");
    let exact = function(module, "exact");
    let fill = function(module, "fill");
    let launch_nothing = |grid, block, bytes| launch_on(null_mut(), nothing, grid, block, bytes, &[]);
    let blocks = |x, y, z| launch_nothing([1; 3], [x, y, z], 0);
    let grid = |x, y, z| launch_nothing([x, y, z], [1; 3], 0);
    let shared = |bytes| launch_nothing([1; 3], [1; 3], bytes);
    calls! {
        blocks(0, 1, 1) => CUDA_ERROR_INVALID_VALUE,
        blocks(1, 1, 0) => CUDA_ERROR_INVALID_VALUE,
        blocks(1025, 1, 1) => CUDA_ERROR_INVALID_VALUE,
        blocks(64, 32, 1) => CUDA_ERROR_INVALID_VALUE,
        blocks(1, 1, 65) => CUDA_ERROR_INVALID_VALUE,
        blocks(u32::MAX, u32::MAX, u32::MAX) => CUDA_ERROR_INVALID_VALUE,
        grid(0, 1, 1) => CUDA_ERROR_INVALID_VALUE,
        grid(0x8000_0000, 1, 1) => CUDA_ERROR_INVALID_VALUE,
        grid(1, 65536, 1) => CUDA_ERROR_INVALID_VALUE,
        grid(1, 1, 65536) => CUDA_ERROR_INVALID_VALUE,
        shared(49153) => CUDA_ERROR_INVALID_VALUE,
        shared(u32::MAX) => CUDA_ERROR_INVALID_VALUE,
        launch(bounded, 1, 65, &[]) => CUDA_ERROR_INVALID_VALUE,
        launch(bounded, 1, 64, &[]),
        launch(exact, 1, 64, &[]) => CUDA_ERROR_INVALID_VALUE,
        launch_kernel(fill, [1; 3], [1; 3], 0, null_mut(), NONE, NONE) => CUDA_ERROR_INVALID_VALUE,
    }
}

#[test]
fn emulated_missing_arguments_are_an_error() {
    let _own = OwnContext::new();
    let fill = function(module(), "fill");
    let mut argument = 5u64;
    let mut pointers = [(&raw mut argument).cast::<c_void>(), null_mut(), null_mut()];
    let mut stray_pointers = [(&raw mut argument).cast::<c_void>(), stray(), stray()];
    for pointers in [pointers.as_mut_ptr(), stray_pointers.as_mut_ptr(), stray()] {
        calls! { launch_kernel(fill, [1; 3], [1; 3], 0, null_mut(), pointers, NONE) => CUDA_ERROR_INVALID_VALUE }
    }
}

#[test]
fn shared_memory_beyond_48_kib_must_be_asked_for() {
    let _own = OwnContext::new();
    let shift = function(module(), "shift");
    let most = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    let address = alloc(128);
    let launch = |bytes| launch_on(null_mut(), shift, [1; 3], [32, 1, 1], bytes, &[address]);
    calls! {
        launch(64 * 1024) => CUDA_ERROR_INVALID_VALUE,
        sys::cuFuncSetAttribute(shift, most, 512 * 1024) => CUDA_ERROR_INVALID_VALUE,
        sys::cuFuncSetAttribute(shift, most, -1) => CUDA_ERROR_INVALID_VALUE,
        sys::cuFuncSetAttribute(shift, most, 64 * 1024),
        launch(64 * 1024),
        sys::cuCtxSynchronize(),
    }
}

fn load(text: &[u8]) -> CUresult {
    let mut image = text.to_vec();
    image.push(0);
    // SAFETY: a string that ends with NUL.
    unsafe { sys::cuModuleLoadData(&mut null_mut(), image.as_ptr().cast()) }
}

/// Returns a kernel with a shared array of `bytes` bytes.
fn declares(bytes: u32) -> Vec<u8> {
    let head = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { .reg .b32 %r;";
    format!("{head} .shared .align 4 .b8 tile[{bytes}]; st.shared.u32 [tile], 1; ld.shared.u32 %r, [tile]; ret; }}")
        .into_bytes()
}

#[test]
fn texts_that_are_no_ptx() {
    let _own = OwnContext::new();
    calls! {
        load(b".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { frobnicate; }") => CUDA_ERROR_INVALID_PTX,
        load(b".version 99.0\n.target sm_75\n.address_size 64\n") => CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
        load(&declares(48 * 1024)),
        // ptxas refuses these: only dynamic shared memory goes beyond 48 KiB.
        load(&declares(48 * 1024 + 4)) => CUDA_ERROR_INVALID_PTX,
        load(&declares(1 << 20)) => CUDA_ERROR_INVALID_PTX,
        load(b"") => CUDA_ERROR_INVALID_IMAGE,
        load(b"hello") => CUDA_ERROR_INVALID_IMAGE,
        load(b".version 8.4\n.target sm_100\n.address_size 64\n.visible .entry k() { ret; }") => CUDA_ERROR_INVALID_PTX,
        load(b".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }"),
        load(b".version 8.4\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; ") => CUDA_ERROR_INVALID_PTX,
        load(b".version 8.4\n.target sm_75\n.address_size 64\n.visible .entry k() { mov.u32 %r1, 1; ret; }")
            => CUDA_ERROR_INVALID_PTX,
    }
}

#[test]
fn emulated_images_for_real_gpus_and_other_texts_are_refused() {
    let _own = OwnContext::new();
    calls! {
        load(b"\xff\xfe\x01") => CUDA_ERROR_INVALID_IMAGE,
        load(b"\x7fELF\x02\x01\x01") => CUDA_ERROR_INVALID_IMAGE,
        load(b"\xedCN\x7f\x01\x40\x02\0") => CUDA_ERROR_INVALID_IMAGE,
        load(b"\x50\xed\x55\xba\x01") => CUDA_ERROR_INVALID_IMAGE,
        load(b".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k() { wgmma.fence.sync.aligned; }")
            => CUDA_ERROR_INVALID_PTX,
    }
}

#[test]
fn emulated_truncated_ptx_never_loads_half() {
    let _own = OwnContext::new();
    for end in (0..KERNELS.len()).step_by(61) {
        let code = load(&KERNELS.as_bytes()[..end]);
        assert!(
            matches!(code, CUDA_SUCCESS | CUDA_ERROR_INVALID_PTX | CUDA_ERROR_INVALID_IMAGE),
            "cut at {end}: {code:?}"
        );
    }
}

#[test]
fn the_error_log_says_what_is_wrong() {
    let _own = OwnContext::new();
    let text = c".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() {\n  frobnicate.u32 1;\n}";
    let mut log = ErrorLog::new();
    let (options, values) = (log.options.as_mut_ptr(), log.values.as_mut_ptr());
    calls! {
        sys::cuModuleLoadDataEx(&mut null_mut(), text.as_ptr().cast(), 2, options, values) => CUDA_ERROR_INVALID_PTX,
    }
    let message = log.text();
    assert!(message.contains("frobnicate") && message.contains("line 5"), "{message}");
    // The size of the buffer becomes the number of bytes written.
    assert_eq!(log.values[1] as usize, message.len() + 1);
}

#[test]
fn without_a_context() {
    silence();
    std::thread::spawn(|| {
        let (mut address, mut stream, mut context) = (0, null_mut(), MaybeUninit::uninit());
        calls! {
            sys::cuInit(0),
            sys::cuCtxGetCurrent(context.as_mut_ptr()),
            sys::cuMemAlloc_v2(&mut address, 4) => CUDA_ERROR_INVALID_CONTEXT,
            sys::cuStreamCreate(&mut stream, 0) => CUDA_ERROR_INVALID_CONTEXT,
            sys::cuCtxSynchronize() => CUDA_ERROR_INVALID_CONTEXT,
            sys::cuModuleLoadData(&mut null_mut(), KERNELS.as_ptr().cast()) => CUDA_ERROR_INVALID_CONTEXT,
            sys::cuCtxPopCurrent_v2(&mut null_mut()) => CUDA_ERROR_INVALID_CONTEXT,
            sys::cuMemFree_v2(0x1234) => CUDA_ERROR_INVALID_VALUE,
        }
        // SAFETY: written by the call above.
        assert!(unsafe { context.assume_init() }.is_null());
        // Attributes of a pointer need no context: cuda.core queries them for any array, NumPy's too.
        let (mut kind, mut ordinal, here) = (9u32, 9i32, &raw mut address);
        let mut attributes = [
            sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
            sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        ];
        let mut places = [(&raw mut kind).cast(), (&raw mut ordinal).cast()];
        calls! {
            sys::cuPointerGetAttributes(2, attributes.as_mut_ptr(), places.as_mut_ptr(), here as u64),
            sys::cuPointerGetAttribute(places[0], attributes[0], here as u64) => CUDA_ERROR_INVALID_VALUE,
        }
        assert_eq!((kind, ordinal), (0, -2));
    })
    .join()
    .expect("no assertion failed");
}

#[test]
fn events_that_cannot_tell_the_time() {
    let _own = OwnContext::new();
    let (timed, other, mut untimed, mut ms) = (event(), event(), null_mut(), 0.0);
    calls! {
        sys::cuEventCreate(&mut untimed, 2),
        sys::cuEventRecord(timed, null_mut()),
        sys::cuEventRecord(untimed, null_mut()),
        sys::cuEventSynchronize(timed),
    }
    calls! {
        sys::cuEventElapsedTime(&mut ms, timed, untimed) => CUDA_ERROR_INVALID_HANDLE,
        sys::cuEventElapsedTime(&mut ms, timed, other) => CUDA_ERROR_INVALID_HANDLE,
        sys::cuEventElapsedTime(null_mut(), timed, timed) => CUDA_ERROR_INVALID_HANDLE,
        sys::cuEventElapsedTime(&mut ms, timed, timed),
        sys::cuEventQuery(other),
        sys::cuEventSynchronize(other),
    }
    assert_eq!(ms, 0.0);
}

#[test]
fn names_and_sentences_of_codes() {
    silence();
    let (mut name, mut sentence) = (null(), null());
    calls! {
        sys::cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &mut name),
        sys::cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &mut sentence),
    }
    // SAFETY: strings that live forever.
    let texts = [name, sentence].map(|text| unsafe { std::ffi::CStr::from_ptr(text) });
    assert_eq!(texts, [c"CUDA_ERROR_ILLEGAL_ADDRESS", c"out of memory"]);
}

#[test]
fn emulated_calls_are_found_by_name() {
    let _own = OwnContext::new();
    let mut found = null_mut();
    calls! {
        sys::cuGetProcAddress_v2(c"cuMemAlloc".as_ptr(), &mut found, 12040, 0, null_mut()),
        sys::cuGetProcAddress_v2(c"cuMemAlloc".as_ptr(), null_mut(), 12040, 0, null_mut()) => CUDA_ERROR_INVALID_VALUE,
        sys::cuGetProcAddress_v2(null(), &mut found, 12040, 0, null_mut()) => CUDA_ERROR_INVALID_VALUE,
        sys::cuGetProcAddress_v2(c"cuLaunchKernel".as_ptr(), &mut found, 12040, 2, null_mut()),
        sys::cuGetProcAddress_v2(c"cuNoSuchCall".as_ptr(), &mut found, 12040, 0, null_mut()) => CUDA_ERROR_NOT_FOUND,
    }
    // Results of an H200 with the driver of CUDA 13.0: status, and presence of an address.
    let found_with = |name: &std::ffi::CStr, version, flags| {
        let (mut found, mut status) = (null_mut(), sys::CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS);
        calls! { sys::cuGetProcAddress_v2(name.as_ptr(), &mut found, version, flags, &mut status) }
        (status as u32, !found.is_null())
    };
    for (name, version, flags, expected) in [
        (c"cuMemAlloc", 12040, 0, (0, true)),
        (c"cuMemAlloc", 12040, 3, (0, true)),
        (c"cuMemAlloc", -1, 0, (0, true)),
        (c"cuMemAlloc_v2", 12040, 0, (1, false)),
        (c"cuNoSuchCall", 12040, 0, (1, false)),
        (c"cuGraphAddNode", 11040, 0, (2, false)),
        (c"cuKernelGetLibrary", 12040, 0, (2, false)),
        (c"cuKernelGetLibrary", 12050, 0, (0, true)),
    ] {
        assert_eq!(found_with(name, version, flags), expected, "{name:?} {version} {flags}");
    }
    // SAFETY: valid places for results; the call has the type of cuMemAlloc_v2.
    unsafe {
        ok(sys::cuGetProcAddress_v2(c"cuMemAlloc".as_ptr(), &mut found, 12040, 0, null_mut()));
        let alloc: extern "C" fn(*mut u64, usize) -> CUresult = std::mem::transmute(found);
        let mut address = 0;
        ok(alloc(&mut address, 1 << 33));
        ok(sys::cuMemFree_v2(address));
    }
}

#[test]
fn less_common_mistakes_with_current_contexts_and_peers() {
    let own = OwnContext::new();
    let mut context = null_mut();
    let mut int = 0;
    let supported = sys::CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED;
    calls! {
        sys::cuCtxPushCurrent_v2(own.0),
        sys::cuCtxCreate_v2(&mut context, 3, 0) => CUDA_ERROR_INVALID_VALUE,
        sys::cuCtxPushCurrent_v2(null_mut()) => CUDA_ERROR_INVALID_VALUE,
        sys::cuCtxSetCurrent(null_mut()),
        sys::cuCtxSetCurrent(own.0),
        sys::cuCtxSynchronize(),
        sys::cuCtxEnablePeerAccess(own.0, 1) => CUDA_ERROR_INVALID_VALUE,
        sys::cuCtxEnablePeerAccess(own.0, 0) => CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
        sys::cuCtxDisablePeerAccess(own.0) => CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,
        sys::cuDeviceCanAccessPeer(&mut int, 0, 0),
        sys::cuDeviceGetP2PAttribute(&mut int, supported, 0, 0) => CUDA_ERROR_INVALID_DEVICE,
    }
    assert_eq!(int, 0);
}

#[test]
fn names_limits_and_ranges() {
    let _own = OwnContext::new();
    let (mut size, mut least, mut greatest) = (0, 7, 7);
    let mut name = [1 as std::ffi::c_char; 16];
    calls! {
        sys::cuCtxGetStreamPriorityRange(&mut least, &mut greatest),
        sys::cuCtxGetLimit(&mut size, sys::CUlimit::CU_LIMIT_STACK_SIZE),
        sys::cuDeviceGetName(name.as_mut_ptr(), 5, 0),
    }
    assert_eq!((least, greatest), (0, -5));
    assert_eq!((name[4], name[5]), (0, 1));
    assert_eq!(size, 1024);
}

#[test]
fn less_common_mistakes_with_launches() {
    let _own = OwnContext::new();
    let fill = function(module(), "fill");
    let address = alloc(64);
    let mut buffer = [0u8; 16];
    buffer[..8].copy_from_slice(&address.to_le_bytes());
    let mut long = 24usize;
    let argument = 5u64;
    let mut pointers = [(&raw const argument).cast_mut().cast::<c_void>(); 3];
    let mut too_long = in_one_buffer(&buffer, &mut long);
    let (mut grid, mut block, mut n, mut size) = (0, 0, 0, 0usize);
    calls! {
        launch_kernel(fill, [1; 3], [1; 3], 0, null_mut(), pointers.as_mut_ptr(), too_long.as_mut_ptr())
            => CUDA_ERROR_INVALID_VALUE,
        launch_kernel(fill, [1; 3], [1; 3], 0, null_mut(), null_mut(), too_long.as_mut_ptr())
            => CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
        sys::cuLaunchHostFunc(null_mut(), None, null_mut()) => CUDA_ERROR_INVALID_VALUE,
        sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut n, fill, 0, 0) => CUDA_ERROR_INVALID_VALUE,
        sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut n, fill, 2048, 0),
        sys::cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, fill, None, 0, 0),
        sys::cuOccupancyAvailableDynamicSMemPerBlock(&mut size, fill, 2, 256),
    }
    assert_eq!((n, block, grid, size), (0, 1024, 264, 49_152));
}

#[test]
fn less_common_mistakes_with_arrays() {
    let _own = OwnContext::new();
    let mut array = null_mut();
    let mut create = |width, height, channels| {
        let description = sys::CUDA_ARRAY_DESCRIPTOR {
            Width: width,
            Height: height,
            Format: sys::CUarray_format::CU_AD_FORMAT_FLOAT,
            NumChannels: channels,
        };
        // SAFETY: good places.
        unsafe { sys::cuArrayCreate_v2(&mut array, &description) }
    };
    calls! {
        create(0, 4, 1) => CUDA_ERROR_INVALID_VALUE,
        create(4, 4, 3) => CUDA_ERROR_INVALID_VALUE,
        create(1 << 20, 4, 1) => CUDA_ERROR_INVALID_VALUE,
        create(16, 0, 2),
    }
    let mut host = [0u8; 256];
    // SAFETY: good places; the array was made above.
    calls! {
        sys::cuMemcpyHtoA_v2(array, 0, host.as_ptr().cast(), 128),
        sys::cuMemcpyHtoA_v2(array, 0, host.as_ptr().cast(), 129) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemcpyAtoH_v2(host.as_mut_ptr().cast(), array, 120, 9) => CUDA_ERROR_INVALID_VALUE,
        sys::cuMemcpyAtoH_v2(host.as_mut_ptr().cast(), array, 120, 8),
        sys::cuArrayDestroy(array),
    }
}

#[test]
fn emulated_less_common_mistakes_with_names() {
    let _own = OwnContext::new();
    let text = std::ffi::CString::new(KERNELS).expect("PTX has no NUL");
    let (mut library, mut kernel) = (null_mut(), null_mut());
    calls! {
        load_library(&mut library, text.as_ptr().cast()),
        sys::cuLibraryGetKernel(&mut kernel, library, c"filll".as_ptr()) => CUDA_ERROR_NOT_FOUND,
        sys::cuLibraryUnload(library),
        sys::cuLibraryUnload(library) => CUDA_ERROR_INVALID_HANDLE,
    }
}
