//! Table of all driver calls, and the stubs of those that are not implemented.
//!
//! A row has the symbols of one call, each with the version of CUDA from which `cuGetProcAddress` returns it for the plain
//! name (without `_v2` and so on). Symbols and versions are those of cuda.h, cudaProfiler.h and cudaTypedefs.h in
//! nvidia-cuda-runtime-cu12 12.4.127. Most calls are implemented in [`crate::api`]; a last word marks the others:
//!
//! - `unsupported`: a stub returns `CUDA_ERROR_NOT_SUPPORTED`, so that programs which look the symbol up find it.
//! - `replaced`: a stub refuses the form of before CUDA 3.2, which takes 32-bit device addresses.
//! - `later`: implemented, but not exported, because a driver of CUDA 12.4 has no such symbol; only `cuGetProcAddress`
//!   returns it.
#![allow(non_snake_case, non_upper_case_globals, reason = "names of the driver API")]

use std::ffi::{c_int, c_void};

use crate::api::{
    array::*, context::*, copy::*, device::*, error::*, event::*, function::*, host::*, init::*, launch::*,
    library::*, link::*, memory::*, memset::*, module::*, occupancy::*, old::*, other::*, pointer::*,
    pool::*, rows::*, stream::*, tensor::*, texture::*,
};
use crate::edge::{not_supported, replaced};
use crate::result::CUresult;

pub(crate) struct Call {
    pub(crate) name: &'static str,
    /// First version of CUDA that has the call.
    pub(crate) since: c_int,
    pub(crate) address: *const c_void,
}

// SAFETY: `address` is that of a function, which never changes.
unsafe impl Sync for Call {}

macro_rules! calls {
    ($($($name:ident $since:literal $($stub:ident)?),+;)*) => {
        $($(stub!($name $($stub)?);)+)*

        /// All calls, in the order of the table.
        pub(crate) static CALLS: &[Call] = &[
            $($(Call { name: stringify!($name), since: $since, address: $name as *const c_void },)+)*
        ];

        /// A constant per call, by which `edge::export!` requires that the table has each call it defines.
        #[allow(dead_code, reason = "stubs need no check")]
        pub(crate) mod listed {
            $($(pub(crate) const $name: () = ();)+)*
        }
    };
}

/// Defines the exported stub of a call without an implementation. It ignores its arguments.
macro_rules! stub {
    ($name:ident) => {};
    ($name:ident later) => {};
    ($name:ident unsupported) => {
        stub!($name = not_supported);
    };
    ($name:ident replaced) => {
        stub!($name = replaced);
    };
    ($name:ident = $body:ident) => {
        #[unsafe(no_mangle)]
        pub(crate) extern "C" fn $name() -> CUresult {
            $body(stringify!($name))
        }
    };
}

