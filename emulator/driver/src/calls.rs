//! Table of all driver calls, and the stubs of those that are not implemented.
//!
//! A call has a symbol, and the version of CUDA from which `cuGetProcAddress` returns it for its plain name (without
//! `_v2` and so on). Symbols and versions are those of cuda.h, cudaProfiler.h and cudaTypedefs.h in
//! nvidia-cuda-runtime-cu12 12.4.127. Implemented calls have their version in [`crate::api`]; the stubs are here.
#![allow(non_snake_case, reason = "names of the driver API")]

mod proc_address;

use std::ffi::c_void;

use crate::api::{
    array, capture, context, copy, copy_2d_3d, device, error, event, function, graph, graph_exec, graph_nodes, host,
    init, launch, library, link, memory, memset, module, occupancy, pointer, pool, profiler, stream, superseded,
    tensor, texture, user_object,
};
use crate::ffi::{Call, not_supported, replaced};
use crate::result::CUresult;

/// Returns all calls, in no particular order.
pub(crate) fn all() -> impl Iterator<Item = &'static Call> {
    PARTS.iter().copied().flatten()
}

/// Defines exported stubs, which ignore their arguments, and a list of them.
macro_rules! stubs {
    ($list:ident = $body:ident: $($since:literal: $($name:ident),+;)*) => {
        $($(
            #[unsafe(no_mangle)]
            pub(crate) extern "C" fn $name() -> CUresult {
                $body(stringify!($name))
            }
        )+)*

        const $list: &[Call] =
            &[$($(Call { name: stringify!($name), since: $since, address: $name as *const c_void },)+)*];
    };
}

/// Parts of the table: the calls of each subject, those of later versions, and the stubs.
static PARTS: &[&[Call]] = &[
    array::CALLS,
    capture::CALLS,
    context::CALLS,
    context::LATER,
    copy::CALLS,
    device::CALLS,
    device::LATER,
    error::CALLS,
    event::CALLS,
    event::LATER,
    function::CALLS,
    function::LATER,
    graph::CALLS,
    graph_exec::CALLS,
    graph_exec::LATER,
    graph_nodes::CALLS,
    host::CALLS,
    init::CALLS,
    launch::CALLS,
    library::CALLS,
    library::LATER,
    link::CALLS,
    memory::CALLS,
    memset::CALLS,
    module::CALLS,
    occupancy::CALLS,
    superseded::CALLS,
    proc_address::CALLS,
    profiler::CALLS,
    pointer::CALLS,
    pool::CALLS,
    copy_2d_3d::CALLS,
    stream::CALLS,
    stream::LATER,
    tensor::CALLS,
    texture::CALLS,
    user_object::CALLS,
    REPLACED,
    UNSUPPORTED,
];

// Forms from before CUDA 3.2, which take 32-bit device addresses.
stubs! { REPLACED = replaced:
    2000: cuArray3DCreate, cuArray3DGetDescriptor, cuArrayCreate, cuArrayGetDescriptor, cuMemAlloc,
        cuMemAllocPitch, cuMemFree, cuMemGetAddressRange, cuMemGetInfo, cuMemcpy2D, cuMemcpy2DAsync,
        cuMemcpy2DUnaligned, cuMemcpy3D, cuMemcpy3DAsync, cuMemcpyAtoA, cuMemcpyAtoD, cuMemcpyAtoH,
        cuMemcpyAtoHAsync, cuMemcpyDtoA, cuMemcpyDtoD, cuMemcpyDtoH, cuMemcpyDtoHAsync, cuMemcpyHtoA,
        cuMemcpyHtoAAsync, cuMemcpyHtoD, cuMemcpyHtoDAsync, cuMemsetD16, cuMemsetD2D16, cuMemsetD2D32,
        cuMemsetD2D8, cuMemsetD32, cuMemsetD8, cuModuleGetGlobal;
    2020: cuMemHostGetDevicePointer;
    3000: cuMemcpyDtoDAsync;
}

