//! Constants of `cuda.h`, without their prefix. Those of device attributes are in [`crate::attributes`].

/// Values of `CUlaunchAttributeID`.
pub(crate) mod launch {
    pub(crate) const IGNORE: u32 = 0;
    pub(crate) const ACCESS_POLICY_WINDOW: u32 = 1;
    pub(crate) const COOPERATIVE: u32 = 2;
    pub(crate) const SYNCHRONIZATION_POLICY: u32 = 3;
    pub(crate) const CLUSTER_DIMENSION: u32 = 4;
    pub(crate) const CLUSTER_SCHEDULING_POLICY_PREFERENCE: u32 = 5;
    pub(crate) const PROGRAMMATIC_STREAM_SERIALIZATION: u32 = 6;
    pub(crate) const PRIORITY: u32 = 8;
    pub(crate) const MEM_SYNC_DOMAIN_MAP: u32 = 9;
    pub(crate) const MEM_SYNC_DOMAIN: u32 = 10;
    pub(crate) const DEVICE_UPDATABLE_KERNEL_NODE: u32 = 13;
}

/// Values of `CUfunction_attribute`.
pub(crate) mod function {
    pub(crate) const MAX_THREADS_PER_BLOCK: u32 = 0;
    pub(crate) const SHARED_SIZE_BYTES: u32 = 1;
    pub(crate) const CONST_SIZE_BYTES: u32 = 2;
    pub(crate) const LOCAL_SIZE_BYTES: u32 = 3;
    pub(crate) const NUM_REGS: u32 = 4;
    pub(crate) const PTX_VERSION: u32 = 5;
    pub(crate) const BINARY_VERSION: u32 = 6;
    pub(crate) const CACHE_MODE_CA: u32 = 7;
    pub(crate) const MAX_DYNAMIC_SHARED_SIZE_BYTES: u32 = 8;
    pub(crate) const PREFERRED_SHARED_MEMORY_CARVEOUT: u32 = 9;
    pub(crate) const CLUSTER_SIZE_MUST_BE_SET: u32 = 10;
    pub(crate) const REQUIRED_CLUSTER_WIDTH: u32 = 11;
    pub(crate) const REQUIRED_CLUSTER_DEPTH: u32 = 13;
    pub(crate) const NON_PORTABLE_CLUSTER_SIZE_ALLOWED: u32 = 14;
    pub(crate) const CLUSTER_SCHEDULING_POLICY_PREFERENCE: u32 = 15;
}

/// Values of `CUpointer_attribute`.
pub(crate) mod pointer {
    pub(crate) const CONTEXT: u32 = 1;
    pub(crate) const MEMORY_TYPE: u32 = 2;
    pub(crate) const DEVICE_POINTER: u32 = 3;
    pub(crate) const HOST_POINTER: u32 = 4;
    pub(crate) const SYNC_MEMOPS: u32 = 6;
    pub(crate) const BUFFER_ID: u32 = 7;
    pub(crate) const IS_MANAGED: u32 = 8;
    pub(crate) const DEVICE_ORDINAL: u32 = 9;
    pub(crate) const IS_LEGACY_CUDA_IPC_CAPABLE: u32 = 10;
    pub(crate) const RANGE_START_ADDR: u32 = 11;
    pub(crate) const RANGE_SIZE: u32 = 12;
    pub(crate) const MAPPED: u32 = 13;
    pub(crate) const ALLOWED_HANDLE_TYPES: u32 = 14;
    pub(crate) const IS_GPU_DIRECT_RDMA_CAPABLE: u32 = 15;
    pub(crate) const ACCESS_FLAGS: u32 = 16;
    pub(crate) const MEMPOOL_HANDLE: u32 = 17;
    pub(crate) const MAPPING_SIZE: u32 = 18;
    pub(crate) const MAPPING_BASE_ADDR: u32 = 19;
    pub(crate) const MEMORY_BLOCK_ID: u32 = 20;
}
