//! Constants of `cuda.h`, without their prefix. Those of device attributes are in [`crate::attributes`].

macro_rules! numbers {
    ($($(#[$doc:meta])* $module:ident: $($number:literal $name:ident),+;)*) => {$(
        $(#[$doc])*
        pub(crate) mod $module {
            $(pub(crate) const $name: u32 = $number;)+
        }
    )*};
}

numbers! {
    /// Values of `CUlaunchAttributeID`.
    launch:
        0 IGNORE, 1 ACCESS_POLICY_WINDOW, 2 COOPERATIVE, 3 SYNCHRONIZATION_POLICY, 4 CLUSTER_DIMENSION,
        5 CLUSTER_SCHEDULING_POLICY_PREFERENCE, 6 PROGRAMMATIC_STREAM_SERIALIZATION, 8 PRIORITY,
        9 MEM_SYNC_DOMAIN_MAP, 10 MEM_SYNC_DOMAIN, 13 DEVICE_UPDATABLE_KERNEL_NODE;
    /// Values of `CUfunction_attribute`.
    function:
        0 MAX_THREADS_PER_BLOCK, 1 SHARED_SIZE_BYTES, 2 CONST_SIZE_BYTES, 3 LOCAL_SIZE_BYTES, 4 NUM_REGS,
        5 PTX_VERSION, 6 BINARY_VERSION, 7 CACHE_MODE_CA, 8 MAX_DYNAMIC_SHARED_SIZE_BYTES,
        9 PREFERRED_SHARED_MEMORY_CARVEOUT, 10 CLUSTER_SIZE_MUST_BE_SET, 11 REQUIRED_CLUSTER_WIDTH,
        13 REQUIRED_CLUSTER_DEPTH, 14 NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
        15 CLUSTER_SCHEDULING_POLICY_PREFERENCE;
    /// Values of `CUpointer_attribute`.
    pointer:
        1 CONTEXT, 2 MEMORY_TYPE, 3 DEVICE_POINTER, 4 HOST_POINTER, 6 SYNC_MEMOPS, 7 BUFFER_ID, 8 IS_MANAGED,
        9 DEVICE_ORDINAL, 10 IS_LEGACY_CUDA_IPC_CAPABLE, 11 RANGE_START_ADDR, 12 RANGE_SIZE, 13 MAPPED,
        14 ALLOWED_HANDLE_TYPES, 15 IS_GPU_DIRECT_RDMA_CAPABLE, 16 ACCESS_FLAGS, 17 MEMPOOL_HANDLE,
        18 MAPPING_SIZE, 19 MAPPING_BASE_ADDR, 20 MEMORY_BLOCK_ID;
    /// Flags `CU_TRSF_…`.
    texture: 1 READ_AS_INTEGER, 2 NORMALIZED_COORDINATES, 16 SRGB;
    /// Values of `CUjitInputType`.
    input: 1 PTX, 4 LIBRARY;
    /// Values of `CUgraphNodeType`.
    node:
        0 KERNEL, 1 MEMCPY, 2 MEMSET, 3 HOST, 4 GRAPH, 5 EMPTY, 6 WAIT_EVENT, 7 EVENT_RECORD, 10 MEM_ALLOC, 11 MEM_FREE,
        12 BATCH_MEM_OP;
    /// Values of `CUstreamCaptureMode`.
    capture: 0 GLOBAL, 2 RELAXED;
    /// Values of `CUdriverProcAddressQueryResult`.
    found: 1 SYMBOL_NOT_FOUND, 2 VERSION_NOT_SUFFICIENT;
}
