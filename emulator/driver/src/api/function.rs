//! Kernels: attributes, parameters, preferences.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::atomic::Ordering;

use simt::occupancy::Footprint;

use crate::api::device::{device, query_device};
use crate::api::library::{self, function_of};
use crate::cuda_constants::function as ids;
use crate::ffi::{Out, export, later};
use crate::result::*;
use crate::types::Handle;
use crate::{api::module::Function, api::query, attributes::limit};

/// Returns the registers of a thread: ptxas's number where the PTX contains it, else the number that the emulated
/// device keeps, which is near that of a compiler; never more than the program or the kernel allows.
pub(crate) fn registers(function: &Function) -> u32 {
    let kernel = function.loaded.kernel();
    let max_registers = function.info.max_registers.or(kernel.max_registers).unwrap_or(255);
    let estimate = kernel.n_lines.clamp(16, 255);
    function.info.registers.unwrap_or(estimate).min(max_registers.max(16))
}

pub(crate) fn footprint(function: &Function, threads: u32, dynamic: usize) -> Footprint {
    Footprint {
        threads,
        registers: registers(function),
        shared: u64::from(function.loaded.kernel().shared_static_bytes) + dynamic as u64,
    }
}

pub(crate) fn footprint_of(function: &Function, block: [c_uint; 3], dynamic: c_uint) -> Footprint {
    footprint(function, block.into_iter().fold(1, u32::saturating_mul), dynamic as usize)
}

pub(crate) fn max_threads(function: &Function) -> u32 {
    let kernel = function.loaded.kernel();
    let declared =
        kernel.max_threads.map_or(limit::THREADS_PER_BLOCK, |t| t.iter().copied().fold(1, u32::saturating_mul));
    // Only the number of ptxas is a hard limit.
    let by_registers =
        function.info.registers.map_or(u32::MAX, |r| limit::REGISTERS / (r.max(1) * 32).next_multiple_of(256) * 32);
    declared.min(by_registers).min(limit::THREADS_PER_BLOCK)
}

fn attribute(function: &Function, attribute: c_uint) -> Outcome<c_int> {
    let kernel = function.loaded.kernel();
    Ok(match attribute {
        ids::MAX_THREADS_PER_BLOCK => max_threads(function) as c_int,
        ids::SHARED_SIZE_BYTES => kernel.shared_static_bytes as c_int,
        ids::CONST_SIZE_BYTES => function.info.constant_bytes as c_int,
        ids::LOCAL_SIZE_BYTES => kernel.local_bytes as c_int,
        ids::NUM_REGS => registers(function) as c_int,
        ids::PTX_VERSION => function.info.target as c_int,
        ids::BINARY_VERSION => 90,
        ids::CACHE_MODE_CA => 0,
        ids::MAX_DYNAMIC_SHARED_SIZE_BYTES => function.max_dynamic_shared.load(Ordering::Relaxed),
        ids::PREFERRED_SHARED_MEMORY_CARVEOUT => function.carveout.load(Ordering::Relaxed),
        ids::CLUSTER_SIZE_MUST_BE_SET => c_int::from(kernel.cluster.explicit),
        ids::REQUIRED_CLUSTER_WIDTH..=ids::REQUIRED_CLUSTER_DEPTH => {
            let i = (attribute - ids::REQUIRED_CLUSTER_WIDTH) as usize;
            let required = kernel.cluster.required.map(|required| required[i] as c_int);
            required.unwrap_or_else(|| function.cluster[i].load(Ordering::Relaxed))
        }
        ids::NON_PORTABLE_CLUSTER_SIZE_ALLOWED => function.nonportable_cluster.load(Ordering::Relaxed),
        ids::CLUSTER_SCHEDULING_POLICY_PREFERENCE => function.cluster_policy.load(Ordering::Relaxed),
        _ => return Err(ERROR_INVALID_VALUE),
    })
}

