//! What the emulated device says about itself.
//!
//! It reports itself as a Hopper device with the sizes and limits of an H200, because programs choose block sizes by
//! them; what would be a claim about speed or hardware that is not there (clocks, peers, RDMA) says so by 0 or by
//! the nominal value.

use std::ffi::{c_int, c_uint};

use crate::numbers::device;

/// The API that is spoken: CUDA 12.4.
pub(crate) const DRIVER_VERSION: c_int = 12040;
/// The name of the device, as `cuDeviceGetName` returns it.
pub(crate) const NAME: &str = "Emulated GPU (sm_90)";
pub(crate) const CAPABILITY: (c_int, c_int) = (9, 0);
pub(crate) const UUID: [u8; 16] = *b"tile-by-tile-gpu";
pub(crate) const PCI_BUS_ID: &str = "0000:7E:00.0";

/// Limits that other parts of the driver check against.
pub(crate) mod limit {
    pub(crate) use simt::launch::{
        MAX_BLOCK as BLOCK, MAX_GRID as GRID, MAX_SHARED as SHARED_PER_BLOCK,
        MAX_SHARED_OPT_IN as SHARED_PER_BLOCK_OPTIN, MAX_THREADS as THREADS_PER_BLOCK,
    };

    pub(crate) use simt::occupancy::{
        BLOCKS_PER_SM, REGISTERS, SHARED_PER_SM, SHARED_RESERVED, SMS, THREADS_PER_SM,
    };

    pub(crate) const PITCH: usize = 512;
    /// Blocks of a cluster on every device that has them, and where the kernel allows more.
    pub(crate) const CLUSTER_PORTABLE: u32 = 8;
    pub(crate) use simt::program::MAX_CLUSTER as CLUSTER;
}

