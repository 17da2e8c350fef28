//! Calls of the driver that the examples share which run cases on a device.

#![allow(dead_code, reason = "each example uses its own part")]

use std::ffi::{CStr, CString};
use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUdeviceptr, CUfunction, CUresult};

/// Fails with the name of a code that is not success, behind what it is about.
pub(crate) fn check(code: CUresult, what: &str) -> Result<(), String> {
    match code {
        CUresult::CUDA_SUCCESS => Ok(()),
        _ => Err(format!("{what} {code:?}")),
    }
}

/// Makes the primary context of the first device current.
pub(crate) fn open() -> Result<(), String> {
    let mut context = null_mut();
    // SAFETY: plain calls of the driver's interface with pointers to locals.
    unsafe {
        if !sys::is_culib_present() {
            return Err("no CUDA driver library was found".into());
        }
        check(sys::cuInit(0), "cuInit:")?;
        check(sys::cuDevicePrimaryCtxRetain(&mut context, 0), "context:")?;
        check(sys::cuCtxSetCurrent(context), "context:")
    }
}

pub(crate) fn load(module: &str, kernel: &CStr) -> Result<CUfunction, String> {
    let text = CString::new(module).map_err(|error| error.to_string())?;
    let (mut loaded, mut function) = (null_mut(), null_mut());
    // SAFETY: plain calls of the driver's interface with pointers to locals; the text ends in a zero.
    unsafe {
        check(sys::cuModuleLoadData(&mut loaded, text.as_ptr().cast()), "loading:")?;
        check(sys::cuModuleGetFunction(&mut function, loaded, kernel.as_ptr()), "loading:")?;
    }
    Ok(function)
}

pub(crate) fn upload(words: &[u32]) -> Result<CUdeviceptr, String> {
    let mut address = 0;
    // SAFETY: the buffer is as large as the copy.
    unsafe {
        check(sys::cuMemAlloc_v2(&mut address, size_of_val(words)), "cuMemAlloc:")?;
        check(sys::cuMemcpyHtoD_v2(address, words.as_ptr().cast(), size_of_val(words)), "copy:")?;
    }
    Ok(address)
}

/// Waits for a launch, whose code is `launched`, and reads buffers of [`upload`] again.
pub(crate) fn finish(
    launched: CUresult, buffers: &mut [(&mut [u32], CUdeviceptr)], stopped: &str,
) -> Result<(), String> {
    check(launched, "launch:")?;
    // SAFETY: the buffers are as large as the copies.
    unsafe {
        check(sys::cuCtxSynchronize(), stopped)?;
        for (words, address) in buffers {
            check(sys::cuMemcpyDtoH_v2(words.as_mut_ptr().cast(), *address, size_of_val(*words)), "copy:")?;
        }
    }
    Ok(())
}