fn set_attribute(function: &Function, attribute: c_uint, value: c_int) -> Outcome {
    match attribute {
        ids::MAX_DYNAMIC_SHARED_SIZE_BYTES => {
            let max_bytes = limit::SHARED_PER_BLOCK_OPTIN.saturating_sub(function.loaded.kernel().shared_static_bytes);
            refuse_if(value < 0 || value as u32 > max_bytes, ERROR_INVALID_VALUE)?;
            function.max_dynamic_shared.store(value, Ordering::Relaxed);
        }
        ids::PREFERRED_SHARED_MEMORY_CARVEOUT if (-1..=100).contains(&value) => {
            function.carveout.store(value, Ordering::Relaxed)
        }
        ids::REQUIRED_CLUSTER_WIDTH..=ids::REQUIRED_CLUSTER_DEPTH => {
            let i = (attribute - ids::REQUIRED_CLUSTER_WIDTH) as usize;
            match function.loaded.kernel().cluster.required {
                Some(required) if i64::from(required[i]) == i64::from(value) => {}
                None if value >= 0 => function.cluster[i].store(value, Ordering::Relaxed),
                _ => return Err(ERROR_INVALID_VALUE),
            }
        }
        ids::NON_PORTABLE_CLUSTER_SIZE_ALLOWED if (0..=1).contains(&value) => {
            function.nonportable_cluster.store(value, Ordering::Relaxed);
        }
        ids::CLUSTER_SCHEDULING_POLICY_PREFERENCE if (0..=2).contains(&value) => {
            function.cluster_policy.store(value, Ordering::Relaxed);
        }
        _ => return Err(ERROR_INVALID_VALUE),
    }
    Ok(())
}

fn param_info(function: &Function, index: usize, offset: Out<usize>, size: Out<usize>) -> Outcome {
    offset.check()?;
    let param = function.loaded.kernel().params.get(index).ok_or(ERROR_INVALID_VALUE)?;
    offset.put(param.offset as usize)?;
    size.put_if_wanted(param.bytes as usize);
    Ok(())
}

/// Looks a function up, for calls on a library's kernel.
fn kernel_of(handle: Handle) -> Outcome<std::sync::Arc<Function>> {
    function_of(library::function_handle(handle)?)
}

export! {
    fn cuFuncGetAttribute 2020(out: Out<c_int>, attrib: c_uint, handle: Handle) =
        query(out, || attribute(&*function_of(handle)?, attrib));
    fn cuFuncSetAttribute 9000(handle: Handle, attrib: c_uint, value: c_int) =
        set_attribute(&*function_of(handle)?, attrib, value);
    // A preference, without effect.
    fn cuFuncSetCacheConfig 3000(handle: Handle, config: c_uint) =
        function_of(handle).and_then(|_| refuse_if(config > 3, ERROR_INVALID_VALUE));

    fn cuFuncSetSharedMemConfig 4020(handle: Handle, config: c_uint) =
        function_of(handle).and_then(|_| refuse_if(config > 2, ERROR_INVALID_VALUE));
    fn cuFuncGetModule 11000(out: Out<Handle>, handle: Handle) = query(out, || Ok(function_of(handle)?.module));
    // Valid as long as the module is loaded.
    fn cuFuncGetName 12030(out: Out<*const c_char>, handle: Handle) =
        query(out, || Ok(function_of(handle)?.name.as_ptr()));
    fn cuFuncGetParamInfo 12040(handle: Handle, index: usize, offset: Out<usize>, size: Out<usize>) =
        param_info(&*function_of(handle)?, index, offset, size);
    fn cuFuncIsLoaded 12040(state: Out<c_uint>, handle: Handle) = query(state, || function_of(handle).map(|_| 1));
    fn cuFuncLoad 12040(handle: Handle) = function_of(handle).map(|_| ());
    fn cuKernelGetAttribute 12000(out: Out<c_int>, attrib: c_uint, handle: Handle, dev: c_int) =
        query_device(out, dev, || attribute(&*kernel_of(handle)?, attrib));

    fn cuKernelSetAttribute 12000(attrib: c_uint, value: c_int, handle: Handle, dev: c_int) {
        device(dev)?;
        set_attribute(&*kernel_of(handle)?, attrib, value)
    }

    fn cuKernelSetCacheConfig 12000(handle: Handle, config: c_uint, dev: c_int) {
        device(dev)?;
        kernel_of(handle).and_then(|_| refuse_if(config > 3, ERROR_INVALID_VALUE))
    }

    fn cuKernelGetName 12030(out: Out<*const c_char>, handle: Handle) =
        query(out, || Ok(kernel_of(handle)?.name.as_ptr()));
    fn cuKernelGetParamInfo 12040(handle: Handle, index: usize, offset: Out<usize>, size: Out<usize>) =
        param_info(&*kernel_of(handle)?, index, offset, size);
    fn cuKernelGetFunction 12000(out: Out<Handle>, handle: Handle) = query(out, || library::function_handle(handle));
}

later! {
    fn cuFuncGetParamCount 13020(handle: Handle, count: Out<usize>) =
        count.put_with(|| Ok(function_of(handle)?.loaded.kernel().params.len()));
    fn cuKernelGetParamCount 13020(handle: Handle, count: Out<usize>) =
        count.put_with(|| Ok(kernel_of(handle)?.loaded.kernel().params.len()));
}