/// The value of a `CUdevice_attribute`.
pub(crate) fn attribute_value(attribute: c_uint) -> Option<c_int> {
    use limit::*;
    let int = |value: u32| value as c_int;
    Some(match attribute {
        device::MAX_THREADS_PER_BLOCK => int(THREADS_PER_BLOCK),
        device::MAX_BLOCK_DIM_X => int(BLOCK[0]),
        device::MAX_BLOCK_DIM_Y => int(BLOCK[1]),
        device::MAX_BLOCK_DIM_Z => int(BLOCK[2]),
        device::MAX_GRID_DIM_X => int(GRID[0]),
        device::MAX_GRID_DIM_Y => int(GRID[1]),
        device::MAX_GRID_DIM_Z => int(GRID[2]),
        device::MAX_SHARED_MEMORY_PER_BLOCK => int(SHARED_PER_BLOCK),
        device::TOTAL_CONSTANT_MEMORY => 65536,
        device::WARP_SIZE => 32,
        device::MAX_PITCH => 0x7fff_ffff,
        device::MAX_REGISTERS_PER_BLOCK => int(REGISTERS),
        // kHz; nominal
        device::CLOCK_RATE => 1_980_000,
        device::TEXTURE_ALIGNMENT => 512,
        device::GPU_OVERLAP => 1,
        device::MULTIPROCESSOR_COUNT => int(SMS),
        // No watchdog: the instruction budget stops what does not end.
        device::KERNEL_EXEC_TIMEOUT => 0,
        device::INTEGRATED => 0,
        device::CAN_MAP_HOST_MEMORY => 1,
        device::COMPUTE_MODE => 0,
        device::MAXIMUM_TEXTURE1D_WIDTH => 131_072,
        device::MAXIMUM_TEXTURE2D_WIDTH => 131_072,
        device::MAXIMUM_TEXTURE2D_HEIGHT => 65536,
        device::MAXIMUM_TEXTURE3D_WIDTH
        | device::MAXIMUM_TEXTURE3D_HEIGHT
        | device::MAXIMUM_TEXTURE3D_DEPTH => 16384,
        device::MAXIMUM_TEXTURE2D_LAYERED_WIDTH | device::MAXIMUM_TEXTURE2D_LAYERED_HEIGHT => 32768,
        device::MAXIMUM_TEXTURE2D_LAYERED_LAYERS => 2048,
        device::SURFACE_ALIGNMENT => 512,
        device::CONCURRENT_KERNELS => 1,
        device::ECC_ENABLED => 0,
        device::PCI_BUS_ID => 0x7e,
        device::PCI_DEVICE_ID => 0,
        device::TCC_DRIVER => 0,
        // kHz; nominal
        device::MEMORY_CLOCK_RATE => 3_201_000,
        // nominal
        device::GLOBAL_MEMORY_BUS_WIDTH => 6016,
        device::L2_CACHE_SIZE => 62_914_560,
        device::MAX_THREADS_PER_MULTIPROCESSOR => int(THREADS_PER_SM),
        device::ASYNC_ENGINE_COUNT => 3,
        device::UNIFIED_ADDRESSING => 1,
        device::MAXIMUM_TEXTURE1D_LAYERED_WIDTH => 32768,
        device::MAXIMUM_TEXTURE1D_LAYERED_LAYERS => 2048,
        device::CAN_TEX2D_GATHER => 0,
        device::MAXIMUM_TEXTURE2D_GATHER_WIDTH | device::MAXIMUM_TEXTURE2D_GATHER_HEIGHT => 32768,
        device::MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE | device::MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE => 8192,
        device::MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE => 32768,
        device::PCI_DOMAIN_ID => 0,
        device::TEXTURE_PITCH_ALIGNMENT => 32,
        device::MAXIMUM_TEXTURECUBEMAP_WIDTH | device::MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH => 32768,
        device::MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS => 2046,
        device::MAXIMUM_SURFACE1D_WIDTH
        | device::MAXIMUM_SURFACE1D_LAYERED_WIDTH
        | device::MAXIMUM_SURFACE2D_LAYERED_WIDTH
        | device::MAXIMUM_SURFACE2D_LAYERED_HEIGHT
        | device::MAXIMUM_SURFACECUBEMAP_WIDTH
        | device::MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH => 32768,
        device::MAXIMUM_SURFACE2D_WIDTH => 131_072,
        device::MAXIMUM_SURFACE2D_HEIGHT => 65536,
        device::MAXIMUM_SURFACE3D_WIDTH
        | device::MAXIMUM_SURFACE3D_HEIGHT
        | device::MAXIMUM_SURFACE3D_DEPTH => 16384,
        device::MAXIMUM_SURFACE1D_LAYERED_LAYERS | device::MAXIMUM_SURFACE2D_LAYERED_LAYERS => 2048,
        device::MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS => 2046,
        device::MAXIMUM_TEXTURE1D_LINEAR_WIDTH => 1 << 28,
        device::MAXIMUM_TEXTURE2D_LINEAR_WIDTH => 131_072,
        device::MAXIMUM_TEXTURE2D_LINEAR_HEIGHT => 65000,
        device::MAXIMUM_TEXTURE2D_LINEAR_PITCH => 2_097_120,
        device::MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH
        | device::MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT
        | device::MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH => 32768,
        device::COMPUTE_CAPABILITY_MAJOR => CAPABILITY.0,
        device::COMPUTE_CAPABILITY_MINOR => CAPABILITY.1,
        // They are accepted.
        device::STREAM_PRIORITIES_SUPPORTED => 1,
        device::GLOBAL_L1_CACHE_SUPPORTED | device::LOCAL_L1_CACHE_SUPPORTED => 1,
        device::MAX_SHARED_MEMORY_PER_MULTIPROCESSOR => int(SHARED_PER_SM),
        device::MAX_REGISTERS_PER_MULTIPROCESSOR => int(REGISTERS),
        device::MANAGED_MEMORY => 1,
        device::MULTI_GPU_BOARD | device::MULTI_GPU_BOARD_GROUP_ID => 0,
        device::HOST_NATIVE_ATOMIC_SUPPORTED => 0,
        device::SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO => 2,
        device::PAGEABLE_MEMORY_ACCESS => 0,
        device::CONCURRENT_MANAGED_ACCESS => 1,
        device::COMPUTE_PREEMPTION_SUPPORTED => 1,
        device::CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM => 1,
        device::CAN_USE_STREAM_MEM_OPS_V1
        | device::CAN_USE_64_BIT_STREAM_MEM_OPS_V1
        | device::CAN_USE_STREAM_WAIT_VALUE_NOR_V1 => 0,
        device::COOPERATIVE_LAUNCH => 1,
        device::COOPERATIVE_MULTI_DEVICE_LAUNCH => 0,
        device::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN => int(SHARED_PER_BLOCK_OPTIN),
        device::CAN_FLUSH_REMOTE_WRITES => 0,
        device::HOST_REGISTER_SUPPORTED => 1,
        device::PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES => 0,
        device::DIRECT_MANAGED_MEM_ACCESS_FROM_HOST => 0,
        device::VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED
        | device::HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED
        | device::HANDLE_TYPE_WIN32_HANDLE_SUPPORTED
        | device::HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED => 0,
        device::MAX_BLOCKS_PER_MULTIPROCESSOR => int(BLOCKS_PER_SM),
        device::GENERIC_COMPRESSION_SUPPORTED
        | device::MAX_PERSISTING_L2_CACHE_SIZE
        | device::MAX_ACCESS_POLICY_WINDOW_SIZE
        | device::GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED => 0,
        device::RESERVED_SHARED_MEMORY_PER_BLOCK => int(SHARED_RESERVED),
        device::SPARSE_CUDA_ARRAY_SUPPORTED => 0,
        device::READ_ONLY_HOST_REGISTER_SUPPORTED => 0,
        device::TIMELINE_SEMAPHORE_INTEROP_SUPPORTED => 0,
        device::MEMORY_POOLS_SUPPORTED => 1,
        device::GPU_DIRECT_RDMA_SUPPORTED
        | device::GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS
        | device::GPU_DIRECT_RDMA_WRITES_ORDERING
        | device::MEMPOOL_SUPPORTED_HANDLE_TYPES => 0,
        device::CLUSTER_LAUNCH => 1,
        device::DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED
        | device::CAN_USE_64_BIT_STREAM_MEM_OPS
        | device::CAN_USE_STREAM_WAIT_VALUE_NOR
        | device::DMA_BUF_SUPPORTED
        | device::IPC_EVENT_SUPPORTED => 0,
        device::MEM_SYNC_DOMAIN_COUNT => 1,
        device::TENSOR_MAP_ACCESS_SUPPORTED => 1,
        device::HANDLE_TYPE_FABRIC_SUPPORTED => 0,
        device::UNIFIED_FUNCTION_POINTERS => 0,
        device::NUMA_CONFIG => 0,
        device::NUMA_ID => -1,
        device::MULTICAST_SUPPORTED | device::MPS_ENABLED => 0,
        device::HOST_NUMA_ID => -1,
        // Newer than this driver: not there.
        135..=160 => 0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attribute_of_cuda_12_has_a_value() {
        assert!((1..135).all(|a| attribute_value(a).is_some()));
        assert_eq!(attribute_value(0), None);
        assert_eq!(attribute_value(10_000), None);
    }
}
