//! Mistakes of the host's code: messages of the driver, besides the codes that it returns.

use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUresult, CUresult::*};

use crate::common::{
    OwnContext, alloc, empty_copy, emulator, function, launch, load_ptx, module, ok, synchronize, words,
};
use crate::emulated::{is_alone, run_alone};

/// A constant without an initial value, and a kernel whose name is mangled.
const PTX: &str = "
.version 7.0
.target sm_75
.address_size 64
.visible .const .align 4 .b8 weights[16];
.visible .entry weigh(.param .u64 out)
{
	.reg .b32 %r<2>;
	.reg .b64 %d<2>;
	ld.param.u64 %d0, [out];
	ld.const.u32 %r0, [weights+4];
	st.global.u32 [%d0], %r0;
	ret;
}
.visible .entry _Z3addPfi() { ret; }
";

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
        let mut pinned = null_mut();
        ok(sys::cuMemAllocHost_v2(&mut pinned, 128));
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
        let copy = sys::CUDA_MEMCPY2D {
            srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcDevice: from,
            srcPitch: pitch,
            dstHost: host,
            dstPitch: 16,
            WidthInBytes: 16,
            Height: height,
            ..empty_copy()
        };
        // SAFETY: the caller's promise; the driver refuses what is past the end of device memory.
        unsafe { sys::cuMemcpy2D_v2(&copy) }
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