// They return `CUDA_ERROR_NOT_SUPPORTED`, so that programs which look the symbol up find it.
stubs! { UNSUPPORTED = not_supported:
    2000: cuParamSetTexRef, cuTexRefCreate, cuTexRefDestroy, cuTexRefGetAddress, cuTexRefGetAddressMode,
        cuTexRefGetArray, cuTexRefGetFilterMode, cuTexRefGetFlags, cuTexRefGetFormat, cuTexRefSetAddress,
        cuTexRefSetAddressMode, cuTexRefSetArray, cuTexRefSetFilterMode, cuTexRefSetFlags, cuTexRefSetFormat;
    2020: cuTexRefSetAddress2D;
    3000: cuGraphicsMapResources, cuGraphicsMapResources_ptsz, cuGraphicsResourceGetMappedPointer,
        cuGraphicsResourceSetMapFlags, cuGraphicsSubResourceGetMappedArray, cuGraphicsUnmapResources,
        cuGraphicsUnmapResources_ptsz, cuGraphicsUnregisterResource, cuSurfRefGetArray, cuSurfRefSetArray;
    3020: cuGraphicsResourceGetMappedPointer_v2, cuTexRefGetAddress_v2, cuTexRefSetAddress2D_v2,
        cuTexRefSetAddress_v2;
    4010: cuIpcCloseMemHandle, cuIpcGetEventHandle, cuIpcGetMemHandle, cuIpcOpenEventHandle,
        cuIpcOpenMemHandle, cuTexRefSetAddress2D_v3;
    5000: cuGraphicsResourceGetMappedMipmappedArray, cuMipmappedArrayCreate, cuMipmappedArrayDestroy,
        cuMipmappedArrayGetLevel, cuSurfObjectCreate, cuSurfObjectDestroy, cuSurfObjectGetResourceDesc,
        cuTexObjectGetResourceViewDesc, cuTexRefGetMaxAnisotropy, cuTexRefGetMipmapFilterMode,
        cuTexRefGetMipmapLevelBias, cuTexRefGetMipmapLevelClamp, cuTexRefGetMipmappedArray,
        cuTexRefSetMaxAnisotropy, cuTexRefSetMipmapFilterMode, cuTexRefSetMipmapLevelBias,
        cuTexRefSetMipmapLevelClamp, cuTexRefSetMipmappedArray;
    6050: cuGraphicsResourceSetMapFlags_v2;
    8000: cuMemRangeGetAttribute, cuMemRangeGetAttributes, cuStreamBatchMemOp, cuStreamBatchMemOp_ptsz,
        cuStreamWaitValue32, cuStreamWaitValue32_ptsz, cuTexRefGetBorderColor, cuTexRefSetBorderColor;
    9000: cuLaunchCooperativeKernelMultiDevice, cuStreamWaitValue64, cuStreamWaitValue64_ptsz;
    10000: cuDestroyExternalMemory, cuDestroyExternalSemaphore, cuDeviceGetLuid,
        cuExternalMemoryGetMappedBuffer, cuExternalMemoryGetMappedMipmappedArray, cuImportExternalMemory,
        cuImportExternalSemaphore, cuSignalExternalSemaphoresAsync, cuSignalExternalSemaphoresAsync_ptsz,
        cuWaitExternalSemaphoresAsync, cuWaitExternalSemaphoresAsync_ptsz;
    10020: cuDeviceGetNvSciSyncAttributes, cuMemAddressFree, cuMemAddressReserve, cuMemCreate,
        cuMemExportToShareableHandle, cuMemGetAccess, cuMemGetAllocationGranularity,
        cuMemGetAllocationPropertiesFromHandle, cuMemImportFromShareableHandle, cuMemMap, cuMemRelease,
        cuMemSetAccess, cuMemUnmap;
    11000: cuGraphKernelNodeCopyAttributes, cuGraphKernelNodeGetAttribute, cuGraphKernelNodeSetAttribute,
        cuIpcOpenMemHandle_v2, cuMemRetainAllocationHandle, cuStreamGetAttribute, cuStreamGetAttribute_ptsz,
        cuStreamSetAttribute, cuStreamSetAttribute_ptsz;
    11010: cuArrayGetSparseProperties, cuMemMapArrayAsync, cuMemMapArrayAsync_ptsz,
        cuMipmappedArrayGetSparseProperties;
    11020: cuArrayGetPlane, cuGraphAddExternalSemaphoresSignalNode, cuGraphAddExternalSemaphoresWaitNode,
        cuGraphExecExternalSemaphoresSignalNodeSetParams, cuGraphExecExternalSemaphoresWaitNodeSetParams,
        cuGraphExternalSemaphoresSignalNodeGetParams, cuGraphExternalSemaphoresSignalNodeSetParams,
        cuGraphExternalSemaphoresWaitNodeGetParams, cuGraphExternalSemaphoresWaitNodeSetParams,
        cuMemPoolExportPointer, cuMemPoolExportToShareableHandle, cuMemPoolImportFromShareableHandle,
        cuMemPoolImportPointer;
    11040: cuCtxGetExecAffinity, cuDeviceGetGraphMemAttribute, cuDeviceGraphMemTrim,
        cuDeviceSetGraphMemAttribute;
    11060: cuArrayGetMemoryRequirements, cuGraphNodeGetEnabled, cuGraphNodeSetEnabled,
        cuMipmappedArrayGetMemoryRequirements;
    11070: cuGraphAddBatchMemOpNode, cuGraphBatchMemOpNodeGetParams, cuGraphBatchMemOpNodeSetParams,
        cuGraphExecBatchMemOpNodeSetParams, cuMemGetHandleForAddressRange, cuStreamBatchMemOp_v2,
        cuStreamBatchMemOp_v2_ptsz, cuStreamWaitValue32_v2, cuStreamWaitValue32_v2_ptsz,
        cuStreamWaitValue64_v2, cuStreamWaitValue64_v2_ptsz;
    12000: cuTensorMapEncodeIm2col;
    12010: cuCoredumpGetAttribute, cuCoredumpGetAttributeGlobal, cuCoredumpSetAttribute,
        cuCoredumpSetAttributeGlobal, cuMulticastAddDevice, cuMulticastBindAddr, cuMulticastBindMem,
        cuMulticastCreate, cuMulticastGetGranularity, cuMulticastUnbind;
    12030: cuGraphConditionalHandleCreate;
    12040: cuCtxFromGreenCtx, cuCtxGetDevResource, cuDevResourceGenerateDesc, cuDevSmResourceSplitByCount,
        cuDeviceGetDevResource, cuDeviceRegisterAsyncNotification, cuDeviceUnregisterAsyncNotification,
        cuGreenCtxCreate, cuGreenCtxDestroy, cuGreenCtxGetDevResource, cuGreenCtxRecordEvent,
        cuGreenCtxWaitEvent, cuStreamGetGreenCtx;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By its version, a form of a call is chosen among those for the same default stream.
    #[test]
    fn no_two_forms_of_a_call_have_one_version() {
        let own_stream = |name: &str| name.ends_with("_ptsz") || name.ends_with("_ptds");
        let mut forms: Vec<_> =
            all().map(|call| (call.name.split('_').next(), call.since, own_stream(call.name))).collect();
        forms.sort_unstable();
        assert!(forms.is_sorted_by(|a, b| a < b));
    }
}