calls! {
    cuArray3DCreate 2000 replaced, cuArray3DCreate_v2 3020;
    cuArray3DGetDescriptor 2000 replaced, cuArray3DGetDescriptor_v2 3020;
    cuArrayCreate 2000 replaced, cuArrayCreate_v2 3020;
    cuArrayDestroy 2000;
    cuArrayGetDescriptor 2000 replaced, cuArrayGetDescriptor_v2 3020;
    cuArrayGetMemoryRequirements 11060 unsupported;
    cuArrayGetPlane 11020 unsupported;
    cuArrayGetSparseProperties 11010 unsupported;
    cuCoredumpGetAttribute 12010 unsupported;
    cuCoredumpGetAttributeGlobal 12010 unsupported;
    cuCoredumpSetAttribute 12010 unsupported;
    cuCoredumpSetAttributeGlobal 12010 unsupported;
    cuCtxAttach 2000;
    cuCtxCreate 2000, cuCtxCreate_v2 3020, cuCtxCreate_v3 11040, cuCtxCreate_v4 12050 later;
    cuCtxDestroy 2000, cuCtxDestroy_v2 4000;
    cuCtxDetach 2000;
    cuCtxDisablePeerAccess 4000;
    cuCtxEnablePeerAccess 4000;
    cuCtxFromGreenCtx 12040 unsupported;
    cuCtxGetApiVersion 3020;
    cuCtxGetCacheConfig 3020;
    cuCtxGetCurrent 4000;
    cuCtxGetDevResource 12040 unsupported;
    cuCtxGetDevice 2000, cuCtxGetDevice_v2 13000 later;
    cuCtxGetExecAffinity 11040 unsupported;
    cuCtxGetFlags 7000;
    cuCtxGetId 12000;
    cuCtxGetLimit 3010;
    cuCtxGetSharedMemConfig 4020;
    cuCtxGetStreamPriorityRange 5050;
    cuCtxPopCurrent 2000, cuCtxPopCurrent_v2 4000;
    cuCtxPushCurrent 2000, cuCtxPushCurrent_v2 4000;
    cuCtxRecordEvent 12050 later;
    cuCtxResetPersistingL2Cache 11000;
    cuCtxSetCacheConfig 3020;
    cuCtxSetCurrent 4000;
    cuCtxSetFlags 12010;
    cuCtxSetLimit 3010;
    cuCtxSetSharedMemConfig 4020;
    cuCtxSynchronize 2000, cuCtxSynchronize_v2 13000 later;
    cuCtxWaitEvent 12050 later;
    cuDestroyExternalMemory 10000 unsupported;
    cuDestroyExternalSemaphore 10000 unsupported;
    cuDevResourceGenerateDesc 12040 unsupported;
    cuDevSmResourceSplitByCount 12040 unsupported;
    cuDeviceCanAccessPeer 4000;
    cuDeviceComputeCapability 2000;
    cuDeviceGet 2000;
    cuDeviceGetAttribute 2000;
    cuDeviceGetByPCIBusId 4010;
    cuDeviceGetCount 2000;
    cuDeviceGetDefaultMemPool 11020;
    cuDeviceGetDevResource 12040 unsupported;
    cuDeviceGetExecAffinitySupport 11040;
    cuDeviceGetGraphMemAttribute 11040 unsupported;
    cuDeviceGetHostAtomicCapabilities 13000 later;
    cuDeviceGetLuid 10000 unsupported;
    cuDeviceGetMemPool 11020;
    cuDeviceGetName 2000;
    cuDeviceGetNvSciSyncAttributes 10020 unsupported;
    cuDeviceGetP2PAttribute 8000;
    cuDeviceGetPCIBusId 4010;
    cuDeviceGetProperties 2000;
    cuDeviceGetTexture1DLinearMaxWidth 11010;
    cuDeviceGetUuid 9020, cuDeviceGetUuid_v2 11040;
    cuDeviceGraphMemTrim 11040 unsupported;
    cuDevicePrimaryCtxGetState 7000;
    cuDevicePrimaryCtxRelease 7000, cuDevicePrimaryCtxRelease_v2 11000;
    cuDevicePrimaryCtxReset 7000, cuDevicePrimaryCtxReset_v2 11000;
    cuDevicePrimaryCtxRetain 7000;
    cuDevicePrimaryCtxSetFlags 7000, cuDevicePrimaryCtxSetFlags_v2 11000;
    cuDeviceRegisterAsyncNotification 12040 unsupported;
    cuDeviceSetGraphMemAttribute 11040 unsupported;
    cuDeviceSetMemPool 11020;
    cuDeviceTotalMem 2000, cuDeviceTotalMem_v2 3020;
    cuDeviceUnregisterAsyncNotification 12040 unsupported;
    cuDriverGetVersion 2020;
    cuEventCreate 2000;
    cuEventDestroy 2000, cuEventDestroy_v2 4000;
    cuEventElapsedTime 2000, cuEventElapsedTime_v2 12080 later;
    cuEventQuery 2000;
    cuEventRecord 2000, cuEventRecord_ptsz 2000;
    cuEventRecordWithFlags 11010, cuEventRecordWithFlags_ptsz 11010;
    cuEventSynchronize 2000;
    cuExternalMemoryGetMappedBuffer 10000 unsupported;
    cuExternalMemoryGetMappedMipmappedArray 10000 unsupported;
    cuFlushGPUDirectRDMAWrites 11030;
    cuFuncGetAttribute 2020;
    cuFuncGetModule 11000;
    cuFuncGetName 12030;
    cuFuncGetParamCount 13020 later;
    cuFuncGetParamInfo 12040;
    cuFuncIsLoaded 12040;
    cuFuncLoad 12040;
    cuFuncSetAttribute 9000;
    cuFuncSetBlockShape 2000;
    cuFuncSetCacheConfig 3000;
    cuFuncSetSharedMemConfig 4020;
    cuFuncSetSharedSize 2000;
    cuGetErrorName 6000;
    cuGetErrorString 6000;
    cuGetExportTable 3000;
    cuGetProcAddress 11030, cuGetProcAddress_v2 12000, cuGetProcAddress_v2_ptsz 12000;
    cuGraphAddBatchMemOpNode 11070 unsupported;
    cuGraphAddChildGraphNode 10000 unsupported;
    cuGraphAddDependencies 10000 unsupported, cuGraphAddDependencies_v2 12030 unsupported;
    cuGraphAddEmptyNode 10000 unsupported;
    cuGraphAddEventRecordNode 11010 unsupported;
    cuGraphAddEventWaitNode 11010 unsupported;
    cuGraphAddExternalSemaphoresSignalNode 11020 unsupported;
    cuGraphAddExternalSemaphoresWaitNode 11020 unsupported;
    cuGraphAddHostNode 10000 unsupported;
    cuGraphAddKernelNode 10000 unsupported, cuGraphAddKernelNode_v2 12000 unsupported;
    cuGraphAddMemAllocNode 11040 unsupported;
    cuGraphAddMemFreeNode 11040 unsupported;
    cuGraphAddMemcpyNode 10000 unsupported;
    cuGraphAddMemsetNode 10000 unsupported;
    cuGraphAddNode 12020 unsupported, cuGraphAddNode_v2 12030 unsupported;
    cuGraphBatchMemOpNodeGetParams 11070 unsupported;
    cuGraphBatchMemOpNodeSetParams 11070 unsupported;
    cuGraphChildGraphNodeGetGraph 10000 unsupported;
    cuGraphClone 10000 unsupported;
    cuGraphConditionalHandleCreate 12030 unsupported;
    cuGraphCreate 10000 unsupported;
    cuGraphDebugDotPrint 11030 unsupported;
    cuGraphDestroy 10000 unsupported;
    cuGraphDestroyNode 10000 unsupported;
    cuGraphEventRecordNodeGetEvent 11010 unsupported;
    cuGraphEventRecordNodeSetEvent 11010 unsupported;
    cuGraphEventWaitNodeGetEvent 11010 unsupported;
    cuGraphEventWaitNodeSetEvent 11010 unsupported;
    cuGraphExecBatchMemOpNodeSetParams 11070 unsupported;
    cuGraphExecChildGraphNodeSetParams 11010 unsupported;
    cuGraphExecDestroy 10000 unsupported;
    cuGraphExecEventRecordNodeSetEvent 11010 unsupported;
    cuGraphExecEventWaitNodeSetEvent 11010 unsupported;
    cuGraphExecExternalSemaphoresSignalNodeSetParams 11020 unsupported;
    cuGraphExecExternalSemaphoresWaitNodeSetParams 11020 unsupported;
    cuGraphExecGetFlags 12000 unsupported;
    cuGraphExecHostNodeSetParams 10020 unsupported;
    cuGraphExecKernelNodeSetParams 10010 unsupported, cuGraphExecKernelNodeSetParams_v2 12000 unsupported;
    cuGraphExecMemcpyNodeSetParams 10020 unsupported;
    cuGraphExecMemsetNodeSetParams 10020 unsupported;
    cuGraphExecNodeSetParams 12020 unsupported;
    cuGraphExecUpdate 10020 unsupported, cuGraphExecUpdate_v2 12000 unsupported;
    cuGraphExternalSemaphoresSignalNodeGetParams 11020 unsupported;
    cuGraphExternalSemaphoresSignalNodeSetParams 11020 unsupported;
    cuGraphExternalSemaphoresWaitNodeGetParams 11020 unsupported;
    cuGraphExternalSemaphoresWaitNodeSetParams 11020 unsupported;
    cuGraphGetEdges 10000 unsupported, cuGraphGetEdges_v2 12030 unsupported;
    cuGraphGetNodes 10000 unsupported;
    cuGraphGetRootNodes 10000 unsupported;
    cuGraphHostNodeGetParams 10000 unsupported;
    cuGraphHostNodeSetParams 10000 unsupported;
    cuGraphInstantiate 10000 unsupported, cuGraphInstantiate_v2 11000 unsupported;
    cuGraphInstantiateWithFlags 11040 unsupported;
    cuGraphInstantiateWithParams 12000 unsupported, cuGraphInstantiateWithParams_ptsz 12000 unsupported;
    cuGraphKernelNodeCopyAttributes 11000 unsupported;
    cuGraphKernelNodeGetAttribute 11000 unsupported;
    cuGraphKernelNodeGetParams 10000 unsupported, cuGraphKernelNodeGetParams_v2 12000 unsupported;
    cuGraphKernelNodeSetAttribute 11000 unsupported;
    cuGraphKernelNodeSetParams 10000 unsupported, cuGraphKernelNodeSetParams_v2 12000 unsupported;
    cuGraphLaunch 10000 unsupported, cuGraphLaunch_ptsz 10000 unsupported;
    cuGraphMemAllocNodeGetParams 11040 unsupported;
    cuGraphMemFreeNodeGetParams 11040 unsupported;
    cuGraphMemcpyNodeGetParams 10000 unsupported;
    cuGraphMemcpyNodeSetParams 10000 unsupported;
    cuGraphMemsetNodeGetParams 10000 unsupported;
    cuGraphMemsetNodeSetParams 10000 unsupported;
    cuGraphNodeFindInClone 10000 unsupported;
    cuGraphNodeGetDependencies 10000 unsupported, cuGraphNodeGetDependencies_v2 12030 unsupported;
    cuGraphNodeGetDependentNodes 10000 unsupported, cuGraphNodeGetDependentNodes_v2 12030 unsupported;
    cuGraphNodeGetEnabled 11060 unsupported;
    cuGraphNodeGetType 10000 unsupported;
    cuGraphNodeSetEnabled 11060 unsupported;
    cuGraphNodeSetParams 12020 unsupported;
    cuGraphReleaseUserObject 11030 unsupported;
    cuGraphRemoveDependencies 10000 unsupported, cuGraphRemoveDependencies_v2 12030 unsupported;
    cuGraphRetainUserObject 11030 unsupported;
    cuGraphUpload 11010 unsupported, cuGraphUpload_ptsz 11010 unsupported;
    cuGraphicsMapResources 3000 unsupported, cuGraphicsMapResources_ptsz 3000 unsupported;
    cuGraphicsResourceGetMappedMipmappedArray 5000 unsupported;
    cuGraphicsResourceGetMappedPointer 3000 unsupported,
        cuGraphicsResourceGetMappedPointer_v2 3020 unsupported;
    cuGraphicsResourceSetMapFlags 3000 unsupported, cuGraphicsResourceSetMapFlags_v2 6050 unsupported;
    cuGraphicsSubResourceGetMappedArray 3000 unsupported;
    cuGraphicsUnmapResources 3000 unsupported, cuGraphicsUnmapResources_ptsz 3000 unsupported;
    cuGraphicsUnregisterResource 3000 unsupported;
    cuGreenCtxCreate 12040 unsupported;
    cuGreenCtxDestroy 12040 unsupported;
    cuGreenCtxGetDevResource 12040 unsupported;
    cuGreenCtxRecordEvent 12040 unsupported;
    cuGreenCtxWaitEvent 12040 unsupported;
    cuImportExternalMemory 10000 unsupported;
    cuImportExternalSemaphore 10000 unsupported;
    cuInit 2000;
    cuIpcCloseMemHandle 4010 unsupported;
    cuIpcGetEventHandle 4010 unsupported;
    cuIpcGetMemHandle 4010 unsupported;
    cuIpcOpenEventHandle 4010 unsupported;
    cuIpcOpenMemHandle 4010 unsupported, cuIpcOpenMemHandle_v2 11000 unsupported;
    cuKernelGetAttribute 12000;
    cuKernelGetFunction 12000;
    cuKernelGetLibrary 12050 later;
    cuKernelGetName 12030;
    cuKernelGetParamCount 13020 later;
    cuKernelGetParamInfo 12040;
    cuKernelSetAttribute 12000;
    cuKernelSetCacheConfig 12000;
    cuLaunch 2000;
    cuLaunchCooperativeKernel 9000, cuLaunchCooperativeKernel_ptsz 9000;
    cuLaunchCooperativeKernelMultiDevice 9000 unsupported;
    cuLaunchGrid 2000;
    cuLaunchGridAsync 2000;
    cuLaunchHostFunc 10000, cuLaunchHostFunc_ptsz 10000, cuLaunchHostFunc_v2 13020 later,
        cuLaunchHostFunc_v2_ptsz 13020 later;
    cuLaunchKernel 4000, cuLaunchKernel_ptsz 4000;
    cuLaunchKernelEx 11060, cuLaunchKernelEx_ptsz 11060;
    cuLibraryEnumerateKernels 12040;
    cuLibraryGetGlobal 12000;
    cuLibraryGetKernel 12000;
    cuLibraryGetKernelCount 12040;
    cuLibraryGetManaged 12000;
    cuLibraryGetModule 12000;
    cuLibraryGetUnifiedFunction 12000;
    cuLibraryLoadData 12000;
    cuLibraryLoadFromFile 12000;
    cuLibraryUnload 12000;
    cuLinkAddData 5050, cuLinkAddData_v2 6050;
    cuLinkAddFile 5050, cuLinkAddFile_v2 6050;
    cuLinkComplete 5050;
    cuLinkCreate 5050, cuLinkCreate_v2 6050;
    cuLinkDestroy 5050;
    cuMemAddressFree 10020 unsupported;
    cuMemAddressReserve 10020 unsupported;
    cuMemAdvise 8000, cuMemAdvise_v2 12020;
    cuMemAlloc 2000 replaced, cuMemAlloc_v2 3020;
    cuMemAllocAsync 11020, cuMemAllocAsync_ptsz 11020;
    cuMemAllocFromPoolAsync 11020, cuMemAllocFromPoolAsync_ptsz 11020;
    cuMemAllocHost 2000, cuMemAllocHost_v2 3020;
    cuMemAllocManaged 6000;
    cuMemAllocPitch 2000 replaced, cuMemAllocPitch_v2 3020;
    cuMemCreate 10020 unsupported;
    cuMemExportToShareableHandle 10020 unsupported;
    cuMemFree 2000 replaced, cuMemFree_v2 3020;
    cuMemFreeAsync 11020, cuMemFreeAsync_ptsz 11020;
    cuMemFreeHost 2000;
    cuMemGetAccess 10020 unsupported;
    cuMemGetAddressRange 2000 replaced, cuMemGetAddressRange_v2 3020;
    cuMemGetAllocationGranularity 10020 unsupported;
    cuMemGetAllocationPropertiesFromHandle 10020 unsupported;
    cuMemGetHandleForAddressRange 11070 unsupported;
    cuMemGetInfo 2000 replaced, cuMemGetInfo_v2 3020;
    cuMemHostAlloc 2020;
    cuMemHostGetDevicePointer 2020 replaced, cuMemHostGetDevicePointer_v2 3020;
    cuMemHostGetFlags 2030;
    cuMemHostRegister 4000, cuMemHostRegister_v2 6050;
    cuMemHostUnregister 4000;
    cuMemImportFromShareableHandle 10020 unsupported;
    cuMemMap 10020 unsupported;
    cuMemMapArrayAsync 11010 unsupported, cuMemMapArrayAsync_ptsz 11010 unsupported;
    cuMemPoolCreate 11020;
    cuMemPoolDestroy 11020;
    cuMemPoolExportPointer 11020 unsupported;
    cuMemPoolExportToShareableHandle 11020 unsupported;
    cuMemPoolGetAccess 11020;
    cuMemPoolGetAttribute 11020;
    cuMemPoolImportFromShareableHandle 11020 unsupported;
    cuMemPoolImportPointer 11020 unsupported;
    cuMemPoolSetAccess 11020;
    cuMemPoolSetAttribute 11020;
    cuMemPoolTrimTo 11020;
    cuMemPrefetchAsync 8000, cuMemPrefetchAsync_ptsz 8000, cuMemPrefetchAsync_v2 12020,
        cuMemPrefetchAsync_v2_ptsz 12020;
    cuMemRangeGetAttribute 8000 unsupported;
    cuMemRangeGetAttributes 8000 unsupported;
    cuMemRelease 10020 unsupported;
    cuMemRetainAllocationHandle 11000 unsupported;
    cuMemSetAccess 10020 unsupported;
    cuMemUnmap 10020 unsupported;
    cuMemcpy 4000, cuMemcpy_ptds 4000;
    cuMemcpy2D 2000 replaced, cuMemcpy2D_v2 3020, cuMemcpy2D_v2_ptds 3020;
    cuMemcpy2DAsync 2000 replaced, cuMemcpy2DAsync_v2 3020, cuMemcpy2DAsync_v2_ptsz 3020;
    cuMemcpy2DUnaligned 2000 replaced, cuMemcpy2DUnaligned_v2 3020, cuMemcpy2DUnaligned_v2_ptds 3020;
    cuMemcpy3D 2000 replaced, cuMemcpy3D_v2 3020, cuMemcpy3D_v2_ptds 3020;
    cuMemcpy3DAsync 2000 replaced, cuMemcpy3DAsync_v2 3020, cuMemcpy3DAsync_v2_ptsz 3020;
    cuMemcpy3DPeer 4000, cuMemcpy3DPeer_ptds 4000;
    cuMemcpy3DPeerAsync 4000, cuMemcpy3DPeerAsync_ptsz 4000;
    cuMemcpyAsync 4000, cuMemcpyAsync_ptsz 4000;
    cuMemcpyAtoA 2000 replaced, cuMemcpyAtoA_v2 3020, cuMemcpyAtoA_v2_ptds 3020;
    cuMemcpyAtoD 2000 replaced, cuMemcpyAtoD_v2 3020, cuMemcpyAtoD_v2_ptds 3020;
    cuMemcpyAtoH 2000 replaced, cuMemcpyAtoH_v2 3020, cuMemcpyAtoH_v2_ptds 3020;
    cuMemcpyAtoHAsync 2000 replaced, cuMemcpyAtoHAsync_v2 3020, cuMemcpyAtoHAsync_v2_ptsz 3020;
    cuMemcpyDtoA 2000 replaced, cuMemcpyDtoA_v2 3020, cuMemcpyDtoA_v2_ptds 3020;
    cuMemcpyDtoD 2000 replaced, cuMemcpyDtoD_v2 3020, cuMemcpyDtoD_v2_ptds 3020;
    cuMemcpyDtoDAsync 3000 replaced, cuMemcpyDtoDAsync_v2 3020, cuMemcpyDtoDAsync_v2_ptsz 3020;
    cuMemcpyDtoH 2000 replaced, cuMemcpyDtoH_v2 3020, cuMemcpyDtoH_v2_ptds 3020;
    cuMemcpyDtoHAsync 2000 replaced, cuMemcpyDtoHAsync_v2 3020, cuMemcpyDtoHAsync_v2_ptsz 3020;
    cuMemcpyHtoA 2000 replaced, cuMemcpyHtoA_v2 3020, cuMemcpyHtoA_v2_ptds 3020;
    cuMemcpyHtoAAsync 2000 replaced, cuMemcpyHtoAAsync_v2 3020, cuMemcpyHtoAAsync_v2_ptsz 3020;
    cuMemcpyHtoD 2000 replaced, cuMemcpyHtoD_v2 3020, cuMemcpyHtoD_v2_ptds 3020;
    cuMemcpyHtoDAsync 2000 replaced, cuMemcpyHtoDAsync_v2 3020, cuMemcpyHtoDAsync_v2_ptsz 3020;
    cuMemcpyPeer 4000, cuMemcpyPeer_ptds 4000;
    cuMemcpyPeerAsync 4000, cuMemcpyPeerAsync_ptsz 4000;
    cuMemsetD16 2000 replaced, cuMemsetD16_v2 3020, cuMemsetD16_v2_ptds 3020;
    cuMemsetD16Async 3020, cuMemsetD16Async_ptsz 3020;
    cuMemsetD2D16 2000 replaced, cuMemsetD2D16_v2 3020, cuMemsetD2D16_v2_ptds 3020;
    cuMemsetD2D16Async 3020, cuMemsetD2D16Async_ptsz 3020;
    cuMemsetD2D32 2000 replaced, cuMemsetD2D32_v2 3020, cuMemsetD2D32_v2_ptds 3020;
    cuMemsetD2D32Async 3020, cuMemsetD2D32Async_ptsz 3020;
    cuMemsetD2D8 2000 replaced, cuMemsetD2D8_v2 3020, cuMemsetD2D8_v2_ptds 3020;
    cuMemsetD2D8Async 3020, cuMemsetD2D8Async_ptsz 3020;
    cuMemsetD32 2000 replaced, cuMemsetD32_v2 3020, cuMemsetD32_v2_ptds 3020;
    cuMemsetD32Async 3020, cuMemsetD32Async_ptsz 3020;
    cuMemsetD8 2000 replaced, cuMemsetD8_v2 3020, cuMemsetD8_v2_ptds 3020;
    cuMemsetD8Async 3020, cuMemsetD8Async_ptsz 3020;
    cuMipmappedArrayCreate 5000 unsupported;
    cuMipmappedArrayDestroy 5000 unsupported;
    cuMipmappedArrayGetLevel 5000 unsupported;
    cuMipmappedArrayGetMemoryRequirements 11060 unsupported;
    cuMipmappedArrayGetSparseProperties 11010 unsupported;
    cuModuleEnumerateFunctions 12040;
    cuModuleGetFunction 2000;
    cuModuleGetFunctionCount 12040;
    cuModuleGetGlobal 2000 replaced, cuModuleGetGlobal_v2 3020;
    cuModuleGetLoadingMode 11070;
    cuModuleGetSurfRef 3000;
    cuModuleGetTexRef 2000;
    cuModuleLoad 2000;
    cuModuleLoadData 2000;
    cuModuleLoadDataEx 2010;
    cuModuleLoadFatBinary 2000;
    cuModuleUnload 2000;
    cuMulticastAddDevice 12010 unsupported;
    cuMulticastBindAddr 12010 unsupported;
    cuMulticastBindMem 12010 unsupported;
    cuMulticastCreate 12010 unsupported;
    cuMulticastGetGranularity 12010 unsupported;
    cuMulticastUnbind 12010 unsupported;
    cuOccupancyAvailableDynamicSMemPerBlock 10020;
    cuOccupancyMaxActiveBlocksPerMultiprocessor 6050;
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags 7000;
    cuOccupancyMaxActiveClusters 11070;
    cuOccupancyMaxPotentialBlockSize 6050;
    cuOccupancyMaxPotentialBlockSizeWithFlags 7000;
    cuOccupancyMaxPotentialClusterSize 11070;
    cuParamSetSize 2000;
    cuParamSetTexRef 2000 unsupported;
    cuParamSetf 2000;
    cuParamSeti 2000;
    cuParamSetv 2000;
    cuPointerGetAttribute 4000;
    cuPointerGetAttributes 7000;
    cuPointerSetAttribute 6000;
    cuProfilerInitialize 4000;
    cuProfilerStart 4000;
    cuProfilerStop 4000;
    cuSignalExternalSemaphoresAsync 10000 unsupported, cuSignalExternalSemaphoresAsync_ptsz 10000 unsupported;
    cuStreamAddCallback 5000, cuStreamAddCallback_ptsz 5000;
    cuStreamAttachMemAsync 6000, cuStreamAttachMemAsync_ptsz 6000;
    cuStreamBatchMemOp 8000 unsupported, cuStreamBatchMemOp_ptsz 8000 unsupported,
        cuStreamBatchMemOp_v2 11070 unsupported, cuStreamBatchMemOp_v2_ptsz 11070 unsupported;
    cuStreamBeginCapture 10000 unsupported, cuStreamBeginCapture_ptsz 10000 unsupported,
        cuStreamBeginCapture_v2 10010 unsupported, cuStreamBeginCapture_v2_ptsz 10010 unsupported;
    cuStreamBeginCaptureToGraph 12030 unsupported, cuStreamBeginCaptureToGraph_ptsz 12030 unsupported;
    cuStreamCopyAttributes 11000, cuStreamCopyAttributes_ptsz 11000;
    cuStreamCreate 2000;
    cuStreamCreateWithPriority 5050;
    cuStreamDestroy 2000, cuStreamDestroy_v2 4000;
    cuStreamEndCapture 10000 unsupported, cuStreamEndCapture_ptsz 10000 unsupported;
    cuStreamGetAttribute 11000 unsupported, cuStreamGetAttribute_ptsz 11000 unsupported;
    cuStreamGetCaptureInfo 10010, cuStreamGetCaptureInfo_ptsz 10010, cuStreamGetCaptureInfo_v2 11030,
        cuStreamGetCaptureInfo_v2_ptsz 11030, cuStreamGetCaptureInfo_v3 12030,
        cuStreamGetCaptureInfo_v3_ptsz 12030;
    cuStreamGetCtx 9020, cuStreamGetCtx_ptsz 9020, cuStreamGetCtx_v2 12050 later,
        cuStreamGetCtx_v2_ptsz 12050 later;
    cuStreamGetDevice 12080 later, cuStreamGetDevice_ptsz 12080 later;
    cuStreamGetFlags 5050, cuStreamGetFlags_ptsz 5050;
    cuStreamGetGreenCtx 12040 unsupported;
    cuStreamGetId 12000, cuStreamGetId_ptsz 12000;
    cuStreamGetPriority 5050, cuStreamGetPriority_ptsz 5050;
    cuStreamIsCapturing 10000, cuStreamIsCapturing_ptsz 10000;
    cuStreamQuery 2000, cuStreamQuery_ptsz 2000;
    cuStreamSetAttribute 11000 unsupported, cuStreamSetAttribute_ptsz 11000 unsupported;
    cuStreamSynchronize 2000, cuStreamSynchronize_ptsz 2000;
    cuStreamUpdateCaptureDependencies 11030 unsupported,
        cuStreamUpdateCaptureDependencies_ptsz 11030 unsupported,
        cuStreamUpdateCaptureDependencies_v2 13000 unsupported,
        cuStreamUpdateCaptureDependencies_v2_ptsz 13000 unsupported;
    cuStreamWaitEvent 3020, cuStreamWaitEvent_ptsz 3020;
    cuStreamWaitValue32 8000 unsupported, cuStreamWaitValue32_ptsz 8000 unsupported,
        cuStreamWaitValue32_v2 11070 unsupported, cuStreamWaitValue32_v2_ptsz 11070 unsupported;
    cuStreamWaitValue64 9000 unsupported, cuStreamWaitValue64_ptsz 9000 unsupported,
        cuStreamWaitValue64_v2 11070 unsupported, cuStreamWaitValue64_v2_ptsz 11070 unsupported;
    cuStreamWriteValue32 8000, cuStreamWriteValue32_ptsz 8000, cuStreamWriteValue32_v2 11070,
        cuStreamWriteValue32_v2_ptsz 11070;
    cuStreamWriteValue64 9000, cuStreamWriteValue64_ptsz 9000, cuStreamWriteValue64_v2 11070,
        cuStreamWriteValue64_v2_ptsz 11070;
    cuSurfObjectCreate 5000 unsupported;
    cuSurfObjectDestroy 5000 unsupported;
    cuSurfObjectGetResourceDesc 5000 unsupported;
    cuSurfRefGetArray 3000 unsupported;
    cuSurfRefSetArray 3000 unsupported;
    cuTensorMapEncodeIm2col 12000 unsupported;
    cuTensorMapEncodeTiled 12000;
    cuTensorMapReplaceAddress 12000;
    cuTexObjectCreate 5000;
    cuTexObjectDestroy 5000;
    cuTexObjectGetResourceDesc 5000;
    cuTexObjectGetResourceViewDesc 5000 unsupported;
    cuTexObjectGetTextureDesc 5000;
    cuTexRefCreate 2000 unsupported;
    cuTexRefDestroy 2000 unsupported;
    cuTexRefGetAddress 2000 unsupported, cuTexRefGetAddress_v2 3020 unsupported;
    cuTexRefGetAddressMode 2000 unsupported;
    cuTexRefGetArray 2000 unsupported;
    cuTexRefGetBorderColor 8000 unsupported;
    cuTexRefGetFilterMode 2000 unsupported;
    cuTexRefGetFlags 2000 unsupported;
    cuTexRefGetFormat 2000 unsupported;
    cuTexRefGetMaxAnisotropy 5000 unsupported;
    cuTexRefGetMipmapFilterMode 5000 unsupported;
    cuTexRefGetMipmapLevelBias 5000 unsupported;
    cuTexRefGetMipmapLevelClamp 5000 unsupported;
    cuTexRefGetMipmappedArray 5000 unsupported;
    cuTexRefSetAddress 2000 unsupported, cuTexRefSetAddress_v2 3020 unsupported;
    cuTexRefSetAddress2D 2020 unsupported, cuTexRefSetAddress2D_v2 3020 unsupported,
        cuTexRefSetAddress2D_v3 4010 unsupported;
    cuTexRefSetAddressMode 2000 unsupported;
    cuTexRefSetArray 2000 unsupported;
    cuTexRefSetBorderColor 8000 unsupported;
    cuTexRefSetFilterMode 2000 unsupported;
    cuTexRefSetFlags 2000 unsupported;
    cuTexRefSetFormat 2000 unsupported;
    cuTexRefSetMaxAnisotropy 5000 unsupported;
    cuTexRefSetMipmapFilterMode 5000 unsupported;
    cuTexRefSetMipmapLevelBias 5000 unsupported;
    cuTexRefSetMipmapLevelClamp 5000 unsupported;
    cuTexRefSetMipmappedArray 5000 unsupported;
    cuThreadExchangeStreamCaptureMode 10010;
    cuUserObjectCreate 11030 unsupported;
    cuUserObjectRelease 11030 unsupported;
    cuUserObjectRetain 11030 unsupported;
    cuWaitExternalSemaphoresAsync 10000 unsupported, cuWaitExternalSemaphoresAsync_ptsz 10000 unsupported;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_sorted_by_plain_name_and_then_by_suffix() {
        assert!(CALLS.iter().map(|call| (call.name.split('_').next(), call.name)).is_sorted_by(|a, b| a < b));
    }
}
