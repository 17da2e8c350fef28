//! Superseded calls that programs still use: first forms that differ from their `_v2` in a detail, and launches with
//! `cuParamSet*` and `cuLaunchGrid`.
//!
//! First forms that are the same stand beside their `_v2`; those with 32-bit device addresses are stubs: see
//! `ffi::replaced`. The codes are those of an H200.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use crate::api::launch::{GridSpec, launch_with};
use crate::api::{context::cuCtxDestroy_v2, function::max_threads, host::cuMemAllocHost_v2};
use crate::api::{library::function_of, module::Function};
use crate::ffi::{In, Out, export};
use crate::result::*;
use crate::{attributes::limit, contexts::usable, diagnose};
use crate::{sync::lock, types::Handle};

/// Limit on arguments, in bytes: that of kernels for CUDA 12.0 and before.
const MAX_ARGUMENTS: usize = 4096;

fn outcome(code: CUresult) -> Outcome {
    if code == SUCCESS { Ok(()) } else { Err(code) }
}

fn set_argument(handle: Handle, offset: c_int, bytes: &[u8]) -> Outcome {
    usable()?;
    let function = function_of(handle)?;
    let offset = usize::try_from(offset).map_err(|_| ERROR_INVALID_VALUE)?;
    let end = offset.checked_add(bytes.len()).ok_or(ERROR_INVALID_VALUE)?;
    refuse_if(end > MAX_ARGUMENTS, ERROR_INVALID_VALUE)?;
    let arguments = &mut lock(&function.prepared).arguments;
    if arguments.len() < end {
        arguments.resize(end, 0);
    }
    arguments[offset..end].copy_from_slice(bytes);
    Ok(())
}

fn launch_grid(handle: Handle, width: c_int, height: c_int, stream: Handle) -> Outcome {
    let function: Arc<Function> = function_of(handle)?;
    let side = |n: c_int| c_uint::try_from(n).map_err(|_| ERROR_INVALID_VALUE);
    let grid = [side(width)?, side(height)?, 1];
    let (shape, arguments) = {
        let prepared = lock(&function.prepared);
        let shape = GridSpec::new(grid, prepared.block.unwrap_or([1; 3]), prepared.dynamic_shared);
        let mut arguments = prepared.arguments.clone();
        let taken = function.loaded.kernel().param_bytes as usize;
        arguments.resize(prepared.size.unwrap_or(taken), 0);
        (shape, arguments)
    };
    launch_with(handle, shape, stream, &arguments)
}

export! {
    fn cuCtxCreate 2000(_out: Out<Handle>, _flags: c_uint, _dev: c_int) {
        diagnose::print_once(
            "cuCtxCreate without _v2 makes a context of 32-bit addresses (CUDA 3.1 and before), which 64-bit devices refuse; \
             use cuCtxCreate_v2",
        );
        Err(ERROR_OUT_OF_MEMORY)
    }

    fn cuCtxDestroy 2000(handle: Handle) {
        refuse_if(handle == 0, ERROR_INVALID_VALUE)?;
        // SAFETY: the same arguments, with the caller's promises.
        outcome(unsafe { cuCtxDestroy_v2(handle) })
    }

    fn cuMemAllocHost 2000(out: Out<u64>, bytes: c_uint) {
        // SAFETY: the same arguments, with the caller's promises; the size is wider.
        outcome(unsafe { cuMemAllocHost_v2(out, bytes as usize) })
    }

    fn cuFuncSetBlockShape 2000(handle: Handle, x: c_int, y: c_int, z: c_int) {
        let function = function_of(handle)?;
        let side = |n: c_int| c_uint::try_from(n).ok().filter(|n| *n > 0).ok_or(ERROR_INVALID_VALUE);
        let block = [side(x)?, side(y)?, side(z)?];
        let fits = block.iter().zip(limit::BLOCK).all(|(n, most)| *n <= most);
        refuse_if(!fits || block.iter().product::<c_uint>() > max_threads(&function), ERROR_INVALID_VALUE)?;
        lock(&function.prepared).block = Some(block);
        Ok(())
    }

    fn cuFuncSetSharedSize 2000(handle: Handle, bytes: c_uint) {
        lock(&function_of(handle)?.prepared).dynamic_shared = bytes;
        Ok(())
    }

    fn cuParamSetSize 2000(handle: Handle, bytes: c_uint) {
        usable()?;
        let function = function_of(handle)?;
        refuse_if(bytes as usize > MAX_ARGUMENTS, ERROR_INVALID_VALUE)?;
        lock(&function.prepared).size = Some(bytes as usize);
        Ok(())
    }

    fn cuParamSeti 2000(handle: Handle, offset: c_int, value: c_uint) =
        set_argument(handle, offset, &value.to_ne_bytes());
    fn cuParamSetf 2000(handle: Handle, offset: c_int, value: f32) =
        set_argument(handle, offset, &value.to_ne_bytes());

    fn cuParamSetv 2000(handle: Handle, offset: c_int, data: In<u8>, bytes: c_uint) {
        refuse_if(bytes as usize > MAX_ARGUMENTS, ERROR_INVALID_VALUE)?;
        // SAFETY: the caller promises as many bytes.
        let data = unsafe { data.list(bytes as usize) }?;
        set_argument(handle, offset, &data)
    }

    fn cuLaunch 2000(handle: Handle) = launch_grid(handle, 1, 1, 0);
    fn cuLaunchGrid 2000(handle: Handle, width: c_int, height: c_int) = launch_grid(handle, width, height, 0);
    fn cuLaunchGridAsync 2000(handle: Handle, width: c_int, height: c_int, stream: Handle) =
        launch_grid(handle, width, height, stream);
}
