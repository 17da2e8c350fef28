//! Calls before `cuInit`. A program of its own: initialisation cannot be undone.

use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUresult::*};

#[test]
fn nothing_works_before_initialisation() {
    if std::env::var("TILE_DEVICE").as_deref() != Ok("real") {
        emulator_client::preload().expect("Cargo built the library");
    }
    let (mut n, mut address, mut context, mut stream) = (0, 0, null_mut(), null_mut());
    // SAFETY: valid places for results.
    unsafe {
        assert_eq!(sys::cuDeviceGetCount(&mut n), CUDA_ERROR_NOT_INITIALIZED);
        assert_eq!(sys::cuDeviceGet(&mut n, 0), CUDA_ERROR_NOT_INITIALIZED);
        assert_eq!(sys::cuDevicePrimaryCtxRetain(&mut context, 0), CUDA_ERROR_NOT_INITIALIZED);
        assert_eq!(sys::cuCtxGetCurrent(&mut context), CUDA_ERROR_NOT_INITIALIZED);
        assert_eq!(sys::cuCtxCreate_v2(&mut context, 0, 0), CUDA_ERROR_NOT_INITIALIZED);
        assert_eq!(sys::cuMemAlloc_v2(&mut address, 4), CUDA_ERROR_NOT_INITIALIZED);
        assert_eq!(sys::cuStreamCreate(&mut stream, 0), CUDA_ERROR_NOT_INITIALIZED);
        assert_eq!(sys::cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
        // The version is available at any time.
        assert_eq!(sys::cuDriverGetVersion(&mut n), CUDA_SUCCESS);
        assert!(n >= 12040);
        assert_eq!(sys::cuInit(0), CUDA_SUCCESS);
        assert_eq!(sys::cuDeviceGetCount(&mut n), CUDA_SUCCESS);
    }
}
